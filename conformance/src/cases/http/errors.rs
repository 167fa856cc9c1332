//! How errors look, and tokens where nobody asks for one (kv.md 6.3, 6.4).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/errors/are-bare-text",
        claim: "Errors are text/plain: the bare words, without JSON around them and without a newline, even from a dev agent",
        source: "kv.md 6.4",
        run: |t| {
            let key = t.key("k");
            for answer in [
                t.get(&key, "index=abc").is(400, "Invalid index"),
                t.get(&key, "dc=conformance-nowhere")
                    .is(500, "No path to datacenter"),
                t.put(&key, "flags=x", "v")
                    .is(500, "strconv.ParseUint: parsing \"x\": invalid syntax"),
                t.send(&Request::new("POST", "/v1/txn"))
                    .is(405, "method POST not allowed"),
            ] {
                answer
                    .header_is("Content-Type", "text/plain; charset=utf-8")
                    .header_is("Vary", "Accept-Encoding");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "http/errors/repeat-binary-bytes",
        claim: "Go guesses the type of an error, so one that repeats a control character is no text/plain",
        source: "kv.md 6.4.r8",
        run: |t| {
            t.send(&Request::new("PUT", "/v1/session/create").body(r#"{"Behavior":"\u0001"}"#))
                .is(500, "Invalid Behavior setting '\u{1}'")
                .header_is("Content-Type", "application/octet-stream");
        },
        until: Some(Version::new(1, 20, 0)),
        ..Case::REAL
    },
    Case {
        id: "http/errors/are-not-pretty",
        claim: "?pretty says nothing about errors",
        source: "kv.md 6.4",
        run: |t| {
            t.get(&t.key("k"), "pretty&index=abc")
                .is(400, "Invalid index");
            t.get(&t.key("k"), "pretty").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "http/errors/broken-chunks-are-500",
        claim: "A PUT whose chunks are broken is 500 with Go's words, and nothing is written",
        source: "kv.md 6.4.r9",
        run: |t| {
            let (key, host) = (t.key("k"), t.host());
            t.raw(format!(
                "PUT /v1/kv/{key} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n\r\n"
            ))
            .is(500, "invalid byte in chunk length");
            t.get(&key, "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "http/errors/a-body-cut-off-writes-nothing",
        claim: "A PUT whose body ends before its Content-Length is 500 with Go's words, and nothing is written",
        source: "kv.md 6.4.r9",
        run: |t| {
            let (key, host) = (t.key("k"), t.host());
            let mut connection = t.connect();
            connection.send(
                format!(
                    "PUT /v1/kv/{key} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 10\r\n\r\nhalf"
                )
                .as_bytes(),
            );
            connection.finish();
            connection.answer().is(500, "unexpected EOF");
            t.get(&key, "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "http/tokens/say-nothing-without-acls",
        claim: "Without ACLs any token is as good as none, wherever it stands",
        source: "kv.md 6.3",
        needs: &[Feature::AclsOff],
        run: |t| {
            let key = t.key("k");
            let target = format!("/v1/kv/{key}");
            t.put(&key, "token=nonsense", "v").is(200, "true");
            for (query, name, value) in [
                ("?raw&token=nonsense", "X-Other", "x"),
                ("?raw", "X-Consul-Token", "nonsense"),
                ("?raw", "Authorization", "Bearer nonsense"),
                ("?raw", "Authorization", "Basic bm9uc2Vuc2U="),
                ("?raw&token=", "X-Consul-Token", ""),
            ] {
                t.send(&Request::get(&format!("{target}{query}")).header(name, value))
                    .is(200, "v");
            }
        },
        ..Case::MUST
    },
];
