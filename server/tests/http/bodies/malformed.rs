//! Bodies of requests that do not arrive as announced (kv.md 2.2; session.md 1). None of them may leave anything.

use crate::wire::malformed::{REFUSED, case, check, cut_off};

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
        case(
            "gzip and chunked",
            put("Transfer-Encoding: gzip, chunked", "3\r\nxyz\r\n0\r\n\r\n"),
            NOT_IMPLEMENTED,
        ),
        case(
            "chunked twice",
            put(
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "0\r\n\r\n",
            ),
            NOT_IMPLEMENTED,
        ),
        case(
            "chunked, with a length that is none",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: Chunked\r\nContent-Length: x",
                "0\r\n\r\n",
            ),
            UNWRITTEN,
        )
        .newer(REFUSED),
        case(
            "an empty length",
            put_to("/v1/kv/bad?cas=1", "Content-Length:", ""),
            UNWRITTEN,
        )
        .newer(REFUSED),
        case(
            "a trailer that names a length",
            put(
                "Transfer-Encoding: chunked\r\nTrailer: a, content-length",
                "0\r\n\r\n",
            ),
            REFUSED,
        ),
    ]);
}

const UNWRITTEN: &str = "200 OK | false; open";

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
    ]);
}

#[test]
fn lines_of_chunks() {
    check(&[
        case(
            "a size with an extension and spaces, and a trailer",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: chunked",
                "3 \t;x=y\r\nxyz\r\n0\r\nA: b\r\n c\r\n\r\n",
            ),
            BAD_SIZE,
        ),
        case(
            "an extension, spaces, and a trailer",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: chunked",
                "3;x \t\r\nxyz\r\n0\r\nA: b\r\n c\r\n\r\n",
            ),
            UNWRITTEN,
        ),
        case(
            "a size of many bytes",
            chunked(&format!("3;{}\r\nxyz\r\n0\r\n\r\n", "x".repeat(4096))),
            "500 Internal Server Error | header line too long; closed",
        ),
        case(
            "a size with a bare line feed",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: chunked",
                "3\nxyz\r\n0\r\n\r\n",
            ),
            UNWRITTEN,
        )
        .newer("500 Internal Server Error | chunked line ends with bare LF; closed"),
        case(
            "a carriage return in an extension",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: chunked",
                "3;\r;\r\nxyz\r\n0\r\n\r\n",
            ),
            UNWRITTEN,
        )
        .newer("500 Internal Server Error | invalid CR in chunked line; closed"),
        case(
            "much beside little data",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: chunked",
                &(format!("1;{}\r\nx\r\n", "x".repeat(4000)).repeat(5) + "0\r\n\r\n"),
            ),
            UNWRITTEN,
        )
        .newer("500 Internal Server Error | chunked encoding contains too much non-data; closed"),
    ]);
}

#[test]
fn chunks_that_are_cut_off() {
    check(&[
        cut_off(
            "cut off before the end of a chunk",
            chunked("3\r\nxyz"),
            UNEXPECTED_END,
        ),
        cut_off(
            "cut off in the end of a chunk",
            chunked("3\r\nxyz\r"),
            UNEXPECTED_END,
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

#[test]
fn trailers() {
    check(&[
        case(
            "a trailer without a colon",
            chunked("3\r\nxyz\r\n0\r\nnocolon\r\n\r\n"),
            BAD_TRAILER,
        ),
        case(
            "a trailer that begins with a space",
            chunked("0\r\n A: b\r\n\r\n"),
            "500 Internal Server Error | malformed MIME header initial line:  A: b; closed",
        )
        .newer("500 Internal Server Error | malformed MIME header initial line: \" A: b\"; closed"),
        case(
            "a trailer with a name that is none",
            put_to(
                "/v1/kv/bad?cas=1",
                "Transfer-Encoding: chunked",
                "0\r\nA(: b\r\n\r\n",
            ),
            UNWRITTEN,
        )
        .newer("500 Internal Server Error | malformed MIME header line: \"A(: b\"; closed"),
        case(
            "a trailer of many bytes",
            chunked(&format!("0\r\nA: {}\r\n\r\n", "b".repeat(4096))),
            LONG_TRAILER,
        ),
        cut_off("cut off in a trailer", chunked("0\r\nA: b"), LONG_TRAILER),
    ]);
}

const LONG_TRAILER: &str =
    "500 Internal Server Error | http: suspiciously long trailer after chunked body; closed";
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

/// Go's decoder reads to the end of the first value, and does not notice what is wrong behind it.
#[test]
fn bodies_of_json() {
    let get = br#"[{"KV":{"Verb":"get-tree","Key":"none"}}]"#;
    let get = std::str::from_utf8(get).expect("JSON is text");
    let long = "Content-Length: 100";
    check(&[
        cut_off(
            "a transaction cut off behind its value",
            put_to("/v1/txn", long, get),
            TXN_READ,
        )
        .newer(TXN_READ_NEWER),
        case(
            "a transaction with a broken chunk behind its value",
            put_to(
                "/v1/txn",
                "Transfer-Encoding: chunked",
                &format!("{:x}\r\n{get}\r\nzz\r\n", get.len()),
            ),
            TXN_READ,
        )
        .newer(TXN_READ_NEWER),
        cut_off(
            "a transaction cut off in its value",
            put_to("/v1/txn", long, &get[..10]),
            "400 Bad Request | Failed to parse body: unexpected EOF; closed",
        ),
        case(
            "a transaction with a broken chunk in its value",
            put_to("/v1/txn", "Transfer-Encoding: chunked", "1\r\n[\r\nzz\r\n"),
            "400 Bad Request | Failed to parse body: invalid byte in chunk length; closed",
        ),
        cut_off(
            "a session cut off in its value",
            put_to("/v1/session/create", long, "{\"Name\":\"cu"),
            DECODE_CUT,
        ),
        cut_off(
            "a session cut off at once",
            put_to("/v1/session/create", long, ""),
            DECODE_CUT,
        ),
        cut_off(
            "a registration cut off in its value",
            put_to("/v1/catalog/register", long, "{\"Node\":\"n\""),
            DECODE_CUT,
        ),
    ]);
}

const TXN_READ: &str = r#"200 OK | {"Results":[],"Errors":null,"Index":0,"LastContact":0,"KnownLeader":true,"Consis; closed"#;
const TXN_READ_NEWER: &str = r#"200 OK | {"Results":[],"Errors":null,"Index":1,"LastContact":0,"KnownLeader":true,"Consis; closed"#;
const DECODE_CUT: &str = "400 Bad Request | Request decode failed: unexpected EOF; closed";

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
