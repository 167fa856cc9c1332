//! Where this server answers otherwise than Consul to what is no proper request, since hyper reads the requests.
//! Each of these must still deviate, or its test fails.

use crate::malformed::{MISS, REFUSED, TOO_LARGE};
use crate::malformed_bodies::UNEXPECTED_END;

const CLOSED: &str = "closed";

/// The names of cases, and what this server does.
pub(crate) const DEVIATIONS: &[(&str, &str)] = &[
    // The request line and the target are hyper's to read: it takes what `http::Uri` takes, of less than 65,535 bytes.
    ("an empty line first", MISS),
    ("HTTP/0.9", REFUSED),
    ("HTTP/2.0", REFUSED),
    ("HTTP/1.2", REFUSED),
    ("HTTP/1.10", REFUSED),
    ("the preface of HTTP/2", CLOSED),
    (
        "a star",
        "301 Moved Permanently | <a href=\"/%2A\">Moved Permanently</a>.; open",
    ),
    ("OPTIONS of all", "301 Moved Permanently; open"),
    ("CONNECT", "301 Moved Permanently; open"),
    ("absolute with a bad port", MISS),
    ("no UTF-8", REFUSED),
    ("no UTF-8 in a query", REFUSED),
    ("less than", REFUSED),
    ("greater than", REFUSED),
    ("backquote", REFUSED),
    ("less than in a query", REFUSED),
    ("greater than in a query", REFUSED),
    ("double quotes in a query", REFUSED),
    ("a target of 65,535 bytes", "414 URI Too Long; closed"),
    ("a target of 900,000 bytes", "414 URI Too Long; closed"),
    ("a target of 1,100,000 bytes", "414 URI Too Long; closed"),
    // So are the headers: at most 100, each a valid one, and what is wrong with one is not said.
    ("101 headers", TOO_LARGE),
    ("5,000 headers", TOO_LARGE),
    ("a header of 1,100,000 bytes", MISS),
    (
        "no host",
        "400 Bad Request | 400 Bad Request: missing required Host header; closed",
    ),
    (
        "no host beside an absolute target",
        "400 Bad Request | 400 Bad Request: missing required Host header; closed",
    ),
    ("two hosts", MISS),
    ("a host with a space", MISS),
    ("a host with a slash", MISS),
    ("a space before the colon", REFUSED),
    ("a space inside of a name", REFUSED),
    ("a name with a parenthesis", REFUSED),
    ("a name beyond ASCII", REFUSED),
    ("no name", REFUSED),
    ("a folded header", REFUSED),
    ("a control character in a value", REFUSED),
    ("a zero in a value", REFUSED),
    ("DEL in a value", REFUSED),
    ("a carriage return in a value", REFUSED),
    ("an expectation that nobody meets", MISS),
    // A head that ends early is not answered.
    ("cut off in the method", CLOSED),
    ("cut off in the target", CLOSED),
    ("cut off in a header", CLOSED),
    ("cut off before the end of the head", CLOSED),
    ("half a request behind a request", "404 Not Found; closed"),
    // Bodies: other codings, larger numbers, and one text for whatever is wrong with a chunk.
    ("unknown", REFUSED),
    ("gzip", REFUSED),
    ("identity", REFUSED),
    ("empty", REFUSED),
    (
        "2^63",
        "413 Request Entity Too Large | Request body(9223372036854775808 bytes) too large, max size: 524288 bytes. See h; closed",
    ),
    ("2^64-1", TOO_LARGE),
    ("a size that is none", UNEXPECTED_END),
    ("a negative size", UNEXPECTED_END),
    ("a size with a prefix", UNEXPECTED_END),
    ("no size", UNEXPECTED_END),
    ("a size of 72 bits", UNEXPECTED_END),
    ("no end of a chunk", UNEXPECTED_END),
    ("a trailer without a colon", UNEXPECTED_END),
    ("cut off in a chunk", UNEXPECTED_END),
    ("cut off in the end", UNEXPECTED_END),
];
