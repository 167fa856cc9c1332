//! Compressed answers (kv.md 6.5; 1.22.md A6).

use std::io::Read;

use flate2::read::GzDecoder;
use proconsul::Version;

use crate::support::{Answer, Consul};

const GZIP: &str = "Accept-Encoding: gzip";

fn unpacked(answer: &Answer) -> Vec<u8> {
    assert_eq!(answer.header("Content-Encoding"), Some("gzip"));
    let mut body = Vec::new();
    let read = GzDecoder::new(&answer.body[..]).read_to_end(&mut body);
    read.expect("the body is gzip");
    body
}

// trap: kv 30
#[test]
fn in_1_8_everything_is_compressed_and_json_is_escaped_for_html() {
    let consul = Consul::dev(Version::V1_8_7);
    let answer = consul.ask_with("PUT", "/v1/kv/am&p%3C%3E", &[GZIP], b"v");
    assert_eq!(unpacked(&answer), b"true\n");
    answer.has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Encoding: gzip",
        &format!("Content-Length: {}", answer.body.len()),
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
    ]);
    let keys = unpacked(&consul.get_with("/v1/kv/?keys", GZIP));
    assert_eq!(keys, b"[\n    \"am\\u0026p\\u003c\\u003e\"\n]\n");
    let raw = consul.get_with("/v1/kv/am&p%3C%3E?raw", GZIP);
    assert_eq!(unpacked(&raw), b"v");
    for (method, target, text) in [
        ("GET", "/v1/kv/", "Missing key name"),
        ("GET", "/v1/kv/a?index=x", "Invalid index"),
        ("POST", "/v1/kv/a", "method POST not allowed"),
        (
            "PUT",
            "/v1/kv/a?flags=x",
            "strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
    ] {
        let answer = consul.ask_with(method, target, &[GZIP], b"");
        assert_eq!(unpacked(&answer), text.as_bytes());
    }
}

#[test]
fn what_is_never_compressed() {
    for consul in Consul::both() {
        for (method, target) in [
            ("GET", "/v1/kv/missing"),
            ("GET", "/v1/kv/missing?raw"),
            ("OPTIONS", "/v1/kv/a"),
            ("GET", "/v1/kv/a//b"),
            ("GET", "/nope"),
            ("GET", "/v1/nope"),
        ] {
            let answer = consul.ask_with(method, target, &[GZIP], b"");
            assert_eq!(answer.header("Content-Encoding"), None, "{target}");
        }
    }
}

#[test]
fn since_1_9_small_bodies_are_not_worth_it() {
    let consul = Consul::v1_22();
    for (length, compressed) in [(1399, false), (1400, true)] {
        consul.put("/v1/kv/a", vec![b'x'; length]);
        let raw = consul.get_with("/v1/kv/a?raw", GZIP);
        assert_eq!(raw.header("Content-Encoding").is_some(), compressed);
        let sent = raw.body.len().to_string();
        assert_eq!(raw.header("Content-Length"), Some(sent.as_str()));
        assert_eq!(raw.header("Vary"), Some("Accept-Encoding"));
        if compressed {
            assert_eq!(unpacked(&raw), vec![b'x'; length]);
        }
    }
    // The rest of the list is 81 bytes, and 4 of Base64 stand for 3 of the value.
    for (length, compressed) in [(987, false), (990, true)] {
        consul.put("/v1/kv/a", vec![b'x'; length]);
        for target in ["/v1/kv/a", "/v1/kv/a?recurse"] {
            let answer = consul.get_with(target, GZIP);
            let is_compressed = answer.header("Content-Encoding").is_some();
            let plain = consul.get(target);
            assert_eq!(
                is_compressed,
                compressed,
                "{target} of {}",
                plain.body.len()
            );
            let body = if compressed {
                unpacked(&answer)
            } else {
                answer.body
            };
            assert_eq!(body, plain.body);
        }
    }
    assert_eq!(consul.get_with("/v1/kv/", GZIP).text(), "Missing key name");
    let compresses = |version| {
        let answer = Consul::of(version).get_with("/v1/kv/", GZIP);
        answer.header("Content-Encoding").is_some()
    };
    assert!(compresses(Version::new(1, 8, 19)) && !compresses(Version::new(1, 9, 0)));
}

#[test]
fn a_long_list() {
    for consul in Consul::both() {
        for number in 0..300 {
            consul.put(&format!("/v1/kv/p/{number}"), vec![b'x'; 1000]);
        }
        let plain = consul.get("/v1/kv/p/?recurse");
        let packed = consul.get_with("/v1/kv/p/?recurse", GZIP);
        assert_eq!(unpacked(&packed), plain.body);
        assert!(packed.body.len() < plain.body.len() / 4);
        assert_eq!(packed.header("Transfer-Encoding"), Some("chunked"));
        assert_eq!(packed.header("Content-Length"), None);
    }
}

#[test]
fn an_empty_raw_value() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "");
    let answer = consul.get_with("/v1/kv/a?raw", GZIP);
    answer.is(200, "").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Encoding: gzip",
        "Content-Length: 0",
        "Content-Security-Policy: sandbox",
        "Content-Type: text/plain",
        "Vary: Accept-Encoding",
        "X-Consul-Index: 8",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
        "X-Content-Type-Options: nosniff",
    ]);
    let content_type = |version, headers: &[&str]| {
        let consul = Consul::of(version);
        consul.put("/v1/kv/a", "");
        let answer = consul.ask_with("GET", "/v1/kv/a?raw", headers, b"");
        answer.is(200, "");
        assert_eq!(
            answer.header("Content-Encoding").is_some(),
            version < Version::new(1, 9, 0)
        );
        assert_eq!(answer.header("Content-Length"), Some("0"));
        answer.header("Content-Type").map(str::to_owned)
    };
    let utf_8 = Some("application/json; charset=utf-8");
    assert_eq!(content_type(Version::V1_22_0, &[GZIP]).as_deref(), utf_8);
    let json = Some("application/json");
    assert_eq!(
        content_type(Version::new(1, 20, 2), &[GZIP]).as_deref(),
        json
    );
    let own = [GZIP, "Content-Type: text/x-own"];
    let from_request = content_type(Version::V1_22_0, &own);
    assert_eq!(from_request.as_deref(), Some("text/x-own"));
}

#[test]
fn who_asks_for_gzip() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", vec![b'x'; 2000]);
        let compressed = |accept: &str| {
            let header = format!("Accept-Encoding: {accept}");
            let answer = consul.get_with("/v1/kv/a?raw", &header);
            answer.header("Content-Encoding").is_some()
        };
        for accept in ["gzip", "deflate, gzip;q=0.5, br"] {
            assert!(compressed(accept), "{accept}");
        }
        for accept in ["*", "gzip;q=0", "identity", ""] {
            assert!(!compressed(accept), "{accept}");
        }
    }
}
