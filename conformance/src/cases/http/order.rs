//! Which of several errors a request is answered with (kv.md 0).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// The texts of the refusals by parsing, in the order in which they win.
const STALE: &str = "Cannot specify ?stale with ?consistent, conflicting semantics.";
const CACHE_CONTROL: &str = "Invalid Cache-Control header.";
const WAIT: &str = "Invalid wait time";
const INDEX: &str = "Invalid index";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/order/bad-query-is-500",
        claim: "A query that does not parse is 500 with an empty body, Vary, and no Content-Type",
        source: "kv.md 0.5",
        until: Some(Version::V1_20),
        run: |t| {
            for query in BAD_QUERIES {
                t.get(&t.key("k"), query)
                    .is(500, "")
                    .has_no_header("Content-Type")
                    .header_is("Content-Length", "0")
                    .header_is("Vary", "Accept-Encoding");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/bad-query-is-500-since-1-20",
        claim: "A query that does not parse is 500 with an empty body that is called text/plain",
        source: "1.22.md A0.5 [G] [D]",
        since: Version::V1_20,
        run: |t| {
            for query in BAD_QUERIES {
                t.get(&t.key("k"), query)
                    .is(500, "")
                    .header_is("Content-Type", "text/plain; charset=utf-8")
                    .header_is("Content-Length", "0")
                    .header_is("Vary", "Accept-Encoding");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/query-before-method",
        claim: "A query that does not parse is refused before OPTIONS and wrong methods are looked at",
        source: "kv.md 0",
        run: |t| {
            for method in ["OPTIONS", "POST", "HEAD", "PUT", "DELETE"] {
                let target = format!("/v1/kv/{}?a=%zz", t.key("k"));
                t.send(&Request::new(method, &target))
                    .is(500, "")
                    .has_no_header("Allow");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/unknown-path-before-query",
        claim: "An unknown path is 404 whatever its query and method",
        source: "kv.md 0.3",
        run: |t| {
            for method in ["GET", "PUT", "POST", "OPTIONS", "HEAD"] {
                t.send(&Request::new(
                    method,
                    "/v1/conformance/nowhere?a=%zz&index=abc",
                ))
                .status_is(404);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/method-before-parameters",
        claim: "A wrong method is 405 whatever the parameters and headers",
        source: "kv.md 0",
        run: |t| {
            let target = format!("/v1/kv/{}?index=abc&stale&consistent&ns=x", t.key("k"));
            let request = Request::new("POST", &target).header("Cache-Control", "max-age=abc");
            t.send(&request).is(405, "method POST not allowed");
            t.send(&Request::new("PATCH", "/v1/kv/")).status_is(405);
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/of-parameters",
        claim: "Consistency is looked at first, then Cache-Control, then wait, then index",
        source: "kv.md 0, 0.10; 1.22.md A0.10",
        run: |t| {
            let bad = "max-age=abc";
            answers(t, "index=abc&wait=abc&stale&consistent", bad, STALE);
            answers(t, "index=abc&wait=abc", bad, CACHE_CONTROL);
            answers(t, "index=abc&wait=abc", "max-age=1", WAIT);
            answers(t, "index=abc", "max-age=1", INDEX);
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/parameters-before-handler",
        claim: "All of these are looked at before the key, the namespace, the conflicts and the datacenter",
        source: "kv.md 0; 1.22.md A0.11",
        run: |t| {
            let request = |method: &str, query: &str| {
                t.send(&Request::new(method, &format!("/v1/kv/?index=abc&{query}")))
                    .is(400, INDEX);
            };
            request("GET", "ns=x");
            request("GET", "dc=conformance-nowhere&recurse");
            request("PUT", "cas=0&acquire=x&ns=x");
            request("DELETE", "cas=0&recurse&ns=x");
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/index-before-namespace-on-the-page",
        claim: "internal/ui looks at how a read waits before it looks at the namespace, behind a gateway after",
        source: "operator.md 3.r16",
        run: |t| {
            const NAMESPACE: &str = "Invalid query parameter: \"ns\"";
            let read = |path: &str| t.api_get(&format!("/v1/internal/ui/{path}"));
            for path in ["services", "nodes", "node/none"] {
                read(&format!("{path}?ns=a&index=x")).is(400, "Invalid index");
                read(&format!("{path}?ns=a")).says(400, NAMESPACE);
            }
            read("gateway-services-nodes/none?ns=a&index=x").says(400, NAMESPACE);
        },
        ..Case::REAL
    },
    Case {
        id: "http/order/filter-before-passing-in-1-8",
        claim: "Reads of health look at ?passing last, behind the filter",
        source: "session.md 4.5",
        until: Some(Version::new(1, 10, 1)),
        run: |t| {
            for kind in ["service", "connect", "ingress"] {
                let path = format!("/v1/health/{kind}/none?passing=x");
                t.api_get(&format!("{path}&filter=Bogus==1"))
                    .says(500, "Selector \"Bogus\" is not valid");
                t.api_get(&path).is(400, "Invalid value for ?passing");
            }
        },
        ..Case::REAL
    },
];

/// Broken escapes in a name and in a value.
const BAD_QUERIES: &[&str] = &["a=%zz", "%zz=a", "raw&a=%", "index=abc&b=%1"];

/// For reads and writes alike.
fn answers(t: &Trial, query: &str, cache_control: &str, text: &str) {
    let target = format!("/v1/kv/{}?{query}", t.key("k"));
    for method in ["GET", "PUT", "DELETE"] {
        let request = Request::new(method, &target).header("Cache-Control", cache_control);
        t.send(&request).is(400, text);
    }
}
