//! Bodies that nobody thought of, on the endpoints that take objects: transactions, registrations, sessions and prepared
//! queries. Most have the fields that the endpoint knows, with values at the edges: what the decoder refuses gets no
//! further. Whatever comes, it is answered, and everything can be read after it.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::support::{Consul, request};
use crate::wire::random_bytes::{both, for_all, send_all, serves};

/// What a field of a body takes.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Text,
    /// Mostly one of these.
    Word(&'static [&'static str]),
    Number,
    Duration,
    Flag,
    Texts,
    Labels,
    Object(Fields),
    Objects(Fields),
    /// Objects by name.
    Named(Fields),
}

const NODE: Shape = Shape::Word(&["proconsul", "web", "web", "WEB"]);
const SERVICE: Shape = Shape::Word(&["web", "web-1", "web-2"]);
const STATUS: Shape = Shape::Word(&["passing", "warning", "critical"]);

pub(crate) type Fields = &'static [(&'static str, Shape)];

const WEIGHTS: Shape = Shape::Object(&[("Passing", Shape::Number), ("Warning", Shape::Number)]);
const ADDRESSES: Shape = Shape::Named(&[("Address", Shape::Text), ("Port", Shape::Number)]);

const CATALOG_CHECK: Fields = &[
    ("Node", NODE),
    ("CheckID", Shape::Text),
    ("Name", Shape::Text),
    ("Status", STATUS),
    ("ServiceID", SERVICE),
    ("Type", Shape::Text),
    (
        "Definition",
        Shape::Object(&[
            ("HTTP", Shape::Text),
            ("Header", Shape::Named(&[])),
            ("Interval", Shape::Duration),
            ("TTL", Shape::Duration),
            ("SessionName", Shape::Text),
        ]),
    ),
];

const REGISTRATION: Fields = &[
    ("Node", NODE),
    ("Address", Shape::Text),
    (
        "ID",
        Shape::Word(&["", "2f3a9c3e-5c3b-4d7e-9a5e-0c1d2e3f4a5b"]),
    ),
    ("Datacenter", Shape::Word(&["dc1", ""])),
    ("TaggedAddresses", Shape::Labels),
    ("NodeMeta", Shape::Labels),
    ("SkipNodeUpdate", Shape::Flag),
    (
        "Service",
        Shape::Object(&[
            ("ID", Shape::Text),
            ("Service", SERVICE),
            ("Kind", Shape::Text),
            ("Tags", Shape::Texts),
            ("Meta", Shape::Labels),
            ("Port", Shape::Number),
            ("Weights", WEIGHTS),
            ("TaggedAddresses", ADDRESSES),
        ]),
    ),
    ("Check", Shape::Object(CATALOG_CHECK)),
    ("Checks", Shape::Objects(CATALOG_CHECK)),
];

const DEREGISTRATION: Fields = &[
    ("Node", NODE),
    ("ServiceID", SERVICE),
    ("CheckID", Shape::Text),
];

const AGENT_CHECK: Fields = &[
    ("ID", Shape::Text),
    ("Name", SERVICE),
    ("Status", STATUS),
    ("ServiceID", Shape::Word(&["", "web"])),
    ("TTL", Shape::Duration),
];

const SERVICE_CHECK: Fields = &[
    ("CheckID", Shape::Text),
    ("Name", Shape::Text),
    ("Status", STATUS),
    ("HTTP", Shape::Word(&["http://127.0.0.1:1/", "http://["])),
    ("Method", Shape::Text),
    ("Body", Shape::Text),
    ("Interval", Shape::Duration),
    ("Timeout", Shape::Duration),
    ("DeregisterCriticalServiceAfter", Shape::Duration),
    ("SuccessBeforePassing", Shape::Number),
    ("FailuresBeforeCritical", Shape::Number),
    ("OutputMaxSize", Shape::Number),
];

const AGENT_SERVICE: Fields = &[
    ("ID", Shape::Text),
    ("Name", SERVICE),
    ("Tags", Shape::Texts),
    ("Meta", Shape::Labels),
    ("Address", Shape::Text),
    ("Port", Shape::Number),
    ("Kind", Shape::Word(&["", "connect-proxy"])),
    ("Weights", WEIGHTS),
    ("TaggedAddresses", ADDRESSES),
    ("EnableTagOverride", Shape::Flag),
    ("Check", Shape::Object(SERVICE_CHECK)),
    ("Checks", Shape::Objects(SERVICE_CHECK)),
];

const UPDATE: Fields = &[("Status", STATUS), ("Output", Shape::Text)];

const SESSION: Fields = &[
    ("Node", Shape::Word(&["proconsul"])),
    ("Name", Shape::Text),
    ("LockDelay", Shape::Duration),
    ("TTL", Shape::Duration),
    ("Behavior", Shape::Word(&["", "delete", "release"])),
    ("Checks", Shape::Texts),
    ("NodeChecks", Shape::Texts),
    (
        "ServiceChecks",
        Shape::Objects(&[("ID", Shape::Text), ("Namespace", Shape::Text)]),
    ),
];

const PREPARED_QUERY: Fields = &[
    ("Name", Shape::Word(&["web-", "", "web"])),
    ("Session", Shape::Word(&[""])),
    (
        "Template",
        Shape::Object(&[
            ("Type", Shape::Word(&["name_prefix_match"])),
            ("Regexp", Shape::Word(&["^web-(.*)$", "", "("])),
            ("RemoveEmptyTags", Shape::Flag),
        ]),
    ),
    (
        "Service",
        Shape::Object(&[
            (
                "Service",
                Shape::Word(&["web", "${name.suffix}", "${match(1)}", "${"]),
            ),
            ("Tags", Shape::Texts),
            ("IgnoreCheckIDs", Shape::Texts),
            ("NodeMeta", Shape::Labels),
            ("ServiceMeta", Shape::Labels),
            ("Near", Shape::Text),
            ("OnlyPassing", Shape::Flag),
            (
                "Failover",
                Shape::Object(&[("NearestN", Shape::Number), ("Datacenters", Shape::Texts)]),
            ),
        ]),
    ),
    ("DNS", Shape::Object(&[("TTL", Shape::Word(&["10s"]))])),
];

/// The calls that take a body.
pub(crate) const CALLS: &[(&str, &str, Fields)] = &[
    ("PUT", "/v1/catalog/register", REGISTRATION),
    ("PUT", "/v1/catalog/deregister", DEREGISTRATION),
    ("PUT", "/v1/agent/service/register", AGENT_SERVICE),
    ("PUT", "/v1/agent/check/register", AGENT_CHECK),
    ("PUT", "/v1/agent/check/update/web", UPDATE),
    ("PUT", "/v1/session/create", SESSION),
    ("POST", "/v1/query", PREPARED_QUERY),
];

/// What is read after every body: what was taken can be shown, and found.
const READS: &[&str] = &[
    "/v1/agent/services",
    "/v1/agent/checks",
    "/v1/agent/health/service/name/web",
    "/v1/catalog/nodes",
    "/v1/catalog/services",
    "/v1/catalog/service/web",
    "/v1/catalog/node/web",
    "/v1/health/service/web?passing",
    "/v1/health/state/any",
    "/v1/session/list",
    "/v1/query",
    "/v1/query/web-1/execute",
    "/v1/query/web-1/explain",
];

/// Texts that mean something somewhere.
const WORDS: &[&str] = &[
    "",
    "web",
    "web",
    "web-",
    "consul",
    "serfHealth",
    "service:web",
    "passing",
    "warning",
    "critical",
    "delete",
    "release",
    "connect-proxy",
    "name_prefix_match",
    "${match(1)}",
    "${match(-1)}",
    "${name.suffix}",
    "${",
    "$${",
    "^web-(.*)$",
    "(",
    "(a*)*{1000}",
    "\\",
    "_agent",
    "dc1",
    "127.0.0.1",
    "[::1]:1",
    "127.0.0.1:1",
    "http://127.0.0.1:1/",
    "http://[",
    "2f3a9c3e-5c3b-4d7e-9a5e-0c1d2e3f4a5b",
    "é\u{0}\u{1f600}",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

fn number() -> impl Strategy<Value = String> {
    let proper = [
        "0",
        "1",
        "-1",
        "65536",
        "-9223372036854775808",
        "9223372036854775807",
    ];
    prop_oneof![
        40 => prop::sample::select(proper.to_vec()),
        1 => prop::sample::select(vec!["1e2", "0.5", "1e308", "18446744073709551615"]),
    ]
    .prop_map(str::to_owned)
}

fn duration() -> impl Strategy<Value = String> {
    let edges = [
        "",
        "0s",
        "1ns",
        "-1s",
        "2562047h47m16.854775807s",
        "-2562047h47m16.854775808s",
        "x",
    ];
    prop_oneof![
        4 => prop::sample::select(vec!["10s", "1.5h"]).prop_map(quoted),
        1 => prop::sample::select(edges.to_vec()).prop_map(quoted),
        1 => number(),
    ]
}

fn array(items: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let list = prop::collection::vec(items, 0..3);
    list.prop_map(|items| format!("[{}]", items.join(",")))
}

fn of(shape: Shape) -> BoxedStrategy<String> {
    let proper = match shape {
        Shape::Text => text().prop_map(|text| quoted(&text)).boxed(),
        Shape::Word(words) => prop_oneof![
            9 => prop::sample::select(words).prop_map(quoted),
            1 => of(Shape::Text),
        ]
        .boxed(),
        Shape::Number => number().boxed(),
        Shape::Duration => duration().boxed(),
        Shape::Flag => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
        Shape::Texts => array(of(Shape::Text)).boxed(),
        Shape::Labels => named(of(Shape::Text)),
        Shape::Object(fields) => object(fields),
        Shape::Objects(fields) => array(object(fields)).boxed(),
        Shape::Named(fields) => named(object(fields)),
    };
    prop_oneof![
        400 => proper,
        1 => Just("null".to_owned()),
        1 => Just("[{}]".to_owned()),
    ]
    .boxed()
}

fn named(items: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let pairs = prop::collection::vec((text(), items), 0..3);
    let pairs = pairs.prop_map(|pairs| {
        let pair = |(name, item): &(String, String)| format!("{}:{item}", quoted(name));
        let pairs: Vec<String> = pairs.iter().map(pair).collect();
        format!("{{{}}}", pairs.join(","))
    });
    pairs.boxed()
}

fn object(fields: Fields) -> BoxedStrategy<String> {
    let one = |&(name, shape): &(&'static str, Shape)| {
        let member = of(shape).prop_map(move |value| format!("\"{name}\":{value}"));
        prop::option::weighted(0.85, member)
    };
    let members: Vec<_> = fields.iter().map(one).collect();
    let body = members.prop_map(|members| {
        let members: Vec<String> = members.into_iter().flatten().collect();
        format!("{{{}}}", members.join(","))
    });
    body.boxed()
}

/// That an answer came. Where Consul's handlers die of a `null`, there is none.
pub(crate) fn answered(answer: &[u8], request: &[u8]) -> Result<(), TestCaseError> {
    let shown = String::from_utf8_lossy(request);
    let dies = answer.is_empty() && shown.contains("null");
    prop_assert!(dies || answer.starts_with(b"HTTP/1.1 "), "{shown}");
    Ok(())
}

fn reads(consul: &Consul) -> Result<(), TestCaseError> {
    for path in READS {
        let code = consul.get(path).code();
        let may_be_absent = path.starts_with("/v1/query/") || path.starts_with("/v1/agent/health");
        prop_assert!(
            code == 200 || may_be_absent && [404, 429, 503].contains(&code),
            "{path}: {code}"
        );
    }
    Ok(())
}

#[test]
fn registrations_sessions_and_prepared_queries() {
    let servers = both();
    let calls: Vec<_> = CALLS
        .iter()
        .map(|&(method, path, fields)| (Just((method, path)), object(fields)))
        .collect();
    let call = (0..calls.len()).prop_flat_map(move |place| calls[place].clone());
    for_all(call, |((method, path), body)| {
        for consul in &servers {
            let bytes = request(method, path, &[], body.as_bytes());
            answered(&send_all(consul, &bytes), &bytes)?;
            reads(consul)?;
        }
        Ok(())
    });
}

/// A value of JSON, or nearly.
fn nearly_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| format!("{text:?}")),
        "\"[a-z]{0,3}\"",
        Just("nul".to_owned()),
        Just(String::new()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop::sample::select(vec![
            "KV", "kv", "Verb", "Key", "Value", "Flags", "Index", "Session", "Node", "Service",
            "Check", "Bogus", "",
        ]);
        let members = prop::collection::vec((name, inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|list| format!("[{}]", list.join(","))),
            members.prop_map(|members| {
                let mut object = String::from("{");
                for (position, (name, value)) in members.iter().enumerate() {
                    let comma = if position > 0 { "," } else { "" };
                    let _ = write!(object, "{comma}\"{name}\":{value}");
                }
                object.push('}');
                object
            }),
        ]
    })
}

#[test]
fn transactions_of_random_bodies() {
    let servers = both();
    let bodies = prop_oneof![
        3 => nearly_json().prop_map(String::into_bytes),
        3 => prop::collection::vec(nearly_json(), 0..4)
            .prop_map(|list| format!("[{}]", list.join(",")).into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..100),
    ];
    for_all(bodies, |body| {
        for consul in &servers {
            let before = consul.get("/v1/kv/?recurse").text().to_owned();
            let answers = send_all(consul, &request("PUT", "/v1/txn", &[], &body));
            let status =
                String::from_utf8_lossy(answers.get(9..12).unwrap_or_default()).into_owned();
            // An operation that is null ends the connection.
            let known = ["200", "400", "409", "413", ""].contains(&status.as_str());
            prop_assert!(known, "{status}");
            if status != "200" {
                let after = consul.get("/v1/kv/?recurse");
                prop_assert_eq!(after.text(), before);
            }
            consul.put("/v1/kv/kept", "as it was");
            serves(consul)?;
        }
        Ok(())
    });
}
