//! Methods, and paths that nobody serves (kv.md 6.6).

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// What may be done with a key.
const KV: &str = "OPTIONS,GET,PUT,DELETE";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/methods/others-are-405",
        claim: "Any other method is 405, with the methods in Allow without spaces, and its name in the text as it was sent",
        source: "kv.md 6.6; trap 23",
        run: |t| {
            let target = format!("/v1/kv/{}", t.key("k"));
            for method in ["POST", "PATCH", "TRACE", "BREW", "get", "Put"] {
                t.send(&Request::new(method, &target).body("v"))
                    .is(405, &format!("method {method} not allowed"))
                    .header_is("Allow", KV)
                    .header_is("Vary", "Accept-Encoding")
                    .header_is("Content-Type", "text/plain; charset=utf-8");
            }
            t.get(&t.key("k"), "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "http/methods/header-set-of-405",
        claim: "A 405 carries exactly these headers, its Content-Type sniffed",
        source: "kv.md 6.6",
        until: Some(Version::V1_9),
        run: |t| {
            let expected = ["Allow", "Vary", "Date", "Content-Length", "Content-Type"];
            t.send(&Request::new("POST", &format!("/v1/kv/{}", t.key("k"))))
                .header_names_are(&expected);
        },
        ..Case::REAL
    },
    Case {
        id: "http/methods/header-set-of-405-since-1-20",
        claim: "A 405 carries exactly these headers, its Content-Type set",
        source: "1.22.md A0.6, A0.4 [S]",
        since: Version::V1_20,
        run: |t| {
            t.send(&Request::new("POST", &format!("/v1/kv/{}", t.key("k"))))
                .header_names_are(&[
                    "Allow",
                    "Content-Type",
                    "Vary",
                    "X-Consul-Default-Acl-Policy",
                    "Date",
                    "Content-Length",
                ]);
        },
        ..Case::REAL
    },
    Case {
        id: "http/methods/head-is-405",
        claim: "HEAD is 405 with the length of the text that a GET would show, and no body",
        source: "kv.md 6.6; trap 23",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            for target in [format!("/v1/kv/{key}"), "/v1/kv/".to_owned()] {
                t.send(&Request::new("HEAD", &target))
                    .is(405, "")
                    .header_is("Allow", KV)
                    .header_is("Content-Length", "23")
                    .header_is("Content-Type", "text/plain; charset=utf-8");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/methods/options-is-200",
        claim: "OPTIONS is 200 with the methods in Allow and an empty body, also for a key that does not exist",
        source: "kv.md 0.7, 6.6; trap 23",
        run: |t| {
            for target in [format!("/v1/kv/{}", t.key("k")), "/v1/kv/".to_owned()] {
                t.send(&Request::new("OPTIONS", &target))
                    .is(200, "")
                    .header_is("Allow", KV)
                    .header_is("Content-Length", "0")
                    .has_no_header("X-Consul-Index");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/methods/header-set-of-options",
        claim: "OPTIONS carries exactly these headers, and no Content-Type",
        source: "kv.md 6.6",
        until: Some(Version::V1_9),
        run: |t| {
            t.send(&Request::new("OPTIONS", &format!("/v1/kv/{}", t.key("k"))))
                .header_names_are(&["Allow", "Vary", "Date", "Content-Length"]);
        },
        ..Case::REAL
    },
    Case {
        id: "http/methods/options-has-no-type-before-1-20",
        claim: "OPTIONS carries no Content-Type",
        source: "1.22.md A6.7 [G]",
        since: Version::V1_9,
        until: Some(Version::V1_20),
        run: |t| {
            t.send(&Request::new("OPTIONS", &format!("/v1/kv/{}", t.key("k"))))
                .status_is(200)
                .has_header("Allow")
                .has_no_header("Content-Type");
        },
        ..Case::REAL
    },
    Case {
        id: "http/methods/options-is-text-in-1-20",
        claim: "The empty answer of OPTIONS is called text/plain",
        source: "1.22.md A6.7 [G] [D]",
        since: Version::V1_20,
        until: Some(Version::new(1, 20, 2)),
        run: |t| options_type(t, "text/plain; charset=utf-8"),
        ..Case::REAL
    },
    Case {
        id: "http/methods/options-is-json-since-1-20-2",
        claim: "The empty answer of OPTIONS is called JSON",
        source: "1.22.md A6.7 [G] [D]",
        since: Version::new(1, 20, 2),
        until: Some(Version::V1_21_5),
        run: |t| options_type(t, "application/json"),
        ..Case::REAL
    },
    Case {
        id: "http/methods/options-is-json-since-1-21-5",
        claim: "The empty answer of OPTIONS is called JSON in UTF-8",
        source: "1.22.md A6.6, A6.7 [G] [D]; kv.md 6.7",
        since: Version::V1_21_5,
        run: |t| options_type(t, "application/json; charset=utf-8"),
        ..Case::REAL
    },
    Case {
        id: "http/methods/of-transactions",
        claim: "Transactions take PUT only: others are 405 and OPTIONS is 200, with their own Allow",
        source: "kv.md 6.6",
        run: |t| {
            for method in ["GET", "POST", "DELETE"] {
                t.send(&Request::new(method, "/v1/txn").body("[]"))
                    .is(405, &format!("method {method} not allowed"))
                    .header_is("Allow", "OPTIONS,PUT");
            }
            t.send(&Request::new("OPTIONS", "/v1/txn"))
                .is(200, "")
                .header_is("Allow", "OPTIONS,PUT");
        },
        ..Case::MUST
    },
    Case {
        id: "http/paths/unknown-is-404",
        claim: "A path that nobody serves is 404, whatever the method, without Vary and X-Consul headers",
        source: "kv.md 6.6",
        run: |t| {
            for target in UNKNOWN {
                for method in ["GET", "PUT", "OPTIONS", "POST"] {
                    t.send(&Request::new(method, target))
                        .status_is(404)
                        .has_no_header("Vary")
                        .has_no_header("Allow")
                        .has_no_header("X-Consul-Index")
                        .has_no_header("X-Consul-Default-Acl-Policy");
                }
            }
        },
        ..Case::MUST
    },
    Case {
        id: "http/paths/unknown-is-empty",
        claim: "The 404 of a path that nobody serves is empty and carries nothing but Date and Content-Length",
        source: "kv.md 6.6",
        until: Some(Version::V1_11),
        run: |t| {
            for target in UNKNOWN {
                t.api_get(target)
                    .is(404, "")
                    .header_names_are(&["Date", "Content-Length"]);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/paths/unknown-is-explained-since-1-11",
        claim: "The 404 of a path that nobody serves says what is wrong, differently with and without /v1/ in the path",
        source: "1.22.md A6.6 [S] [D]",
        since: Version::V1_11,
        run: |t| {
            let within = "Invalid URL path: not a recognized HTTP API endpoint\n";
            let without = "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n";
            for (target, words) in [
                ("/v1/conformance/nowhere", within),
                ("/v1/agent/self/", within),
                ("/V1/kv/x", without),
                ("/v1", without),
            ] {
                t.api_get(target)
                    .is(404, words)
                    .header_is("Content-Type", "text/plain; charset=utf-8");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/paths/api-since-1-17",
        claim: "What lies below /api/ is unknown in other words, and /api leads there",
        source: "1.22.md A6.6 [H]; 1.22.md A6.r12",
        since: Version::V1_17,
        run: |t| {
            t.api_get("/api/nowhere")
                .is(404, "404 page not found\n")
                .header_is("Content-Type", "text/plain; charset=utf-8")
                .header_is("X-Content-Type-Options", "nosniff");
            t.api_get("/api")
                .status_is(t.moved())
                .header_is("Location", "/api/");
        },
        ..Case::REAL
    },
    Case {
        id: "http/methods/connect-is-404",
        claim: "A CONNECT to a host is an unknown path",
        source: "kv.md 6.6",
        until: Some(Version::V1_20),
        run: |t| {
            t.raw(CONNECT).is(404, "404 page not found\n");
        },
        ..Case::REAL
    },
    Case {
        id: "http/methods/connect-is-301-since-1-20",
        claim: "A CONNECT to a host is redirected to the root, without a body",
        source: "kv.md 6.6.r4 (seen on late 2025 [N])",
        since: Version::V1_20,
        until: Some(Version::V2),
        run: |t| {
            t.raw(CONNECT)
                .is(301, "")
                .header_is("Location", "/")
                .has_no_header("Content-Type");
        },
        ..Case::REAL
    },
];

/// A head that asks for a tunnel.
const CONNECT: &str = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";

/// Paths that nobody serves: another case, a slash too much, and nothing at all.
const UNKNOWN: &[&str] = &[
    "/v1/conformance/nowhere",
    "/v1",
    "/v1/",
    "/V1/kv/x",
    "/v1/agent/self/",
    "/v1/kvx",
    "/v2/kv/x",
    "/v1/txn/x",
];

fn options_type(t: &Trial, content_type: &str) {
    t.send(&Request::new("OPTIONS", &format!("/v1/kv/{}", t.key("k"))))
        .is(200, "")
        .header_is("Content-Type", content_type);
}
