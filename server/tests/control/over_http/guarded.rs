//! Programs may call the control plane, and its own pages; pages from elsewhere may not.

use std::io::{Read, Write};
use std::net::SocketAddr;

use proconsul::Server;
use proconsul::config::{Config, Listener};

use crate::over_http::face::with_control_port;
use crate::support::{Answer, exchange, frozen, parse};

/// Where the control plane of a server listens.
pub(crate) fn control_address(server: &Server) -> SocketAddr {
    let url = server.control_url();
    let rest = url.strip_prefix("http://").expect("it is a URL");
    let (address, _) = rest.split_once('/').expect("it has a path");
    address.parse().expect("it has an address")
}

/// Sends a call with these header lines and no others, and a body that moves the clock.
fn send(address: SocketAddr, line: &str, headers: &[String], body: &str) -> Answer {
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    let text =
        format!("{line}\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    parse(&exchange(address, &text).expect("an answer comes"))
}

const ADVANCE: &str = "POST /proconsul/v1/clock/advance HTTP/1.1";
const BODY: &str = r#"{"by":"1s"}"#;

/// A server of each kind: with the control plane beside the API, and at a port of its own.
pub(crate) fn both() -> [Server; 2] {
    [frozen(), with_control_port()]
}

#[test]
fn a_page_from_elsewhere_is_refused_and_nothing_happens() {
    for server in both() {
        let address = control_address(&server);
        let own = format!("Host: {address}");
        let port = address.port();
        let json = "Content-Type: application/json";
        let cases: &[(&[&str], &str)] = &[
            (&["Host: evil.example"], "--allow-host=evil.example "),
            (&["Host: evil.example:8500"], "--allow-host=evil.example "),
            (
                &["Host: 127.0.0.1.evil.example"],
                "--allow-host=127.0.0.1.evil.example ",
            ),
            (
                &["Host: localhost.evil.example"],
                "--allow-host=localhost.evil.example ",
            ),
            (
                &["Host: evil.example", "Origin: http://evil.example", json],
                "--allow-host=evil.example ",
            ),
            (
                &[
                    &own,
                    "Origin: http://evil.example",
                    "Content-Type: text/plain",
                ],
                "--allow-host=evil.example ",
            ),
            (
                &[&own, "Origin: https://evil.example:8443", json],
                "--allow-host=evil.example ",
            ),
            (
                &[&own, "Origin: http://127.0.0.1:1", json],
                "--allow-host=127.0.0.1 ",
            ),
            (&[&own, "Origin: null", json], "--allow-host="),
        ];
        let before = (server.now(), server.history_text());
        for (headers, sentence) in cases {
            let headers: Vec<String> = headers.iter().map(|line| (*line).to_owned()).collect();
            for (line, body) in [
                (ADVANCE, BODY),
                ("DELETE /proconsul/v1/history HTTP/1.1", ""),
                ("GET /proconsul/v1/state HTTP/1.1", ""),
            ] {
                let answer = send(address, line, &headers, body);
                assert_eq!(
                    answer.status, 403,
                    "{line} {headers:?} at {port}: {}",
                    answer.body
                );
                assert!(answer.body.contains(sentence), "{}", answer.body);
                assert!(!answer.body.contains("index"), "{}", answer.body);
            }
        }
        assert_eq!((server.now(), server.history_text()), before);
    }
}

#[test]
fn programs_notice_nothing() {
    for server in both() {
        let address = control_address(&server);
        let port = address.port();
        for host in [
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
            format!("consul:{port}"),
            "10.1.2.3".to_owned(),
            "x".to_owned(),
            "one.localhost".to_owned(),
            "host.docker.internal:8500".to_owned(),
        ] {
            // As curl -d sends it.
            let form = "Content-Type: application/x-www-form-urlencoded".to_owned();
            let answer = send(address, ADVANCE, &[format!("Host: {host}"), form], BODY);
            assert_eq!(answer.status, 200, "{host}: {}", answer.body);
        }
        let old = send(address, "GET /proconsul/v1/clock HTTP/1.0", &[], "");
        assert_eq!(old.status, 200, "{}", old.body);
    }
}

#[test]
fn a_page_of_the_server_itself_sends_json() {
    for server in both() {
        let address = control_address(&server);
        let own = [
            format!("Host: {address}"),
            format!("Origin: http://{address}"),
        ];
        let with = |kind: &str| {
            let mut headers = own.to_vec();
            headers.push(format!("Content-Type: {kind}"));
            send(address, ADVANCE, &headers, BODY)
        };
        let done = with("application/json; charset=utf-8");
        assert_eq!(done.status, 200, "{}", done.body);
        assert!(
            !done.head.to_lowercase().contains("access-control"),
            "{}",
            done.head
        );
        let simple = with("text/plain");
        assert_eq!(simple.status, 415, "{}", simple.body);
        assert!(simple.body.contains("application/json"), "{}", simple.body);
        let read = send(address, "GET /proconsul/v1/clock HTTP/1.1", &own, "");
        assert_eq!(read.status, 200, "{}", read.body);
    }
}

#[test]
fn a_host_can_be_allowed() {
    for control_port in [None, Some(0)] {
        let config = Config {
            allow_hosts: vec!["Consul.example".to_owned()],
            control_port,
            ..Config::default()
        };
        let server = Server::builder().config(config).frozen().start();
        let server = server.expect("free ports");
        let address = control_address(&server);
        for (headers, status) in [
            (&["Host: consul.example:8500"][..], 200),
            (
                &["Host: consul.EXAMPLE", "Origin: http://consul.example:3000"],
                200,
            ),
            (&["Host: other.example"], 403),
            (&["Host: sub.consul.example"], 403),
            (
                &["Host: consul.example", "Origin: http://other.example"],
                403,
            ),
        ] {
            let headers: Vec<String> = headers.iter().map(|line| (*line).to_owned()).collect();
            let answer = send(address, "GET /proconsul/v1/clock HTTP/1.1", &headers, "");
            assert_eq!(answer.status, status, "{headers:?}: {}", answer.body);
        }
    }
}

#[test]
fn no_page_reaches_a_socket_at_a_path() {
    let path = std::env::temp_dir().join(format!("proconsul-guarded-{}", std::process::id()));
    let config = Config {
        listeners: vec![Listener::Unix(path.clone())],
        ..Config::default()
    };
    let _server = Server::builder().config(config).start().expect("a socket");
    let mut connection = std::os::unix::net::UnixStream::connect(&path).expect("it listens");
    let request =
        "GET /proconsul/v1/clock HTTP/1.1\r\nHost: some.socket\r\nConnection: close\r\n\r\n";
    connection.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Consul looks at neither header.
#[test]
fn consuls_own_api_is_as_open_as_consuls() {
    let server = frozen();
    let headers = [
        "Host: evil.example".to_owned(),
        "Origin: http://evil.example".to_owned(),
    ];
    let answer = send(server.addr(), "PUT /v1/kv/k HTTP/1.1", &headers, "x");
    assert_eq!((answer.status, answer.body.as_str()), (200, "true"));
}
