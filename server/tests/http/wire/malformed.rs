//! Requests that are none, or hardly: what the server says, that nothing changes by them, and that it serves on
//! (kv.md 0 step 1; 1.22.md A0). Each expectation is what Consul's server said to the same bytes.

use std::fmt::Write;

use proconsul::Version;

use crate::support::{Consul, Wire};

/// What is sent, and what becomes of it.
pub(crate) struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    /// Nothing follows: the client stops sending. Else a proper request does.
    is_cut_off: bool,
    /// What Consul 1.8.7 does.
    consul: &'static str,
    /// What Consul 1.22 does, where that is something else.
    newer: Option<&'static str>,
}

/// Bytes behind which a proper request follows.
pub(crate) fn case(name: &'static str, bytes: impl Into<Vec<u8>>, consul: &'static str) -> Case {
    Case {
        name,
        bytes: bytes.into(),
        is_cut_off: false,
        consul,
        newer: None,
    }
}

/// Bytes behind which nothing follows.
pub(crate) fn cut_off(name: &'static str, bytes: impl Into<Vec<u8>>, consul: &'static str) -> Case {
    Case {
        is_cut_off: true,
        ..case(name, bytes, consul)
    }
}

impl Case {
    /// Newer versions answer otherwise.
    pub(crate) fn newer(self, newer: &'static str) -> Self {
        Self {
            newer: Some(newer),
            ..self
        }
    }

    /// What Consul does.
    fn consul(&self, version: Version) -> &'static str {
        let newer = self.newer.filter(|_| version == Version::V1_22_0);
        newer.unwrap_or(self.consul)
    }
}

/// A read that misses, and the connection stays open.
pub(crate) const MISS: &str = "404 Not Found; open";
/// Go's refusal of a head.
pub(crate) const REFUSED: &str = "400 Bad Request | 400 Bad Request; closed";

/// Sends every case to a server of either version, and checks what comes of it.
pub(crate) fn check(cases: &[Case]) {
    let mut wrong = String::new();
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::of(version);
        consul.put("/v1/kv/kept", "as it was");
        let state = || {
            let keys = consul.get("/v1/kv/?recurse");
            let sessions = consul.get("/v1/session/list");
            [
                keys.head(),
                keys.text().to_owned(),
                sessions.head(),
                sessions.text().to_owned(),
            ]
        };
        let before = state();
        for case in cases {
            let became = outcome(&mut consul.connect(), case);
            let expected = case.consul(version);
            if became != expected {
                let _ = write!(
                    wrong,
                    "\n{version} {}:\n  {became}\n  {expected}",
                    case.name
                );
            }
            assert_eq!(state(), before, "{version} {}", case.name);
        }
    }
    assert!(wrong.is_empty(), "got, and expected:{wrong}");
}

/// Sends a case and describes what came back.
fn outcome(wire: &mut Wire, case: &Case) -> String {
    const NEXT: &[u8] = b"GET /v1/status/leader HTTP/1.1\r\nHost: next\r\n\r\n";
    wire.send(&case.bytes);
    if case.is_cut_off {
        wire.stop_sending();
    } else {
        wire.send(NEXT);
    }
    let mut became = String::new();
    while let Some(answer) = wire.next_answer() {
        if answer.text().starts_with("\"127.0.0.1:") {
            became.push_str("open");
            return became;
        }
        let status = answer
            .status
            .split_once(' ')
            .map_or("", |(_, status)| status);
        became.push_str(status);
        if !answer.body.is_empty() {
            let text: String = answer.text().trim_end().chars().take(80).collect();
            let _ = write!(became, " | {text}");
        }
        became.push_str("; ");
    }
    became.push_str("closed");
    became
}

fn get(target: &str) -> String {
    with_headers(target, "Host: x\r\n")
}

fn with_headers(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\n{headers}\r\n")
}

fn with_header(header: &str) -> String {
    with_headers("/v1/kv/a", &format!("Host: x\r\n{header}\r\n"))
}

/// A GET with these bytes somewhere in its target.
fn with_target_bytes(before: &str, bytes: &[u8]) -> Vec<u8> {
    let mut request = format!("GET {before}").into_bytes();
    request.extend_from_slice(bytes);
    request.extend_from_slice(b"b HTTP/1.1\r\nHost: x\r\n\r\n");
    request
}

#[test]
fn request_lines() {
    let line = |line: &str| format!("{line}\r\nHost: x\r\n\r\n");
    check(&[
        case("nothing at all", "", "open"),
        case("words", "garbage\r\n\r\n", REFUSED),
        case("binary", b"\x00\x01\x02\xff\r\n\r\n", REFUSED),
        case(
            "an empty line first",
            format!("\r\n{}", get("/v1/kv/a")),
            REFUSED,
        ),
        case(
            "only line feeds",
            "GET /v1/kv/a HTTP/1.1\nHost: x\n\n",
            MISS,
        ),
        case("a space in the target", get("/v1/kv/a b"), REFUSED),
        case("two spaces", line("GET  /v1/kv/a HTTP/1.1"), REFUSED),
        case("no version", line("GET /v1/kv/a"), REFUSED),
        case("no target", line("GET HTTP/1.1"), REFUSED),
        case("half a version", line("GET /v1/kv/a HTTP/1"), REFUSED),
        case(
            "a version that is none",
            line("GET /v1/kv/a HTTP/1.x"),
            REFUSED,
        ),
        case(
            "a version in lower case",
            line("GET /v1/kv/a http/1.1"),
            REFUSED,
        ),
        case("another protocol", line("GET /v1/kv/a HTTPS/1.1"), REFUSED),
        case("HTTP/0.9", line("GET /v1/kv/a HTTP/0.9"), UNSUPPORTED).newer(UNSUPPORTED_505),
        case("HTTP/2.0", line("GET /v1/kv/a HTTP/2.0"), UNSUPPORTED).newer(UNSUPPORTED_505),
        case("HTTP/1.2", line("GET /v1/kv/a HTTP/1.2"), MISS),
        case("HTTP/1.10", line("GET /v1/kv/a HTTP/1.10"), MISS).newer(REFUSED),
        case("a sign", line("GET /v1/kv/a HTTP/+1.+1"), MISS).newer(REFUSED),
        case("less than nothing", line("GET /v1/kv/a HTTP/-1.1"), REFUSED),
        case(
            "the largest number",
            line("GET /v1/kv/a HTTP/1.1000000"),
            MISS,
        )
        .newer(REFUSED),
        case(
            "a larger number",
            line("GET /v1/kv/a HTTP/1.1000001"),
            REFUSED,
        ),
        case(
            "the preface of HTTP/2",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "400 Bad Request; closed",
        ),
        case(
            "a method that is no token",
            line("G(T /v1/kv/a HTTP/1.1"),
            REFUSED,
        ),
        case(
            "a method beyond ASCII",
            line("G\u{e9}T /v1/kv/a HTTP/1.1"),
            REFUSED,
        ),
        case("no method", line(" /v1/kv/a HTTP/1.1"), REFUSED),
    ]);
}

#[test]
fn heads_that_end_early() {
    check(&[
        cut_off("cut off in the method", "GE", REFUSED),
        cut_off("cut off in the target", "GET /v1/k", REFUSED),
        cut_off(
            "cut off in a header",
            "GET /v1/kv/a HTTP/1.1\r\nHo",
            REFUSED,
        ),
        cut_off(
            "cut off before the end of the head",
            "GET /v1/kv/a HTTP/1.1\r\nHost: x\r\n",
            REFUSED,
        ),
        cut_off("closed without a word", "", "closed"),
        cut_off(
            "three bytes behind a request",
            get("/v1/kv/a") + "GET",
            "404 Not Found; 400 Bad Request | 400 Bad Request; closed",
        )
        .newer("404 Not Found; closed"),
        cut_off(
            "a wrong line before the end",
            "GET /v1/kv/a HTTP/1.1\r\nHost: x\r\nwrong\r\n",
            REFUSED,
        ),
    ]);
}

const UNSUPPORTED: &str = "400 Bad Request: unsupported protocol version | 400 Bad Request: unsupported protocol version; closed";
const UNSUPPORTED_505: &str = "505 HTTP Version Not Supported: unsupported protocol version | 505 HTTP Version Not Supported: unsupported protocol version; closed";

#[test]
fn targets() {
    check(&[
        case("relative", get("v1/kv/a"), REFUSED),
        case("only a query", get("?keys"), REFUSED),
        case("a star", get("*"), "400 Bad Request; closed"),
        case(
            "OPTIONS of all",
            "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
            "200 OK; open",
        ),
        case("absolute", get("http://foo/v1/kv/a"), MISS),
        case("absolute in upper case", get("HTTP://FOO/v1/kv/a"), MISS),
        case("absolute of another scheme", get("ftp://foo/v1/kv/a"), MISS),
        case(
            "absolute with a bad port",
            get("http://foo:abc/v1/kv/a"),
            REFUSED,
        ),
        case(
            "CONNECT",
            "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
            "404 Not Found | 404 page not found; open",
        )
        .newer("301 Moved Permanently; open"),
        case("a bad escape", get("/v1/kv/a%zz"), REFUSED),
        case("half an escape", get("/v1/kv/a%4"), REFUSED),
        case(
            "half an escape in a query",
            get("/v1/kv/a?b=%4"),
            "500 Internal Server Error; open",
        ),
        case("a path behind a scheme", get("HTTP:/v1/kv/a"), MISS),
        case(
            "opaque",
            get("foo:bar//baz?q"),
            "301 Moved Permanently | <a href=\"foo:bar//baz?q\">Moved Permanently</a>.; open",
        )
        .newer("301 Moved Permanently | <a href=\"/?q\">Moved Permanently</a>.; open"),
        case(
            "nothing behind a scheme",
            get("foo:"),
            "301 Moved Permanently | <a href=\"foo:///\">Moved Permanently</a>.; open",
        )
        .newer("301 Moved Permanently | <a href=\"/\">Moved Permanently</a>.; open"),
        case("nothing before a colon", get(":foo"), REFUSED),
        case("a digit before a colon", get("1a:b"), REFUSED),
        case("a fragment", get("/v1/kv/a#b"), MISS),
    ]);
}

#[test]
fn bytes_in_targets() {
    check(&[
        case(
            "a control character",
            with_target_bytes("/v1/kv/a", b"\x01"),
            REFUSED,
        ),
        case("a tabulator", with_target_bytes("/v1/kv/a", b"\t"), REFUSED),
        case("a zero", with_target_bytes("/v1/kv/a", b"\0"), REFUSED),
        case(
            "a carriage return",
            with_target_bytes("/v1/kv/a", b"\r"),
            REFUSED,
        ),
        case("DEL", with_target_bytes("/v1/kv/a", b"\x7f"), REFUSED),
        case(
            "a control character in a query",
            with_target_bytes("/v1/kv/a?c=", b"\x01"),
            REFUSED,
        ),
        case("no UTF-8", with_target_bytes("/v1/kv/a", b"\xff"), MISS),
        case(
            "no UTF-8 in a query",
            with_target_bytes("/v1/kv/a?c=", b"\xff"),
            MISS,
        ),
        case(
            "UTF-8",
            with_target_bytes("/v1/kv/a", "\u{e9}".as_bytes()),
            MISS,
        ),
        case("less than", with_target_bytes("/v1/kv/a", b"<"), MISS),
        case("greater than", with_target_bytes("/v1/kv/a", b">"), MISS),
        case("backslash", with_target_bytes("/v1/kv/a", b"\\"), MISS),
        case("caret", with_target_bytes("/v1/kv/a", b"^"), MISS),
        case("backquote", with_target_bytes("/v1/kv/a", b"`"), MISS),
        case("bar", with_target_bytes("/v1/kv/a", b"|"), MISS),
        case("braces", with_target_bytes("/v1/kv/a", b"{}"), MISS),
        case("brackets", with_target_bytes("/v1/kv/a", b"[]"), MISS),
        case(
            "double quotes",
            with_target_bytes("/v1/kv/a", b"\"\""),
            MISS,
        ),
        case(
            "less than in a query",
            with_target_bytes("/v1/kv/a?c=", b"<"),
            MISS,
        ),
        case(
            "greater than in a query",
            with_target_bytes("/v1/kv/a?c=", b">"),
            MISS,
        ),
        case(
            "double quotes in a query",
            with_target_bytes("/v1/kv/a?c=", b"\"\""),
            MISS,
        ),
        case(
            "backslash in a query",
            with_target_bytes("/v1/kv/a?c=", b"\\"),
            MISS,
        ),
    ]);
}

#[test]
fn sizes_of_heads() {
    let long = |length: usize| get(&format!("/v1/kv/{}", "k".repeat(length - 7)));
    let many = |count: usize| {
        let headers: String = (0..count)
            .map(|number| format!("X-{number}: v\r\n"))
            .collect();
        with_headers("/v1/kv/a", &format!("Host: x\r\n{headers}"))
    };
    let large = |size: usize| with_header(&format!("X: {}", "v".repeat(size)));
    check(&[
        case("a target of 65,534 bytes", long(65_534), MISS),
        case("a target of 65,535 bytes", long(65_535), MISS),
        case("a target of 900,000 bytes", long(900_000), MISS),
        case("a target of 1,100,000 bytes", long(1_100_000), TOO_LARGE),
        case("a header of 900,000 bytes", large(900_000), MISS),
        case("a header of 1,100,000 bytes", large(1_100_000), TOO_LARGE),
        case("99 headers", many(98), MISS),
        case("101 headers", many(100), MISS),
        case("5,000 headers", many(5_000), MISS),
        case(
            "a method of 1,000 bytes",
            format!("{} /v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n", "M".repeat(1_000)),
            LONG_METHOD,
        ),
    ]);
}

pub(crate) const TOO_LARGE: &str =
    "431 Request Header Fields Too Large | 431 Request Header Fields Too Large; closed";
const LONG_METHOD: &str = "405 Method Not Allowed | method MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM; open";

#[test]
fn hosts() {
    check(&[
        case("no host", with_headers("/v1/kv/a", ""), NO_HOST),
        case(
            "no host in HTTP/1.0",
            "GET /v1/kv/a HTTP/1.0\r\n\r\n",
            "404 Not Found; closed",
        ),
        case(
            "no host beside an absolute target",
            with_headers("http://foo/v1/kv/a", ""),
            NO_HOST,
        ),
        case("an empty host", with_headers("/v1/kv/a", "Host:\r\n"), MISS),
        case(
            "two hosts",
            with_headers("/v1/kv/a", "Host: a\r\nHost: b\r\n"),
            TWO_HOSTS,
        )
        .newer(REFUSED),
        case(
            "a host with a space",
            with_headers("/v1/kv/a", "Host: a b\r\n"),
            BAD_HOST,
        ),
        case(
            "a host with a slash",
            with_headers("/v1/kv/a", "Host: a/b\r\n"),
            BAD_HOST,
        ),
    ]);
}

#[test]
fn headers() {
    check(&[
        case("a header without a colon", with_header("nocolon"), REFUSED),
        case("a space before the colon", with_header("X : v"), BAD_NAME),
        case("a space inside of a name", with_header("X y: v"), BAD_NAME),
        case("a name with a parenthesis", with_header("X(y: v"), BAD_NAME).newer(REFUSED),
        case("a name beyond ASCII", with_header("X\u{e9}: v"), BAD_NAME).newer(REFUSED),
        case("no name", with_header(": v"), MISS).newer(REFUSED),
        case("a folded header", with_header("X: a\r\n b"), MISS),
        case(
            "a folded first header",
            "GET /v1/kv/a HTTP/1.1\r\n Host: x\r\n\r\n",
            REFUSED,
        ),
        case(
            "a control character in a value",
            with_header("X: a\u{1}b"),
            BAD_VALUE,
        )
        .newer(REFUSED),
        case("a zero in a value", with_header("X: a\0b"), BAD_VALUE).newer(REFUSED),
        case("DEL in a value", with_header("X: a\u{7f}b"), BAD_VALUE).newer(REFUSED),
        case(
            "a carriage return in a value",
            with_header("X: a\rb"),
            BAD_VALUE,
        )
        .newer(REFUSED),
        case("a tabulator in a value", with_header("X: a\tb"), MISS),
        case("UTF-8 in a value", with_header("X: \u{e9}"), MISS),
        case("an empty value", with_header("X:"), MISS),
        case(
            "an expectation that nobody meets",
            with_header("Expect: foo"),
            "417 Expectation Failed; closed",
        ),
        case(
            "a folded header of many lines",
            with_header("X: a\r\n\tb\r\n \r\n  c"),
            MISS,
        ),
        case(
            "a length that is folded",
            with_header("Content-Length:\r\n 3") + "xyz",
            MISS,
        ),
        case(
            "an upgrade to HTTP/2",
            with_header(
                "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
            ),
            MISS,
        ),
        case(
            "an upgrade to a web socket",
            with_header("Connection: Upgrade\r\nUpgrade: websocket"),
            MISS,
        ),
    ]);
}

const NO_HOST: &str = "400 Bad Request: missing required Host header | 400 Bad Request: missing required Host header; closed";
const TWO_HOSTS: &str =
    "400 Bad Request: too many Host headers | 400 Bad Request: too many Host headers; closed";
const BAD_HOST: &str =
    "400 Bad Request: malformed Host header | 400 Bad Request: malformed Host header; closed";
const BAD_NAME: &str =
    "400 Bad Request: invalid header name | 400 Bad Request: invalid header name; closed";
const BAD_VALUE: &str =
    "400 Bad Request: invalid header value | 400 Bad Request: invalid header value; closed";

#[test]
fn connections() {
    let miss = get("/v1/kv/a");
    let old = "GET /v1/kv/a HTTP/1.0\r\n\r\n";
    let closing = with_header("Connection: close");
    let other_closing = with_header("Connection: x, Close");
    check(&[
        case("HTTP/1.0", old, "404 Not Found; closed"),
        case(
            "HTTP/1.0 that stays",
            "GET /v1/kv/a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            MISS,
        ),
        case(
            "a client that wants to close",
            closing,
            "404 Not Found; closed",
        ),
        case(
            "a client that says so among others",
            other_closing,
            "404 Not Found; closed",
        ),
        case(
            "a client that wants to stay",
            with_header("Connection: keep-alive"),
            MISS,
        ),
        case(
            "two requests at once",
            format!("{miss}{miss}"),
            "404 Not Found; 404 Not Found; open",
        ),
        case(
            "garbage behind a request",
            format!("{miss}garbage\r\n\r\n"),
            "404 Not Found; 400 Bad Request | 400 Bad Request; closed",
        ),
        cut_off(
            "half a request behind a request",
            format!("{miss}GET /v1/k"),
            "404 Not Found; 400 Bad Request | 400 Bad Request; closed",
        ),
        case(
            "line ends behind a POST",
            "POST /v1/kv/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx\r\n",
            "405 Method Not Allowed | method POST not allowed; open",
        ),
        case(
            "HTTP/1.0 with a chunked body, which it does not have",
            "GET /v1/kv/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "404 Not Found; closed",
        ),
        case(
            "a GET with a body",
            with_header("Content-Length: 3") + "xyz",
            MISS,
        ),
        case(
            "a GET with a chunked body",
            with_header("Transfer-Encoding: chunked") + "3\r\nxyz\r\n0\r\n\r\n",
            MISS,
        ),
    ]);
}
