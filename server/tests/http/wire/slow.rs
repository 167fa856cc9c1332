//! Requests that arrive in pieces, and clients that wait to be asked for a body.

use crate::support::{Consul, Wire, request};

/// Sends bytes one by one; the server has seen each before the next.
fn trickle(consul: &Consul, bytes: &[u8], seen: impl Fn(usize)) {
    let mut wire = consul.connect();
    for (position, byte) in bytes.iter().enumerate() {
        seen(position);
        wire.send(&[*byte]);
        consul.get("/v1/status/leader");
    }
    assert_eq!(wire.answer().code(), 200);
}

#[test]
fn byte_by_byte() {
    for consul in Consul::both() {
        let bytes = request("PUT", "/v1/kv/a", &["X-Header: value"], b"value");
        trickle(&consul, &bytes, |_| {
            consul.get("/v1/kv/a").is(404, "");
        });
        consul.get("/v1/kv/a?raw").is(200, "value");
        let chunked = b"PUT /v1/kv/b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        trickle(&consul, chunked, |_| {
            consul.get("/v1/kv/b").is(404, "");
        });
        consul.get("/v1/kv/b?raw").is(200, "abcde");
        let set = br#"[{"KV":{"Verb":"set","Key":"c"}}]"#;
        trickle(&consul, &request("PUT", "/v1/txn", &[], set), |_| {
            consul.get("/v1/kv/c").is(404, "");
        });
        trickle(
            &consul,
            &request("PUT", "/v1/session/create", &[], br#"{"Name":"s"}"#),
            |_| {
                consul.get("/v1/session/list").is(200, "[]");
            },
        );
    }
}

#[test]
fn a_body_that_waits_to_be_asked_for() {
    for consul in Consul::both() {
        for expect in ["100-continue", "100-Continue"] {
            let mut wire = consul.connect();
            let headers = ["Content-Length: 3", &format!("Expect: {expect}")];
            wire.send(&request("PUT", "/v1/kv/a", &headers, b""));
            assert_eq!(wire.answer().status, "HTTP/1.1 100 Continue");
            consul.get("/v1/kv/a").is(404, "");
            wire.send(b"xyz");
            wire.answer().is(200, "true");
            consul.delete("/v1/kv/a");
        }
        // Who does not wait gets the same.
        let mut wire = consul.connect();
        let headers = ["Expect: 100-continue"];
        wire.send(&request("PUT", "/v1/kv/a", &headers, b"xyz"));
        assert_eq!(wire.answer().code(), 100);
        wire.answer().is(200, "true");
        // Nobody asks for a body that is empty.
        let mut wire = consul.connect();
        let headers = ["Content-Length: 0", "Expect: 100-continue"];
        wire.send(&request("PUT", "/v1/kv/b", &headers, b""));
        wire.answer().is(200, "true");
    }
}

/// Go reads the body before it closes, where the connection would have been kept or the body comes in chunks, and where the
/// body is no longer than 256 KiB (seen on 1.8.7).
#[test]
fn an_expectation_that_nobody_fulfils_waits_for_the_body() {
    const KEPT: &str = "Connection: keep-alive";
    const ENDS: &str = "Connection: close";
    const CHUNKS: &str = "Transfer-Encoding: chunked";
    for (headers, body, waits) in [
        ([KEPT, "Content-Length: 3"], "xyz".to_owned(), true),
        ([KEPT, "Content-Length: 262144"], "x".repeat(262_144), true),
        ([KEPT, "Content-Length: 262145"], String::new(), false),
        ([ENDS, "Content-Length: 3"], String::new(), false),
        ([KEPT, CHUNKS], "3\r\nxyz\r\n0\r\n\r\n".to_owned(), true),
        ([ENDS, CHUNKS], "3\r\nxyz\r\n0\r\n\r\n".to_owned(), true),
    ] {
        for consul in Consul::both() {
            let mut wire = consul.connect();
            let headers = [&headers[..], &["Expect: 200-ok"]].concat();
            wire.send(&request("PUT", "/v1/kv/a", &headers, b""));
            wire.answer().has_head(&[
                "HTTP/1.1 417 Expectation Failed",
                "Connection: close",
                "Content-Length: 0",
            ]);
            assert_eq!(is_open(&consul, &mut wire), waits, "{headers:?}");
            wire.send(body.as_bytes());
            assert!(wire.is_closed(), "{headers:?}");
            consul.get("/v1/kv/a").is(404, "");
        }
    }
}

/// Whether the server has not closed a connection by now, when it has done all that it had to do.
fn is_open(consul: &Consul, wire: &mut Wire) -> bool {
    if wire.has_something_to_read() {
        return !wire.is_closed();
    }
    for _ in 0..3 {
        consul.get("/v1/status/leader");
    }
    !wire.has_something_to_read() || !wire.is_closed()
}

#[test]
fn a_client_that_goes_away_in_the_middle_of_a_body() {
    for consul in Consul::both() {
        for target in ["/v1/kv/a", "/v1/txn", "/v1/session/create"] {
            let mut wire = consul.connect();
            wire.send(&request("PUT", target, &["Content-Length: 100"], b""));
            wire.send(b"[{");
            consul.get("/v1/status/leader");
            drop(wire);
        }
        consul.get("/v1/kv/?keys").is(200, "[]");
        consul.get("/v1/session/list").is(200, "[]");
    }
}
