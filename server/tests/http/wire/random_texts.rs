//! Texts that nobody thought of, in the places that have a language of their own: filters and regular expressions; and
//! what is nested as deep as a request can be long. Whatever comes, it is answered.

use std::fmt::Write;

use proptest::prelude::*;

use crate::bodies::random::{CALLS, answered, text};
use crate::support::request;
use crate::wire::random_bytes::{both, for_all, send_all};

/// What regular expressions are made of.
const REGEXP_PIECES: &[&str] = &[
    "(",
    ")",
    "(?",
    ":",
    "P<",
    "a",
    ">",
    "i",
    "-",
    "[",
    "^",
    "]",
    "[:alpha:]",
    "\\",
    "\\p",
    "\\P",
    "{",
    "}",
    "Nd",
    "Greek",
    "\\d",
    "\\b",
    "\\Q",
    "\\E",
    "\\x",
    "4",
    "1",
    ",",
    "*",
    "+",
    "?",
    "|",
    ".",
    "$",
    "&&",
    "é",
    "\u{0}",
];

fn regexp() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(REGEXP_PIECES), 0..12);
    pieces.prop_map(|pieces| pieces.concat())
}

#[test]
fn events_and_their_filters() {
    let servers = both();
    let parameter = || prop_oneof![text(), regexp()].prop_map(|text| escaped(&text));
    let event = (parameter(), parameter(), parameter(), parameter(), text());
    for_all(event, |(name, node, service, tag, payload)| {
        let path = format!("/v1/event/fire/{name}?node={node}&service={service}&tag={tag}&dc=dc1");
        for consul in &servers {
            let bytes = request("PUT", &path, &[], payload.as_bytes());
            answered(&send_all(consul, &bytes), &bytes)?;
            prop_assert_eq!(consul.get("/v1/event/list").code(), 200);
        }
        Ok(())
    });
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        let _ = write!(escaped, "%{byte:02X}");
    }
    escaped
}

/// What filters are made of.
const PIECES: &[&str] = &[
    "(",
    ")",
    " ",
    "not ",
    " and ",
    " or ",
    " == ",
    " != ",
    " in ",
    " not in ",
    " matches ",
    " contains ",
    " is empty",
    "Node",
    "Service",
    "Service.Meta",
    "Meta",
    ".",
    "[",
    "]",
    "\"a\"",
    "\"",
    "`",
    "`(`",
    "5",
    "-",
    "0x",
    "ID",
    "ServiceTags",
    "Checks",
    "Tags",
    "é",
    "\n",
    "\u{0}",
];

#[test]
fn filters_of_random_pieces() {
    let servers = both();
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..20);
    for_all(pieces, |pieces| {
        let filter = escaped(&pieces.concat());
        for consul in &servers {
            for path in [
                "catalog/nodes",
                "catalog/service/consul",
                "health/service/consul",
                "agent/services",
                "agent/checks",
            ] {
                let code = consul.get(&format!("/v1/{path}?filter={filter}")).code();
                prop_assert!([200, 400, 500].contains(&code), "{path}: {code}");
            }
        }
        Ok(())
    });
}

/// What nests as deep as a request can be long.
#[test]
fn nothing_is_nested_too_deeply() {
    for consul in &both() {
        for (open, close) in [("(", ")"), ("not ", ""), ("a[", "]"), ("(not ", ")")] {
            let filter = format!("{}a==b{}", open.repeat(9_000), close.repeat(9_000));
            let filter = filter.replace(' ', "%20");
            let answer = consul.get(&format!("/v1/catalog/nodes?filter={filter}"));
            assert_ne!(answer.code(), 200, "{open}");
        }
        for (open, close) in [
            ("(", ")"),
            ("(?:", ")*"),
            ("[", "]"),
            ("", "*"),
            ("", "{9}"),
        ] {
            let (open, close) = (open.repeat(4_000), close.repeat(4_000));
            let pattern = escaped(&format!("{open}a{close}"));
            let path = format!("/v1/event/fire/e?node={pattern}");
            assert_ne!(consul.put(&path, "").code(), 200, "{open}a{close}");
        }
        let (open, close) = ("{\"a\":[".repeat(6_000), "]}".repeat(6_000));
        for (method, path, _) in CALLS {
            for body in [
                format!("{open}1{close}"),
                format!("{{\"Token\":{open}1{close}}}"),
                format!("{{\"Service\":{{\"Proxy\":{open}1{close}}}}}"),
            ] {
                let answer = consul.ask_with(method, path, &[], body.as_bytes());
                assert_ne!(answer.code(), 200, "{path}");
            }
        }
        consul.get("/v1/kv/kept?raw").is(200, "as it was");
    }
}
