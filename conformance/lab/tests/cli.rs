//! Bad input to the tool itself: a clear message and exit status 2, within seconds.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use proconsul_conformance::time::Stopwatch;

fn lab(arguments: &[&str]) -> Output {
    let watch = Stopwatch::start();
    let output = Command::new(env!("CARGO_BIN_EXE_proconsul-lab"))
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
    let output = lab(arguments);
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

#[test]
fn shadow_says_what_it_cannot_stand_between() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = nobody.local_addr().expect("it is bound").to_string();
    let shadow = |arguments: &[&'static str], real: &str, listen: &str, message: &str| {
        let all = [&["shadow", "--real", real, "--listen", listen], arguments].concat();
        refuses(&all, message);
    };
    shadow(
        &[],
        "127.0.0.1:1",
        "127.0.0.1:0",
        "no server at 127.0.0.1:1",
    );
    shadow(
        &[],
        "127.0.0.1:1",
        &taken,
        &format!("cannot listen on {taken}"),
    );
    shadow(
        &[],
        "127.0.0.1:1,127.0.0.1:2",
        "127.0.0.1:0",
        "--listen has 1 addresses and --real has 2: each agent needs one of its own",
    );
    shadow(&[], "nonsense", "127.0.0.1:0", "is not host:port");
    shadow(&["--for", "soon"], &taken, "127.0.0.1:0", "is no duration");
    let strict = server(1, |_| {
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned()
    });
    shadow(
        &[],
        &strict,
        "127.0.0.1:0",
        "shadow needs a management token",
    );
    let web = server(1, |_| {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}".to_owned()
    });
    shadow(&[], &web, "127.0.0.1:0", "is not a Consul");
    let unknown = server(1, |_| {
        let body = r#"{"Config":{"Version":"9.9.9"}}"#;
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
    });
    // A binary that refuses the version, as proconsul does.
    shadow(
        &["--emulator", "/bin/false"],
        &unknown,
        "127.0.0.1:0",
        "consul ended early",
    );
}
