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

/// The text of a refusal that only the head of its request is needed for. The body has to follow nevertheless, if Go's
/// server is to read it before it answers.
fn refusal(consul: &Consul, target: &str, length: usize) -> String {
    let mut wire = consul.connect();
    let headers = [format!("Content-Length: {length}")];
    let headers = headers.each_ref().map(String::as_str);
    wire.send(&request("PUT", target, &headers, b""));
    if length < 256 * 1024 {
        wire.send(&vec![b'x'; length]);
    }
    let answer = wire.answer();
    assert_eq!(answer.code(), 413);
    answer.text().to_owned()
}

// trap: kv 26
#[test]
fn until_1_21_only_the_announced_length_of_a_value_is_limited() {
    let consul = Consul::v1_8();
    let large = vec![b'x'; LIMIT];
    consul.put("/v1/kv/a", &large).is(200, "true");
    let text = "Request body(524289 bytes) too large, max size: 524288 bytes. \
        See https://www.consul.io/docs/agent/options.html#kv_max_value_size.";
    assert_eq!(refusal(&consul, "/v1/kv/b", 524289), text);
    consul.get("/v1/kv/b").is(404, "");
    let size = 3 * LIMIT;
    assert_eq!(put_chunked(&mut consul.connect(), "/v1/kv/c", size), 200);
    assert_eq!(consul.get("/v1/kv/c?raw").body.len(), size);
    // A value that does not fit one entry of raft takes several indexes.
    let index = |target: &str| consul.get(target).index();
    assert_eq!(index("/v1/kv/a"), 9);
    assert_eq!(index("/v1/kv/c"), 9 + 4);
}

#[test]
fn since_1_22_chunked_values_are_limited_one_byte_more_generously() {
    let consul = Consul::v1_22();
    let mut wire = consul.connect();
    assert_eq!(put_chunked(&mut wire, "/v1/kv/a", LIMIT + 1), 200);
    assert_eq!(consul.get("/v1/kv/a?raw").body.len(), LIMIT + 1);
    wire.send(&request(
        "PUT",
        "/v1/kv/b",
        &["Transfer-Encoding: chunked"],
        b"",
    ));
    wire.send(format!("{:x}\r\n", LIMIT + 2).as_bytes());
    wire.send(&vec![b'x'; LIMIT + 2]);
    wire.send(b"\r\n0\r\n\r\n");
    let answer = wire.answer();
    answer.is(413, "Request body too large. Max allowed is 524288 bytes.");
    consul.get("/v1/kv/b").is(404, "");
    let code = |version| put_chunked(&mut Consul::of(version).connect(), "/v1/kv/a", LIMIT + 2);
    assert_eq!(code(Version::new(1, 21, 9)), 200);
}

#[test]
fn the_links_of_refusals() {
    for (version, link) in [
        (
            Version::V1_8_7,
            "https://www.consul.io/docs/agent/options.html",
        ),
        (
            Version::new(1, 11, 0),
            "https://www.consul.io/docs/agent/options.html",
        ),
        (
            Version::new(1, 12, 0),
            "https://www.consul.io/docs/agent/config/config-files",
        ),
        (
            Version::new(1, 20, 0),
            "https://www.consul.io/docs/agent/config/config-files",
        ),
        (
            Version::V1_22_0,
            "https://developer.hashicorp.com/docs/agent/config/config-files",
        ),
    ] {
        let consul = Consul::of(version);
        for (target, setting) in [
            ("/v1/kv/b", "kv_max_value_size"),
            ("/v1/txn", "txn_max_req_len"),
        ] {
            assert_eq!(
                refusal(&consul, target, 600000),
                format!(
                    "Request body(600000 bytes) too large, max size: 524288 bytes. See {link}#{setting}."
                )
            );
        }
    }
}

#[test]
fn the_limits_can_be_set() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::with(|config| {
            config.version = version;
            config.kv_max_value_size = 1000;
            config.txn_max_req_len = 2000;
        });
        consul.put("/v1/kv/a", vec![b'x'; 1000]).is(200, "true");
        assert!(refusal(&consul, "/v1/kv/a", 1001).contains("max size: 1000 bytes"));
        // The larger of the two holds for transactions.
        assert!(refusal(&consul, "/v1/txn", 2001).contains("max size: 2000 bytes"));
        let value = "eHh4".repeat(334);
        let set = format!(r#"[{{"KV":{{"Verb":"set","Key":"t\"q","Value":"{value}"}}}}]"#);
        let answer = consul.put("/v1/txn", &set);
        answer.is(
            413,
            r#"Value for key "t\"q" is too large (1002 > 1000 bytes)"#,
        );
        consul.get("/v1/kv/?keys").is(200, r#"["a"]"#);
    }
}

#[test]
fn a_refusal_comes_before_the_body_and_instead_of_a_continue() {
    for consul in Consul::both() {
        let mut wire = consul.connect();
        let headers = ["Content-Length: 600000", "Expect: 100-continue"];
        wire.send(&request("PUT", "/v1/kv/a", &headers, b""));
        assert_eq!(wire.answer().code(), 413);
    }
}

#[test]
fn a_chunked_transaction_is_limited() {
    for consul in Consul::both() {
        let mut wire = consul.connect();
        wire.send(&request(
            "PUT",
            "/v1/txn",
            &["Transfer-Encoding: chunked"],
            b"",
        ));
        wire.send(format!("{:x}\r\n", LIMIT + 1).as_bytes());
        wire.send(&vec![b' '; LIMIT + 1]);
        let answer = wire.answer();
        assert_eq!(answer.code(), 413);
        let start = "Request body too large, max size: 524288 bytes. See https://";
        assert!(answer.text().starts_with(start), "{}", answer.text());
    }
}

#[test]
fn how_many_operations_a_transaction_has() {
    let text = |version, count: usize| {
        let get = r#"{"KV":{"Verb":"get-tree","Key":"a"}}"#;
        let operations = vec![get; count].join(",");
        let answer = Consul::of(version).put("/v1/txn", format!("[{operations}]"));
        (answer.code(), answer.text().to_owned())
    };
    let refused = |text: &str| (413, text.to_owned());
    assert_eq!(text(Version::V1_8_7, 64).0, 200);
    assert_eq!(
        text(Version::V1_8_7, 65),
        refused("Transaction contains too many operations (65 > 64)")
    );
    assert_eq!(text(Version::new(1, 13, 9), 65).0, 413);
    assert_eq!(text(Version::new(1, 14, 0), 128).0, 200);
    assert_eq!(
        text(Version::V1_22_0, 129),
        refused("Transaction contains too many operations (129 > 128)")
    );
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
