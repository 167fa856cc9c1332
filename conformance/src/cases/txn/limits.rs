//! Transactions: how many operations, and how many bytes.

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::txn::{get, op, refused, results, set, txn};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "txn/limit/64-operations",
        claim: "A transaction has 64 operations at most, reads included; one more is 413 and nothing runs",
        source: "kv.md 7.1",
        until: Some(Version::V1_14),
        run: |t| operations(t, 64),
        ..Case::MUST
    },
    Case {
        id: "txn/limit/128-operations-since-1-14",
        claim: "A transaction has 128 operations at most, reads included; one more is 413 and nothing runs",
        source: "1.22.md A7 [D: 1.14.0]",
        since: Version::V1_14,
        run: |t| operations(t, 128),
        ..Case::MUST
    },
    Case {
        id: "txn/limit/counted-before-anything-else",
        claim: "Too many operations are 413 even if each of them would be refused",
        source: "kv.md 7.1",
        run: |t| {
            txn(t, (0..200).map(|_| op("bogus", "")))
                .says(413, "Transaction contains too many operations (200 > ");
        },
        ..Case::REAL
    },
    Case {
        id: "txn/limit/announced-length",
        claim: "A body whose announced length is above the limit (512 KiB unless configured) is 413 before it is read, and one of just that size is not",
        source: "kv.md 7.1",
        run: |t| {
            let (limit, over) = (limit(t), limit(t) + 1);
            let text =
                format!("Request body({over} bytes) too large, max size: {limit} bytes. See ");
            announce(t, over)
                .says(413, &text)
                .says(413, "#txn_max_req_len");
            results(t.api_put("/v1/txn", list_of_bytes(limit)));
        },
        ..Case::MUST
    },
    Case {
        id: "txn/limit/chunked-body",
        claim: "A chunked body above the limit is 413, and one of just that size is not",
        source: "kv.md 7.1",
        run: |t| {
            let limit = limit(t);
            let text = format!("Request body too large, max size: {limit} bytes. See ");
            chunked(t, limit + 1)
                .says(413, &text)
                .says(413, "#txn_max_req_len");
            results(chunked(t, limit));
        },
        ..Case::MUST
    },
    Case {
        id: "txn/limit/link-before-1-12",
        claim: "Both texts about the size end with a link to options.html",
        source: "kv.md 7.1",
        until: Some(Version::V1_12),
        run: |t| {
            links(
                t,
                "https://www.consul.io/docs/agent/options.html#txn_max_req_len.",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/limit/link-since-1-12",
        claim: "Both texts about the size end with a link to config-files",
        source: "1.22.md A2, A7, part F: kv.413_link [S, H: 1.12.0 until 1.21.1 or 1.22.0]",
        since: Version::V1_12,
        until: Some(Version::new(1, 21, 0)),
        run: |t| {
            links(
                t,
                "https://www.consul.io/docs/agent/config/config-files#txn_max_req_len.",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/limit/link-since-1-22",
        claim: "Both texts about the size end with a link to the developer pages",
        source: "1.22.md A7 [S, H: 1.22.0, maybe 1.21.1]",
        since: Version::V1_22,
        run: |t| {
            links(
                t,
                "https://developer.hashicorp.com/docs/agent/config/config-files#txn_max_req_len.",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "txn/limit/value-of-half-the-body",
        claim: "A value that fills most of the body is stored whole",
        source: "kv.md 7.1",
        run: |t| {
            let (key, value) = (t.key("k"), "v".repeat(390_000));
            txn(t, [set(&key, &value)]).status_is(200);
            t.get(&key, "raw").body_is_exactly(&value);
        },
        ..Case::MUST
    },
    Case {
        id: "txn/limit/is-the-greater-of-two-settings",
        claim: "The limit of the body is the greater of txn_max_req_len and kv_max_value_size",
        source: "kv.md 7.1",
        settings: r#"{"limits": {"txn_max_req_len": 600000, "kv_max_value_size": 800000}}"#,
        run: |t| {
            t.same("the limit", limit(t), 800_000);
            results(t.api_put("/v1/txn", list_of_bytes(800_000)));
        },
        ..Case::REAL
    },
    Case {
        id: "txn/limit/one-value",
        claim: "A value above kv_max_value_size is 413 with its key as Go quotes it, though the body is within its limit, and nothing runs",
        source: "kv.md 7.1",
        settings: r#"{"limits": {"txn_max_req_len": 2000000}}"#,
        run: |t| {
            t.same("the limit", limit(t), 2_000_000);
            let most = "v".repeat(524_288);
            txn(t, [set("most", &most)]).status_is(200);
            t.get("most", "raw").body_is_exactly(&most);
            let answer = txn(t, [set("before", "v"), set("t\"q", &"v".repeat(600_000))]);
            answer.is(
                413,
                r#"Value for key "t\"q" is too large (600000 > 524288 bytes)"#,
            );
            t.get("before", "").is(404, "");
        },
        ..Case::REAL
    },
];

/// So many operations are the most.
#[track_caller]
fn operations(t: &Trial, most: usize) {
    let key = t.key("k");
    let sets = |count: usize| (0..count).map(|number| set(&key, &number.to_string()));
    let text = format!(
        "Transaction contains too many operations ({} > {most})",
        most + 1
    );
    txn(t, sets(most).chain([get(&key)])).is(413, &text);
    t.get(&key, "").is(404, "");
    let missing = format!("key \"{key}\" doesn't exist");
    let expected: Vec<(usize, &str)> = (0..most).map(|number| (number, missing.as_str())).collect();
    refused(txn(t, (0..most).map(|_| get(&key))), &expected);
    t.same("results", results(txn(t, sets(most))).len(), most);
    t.get(&key, "").entry().value_is((most - 1).to_string());
}

/// A transaction without operations that is so many bytes long.
fn list_of_bytes(length: usize) -> Vec<u8> {
    let mut body = vec![b' '; length];
    body[0] = b'[';
    body[length - 1] = b']';
    body
}

/// Sends only the head of such a request: the answer comes before the body is read.
fn announce(t: &Trial, length: usize) -> Answer {
    t.raw(format!(
        "PUT /v1/txn HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n",
        t.host()
    ))
}

fn chunked(t: &Trial, length: usize) -> Answer {
    t.send(&Request::new("PUT", "/v1/txn").chunked(&[&list_of_bytes(length)]))
}

#[track_caller]
fn links(t: &Trial, link: &str) {
    let (limit, over) = (limit(t), limit(t) + 1);
    let size = format!("too large, max size: {limit} bytes. See {link}");
    announce(t, over).is(413, &format!("Request body({over} bytes) {size}"));
    chunked(t, over).is(413, &format!("Request body {size}"));
}

/// What the server says it takes at most, so that the cases hold wherever it is configured.
#[track_caller]
fn limit(t: &Trial) -> usize {
    let text = announce(t, 1_000_000_000_000)
        .says(413, "max size: ")
        .text();
    let number = text
        .split_once("max size: ")
        .and_then(|(_, rest)| rest.split_once(' '))
        .and_then(|(number, _)| number.parse().ok());
    t.check(number.is_some(), format!("no limit in {text:?}"));
    number.unwrap_or_default()
}
