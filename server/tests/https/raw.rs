//! Bytes: the same as over HTTP, and those before there is TLS.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use proconsul::Version;
use proconsul::config::Config;
use proconsul::control::BlockedOn;
use proconsul::{Builder, Server};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const PATIENCE: Duration = Duration::from_secs(20);

/// The first message of a client of TLS 1.2: ECDHE with ECDSA, the group P-256.
const HELLO: &[u8] = &[
    22, 3, 1, 0, 75, 1, 0, 0, 71, 3, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0, 4, 0xc0, 0x2b, 0xc0, 0x2c, 1, 0, 0, 26, 0, 10, 0, 4,
    0, 2, 0, 23, 0, 11, 0, 2, 1, 0, 0, 13, 0, 8, 0, 6, 4, 3, 5, 3, 8, 7,
];

type Tls = StreamOwned<ClientConnection, TcpStream>;

fn start(builder: Builder) -> Server {
    builder.https().start().expect("a port is free")
}

fn https_address(server: &Server) -> String {
    server.https_url().replace("https://", "")
}

/// Connects to the port of HTTPS without TLS.
fn plain(server: &Server) -> TcpStream {
    let socket = TcpStream::connect(https_address(server)).expect("the server listens");
    let set = socket.set_read_timeout(Some(PATIENCE));
    set.expect("a timeout can be set");
    socket
}

fn tls(server: &Server) -> Tls {
    tls_offering(server, &[])
}

/// Speaks TLS, and offers these protocols.
fn tls_offering(server: &Server, protocols: &[&str]) -> Tls {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(server.ca_pem().as_bytes());
    let added = roots.add(authority.expect("it is a PEM"));
    added.expect("it is a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has cipher suites for them")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    let name = ServerName::try_from("localhost").expect("it is a name");
    let connection = ClientConnection::new(Arc::new(config), name);
    StreamOwned::new(connection.expect("the settings fit"), plain(server))
}

/// Sends requests at once, and reads to the end. The date is left out of what is returned.
fn exchange(mut stream: impl Read + Write, requests: &[u8]) -> String {
    // A server that refuses a request need not read the rest.
    let _ = stream.write_all(requests).and_then(|()| stream.flush());
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    read.expect("the end of the connection is said");
    let text = String::from_utf8_lossy(&answer);
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("Date: ")).collect()
}

#[test]
fn a_request_is_answered_byte_for_byte_as_over_http() {
    let large = vec![b'x'; 300_000];
    let mut put =
        b"PUT /v1/kv/large HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n".to_vec();
    put.extend_from_slice(&large);
    put.extend_from_slice(b"GET /v1/kv/large?raw HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let mut too_large =
        b"PUT /v1/kv/k HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n".to_vec();
    too_large.extend_from_slice(&[b'x'; 600_000]);
    let rows: Vec<Vec<u8>> = [
        "GET /v1/kv/none HTTP/1.0\r\n\r\n",
        "HEAD /v1/status/leader HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "PUT /v1/kv/k HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nvGET /v1/kv/k?pretty HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "PUT /v1/kv/k HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "PUT /v1/kv/k HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\nConnection: close\r\n\r\nv",
        "PUT /v1/session/create HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "GET /v1/agent/self HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "rubbish\r\n\r\n",
        "GET /v1/kv/a\r\n",
    ]
    .into_iter()
    .map(|row| row.as_bytes().to_vec())
    .chain([put, too_large])
    .collect();
    for row in rows {
        let server = || {
            let config = Config {
                node_name: "n".to_owned(),
                ..Config::default()
            };
            start(Server::builder().config(config).seed(7).frozen())
        };
        let (first, second) = (server(), server());
        let http = TcpStream::connect(first.addr()).expect("the server listens");
        let (http, https) = (exchange(http, &row), exchange(tls(&second), &row));
        let port = |server: &Server, text: String| {
            let https = https_address(server).replace("127.0.0.1:", "");
            let http = server.addr().port().to_string();
            text.replace(&https, "HTTPS").replace(&http, "HTTP")
        };
        let head = String::from_utf8_lossy(&row[..row.len().min(60)]).into_owned();
        assert!(!http.is_empty(), "{head}");
        assert!(port(&first, http) == port(&second, https), "{head}");
    }
}

#[test]
fn a_wait_ends_when_its_client_goes() {
    let server = start(Server::builder().frozen());
    let mut client = tls(&server);
    // Nothing has touched keys since the start, whose index is not zero.
    let wait = b"GET /v1/kv/k?index=1&wait=60s HTTP/1.1\r\nHost: a\r\n\r\n";
    client.write_all(wait).expect("it is read");
    let blocked = server.wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE);
    assert_eq!(blocked.expect("it waits").len(), 1);
    // Only the layer of TLS says that it has gone; the socket stays.
    client.conn.send_close_notify();
    client.flush().expect("it is read");
    server.wait_idle(PATIENCE).expect("the request has ended");
}

/// As Consul answers half-closed clients where no test controls it.
#[test]
fn a_half_closed_client_is_answered_where_no_test_looks() {
    let config = Config {
        control: false,
        ..Config::default()
    };
    let server = start(Server::builder().config(config));
    let mut client = tls(&server);
    let request = b"GET /v1/status/leader HTTP/1.1\r\nHost: a\r\n\r\n";
    client.write_all(request).expect("it is read");
    client.conn.send_close_notify();
    client.flush().expect("it is read");
    client
        .sock
        .shutdown(Shutdown::Write)
        .expect("the connection is open");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("the end is said");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn plain_http_gets_the_answer_of_go() {
    let server = start(Server::builder());
    for request in [
        "GET /v1/kv/k HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /v1/kv/k HTTP/1.1\r\n\r\n",
        "HEAD / HTTP/1.0\r\n\r\n",
    ] {
        let answer = exchange(plain(&server), request.as_bytes());
        let expected =
            "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
        assert_eq!(answer, expected, "{request}");
    }
}

#[test]
fn what_is_neither_tls_nor_http_is_not_answered() {
    let server = start(Server::builder());
    for bytes in ["DELETE / HTTP/1.1\r\n\r\n", "rubbish and more", "x"] {
        let mut client = plain(&server);
        client.write_all(bytes.as_bytes()).expect("it is read");
        let mut answer = Vec::new();
        // Bytes that were not read end the connection with a reset, which may have come already.
        let _ = client.shutdown(Shutdown::Write);
        let _ = client.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{bytes}");
    }
}

/// Observed on 1.8.7: the alert `protocol_version`.
#[test]
fn tls_1_1_is_refused() {
    let server = start(Server::builder());
    let mut hello = vec![22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0, 47, 1, 0]);
    let mut client = plain(&server);
    client.write_all(&hello).expect("it is read");
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    assert_eq!(answer, [21, 3, 1, 0, 2, 2, 70]);
}

fn of(version: Version) -> Config {
    Config {
        version,
        ..Config::default()
    }
}

/// Observed on 1.8.7, which serves it, and on 1.22: the alert `no_application_protocol`.
#[test]
fn a_client_of_other_protocols_is_served_by_early_releases() {
    for (version, is_served) in [(Version::V1_8_7, true), (Version::V1_22_0, false)] {
        let server = start(Server::builder().config(of(version)));
        let mut client = tls_offering(&server, &["foo"]);
        let sent = client.write_all(b"GET /v1/status/leader HTTP/1.0\r\n\r\n");
        if is_served {
            sent.expect("there is a handshake");
            let mut answer = Vec::new();
            client.read_to_end(&mut answer).expect("the end is said");
            assert!(answer.starts_with(b"HTTP/1.0 200 OK\r\n"));
        } else {
            let refused = sent.expect_err("there is no handshake").to_string();
            assert!(refused.contains("NoApplicationProtocol"), "{refused}");
        }
    }
}

/// Observed on 1.22; 1.8.7 has no certificate to show.
#[test]
fn a_late_dev_agent_has_a_certificate_of_its_own() {
    for (version, is_served) in [(Version::V1_8_7, false), (Version::V1_22_0, true)] {
        let mut config = Config::dev();
        config.https.listeners = Config::default().listeners;
        config.version = version;
        let server = Server::builder().config(config).start();
        let server = server.expect("a port is free");
        let mut client = plain(&server);
        // The beginning of a handshake in TLS 1.2 with one cipher suite and one group.
        client.write_all(HELLO).expect("it is read");
        let mut answer = [0];
        client.read_exact(&mut answer).expect("it is answered");
        assert_eq!(answer[0] == 22, is_served, "a handshake or an alert");
    }
}

#[test]
fn a_server_that_was_restarted_serves_https_at_its_port() {
    let server = start(Server::builder());
    let restarted = server.restart(proconsul::control::Restart::KeepState);
    restarted.expect("the ports are its own");
    let answer = exchange(tls(&server), b"GET /v1/status/leader HTTP/1.0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"), "{answer}");
}
