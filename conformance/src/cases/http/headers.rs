//! The header sets of answers, in the order and spelling of the wire (kv.md 1.2, 1.22.md A1.2).

use std::time::{Duration, SystemTime};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::time::Stopwatch;
use crate::wire::Request;

/// Since then every endpoint answer says what the ACL default is.
const ACL_POLICY: &str = "X-Consul-Default-Acl-Policy";
/// Since then every answer with an index says how it was made.
const QUERY_BACKEND: &str = "X-Consul-Query-Backend";
/// The release of `QUERY_BACKEND` (1.22.md F, http.query_backend).
const V1_10_1: Version = Version::new(1, 10, 1);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/headers/hit",
        claim: "A hit carries exactly these headers, in Go's spelling and order",
        source: "kv.md 1.2",
        until: Some(Version::V1_9),
        run: |t| hit(t, &[], &[]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/hit-since-1-9",
        claim: "A hit also carries X-Consul-Default-Acl-Policy",
        source: "1.22.md A1.2 [D]",
        since: Version::V1_9,
        until: Some(V1_10_1),
        run: |t| hit(t, &[ACL_POLICY], &[]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/hit-since-1-10-1",
        claim: "A hit also carries X-Consul-Default-Acl-Policy and X-Consul-Query-Backend",
        source: "1.22.md A1.2 [G] [S]",
        since: V1_10_1,
        run: |t| hit(t, &[ACL_POLICY], &[QUERY_BACKEND]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/miss",
        claim: "A miss carries exactly these headers, in Go's spelling and order",
        source: "kv.md 1.2",
        until: Some(Version::V1_9),
        run: |t| miss(t, &[], &[]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/miss-since-1-9",
        claim: "A miss also carries X-Consul-Default-Acl-Policy",
        source: "1.22.md A1.2 [D]",
        since: Version::V1_9,
        until: Some(V1_10_1),
        run: |t| miss(t, &[ACL_POLICY], &[]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/miss-since-1-10-1",
        claim: "A miss also carries X-Consul-Default-Acl-Policy and X-Consul-Query-Backend",
        source: "1.22.md A1.2 [G] [S]",
        since: V1_10_1,
        run: |t| miss(t, &[ACL_POLICY], &[QUERY_BACKEND]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/write",
        claim: "A write's answer carries exactly these headers, in Go's spelling and order",
        source: "kv.md 1.2",
        until: Some(Version::V1_9),
        run: |t| write(t, &[]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/write-since-1-9",
        claim: "A write's answer also carries X-Consul-Default-Acl-Policy",
        source: "1.22.md A1.2 [G] [S]",
        since: Version::V1_9,
        run: |t| write(t, &[ACL_POLICY]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/refusal",
        claim: "A refusal's Content-Type is sniffed, so it comes after Date and Content-Length",
        source: "kv.md 1.2, 6.4",
        until: Some(Version::V1_9),
        run: |t| {
            refused_by_parsing(t, &[]);
            let expected = ["Vary", "Date", "Content-Length", "Content-Type"];
            t.api_get("/v1/kv/").header_names_are(&expected);
        },
        ..Case::REAL
    },
    Case {
        id: "http/headers/refusal-by-parsing-since-1-9",
        claim: "A refusal of a bad index also carries X-Consul-Default-Acl-Policy, and its Content-Type is sniffed",
        source: "1.22.md A1.2 [G]",
        since: Version::V1_9,
        run: |t| refused_by_parsing(t, &[ACL_POLICY]),
        ..Case::REAL
    },
    Case {
        id: "http/headers/refusal-by-handler-since-1-20",
        claim: "A refusal by the handler has its Content-Type set, so that it comes first",
        source: "1.22.md A1.2 [G], F http.error_ct_first",
        since: Version::V1_20,
        run: |t| {
            t.api_get("/v1/kv/")
                .header_names_are(&["Content-Type", "Vary", ACL_POLICY, "Date", "Content-Length"])
                .header_is("Content-Type", "text/plain; charset=utf-8");
        },
        ..Case::REAL
    },
    Case {
        id: "http/headers/date-is-of-the-answer",
        claim: "Date is the second of the answer: it moves on as time passes, and no faster",
        source: "kv.md 1.2; RFC 9110 6.6.1",
        run: |t| {
            let date = || {
                let answer = t.api_get("/v1/status/leader").has_header("Date");
                let text = answer.header("Date").unwrap_or_default().to_owned();
                let date = httpdate::parse_http_date(&text);
                t.check(date.is_ok(), format!("{text:?} is not a date"));
                date.unwrap_or(SystemTime::UNIX_EPOCH)
            };
            let watch = Stopwatch::start();
            let before = date();
            // Not by the target's own time: that of a double may stand still.
            let moved = t.eventually("another Date", Duration::from_secs(9), || {
                let moved = date().duration_since(before).unwrap_or_default();
                (!moved.is_zero()).then_some(moved)
            });
            // Dates are cut to the second.
            let most = watch.elapsed() + Duration::from_secs(1);
            let otherwise = format!("Date moved on by {moved:?} in {:?}", watch.elapsed());
            t.check(moved <= most, otherwise);
        },
        ..Case::MUST
    },
    Case {
        id: "http/headers/acl-policy-is-absent",
        claim: "No answer carries X-Consul-Default-Acl-Policy",
        source: "kv.md 6.6",
        until: Some(Version::V1_9),
        run: |t| {
            for (status, request) in endpoint_requests(t) {
                t.send(&request).status_is(status).has_no_header(ACL_POLICY);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/headers/acl-policy-allow",
        claim: "Every answer of an endpoint says X-Consul-Default-Acl-Policy: allow, also errors, 405 and OPTIONS",
        source: "1.22.md A0.4 [S] [D]",
        since: Version::V1_9,
        needs: &[Feature::AclsOff],
        run: |t| {
            for (status, request) in endpoint_requests(t) {
                t.send(&request)
                    .status_is(status)
                    .header_is(ACL_POLICY, "allow");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/headers/acl-policy-not-outside-of-endpoints",
        claim: "Redirects, unknown paths and unprintable paths carry no X-Consul-Default-Acl-Policy",
        source: "1.22.md A0.4 [S]",
        since: Version::V1_9,
        run: |t| {
            for (status, target) in [
                (t.moved(), "/v1/kv"),
                (404, "/v1/conformance/nowhere"),
                (400, "/v1/kv/%01"),
            ] {
                t.api_get(target)
                    .status_is(status)
                    .has_no_header(ACL_POLICY);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/headers/query-backend-is-absent",
        claim: "No read says how it was made",
        source: "kv.md 5.5",
        until: Some(V1_10_1),
        run: |t| {
            t.get(&t.key("k"), "")
                .status_is(404)
                .has_no_header(QUERY_BACKEND);
        },
        ..Case::REAL
    },
    Case {
        id: "http/headers/query-backend-of-reads",
        claim: "Every KV answer with an index says X-Consul-Query-Backend: blocking-query",
        source: "1.22.md A5 [S]",
        since: V1_10_1,
        run: |t| {
            let key = t.key("k");
            t.get(&key, "")
                .status_is(404)
                .header_is(QUERY_BACKEND, "blocking-query");
            t.put(&key, "", "v").has_no_header(QUERY_BACKEND);
            for query in ["", "raw", "recurse", "keys"] {
                t.get(&key, query)
                    .status_is(200)
                    .header_is(QUERY_BACKEND, "blocking-query");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/headers/effective-consistency-is-absent",
        claim: "KV and transactions never say X-Consul-Effective-Consistency",
        source: "kv.md 6.1, 1.22.md A6.1; 1.22.md A6.r1",
        run: |t| {
            let key = t.key("k");
            for query in ["", "stale", "consistent", "recurse&stale", "cached"] {
                t.get(&key, query)
                    .status_is(404)
                    .has_no_header("X-Consul-Effective-Consistency");
            }
            t.txn(&serde_json::json!([]))
                .status_is(200)
                .has_no_header("X-Consul-Effective-Consistency");
        },
        ..Case::REAL
    },
];

fn hit(t: &Trial, before_index: &[&str], after_index: &[&str]) {
    let key = t.key("k");
    t.put(&key, "", "v").is(200, "true");
    let first = ["Content-Type", "Vary"];
    let index = [
        "X-Consul-Index",
        "X-Consul-Knownleader",
        "X-Consul-Lastcontact",
    ];
    let last = ["Date", "Content-Length"];
    let expected = [&first[..], before_index, &index, after_index, &last].concat();
    for query in ["", "recurse", "keys"] {
        t.get(&key, query)
            .status_is(200)
            .header_names_are(&expected)
            .header_is("Content-Type", "application/json")
            .header_is("Vary", "Accept-Encoding")
            .header_is("X-Consul-Knownleader", "true")
            .header_is("X-Consul-Lastcontact", "0");
    }
}

fn miss(t: &Trial, before_index: &[&str], after_index: &[&str]) {
    let index = [
        "X-Consul-Index",
        "X-Consul-Knownleader",
        "X-Consul-Lastcontact",
    ];
    let last = ["Date", "Content-Length"];
    let expected = [&["Vary"], before_index, &index, after_index, &last].concat();
    for query in ["", "raw", "recurse", "keys"] {
        t.get(&t.key("missing/"), query)
            .is(404, "")
            .header_names_are(&expected);
    }
}

fn write(t: &Trial, before_date: &[&str]) {
    let first = ["Content-Type", "Vary"];
    let last = ["Date", "Content-Length"];
    let expected = [&first[..], before_date, &last].concat();
    let key = t.key("k");
    for answer in [
        t.put(&key, "", "v"),
        t.put(&key, "cas=0", "w"),
        t.delete(&key, ""),
    ] {
        answer
            .status_is(200)
            .header_names_are(&expected)
            .header_is("Content-Type", "application/json");
    }
}

fn refused_by_parsing(t: &Trial, before_date: &[&str]) {
    let last = ["Date", "Content-Length", "Content-Type"];
    let expected = [&["Vary"], before_date, &last].concat();
    t.get(&t.key("k"), "index=abc")
        .is(400, "Invalid index")
        .header_names_are(&expected)
        .header_is("Content-Type", "text/plain; charset=utf-8");
}

/// A hit's, a miss's, a write's and every kind of refused request to an endpoint.
fn endpoint_requests(t: &Trial) -> [(u16, Request); 7] {
    let target = format!("/v1/kv/{}", t.key("k"));
    [
        (200, Request::put(&target, "v")),
        (200, Request::get(&target)),
        (404, Request::get(&format!("{target}/missing"))),
        (400, Request::get(&format!("{target}?index=abc"))),
        (
            500,
            Request::get(&format!("{target}?dc=conformance-nowhere")),
        ),
        (405, Request::new("POST", &target)),
        (200, Request::new("OPTIONS", &target)),
    ]
}
