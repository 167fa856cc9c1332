//! Bad input to the tool itself: a clear message and exit status 2, within seconds.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use proconsul_conformance::report::score::Score;
use proconsul_conformance::time::Stopwatch;

fn suite(arguments: &[&str]) -> Output {
    let watch = Stopwatch::start();
    let output = Command::new(env!("CARGO_BIN_EXE_proconsul-conformance"))
        .args(arguments)
        .env_remove("CONSUL_HTTP_ADDR")
        .env_remove("CONSUL_BIN")
        .output()
        .expect("the binary was built with this test");
    assert!(
        watch.elapsed() < Duration::from_secs(12),
        "{arguments:?} took too long"
    );
    output
}

#[track_caller]
fn refuses(arguments: &[&str], message: &str) {
    let output = suite(arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(
        text.contains(message),
        "{arguments:?}: no {message:?} in {text:?}"
    );
    assert!(!text.contains("panicked"), "{text}");
}

/// A server that answers the first connections with `answer` of the request line, and then is gone.
fn server(connections: usize, answer: fn(&str) -> String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener
        .local_addr()
        .expect("a bound listener has an address");
    thread::spawn(move || {
        for stream in listener.incoming().take(connections).flatten() {
            let mut stream = stream;
            let text = answer(&request_of(&mut stream));
            if stream.write_all(text.as_bytes()).is_err() {
                return;
            }
        }
    });
    address.to_string()
}

/// Reads head and body, so that closing the connection afterwards cuts nothing off.
fn request_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    if stream.read_exact(&mut body).is_err() {
        return String::new();
    }
    head
}

fn reply(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// What the probe asks, answered as a Consul does.
fn consul_like(request: &str) -> String {
    match request.split(' ').nth(1).unwrap_or_default() {
        "/v1/agent/self" => reply(200, r#"{"Config":{"Version":"1.8.7","NodeName":"n"}}"#),
        "/v1/session/create" => reply(500, "TTL '1', must be between [10s=24h0m0s]"),
        "/v1/status/peers" => reply(200, "[]"),
        _ => reply(404, ""),
    }
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has an address");
    drop(listener);
    let address = address.to_string();
    refuses(&["run", "--address", &address], "no server at 127.0.0.1:");
}

/// A server that has no leader when it is asked first, and then is a double that knows nothing: no claim holds of it.
#[test]
fn a_server_that_starts_is_waited_for() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let starting = |request: &str| match ASKED.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => reply(500, "No cluster leader"),
        _ => consul_like(request),
    };
    let address = server(usize::MAX, starting);
    refuses(
        &["run", "--address", &address, "status/leader"],
        "is not a Consul",
    );
    let waited = [
        "run",
        "--address",
        &address,
        "--wait",
        "60",
        "status/leader",
    ];
    let output = suite(&waited);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(ASKED.load(Ordering::SeqCst) > 2, "it was asked again");
}

/// What a double does not have is no mistake: the score says so, and is written in each form.
#[test]
fn an_endpoint_that_a_double_lacks_is_not_covered() {
    let address = server(usize::MAX, consul_like);
    let folder = std::env::temp_dir().join(format!("proconsul-score-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    let [json, badge] = ["score.json", "score.svg"].map(|name| folder.join(name));
    let [json, badge] = [&json, &badge].map(|file| file.to_str().expect("a path of ASCII"));
    let files = ["--json", json, "--badge", badge, "--name", "a double"];
    let only = ["score", &address, "--only", "status/leader"];
    let output = suite(&[&only[..], &files].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.starts_with("a double, held to Consul 1.8.7\ncovered: 0 of 3 cases"),
        "{text}"
    );
    assert!(
        text.contains("not covered 3: needs /v1/status/leader, which the target does not have"),
        "{text}"
    );
    let written = std::fs::read_to_string(json).expect("it was written");
    let score: Score = serde_json::from_str(&written).expect("a score");
    assert_eq!(format!("{score}\n"), text);
    let picture = std::fs::read_to_string(badge).expect("it was written");
    assert!(
        picture.contains(">none correct of 0.0 % covered<"),
        "{picture}"
    );
    std::fs::remove_dir_all(&folder).expect("its own folder");
}

/// A double that answers every path alike says nowhere what it is.
#[test]
fn a_double_that_does_not_say_its_release_is_held_to_one() {
    let canned = |request: &str| match request.starts_with("GET /v1/status/") {
        true => reply(200, "[]"),
        false => reply(404, ""),
    };
    let address = server(usize::MAX, canned);
    let score = ["score", &address, "--only", "status/leader"];
    refuses(
        &score,
        "GET /v1/agent/self answered 404 without a Config; `score --held-to VERSION` holds it to a release",
    );
    let output = suite(&[&score[..], &["--held-to", "1.22.0"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let first = format!("{address}, held to Consul 1.22.0\ncovered: 3 of 3 cases");
    assert!(text.starts_with(&first), "{text}");
    let unknown = [&score[..], &["--held-to", "soon"]].concat();
    refuses(&unknown, "`soon` is not a version");
}

#[test]
fn an_address_that_is_none() {
    refuses(&["run", "--address", "127.0.0.1"], "is not host:port");
    refuses(
        &["run", "--address", "https://127.0.0.1:1"],
        "scheme https:// is not supported",
    );
}

#[test]
fn a_server_that_is_not_a_consul() {
    let web = server(100, |_| reply(200, "<html>"));
    refuses(&["run", "--address", &web], "is not a Consul");
}

#[test]
fn a_server_that_dies_midway() {
    // The probe takes six connections; a few cases later the listener is gone.
    let mortal = server(12, consul_like);
    refuses(
        &["run", "--jobs", "1", "--address", &mortal, "kv/"],
        "died midway",
    );
}

#[test]
fn a_case_name_that_no_case_has() {
    refuses(&["run", "kv/gte"], "no case is called `kv/gte`");
    refuses(&["list", "kv/gte"], "no case is called `kv/gte`");
    refuses(&["run", "--skip", "nothing-like-it"], "no case is called");
}

#[test]
fn a_binary_that_does_not_serve() {
    refuses(
        &["run", "--consul", "/no/such/binary"],
        "cannot run /no/such/binary",
    );
    refuses(&["run", "--consul", "/bin/false"], "ended early");
}

#[test]
fn files_that_are_not_there_or_not_ours() {
    refuses(
        &["report", "/no/such.json", "--html", "/no/such.html"],
        "cannot read /no/such.json",
    );
    refuses(
        &["run", "--deviations", "/no/such.toml"],
        "cannot read /no/such.toml",
    );
}

/// A server of a release to come: held to what is known, or refused.
#[test]
fn a_server_that_is_newer_than_the_cases() {
    let newer = |request: &str| consul_like(request).replace("1.8.7", "2.0.0");
    let address = server(usize::MAX, newer);
    let why = "the target is 2.0.0, newer than what the cases know: it is held to what 1.22 does";
    let run = ["run", "--address", &address, "status/leader"];
    refuses(&[&run[..], &["--strict"]].concat(), why);
    let output = suite(&run);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("warning: {why}")), "{text}");
}

/// Recordings of another format: a sentence each.
#[test]
fn what_is_no_recording_is_not_replayed() {
    let name = format!("proconsul-cli-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let recordings = folder.join("1.8.7");
    std::fs::create_dir_all(recordings.join("status/leader")).expect("a folder can be made");
    let write = |file: &str, text: &str| {
        std::fs::write(recordings.join(file), text).expect("a file can be written");
    };
    let double = server(usize::MAX, consul_like);
    let from = recordings.display().to_string();
    let replay = ["replay", &from, "--address", &double, "status/leader"];
    let about =
        r#"{"version": "1.8.7", "build": "", "date": "", "dev": false, "shortest_ttl_ms": 10000"#;
    write("recorded.json", &format!("{about}, \"format\": 2}}"));
    refuses(&replay, "recorded.json: unknown field `format`");
    write("recorded.json", &format!("{about}}}"));
    let file = "status/leader/address-of-a-server.txt";
    write(file, "{\"format\": 2}\n");
    refuses(
        &replay,
        "address-of-a-server.txt is no recording: line 1 begins with neither",
    );
    std::fs::remove_dir_all(&folder).expect("it can be deleted");
}

#[test]
fn a_double_is_not_recorded() {
    let double = server(100, consul_like);
    refuses(&["record", "--address", &double], "is not recorded");
}

#[test]
fn the_list_names_ids_and_claims() {
    let output = suite(&["list", "kv/cas"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text.contains("kv/cas/zero-creates-only\n    cas=0 writes a missing key"),
        "{text}"
    );
    assert!(!text.contains("kv/get/"), "{text}");
}
