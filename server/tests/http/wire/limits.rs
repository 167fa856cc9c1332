//! Limits of sizes and connections (kv.md 2.2, 6.4, 7.1; 1.22.md A2, A6).

use std::io::{Read, Write};
use std::net::TcpStream;

use proconsul::Server;
use proconsul::Version;
use proconsul::config::{Config, Listener};
use proconsul::process::Address;

use crate::support::{Consul, Wire, request};

const LIMIT: usize = 524_288;

/// Sends a value in chunks.
fn put_chunked(wire: &mut Wire, target: &str, size: usize) -> u16 {
    let headers = ["Transfer-Encoding: chunked"];
    wire.send(&request("PUT", target, &headers, b""));
    let mut left = size;
    while left > 0 {
        let chunk = left.min(65_536);
        wire.send(format!("{chunk:x}\r\n").as_bytes());
        wire.send(&vec![b'x'; chunk]);
        wire.send(b"\r\n");
        left -= chunk;
    }
    wire.send(b"0\r\n\r\n");
    wire.answer().code()
}

/// A value that does not fit one entry of raft takes several indexes.
#[test]
fn a_value_takes_an_index_for_each_entry_that_it_fills() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", vec![b'x'; LIMIT]).is(200, "true");
    let size = 3 * LIMIT;
    assert_eq!(put_chunked(&mut consul.connect(), "/v1/kv/c", size), 200);
    let index = |target: &str| consul.get(target).index();
    assert_eq!(index("/v1/kv/a"), 9);
    assert_eq!(index("/v1/kv/c"), 9 + 4);
}

#[test]
fn limits_by_release() {
    let code = |version| put_chunked(&mut Consul::of(version).connect(), "/v1/kv/a", LIMIT + 2);
    assert_eq!(code(Version::new(1, 21, 9)), 200);
    let link = |version| {
        let consul = Consul::of(version);
        let mut wire = consul.connect();
        let headers = ["Content-Length: 600000"];
        wire.send(&request("PUT", "/v1/kv/b", &headers, b""));
        let text = wire.answer().text().to_owned();
        let (_, link) = text.split_once("See ").expect("a refusal has a link");
        link.to_owned()
    };
    let older = "https://www.consul.io/docs/agent/options.html#kv_max_value_size.";
    let newer = "https://www.consul.io/docs/agent/config/config-files#kv_max_value_size.";
    assert_eq!(link(Version::new(1, 11, 0)), older);
    assert_eq!(link(Version::new(1, 20, 0)), newer);
    let code = |version, count: usize| {
        let get = r#"{"KV":{"Verb":"get-tree","Key":"a"}}"#;
        let operations = vec![get; count].join(",");
        let answer = Consul::of(version).put("/v1/txn", format!("[{operations}]"));
        answer.code()
    };
    assert_eq!(code(Version::new(1, 13, 9), 65), 413);
    assert_eq!(code(Version::new(1, 14, 0), 128), 200);
}

#[test]
fn too_many_connections() {
    let answer = |version| {
        let consul = Consul::with(|config| {
            config.version = version;
            config.http_max_conns_per_client = 3;
        });
        // One is the test's own.
        let mut others = [consul.connect(), consul.connect()];
        for wire in &mut others {
            wire.send(&request("GET", "/v1/kv/a", &[], b""));
            assert_eq!(wire.answer().code(), 404);
        }
        let refused = consul.connect().rest();
        // A place that becomes free is given again.
        let [kept, mut leaving] = others;
        leaving.stop_sending();
        assert!(leaving.is_closed());
        let mut next = consul.connect();
        next.send(&request("GET", "/v1/kv/a", &[], b""));
        assert_eq!(next.answer().code(), 404);
        drop(kept);
        refused
    };
    assert_eq!(answer(Version::V1_8_7), b"");
    assert_eq!(
        String::from_utf8_lossy(&answer(Version::V1_22_0)),
        "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nContent-Length: 81\r\n\
        Connection: close\r\n\r\n\
        Your IP is issuing too many concurrent connections, please rate limit your calls\n"
    );
}

/// As in Consul, whose limit is the agent's, however many sockets it listens on.
#[test]
fn the_limit_of_connections_counts_all_sockets() {
    let any = Listener::Tcp(([127, 0, 0, 1], 0).into());
    let config = Config {
        listeners: vec![any.clone(), any],
        http_max_conns_per_client: 2,
        ..Config::default()
    };
    let server = Server::builder().config(config).start();
    let server = server.expect("two ports are free");
    let ask = |address: &Address| {
        let Address::Tcp(address) = address else {
            panic!("{address} is no port");
        };
        let mut stream = TcpStream::connect(address).expect("the server listens");
        let sent = stream.write_all(b"GET /v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n");
        sent.expect("the server reads");
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("the server answers");
        (String::from_utf8_lossy(&status).into_owned(), stream)
    };
    let [first, second] = server.addresses() else {
        panic!("the server has two sockets");
    };
    let kept = [ask(first), ask(second)];
    assert!(kept.iter().all(|(status, _)| status == "HTTP/1.1 404"));
    assert_eq!(ask(first).0, "HTTP/1.1 429");
    assert_eq!(ask(second).0, "HTTP/1.1 429");
}

#[test]
fn no_limit_of_connections() {
    let consul = Consul::with(|config| config.http_max_conns_per_client = 0);
    let wires: Vec<Wire> = (0..300).map(|_| consul.connect()).collect();
    for mut wire in wires {
        wire.send(&request("GET", "/v1/kv/a", &[], b""));
        assert_eq!(wire.answer().code(), 404);
    }
}
