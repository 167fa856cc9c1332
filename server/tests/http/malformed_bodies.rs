//! Bodies of requests that do not arrive as announced (kv.md 2.2; session.md 1). None of them may leave anything.

use crate::malformed::{REFUSED, case, check, cut_off};

/// The head of a PUT with these header lines, and what follows it.
fn put(headers: &str, body: &str) -> String {
    put_to("/v1/kv/bad", headers, body)
}

fn put_to(target: &str, headers: &str, body: &str) -> String {
    format!("PUT {target} HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n{body}")
}

fn chunked(body: &str) -> String {
    put("Transfer-Encoding: chunked", body)
}

const NOT_IMPLEMENTED: &str = "501 Not Implemented | Unsupported transfer encoding; closed";

#[test]
fn lengths() {
    check(&[
        case("a word", put("Content-Length: abc", "xyz"), REFUSED),
        case("negative", put("Content-Length: -1", "xyz"), REFUSED),
        case("with a sign", put("Content-Length: +3", "xyz"), REFUSED),
        case("hexadecimal", put("Content-Length: 0x3", "xyz"), REFUSED),
        case(
            "two that differ",
            put("Content-Length: 3\r\nContent-Length: 4", "xyz"),
            REFUSED,
        ),
        case("a list", put("Content-Length: 3, 3", "xyz"), REFUSED),
        case(
            "more than 64 bits",
            put("Content-Length: 99999999999999999999", "xyz"),
            REFUSED,
        ),
        case(
            "2^63",
            put("Content-Length: 9223372036854775808", "xyz"),
            REFUSED,
        ),
        case(
            "2^64-1",
            put("Content-Length: 18446744073709551615", "xyz"),
            REFUSED,
        ),
        cut_off(
            "2^63-1",
            put("Content-Length: 9223372036854775807", "xyz"),
            HUGE,
        )
        .newer(HUGE_NEWER),
        cut_off("cut off", put("Content-Length: 10", "xyz"), UNEXPECTED_END),
        cut_off(
            "cut off at once",
            put("Content-Length: 10", ""),
            UNEXPECTED_END,
        ),
    ]);
}

const HUGE: &str = "413 Request Entity Too Large | Request body(9223372036854775807 bytes) too large, max size: 524288 bytes. See h; closed";
const HUGE_NEWER: &str = HUGE;
pub(crate) const UNEXPECTED_END: &str = "500 Internal Server Error | unexpected EOF; closed";

#[test]
fn encodings() {
    check(&[
        case(
            "unknown",
            put("Transfer-Encoding: foo", "xyz"),
            NOT_IMPLEMENTED,
        ),
        case(
            "gzip",
            put("Transfer-Encoding: gzip", "xyz"),
            NOT_IMPLEMENTED,
        ),
        case(
            "identity",
            put("Transfer-Encoding: identity", "xyz"),
            NOT_IMPLEMENTED,
        ),
        case(
            "empty",
            put("Transfer-Encoding:\r\nContent-Length: 3", "xyz"),
            NOT_IMPLEMENTED,
        ),
    ]);
}

#[test]
fn chunks() {
    check(&[
        case(
            "a size that is none",
            chunked("zz\r\nxyz\r\n0\r\n\r\n"),
            BAD_SIZE,
        ),
        case(
            "a negative size",
            chunked("-3\r\nxyz\r\n0\r\n\r\n"),
            BAD_SIZE,
        ),
        case(
            "a size with a prefix",
            chunked("0x3\r\nxyz\r\n0\r\n\r\n"),
            BAD_SIZE,
        ),
        case("no size", chunked("\r\nxyz\r\n0\r\n\r\n"), MIME_XYZ).newer(NO_SIZE),
        case(
            "a size of 72 bits",
            chunked("ffffffffffffffffff\r\nxyz\r\n"),
            LARGE_SIZE,
        ),
        case(
            "no end of a chunk",
            chunked("3\r\nxyzab\r\n0\r\n\r\n"),
            MALFORMED,
        ),
        case(
            "a trailer without a colon",
            chunked("3\r\nxyz\r\n0\r\nnocolon\r\n\r\n"),
            BAD_TRAILER,
        ),
        cut_off("cut off in a size", chunked("5"), UNEXPECTED_END),
        cut_off("cut off at once", chunked(""), UNEXPECTED_END),
        cut_off("cut off in a chunk", chunked("5\r\nxyz"), CUT_TRAILER).newer(UNEXPECTED_END),
        cut_off(
            "cut off behind a chunk",
            chunked("3\r\nxyz\r\n"),
            UNEXPECTED_END,
        ),
        cut_off(
            "cut off in the end",
            chunked("3\r\nxyz\r\n0\r\n"),
            CUT_TRAILER,
        ),
    ]);
}

const BAD_SIZE: &str = "500 Internal Server Error | invalid byte in chunk length; closed";
const NO_SIZE: &str = "500 Internal Server Error | empty hex number for chunk length; closed";
const LARGE_SIZE: &str = "500 Internal Server Error | http chunk length too large; closed";
const MALFORMED: &str = "500 Internal Server Error | malformed chunked encoding; closed";
const CUT_TRAILER: &str =
    "500 Internal Server Error | http: unexpected EOF reading trailer; closed";
const MIME_XYZ: &str =
    "500 Internal Server Error | malformed MIME header: missing colon: \"xyz\"; closed";
const BAD_TRAILER: &str =
    "500 Internal Server Error | malformed MIME header: missing colon: \"nocolon\"; closed";

#[test]
fn bodies_that_nobody_reads() {
    let post = "POST /v1/kv/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz";
    check(&[
        case(
            "of a wrong method",
            post,
            "405 Method Not Allowed | method POST not allowed; open",
        ),
        case(
            "for an unknown path",
            put_to("/nope", "Content-Length: 3", "xyz"),
            "404 Not Found; open",
        )
        .newer(UNKNOWN),
    ]);
}

const UNKNOWN: &str = "404 Not Found | Invalid URL path: if attempting to use the HTTP API, ensure the path starts with; open";
