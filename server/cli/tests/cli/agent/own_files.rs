//! The files that the agent writes: it damages nothing that somebody else has put there.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::agent::{Agent, Run};

fn names(agent: &Agent) -> Vec<String> {
    let entries = fs::read_dir(agent.folder()).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|entry| {
            let name = entry.expect("the folder can be read").file_name();
            name.to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

/// F21: the user's file was gone.
#[test]
fn a_start_that_fails_leaves_files_as_they_are() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = other.local_addr().expect("it is bound").port();
    let arguments = [
        "-dev",
        &format!("-http-port={port}"),
        "--port-file=keep.txt",
        "-pid-file=pid.txt",
    ];
    let run = Run::agent("keeps-files", &arguments)
        .file("keep.txt", "of the user")
        .file("pid.txt", "of the user");
    let folder = run.folder().to_owned();
    let (code, log) = run.start().end();
    assert_eq!(code, Some(1), "{log}");
    for name in ["keep.txt", "pid.txt"] {
        let text = fs::read_to_string(folder.join(name));
        assert_eq!(text.ok().as_deref(), Some("of the user"), "{name}");
    }
}

/// F21: the FIFO was deleted, and whoever read it waited for ever.
#[test]
fn a_fifo_is_written_into_and_stays() {
    let run = Run::agent("fifo", &["-dev", "--port-file=fifo"]);
    let fifo = run.folder().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("there is a mkfifo").success());
    // The agent starts although nobody reads yet.
    let agent = run.start().ready();
    let line = fs::read_to_string(&fifo).expect("the agent writes it");
    let address = crate::agent::address_of(line.trim_end());
    std::net::TcpStream::connect(address).expect("the agent listens");
    agent.signal("TERM");
    assert_eq!(agent.end().0, Some(1));
    assert!(fifo.exists());
}

/// F8: Consul makes the data directory before it writes its files.
#[test]
fn a_pid_file_may_lie_in_the_data_directory_that_is_not_there() {
    let arguments = ["-dev", "-data-dir=made/below", "-pid-file=made/below/pid"];
    let agent = Run::agent("data-dir", &arguments)
        .at_a_free_port()
        .start()
        .ready();
    let pid = fs::read_to_string(agent.folder().join("made/below/pid"));
    assert!(pid.is_ok_and(|pid| pid.parse::<u32>().is_ok()));
    agent.signal("TERM");
    assert_eq!(agent.end().0, Some(1));

    let run = Run::agent("data-dir", &["-dev", "-data-dir=file/below"]).file("file", "of the user");
    let ended = run.output();
    assert_eq!(
        ended.stderr,
        "==> failed to setup node ID: mkdir file/below: not a directory\n"
    );
}

/// F12: Consul warns, too (seen on 1.8.7).
#[test]
fn what_lies_at_the_place_of_a_socket_is_replaced_with_a_warning() {
    let config = r#"{"addresses":{"http":"unix://place"}}"#;
    let run = Run::agent("place", &["-dev", "-config-file=c.json"])
        .file("c.json", config)
        .file("place", "of the user");
    let mut agent = run.start();
    agent.wait_for("[WARN]  agent: Replacing socket: path=place");
}

#[test]
fn what_is_no_file_is_refused_before_anything_is_done() {
    for (flag, path, expected) in [
        (
            "--port-file",
            "dir",
            "-port-file: dir: this is a directory; expected a file, a FIFO or a character device",
        ),
        (
            "-pid-file",
            "dir",
            "Could not open pid file: open dir: this is a directory; expected a file, a FIFO or a character device",
        ),
        (
            "--port-file",
            "/dev/full",
            "-port-file: /dev/full: no space left on device",
        ),
    ] {
        let run = Run::agent("no-file", &["-dev", flag, path]).file("dir/kept", "x");
        let run = run.at_a_free_port();
        let kept = run.folder().join("dir/kept");
        let (code, log) = run.start().end();
        assert_eq!(code, Some(1));
        assert!(log.contains(&format!("error=\"{expected}\"")), "{log}");
        assert!(!log.contains("agent running"), "{log}");
        assert!(kept.exists());
    }
}

#[test]
fn what_has_taken_the_place_of_the_port_file_stays() {
    let agent = Run::agent(
        "taken-place",
        &["-dev", "--port-file=port", "-pid-file=pid"],
    )
    .start()
    .ready();
    assert_eq!(names(&agent), ["pid", "port"]);
    let port = agent.folder().join("port");
    fs::remove_file(&port)
        .and_then(|()| fs::write(&port, "of another"))
        .expect("the folder can be written");
    let folder = agent.folder().to_owned();
    agent.signal("TERM");
    assert_eq!(agent.end().0, Some(1));
    let left = fs::read_to_string(folder.join("port"));
    assert_eq!(left.ok().as_deref(), Some("of another"));
    assert!(!folder.join("pid").exists());
}

#[test]
fn the_port_file_has_the_agents_of_all_datacenters() {
    let arguments = [
        "-dev",
        "--port-file=ports.json",
        "--agents=2",
        "--datacenters=dc1,zz,aa",
    ];
    let agent = Run::agent("datacenters", &arguments).start().ready();
    let line = fs::read_to_string(agent.folder().join("ports.json")).expect("it is written");
    let ports: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!(ports["agents"].as_array().map(Vec::len), Some(2));
    assert!(line.find("\"zz\"") < line.find("\"aa\""), "{line}");
    let there = ports["datacenters"]["zz"].as_array().expect("its agents");
    assert_eq!(there.len(), 2);
    for address in there {
        let address = address.as_str().expect("an address");
        std::net::TcpStream::connect(address).expect("the agent listens");
    }
}
