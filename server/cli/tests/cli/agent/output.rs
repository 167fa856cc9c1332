//! What the binary prints: versions, help, refusals, the banner and the log.

use std::net::TcpListener;
use std::os::unix::net::UnixStream;

use crate::agent::{Run, request};

#[test]
fn the_version_is_consuls_on_the_first_line_and_the_truth_on_the_next() {
    for run in [
        Run::verb("version", &["version"]),
        Run::verb("version-flag", &["--version"]),
        Run::as_consul("version-consul", &["version"]),
    ] {
        let ended = run.output();
        let lines: Vec<&str> = ended.stdout.lines().collect();
        assert_eq!((ended.code, lines[0]), (Some(0), "Consul v2.1.0"));
        assert!(
            lines[1].starts_with("proconsul ") && lines[1].contains("stand-in"),
            "{}",
            lines[1]
        );
        assert!(lines[2].starts_with("2.1.0 is known from public texts"));
    }
}

#[test]
fn the_version_in_json_is_that_which_is_emulated() {
    let ended = Run::as_consul("version-json", &["version", "-format=json"]).output();
    assert!(
        ended.stdout.starts_with("{\n   \"Version\": \"2.1.0\",\n"),
        "{}",
        ended.stdout
    );
    let ended = Run::verb(
        "version-old",
        &["version", "-format", "json", "--as-version", "1.8"],
    )
    .output();
    assert!(
        ended.stdout.starts_with("{\n   \"Version\": \"1.8.7\",\n"),
        "{}",
        ended.stdout
    );
    let variable =
        Run::verb("version-variable", &["version"]).variable("PROCONSUL_AS_VERSION", "1.16.4");
    assert!(variable.output().stdout.starts_with("Consul v1.16.4\n"));
    assert_eq!(
        Run::verb("version-xml", &["version", "-format=xml"]).refusal(),
        "Unknown format: xml\n"
    );
}

#[test]
fn what_is_no_verb_gets_the_help_and_exit_code_127() {
    for (name, arguments) in [
        ("no-verb", &[][..]),
        ("bad-verb", &["nosuch"]),
        ("help-verb", &["help"]),
    ] {
        let ended = Run::as_consul(name, arguments).output();
        assert_eq!((ended.code, &ended.stdout[..]), (Some(127), ""));
        assert!(
            ended
                .stderr
                .starts_with("Usage: consul [--version] [--help] <command> [<args>]\n"),
            "{}",
            ended.stderr
        );
    }
    let refused = Run::verb("missing-verb", &["monitor"]).refusal();
    assert!(
        refused.starts_with("proconsul monitor: proconsul does not have this verb of Consul's."),
        "{refused}"
    );
}

/// Observed on 1.8.7.
#[test]
fn help_that_is_asked_for_is_no_failure() {
    let asked: [(&str, &[&str], &str); 6] = [
        ("help-short", &["-h"], "[--version] [--help] <command>"),
        ("help-long", &["--help"], "[--version] [--help] <command>"),
        ("help-group", &["kv", "-help"], "kv <subcommand> [options]"),
        ("help-late", &["kv", "x", "-h"], "kv <subcommand> [options]"),
        ("help-two-words", &["kv", "get", "-h"], "kv get [options]"),
        ("help-version", &["version", "-h"], "version [options]"),
    ];
    for (name, arguments, usage) in asked {
        let ended = Run::verb(name, arguments).output();
        assert_eq!((ended.code, &ended.stderr[..]), (Some(0), ""), "{name}");
        let usage = format!("Usage: proconsul {usage}");
        assert!(ended.stdout.starts_with(&usage), "{}", ended.stdout);
    }
    let unasked: [(&str, &[&str]); 2] = [("group", &["kv"]), ("group-end", &["kv", "--", "-h"])];
    for (name, arguments) in unasked {
        let refused = Run::verb(name, arguments).refusal();
        assert!(refused.starts_with("Usage: proconsul kv <subcommand>"));
    }
}

/// Those of Consul are in Consul's own documentation.
#[test]
fn the_book_names_each_flag_that_consul_does_not_have() {
    let book = include_str!("../../../../../docs/src/agent.md");
    let help = Run::agent("help-own", &["-h"]).output().stdout;
    let lines: Vec<&str> = help.lines().collect();
    let own = lines
        .windows(2)
        .filter(|pair| pair[1].ends_with("(proconsul only)."));
    let own = own.map(|pair| pair[0].trim().split('=').next().unwrap_or_default());
    let own: Vec<&str> = own.collect();
    assert!(own.len() > 10, "{help}");
    for flag in own {
        assert!(book.contains(&format!("`-{flag}")), "{flag}");
    }
}

#[test]
fn the_help_of_the_agent_lists_its_flags() {
    let ended = Run::agent("help", &["-h"]).output();
    assert_eq!((ended.code, &ended.stderr[..]), (Some(0), ""));
    assert!(
        ended
            .stdout
            .starts_with("Usage: proconsul agent [options]\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("\n  -http-port=<value>\n     "),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_bad_flag_is_refused_three_times_as_in_consul() {
    let refused = Run::agent("bad-flag", &["-dev", "-nope"]).refusal();
    assert!(
        refused.starts_with("flag provided but not defined: -nope\nUsage:\n  -acl value\n    \t"),
        "{refused}"
    );
    assert!(
        refused.ends_with("\n==> error parsing flags: flag provided but not defined: -nope\n"),
        "{refused}"
    );
}

#[test]
fn arguments_that_are_no_flags_are_refused() {
    let refused = Run::agent("extra", &["-dev", "true", "-node", "a"]).refusal();
    assert_eq!(refused, "==> Unexpected extra arguments: [true -node a]\n");
}

#[test]
fn the_log_has_consuls_lines_in_consuls_order() {
    let mut agent = Run::agent("log", &["-dev", "-node=n"])
        .at_a_free_port()
        .start();
    agent.wait_for("Synced node info");
    let log = agent.log();
    let address = agent.address();
    let expected = [
        "==> Starting Consul agent...".to_owned(),
        "Version: '2.1.0'".to_owned(),
        "==> Log data will now stream in as it occurs:".to_owned(),
        format!("[INFO]  agent: Starting server: address={address} network=tcp protocol=http"),
        "[INFO]  agent: Consul agent running!".to_owned(),
        "[INFO]  agent.server: New leader elected: payload=n".to_owned(),
        "[INFO]  agent: Synced node info".to_owned(),
    ];
    let mut lines = log.lines();
    for expected in &expected {
        assert!(
            lines.any(|line| line.ends_with(expected)),
            "{expected:?} comes in this order in\n{log}"
        );
    }
    assert!(
        log.lines()
            .last()
            .is_some_and(|line| line.starts_with("20")),
        "lines are not indented: {log}"
    );
}

#[test]
fn an_old_version_says_outside_of_its_log_that_it_runs() {
    let arguments = ["-dev", "--as-version", "1.8.7", "-log-level=err"];
    let mut agent = Run::agent("log-old", &arguments).at_a_free_port().start();
    assert_eq!(
        agent.wait_for("Consul agent running!"),
        "==> Consul agent running!"
    );
    assert!(
        !agent.log().contains("[INFO]"),
        "the level hides the other lines: {}",
        agent.log()
    );
    assert!(
        agent.log().contains("\n           Version: '1.8.7'\n"),
        "{}",
        agent.log()
    );

    let mut agent = Run::agent("log-old-info", &["-dev", "--as-version=1.8.7"])
        .at_a_free_port()
        .start();
    let line = agent.wait_for("Started HTTP server");
    assert!(
        line.starts_with("    20") && line.ends_with(" network=tcp"),
        "{line:?}"
    );
}

#[test]
fn a_port_in_use_is_refused_in_consuls_words() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = other
        .local_addr()
        .expect("a bound listener has an address")
        .port();
    let agent = Run::agent(
        "in-use",
        &["-dev", &format!("-http-port={port}"), "-log-level=err"],
    )
    .start();
    let (code, log) = agent.end();
    assert_eq!(code, Some(1));
    let expected = format!(
        "[ERROR] agent: Error starting agent: error=\"listen tcp 127.0.0.1:{port}: bind: address already in use\""
    );
    assert!(
        log.lines()
            .last()
            .is_some_and(|line| line.ends_with(&expected)),
        "{log}"
    );
    assert!(!log.contains("running"), "{log}");
}

#[test]
fn a_port_of_0_or_less_turns_http_off() {
    for port in ["0", "-1"] {
        let run = Run::agent(
            &format!("off{port}"),
            &["-dev", &format!("-http-port={port}")],
        );
        let agent = run.start().ready();
        assert!(agent.log().contains("(HTTP: -1, "), "{}", agent.log());
        assert!(!agent.log().contains("Starting server"), "{}", agent.log());
    }
}

#[test]
fn a_free_port_is_printed_before_the_agent_runs() {
    let mut agent = Run::agent("free-port", &["-dev", "--http-port-ephemeral"])
        .start()
        .ready();
    assert_eq!(agent.get("/v1/status/leader").trim(), "\"127.0.0.1:8300\"");
}

#[test]
fn a_free_control_port_is_printed_wherever_http_is_served() {
    let arguments = ["-dev", "-http-port=0", "--control-port=0"];
    let mut agent = Run::agent("free-control-port", &arguments).start();
    let line = agent.wait_for("{\"");
    assert!(line.starts_with("{\"control\":\"127.0.0.1:"), "{line}");
    assert!(line.ends_with(",\"http\":null}"), "{line}");
}

#[test]
fn a_file_that_cannot_be_written_is_refused() {
    for (name, arguments, text) in [
        (
            "bad-pid",
            ["-pid-file", "no/pid"],
            "Could not open pid file: open no/pid: no such file or directory",
        ),
        (
            "bad-port",
            ["-port-file", "no/port"],
            "-port-file: no/port: no such file or directory",
        ),
    ] {
        let run = Run::agent(name, &[&["-dev"], &arguments[..]].concat()).at_a_free_port();
        let (code, log) = run.start().end();
        assert_eq!(code, Some(1));
        assert!(
            log.contains(&format!(
                "[ERROR] agent: Error starting agent: error=\"{text}\""
            )),
            "{log}"
        );
        assert!(!log.contains("agent running"), "{log}");
    }
}

#[test]
fn a_policy_that_is_none_ends_the_start_in_the_log() {
    let run = Run::agent(
        "policy",
        &["-dev", "-hcl", "acl { default_policy = \"bogus\" }"],
    );
    let (code, log) = run.at_a_free_port().start().end();
    let text = "error=\"Failed to start Consul server: Unsupported default ACL policy: bogus\"";
    assert!(code == Some(1) && log.contains(text), "{log}");
}

#[test]
fn http_is_served_at_a_unix_socket() {
    let hcl = "addresses { http = \"unix://http.sock\" }";
    let run = Run::agent("unix", &["-dev", "-hcl", hcl]).file("http.sock", "left by another");
    let mut agent = run.start().ready();
    assert!(
        agent
            .wait_for("Starting server")
            .ends_with("address=http.sock network=unix protocol=http")
    );
    let mut connection =
        UnixStream::connect(agent.folder().join("http.sock")).expect("the agent listens");
    let (status, body) = request(&mut connection, "GET", "/v1/status/leader", "");
    assert_eq!(
        (&status[..], body.trim()),
        ("HTTP/1.0 200 OK", "\"127.0.0.1:8300\"")
    );
    let socket = agent.folder().join("http.sock");
    agent.signal("INT");
    assert_eq!(agent.end().0, Some(1));
    assert!(!socket.exists(), "the socket goes away with the agent");
}

#[test]
fn the_same_seed_gives_the_same_ids() {
    let ids = |name: &str, seed: &str| {
        let mut agent = Run::agent(name, &["-dev", "--seed", seed])
            .at_a_free_port()
            .start()
            .ready();
        let node = agent.wait_for("Node ID: ");
        (node, agent.put("/v1/session/create", ""))
    };
    let mut agents = ["none-a", "none-b"].map(|name| {
        let run = Run::agent(&format!("seed-{name}"), &["-dev"]);
        run.at_a_free_port().start().ready()
    });
    let fresh = agents.each_mut().map(|agent| {
        let node = agent.wait_for("Node ID: ");
        (node, agent.put("/v1/session/create", ""))
    });
    assert_ne!(
        fresh[0].0, fresh[1].0,
        "F11: each start has its own node id"
    );
    assert_ne!(
        fresh[0].1, fresh[1].1,
        "F11: each start has its own sessions"
    );
    assert_eq!(ids("seed-a", "7"), ids("seed-b", "7"));
    assert_ne!(ids("seed-c", "7").1, ids("seed-d", "8").1);
    assert_ne!(ids("seed-e", "7").0, ids("seed-f", "8").0);
}
