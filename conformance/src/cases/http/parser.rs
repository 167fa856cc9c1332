//! What is answered before any endpoint is asked: requests that do not parse, versions of HTTP, connections (kv.md 0, 6.6).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::{Framing, Request};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/parser/bad-escape-in-the-path",
        claim: "A path with a broken escape is a bad request, and the connection is closed",
        source: "kv.md 0.1, 1.6",
        run: |t| {
            for target in ["/v1/kv/bad%zz", "/v1/kv/bad%", "/v1/kv/%4", "/v1/kv//%zz"] {
                refused(
                    t,
                    &format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"),
                    "400 Bad Request",
                );
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/parser/host-is-required",
        claim: "An HTTP/1.1 request without a Host header is a bad request",
        source: "kv.md 0.1",
        run: |t| {
            let words = "400 Bad Request: missing required Host header";
            refused(t, "GET /v1/kv/a HTTP/1.1\r\n\r\n", words);
        },
        ..Case::REAL
    },
    Case {
        id: "http/parser/one-host-only",
        claim: "A request with two Host headers is a bad request",
        source: "kv.md 0.1",
        until: Some(Version::V1_20),
        run: |t| refused(t, TWO_HOSTS, "400 Bad Request: too many Host headers"),
        ..Case::REAL
    },
    Case {
        id: "http/parser/one-host-only-since-1-20",
        claim: "A request with two Host headers is a bad request, and the answer does not say why",
        source: "1.22.md A0.1",
        since: Version::V1_20,
        run: |t| refused(t, TWO_HOSTS, "400 Bad Request"),
        ..Case::REAL
    },
    Case {
        id: "http/parser/headers-over-1-mib",
        claim: "Headers of more than 1 MiB are 431, and the connection is closed",
        source: "kv.md 0.1",
        run: |t| {
            let header = "a".repeat(1_100_000);
            refused(
                t,
                &format!("GET /v1/kv/a HTTP/1.1\r\nHost: x\r\nX-A: {header}\r\n\r\n"),
                "431 Request Header Fields Too Large",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "http/parser/not-http",
        claim: "Bytes that are no request, or one with a broken line, are a bad request",
        source: "kv.md 0.1 (Go's net/http)",
        run: |t| {
            for request in [
                "nonsense\r\n\r\n",
                "GET /v1/kv/a\r\n\r\n",
                "GET v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /v1/kv/a b HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /v1/kv/a HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
                "PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
            ] {
                refused(t, request, "400 Bad Request");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/parser/unsupported-version",
        claim: "HTTP/2.0 on a request line is a bad request that says so",
        source: "kv.md 0.1",
        until: Some(Version::V1_20),
        run: |t| {
            let words = "400 Bad Request: unsupported protocol version";
            refused(t, HTTP_2, words);
        },
        ..Case::REAL
    },
    Case {
        id: "http/parser/unsupported-version-since-1-20",
        claim: "HTTP/2.0 on a request line is 505",
        source: "1.22.md A0.1",
        since: Version::V1_20,
        run: |t| {
            let words = "505 HTTP Version Not Supported: unsupported protocol version";
            refused(t, HTTP_2, words);
        },
        ..Case::REAL
    },
    Case {
        id: "http/parser/unknown-transfer-encoding",
        claim: "A transfer encoding other than chunked is 501",
        source: "1.22.md A0.1 [G]",
        run: |t| {
            t.raw("PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n")
                .is(501, "Unsupported transfer encoding")
                .header_names_are(&["Content-Type", "Connection"]);
        },
        ..Case::REAL
    },
    Case {
        id: "http/connection/http-1-0",
        claim: "An HTTP/1.0 request is answered as HTTP/1.0, without a Host header, and the connection is closed",
        source: "kv.md 6.6",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let mut connection = t.connect();
            connection.send(format!("GET /v1/kv/{key}?raw HTTP/1.0\r\n\r\n").as_bytes());
            let answer = connection.answer().is(200, "v");
            t.same("version", answer.reply().version.as_str(), "HTTP/1.0");
            connection.answer().is_closed();
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/connection/http-1-0-is-not-chunked",
        claim: "A large answer to HTTP/1.0 has neither chunks nor a length: it ends with the connection",
        source: "kv.md 6.6 (Go's net/http)",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", vec![b'v'; 5000]).is(200, "true");
            let answer = t.raw(format!("GET /v1/kv/{key} HTTP/1.0\r\n\r\n"));
            t.same("framing", answer.reply().framing, Framing::UntilClose);
            answer.entry().value_is(vec![b'v'; 5000]);
        },
        ..Case::REAL
    },
    Case {
        id: "http/connection/http-1-0-may-be-kept",
        claim: "An HTTP/1.0 request with Connection: keep-alive keeps its connection, and its answer says so",
        source: "kv.md 6.6 (Go's net/http)",
        run: |t| {
            let request = format!(
                "GET /v1/kv/{} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                t.key("missing")
            );
            let mut connection = t.connect();
            for _ in 0..2 {
                connection.send(request.as_bytes());
                connection
                    .answer()
                    .is(404, "")
                    .header_is("Connection", "keep-alive");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/connection/is-kept",
        claim: "An HTTP/1.1 connection is kept after reads, writes and refusals, and serves requests in order",
        source: "kv.md 6.6 (Go's net/http)",
        run: |t| {
            let (key, host) = (t.key("k"), t.host());
            let request = |line: &str| format!("{line} HTTP/1.1\r\nHost: {host}\r\n");
            let mut connection = t.connect();
            let put = request(&format!("PUT /v1/kv/{key}"));
            connection.send(format!("{put}Content-Length: 1\r\n\r\nv").as_bytes());
            connection
                .answer()
                .is(200, "true")
                .has_no_header("Connection");
            for (target, status) in [
                ("/v1/kv/", 400),
                ("/v1/nowhere", 404),
                ("/v1/kv", t.moved()),
            ] {
                let get = request(&format!("GET {target}"));
                connection.send(format!("{get}\r\n").as_bytes());
                connection
                    .answer()
                    .status_is(status)
                    .has_no_header("Connection");
            }
            // Two at once: the answers come in the order of the requests.
            let both = [
                request(&format!("GET /v1/kv/{key}?raw")),
                request(&format!("GET /v1/kv/{key}?keys")),
            ];
            connection.send(both.map(|get| format!("{get}\r\n")).concat().as_bytes());
            connection.answer().is(200, "v");
            t.same("keys", connection.answer().strings(), vec![key]);
        },
        ..Case::MUST
    },
    Case {
        id: "http/connection/close-is-obeyed",
        claim: "With Connection: close the answer says the same and the connection is closed",
        source: "kv.md 6.6 (Go's net/http)",
        run: |t| {
            let mut connection = t.connect();
            let key = t.key("missing");
            connection.send(
                format!("GET /v1/kv/{key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    .as_bytes(),
            );
            connection
                .answer()
                .status_is(404)
                .header_is("Connection", "close");
            connection.answer().is_closed();
        },
        ..Case::MUST
    },
    Case {
        id: "http/connection/absolute-form",
        claim: "A request target may be a whole URL, whatever host it names",
        source: "kv.md 6.6",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            t.send(&Request::get(&format!(
                "http://nowhere.example/v1/kv/{key}?raw"
            )))
            .is(200, "v");
        },
        ..Case::SHOULD
    },
];

const TWO_HOSTS: &str = "GET /v1/kv/a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n";
const HTTP_2: &str = "GET /v1/kv/a HTTP/2.0\r\nHost: x\r\n\r\n";

/// The answer of Go's server to what it does not pass on: no Date, no length, and the end of the connection.
fn refused(t: &Trial, request: &str, words: &str) {
    let mut connection = t.connect();
    connection.send(request.as_bytes());
    let (status, _) = words.split_once(' ').unwrap_or_default();
    let answer = connection
        .answer()
        .is(status.parse().unwrap_or_default(), words)
        .header_names_are(&["Content-Type", "Connection"])
        .header_is("Content-Type", "text/plain; charset=utf-8")
        .header_is("Connection", "close");
    let line = format!("{status} {}", answer.reply().reason);
    t.same("status line", line.as_str(), words);
    connection.answer().is_closed();
}
