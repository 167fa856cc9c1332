//! Every parser, at depths that no stack has room for: the server has half a megabyte for each thread.

use crate::child::Server;
use crate::run::{GENEROUS, Plane};
use crate::wire::{Outcome, Wire};

const DEPTHS: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// What is nested, by what opens and what closes a level. The first two are for every parser of JSON.
const JSON: &[(&str, &str, &str, &str)] = &[
    ("", "[", "]", ""),
    ("", "{\"a\":", "}", ""),
    (
        "{\"Name\":\"a\",\"Port\":1,\"Connect\":",
        "{\"SidecarService\":{\"Connect\":",
        "}}",
        "}",
    ),
    (
        "{\"Name\":\"a\",\"Proxy\":{\"Config\":",
        "{\"a\":[",
        "]}",
        "}}",
    ),
    (
        "[{\"Service\":{\"Verb\":\"set\",\"Node\":\"n\",\"Service\":{\"Connect\":",
        "{\"SidecarService\":{\"Connect\":",
        "}}",
        "}}}]",
    ),
    (
        "{\"Template\":{\"Type\":\"name_prefix_match\",\"Regexp\":\"",
        "(",
        ")",
        "\"}}",
    ),
    (
        "{\"Name\":\"q\",\"Template\":{\"Type\":\"name_prefix_match\"},\"Service\":{\"Service\":\"",
        "${match(",
        ")}",
        "\"}}",
    ),
];

const ENDPOINTS: &[(&str, &str)] = &[
    ("PUT", "/v1/txn"),
    ("PUT", "/v1/session/create"),
    ("PUT", "/v1/catalog/register"),
    ("PUT", "/v1/catalog/deregister"),
    ("PUT", "/v1/agent/service/register"),
    ("PUT", "/v1/agent/check/register"),
    ("PUT", "/v1/agent/check/update/x"),
    ("POST", "/v1/query"),
    ("PUT", "/v1/config"),
    ("PUT", "/v1/kv/a"),
];

const CALLS: &[(&str, &str)] = &[
    ("PUT", "/state"),
    ("PUT", "/state/kv"),
    ("POST", "/faults"),
    ("POST", "/leader/lose"),
    ("POST", "/safety"),
    ("POST", "/clock/advance"),
    ("POST", "/servers"),
];

/// What is nested in a query, which is shorter than a megabyte.
const QUERIES: &[(&str, &str, &str, &str)] = &[
    ("/v1/catalog/nodes?filter=", "(", "Node==a", ")"),
    ("/v1/catalog/nodes?filter=", "not%20", "Node==a", ""),
    (
        "/v1/catalog/nodes?filter=",
        "Node==a%20or%20(",
        "Node==a",
        ")",
    ),
    (
        "/v1/catalog/nodes?filter=Node%20matches%20%60",
        "(",
        "a",
        ")",
    ),
    (
        "/v1/catalog/nodes?filter=Node%20matches%20%60",
        "(a|b",
        "a",
        ")*",
    ),
    ("/v1/event/list?node=", "(", "a", ")"),
    ("/v1/kv/", "a/", "a", ""),
    ("/v1/kv/", "../", "a", ""),
    ("/v1/kv/a?", "a=%5B", "a", "&"),
];

#[test]
fn every_depth_is_answered() {
    let mut server = Server::start();
    for depth in DEPTHS {
        // What is deeper than any JSON may be is refused by its depth, whatever it is.
        let shapes = if depth > 10_000 { &JSON[..2] } else { JSON };
        for (before, open, close, behind) in shapes {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            let body = format!("{before}{open}1{close}{behind}");
            for (method, path) in ENDPOINTS {
                ask(&mut server, Plane::Data, method, path, &body);
            }
            for (method, path) in CALLS {
                let path = format!("/proconsul/v1{path}");
                ask(&mut server, Plane::Control, method, &path, &body);
            }
        }
        for (path, open, inner, close) in QUERIES {
            let depth = depth.min(900_000 / (open.len() + close.len()));
            let target = format!("{path}{}{inner}{}", open.repeat(depth), close.repeat(depth));
            ask(&mut server, Plane::Data, "GET", &target, "");
        }
    }
}

/// That a request is answered, whatever with.
#[track_caller]
fn ask(server: &mut Server, plane: Plane, method: &str, target: &str, body: &str) {
    let address = match plane {
        Plane::Data => server.data,
        Plane::Control => server.control,
    };
    let mut wire = Wire::to(address).expect("the server listens");
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    wire.send((head + body).as_bytes());
    let outcome = wire.answer(false, GENEROUS);
    let shown = &target[..target.len().min(60)];
    assert_eq!(server.complaint(), None, "{method} {shown}");
    assert!(
        matches!(outcome, Outcome::Answered(_)),
        "{method} {shown}, {length} bytes: {outcome:?}"
    );
}
