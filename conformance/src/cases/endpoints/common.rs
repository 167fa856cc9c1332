//! What the endpoints around the KV store have in common: methods, paths, headers and compression (session.md 0).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::endpoints::{WRITES, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// Endpoints that are read, with a target that each of them answers.
const READS: &[&str] = &[
    "/v1/session/info/deadbeef-0000-4000-8000-0123456789ab",
    "/v1/session/node/nobody",
    "/v1/session/list",
    "/v1/status/leader",
    "/v1/status/peers",
    "/v1/agent/self",
    "/v1/agent/members",
    "/v1/catalog/datacenters",
    "/v1/catalog/nodes",
    "/v1/catalog/node/nobody",
    "/v1/catalog/services",
    "/v1/health/node/nobody",
    "/v1/health/state/any",
];

/// The reads that show an index.
const INDEXED: &[&str] = &[
    "/v1/session/list",
    "/v1/catalog/nodes",
    "/v1/catalog/services",
    "/v1/health/node/nobody",
    "/v1/health/state/any",
];

/// The methods that none of these endpoints has.
const WRONG: &[&str] = &["POST", "DELETE", "PATCH", "get", "put"];

/// An `OPTIONS` request to every endpoint is 200 with an empty body and this Content-Type.
#[track_caller]
fn options_have_content_type(t: &Trial, content_type: Option<&str>) {
    for path in READS.iter().chain(WRITES) {
        let answer = t.send(&Request::new("OPTIONS", path)).is(200, "");
        match content_type {
            Some(content_type) => answer.header_is("Content-Type", content_type),
            None => answer.has_header("Allow").has_no_header("Content-Type"),
        };
    }
}

/// The body is compressed, as far as can be told without decompressing it.
#[track_caller]
fn is_compressed(t: &Trial, answer: Answer) {
    let answer = answer.header_is("Content-Encoding", "gzip");
    let magic = answer.body().starts_with(&[0x1f, 0x8b, 8]);
    t.check(magic, "the body does not begin as gzip does");
}

fn asking_for_gzip(path: &str) -> Request {
    Request::get(path).header("Accept-Encoding", "gzip")
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "endpoint/method/wrong-is-405",
        claim: "A method that an endpoint does not have is 405 with the method in the text and the others in Allow",
        source: "session.md 0.1",
        run: |t| {
            for (paths, allow, also_wrong) in [
                (READS, "OPTIONS,GET", "PUT"),
                (WRITES, "OPTIONS,PUT", "GET"),
            ] {
                for path in paths {
                    for method in WRONG.iter().chain(&[also_wrong]) {
                        t.send(&Request::new(method, path))
                            .is(405, &format!("method {method} not allowed"))
                            .header_is("Allow", allow)
                            .header_is("Content-Type", "text/plain; charset=utf-8");
                    }
                }
            }
        },
        ..Case::MUST
    },
    Case {
        id: "endpoint/method/head-is-405",
        claim: "HEAD is a method like another: 405, also where GET is allowed",
        source: "session.md 0.1",
        run: |t| {
            for (path, allow) in [
                ("/v1/session/list", "OPTIONS,GET"),
                ("/v1/catalog/nodes", "OPTIONS,GET"),
                ("/v1/status/leader", "OPTIONS,GET"),
                ("/v1/session/create", "OPTIONS,PUT"),
            ] {
                t.send(&Request::new("HEAD", path))
                    .is(405, "")
                    .header_is("Allow", allow)
                    .header_is("Content-Length", "23");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/method/options",
        claim: "OPTIONS is answered by every endpoint with an empty body and its methods in Allow, without a blank",
        source: "session.md 0.1",
        run: |t| {
            for (paths, allow) in [(READS, "OPTIONS,GET"), (WRITES, "OPTIONS,PUT")] {
                for path in paths {
                    t.send(&Request::new("OPTIONS", path))
                        .is(200, "")
                        .header_is("Allow", allow)
                        .header_is("Content-Length", "0");
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "endpoint/method/options-have-no-content-type",
        claim: "The empty answer to OPTIONS has no Content-Type",
        source: "session.md 0.3; 1.22.md A6.7",
        until: Some(Version::V1_20),
        run: |t| options_have_content_type(t, None),
        ..Case::REAL
    },
    Case {
        id: "endpoint/method/options-are-text",
        claim: "The empty answer to OPTIONS is called text",
        source: "1.22.md A6.7 (1.20.0 to 1.20.1 [D])",
        since: Version::V1_20,
        until: Some(Version::new(1, 20, 2)),
        run: |t| options_have_content_type(t, Some("text/plain; charset=utf-8")),
        ..Case::REAL
    },
    Case {
        id: "endpoint/method/options-are-json",
        claim: "The empty answer to OPTIONS is called JSON",
        source: "1.22.md A6.7 (1.20.2 to 1.21.4 [D])",
        since: Version::new(1, 20, 2),
        until: Some(Version::V1_21_5),
        run: |t| options_have_content_type(t, Some("application/json")),
        ..Case::REAL
    },
    Case {
        id: "endpoint/method/options-are-json-with-charset",
        claim: "The empty answer to OPTIONS is called JSON, with its charset",
        source: "1.22.md A6.7 (since 1.21.5 [G])",
        since: Version::V1_21_5,
        run: |t| options_have_content_type(t, Some("application/json; charset=utf-8")),
        ..Case::REAL
    },
    Case {
        id: "endpoint/header/vary-everywhere",
        claim: "Every answer of an endpoint has Vary: Accept-Encoding, errors included; a redirect and an unknown path have not",
        source: "session.md 0.4",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let vary = |answer: Answer| drop(answer.header_is("Vary", "Accept-Encoding"));
            for path in READS {
                vary(t.api_get(path).status_is(200));
                vary(t.send(&Request::new("OPTIONS", path)));
            }
            vary(t.api_get("/v1/session/create").status_is(405));
            vary(t.api_get("/v1/session/info/").status_is(400));
            vary(t.api_get("/v1/session/list?dc=nowhere").status_is(500));
            vary(t.api_put(WRITES[2], "").status_is(404));
            t.api_get("/v1/session/info")
                .status_is(t.moved())
                .has_no_header("Vary");
            t.api_get("/v1/nonsense")
                .status_is(404)
                .has_no_header("Vary");
        },
        ..Case::SHOULD
    },
    Case {
        id: "endpoint/header/read-names",
        claim: "A read carries exactly these headers, in Go's spelling and order, the catalog its effective consistency besides",
        source: "session.md 0.2, 0.11",
        until: Some(Version::V1_9),
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            let after = [
                "X-Consul-Index",
                "X-Consul-Knownleader",
                "X-Consul-Lastcontact",
                "Date",
                "Content-Length",
            ];
            let session = [&["Content-Type", "Vary"], &after[..]].concat();
            t.api_get(READS[0])
                .status_is(200)
                .header_names_are(&session);
            let catalog = [
                &["Content-Type", "Vary", "X-Consul-Effective-Consistency"],
                &after[..],
            ]
            .concat();
            t.api_get("/v1/catalog/services")
                .status_is(200)
                .header_names_are(&catalog);
            t.api_get("/v1/health/node/nobody")
                .status_is(200)
                .header_names_are(&catalog);
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/header/read-names-since-1-12",
        claim: "A read carries exactly these headers, in Go's spelling and order, the catalog its effective consistency besides",
        source: "1.22.md A1.2, B0 (X-Consul-Query-Backend surely since 1.11.0 [H])",
        since: Version::V1_12,
        run: |t| {
            t.not_compared(
                "whether a session or a service was written last is an affair of other cases",
            );
            let before = ["Content-Type", "Vary", "X-Consul-Default-Acl-Policy"];
            let after = [
                "X-Consul-Index",
                "X-Consul-Knownleader",
                "X-Consul-Lastcontact",
                "X-Consul-Query-Backend",
                "Date",
                "Content-Length",
            ];
            let session = [&before[..], &after[..]].concat();
            t.api_get(READS[0])
                .status_is(200)
                .header_names_are(&session);
            let catalog = [&before[..], &["X-Consul-Effective-Consistency"], &after[..]].concat();
            t.api_get("/v1/catalog/services")
                .status_is(200)
                .header_names_are(&catalog);
            t.api_get("/v1/health/node/nobody")
                .status_is(200)
                .header_names_are(&catalog);
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/header/effective-consistency",
        claim: "Reads of the catalog and of health say which consistency was in effect: leader, or what was asked for",
        source: "session.md 0.11; 1.22.md A6.r1",
        run: |t| {
            t.not_compared("the indexes of the agent's own rows move by themselves");
            for path in [
                "/v1/catalog/nodes",
                "/v1/catalog/node/nobody",
                "/v1/catalog/services",
                "/v1/health/node/nobody",
                "/v1/health/state/any",
            ] {
                for (query, effective) in [
                    ("", "leader"),
                    ("stale", "stale"),
                    ("consistent", "consistent"),
                ] {
                    t.api_get(&with(path, query))
                        .status_is(200)
                        .header_is("X-Consul-Effective-Consistency", effective);
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/header/reads-of-the-agent",
        claim: "What the agent answers by itself carries none of the read headers",
        source: "session.md 4.5",
        run: |t| {
            for path in [
                "/v1/status/leader",
                "/v1/status/peers",
                "/v1/agent/self",
                "/v1/agent/members",
                "/v1/catalog/datacenters",
            ] {
                t.api_get(path)
                    .status_is(200)
                    .header_is("Content-Type", "application/json")
                    .has_no_header("X-Consul-Index")
                    .has_no_header("X-Consul-Knownleader")
                    .has_no_header("X-Consul-Lastcontact")
                    .has_no_header("X-Consul-Effective-Consistency");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/header/failing-reads",
        claim: "A read that fails behind the agent still carries the read headers, with an index of 1 and no leader known",
        source: "session.md 0.9",
        run: |t| {
            for path in INDEXED {
                t.api_get(&with(path, "dc=nowhere"))
                    .status_is(500)
                    .header_is("X-Consul-Index", "1")
                    .header_is("X-Consul-Knownleader", "false")
                    .header_is("X-Consul-Lastcontact", "0");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/path/unknown-is-404",
        claim: "An unknown path is 404 with an empty body",
        source: "session.md 0.5",
        until: Some(Version::V1_11),
        run: |t| {
            for path in [
                "/v1/nonsense",
                "/nonsense",
                "/v1/session/create/",
                "/v1/session/list/x",
                "/v1/status/leader/",
            ] {
                t.api_get(path)
                    .is(404, "")
                    .header_names_are(&["Date", "Content-Length"]);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/path/unknown-is-404-with-text",
        claim: "An unknown path is 404 with a text that tells whether the path lacks its /v1/",
        source: "session.md 0.5; 1.22.md A6.6 (since 1.11.0 [D])",
        since: Version::V1_11,
        run: |t| {
            for path in [
                "/v1/nonsense",
                "/v1/session/create/",
                "/v1/session/list/x",
                "/v1/status/leader/",
            ] {
                t.api_get(path)
                    .is(
                        404,
                        "Invalid URL path: not a recognized HTTP API endpoint\n",
                    )
                    .has_no_header("Vary");
            }
            t.api_get("/nonsense").is(
                404,
                "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/path/missing-slash-redirects",
        claim: "An endpoint that takes a name redirects to its path with a slash when that lacks, with an HTML body for GET only",
        source: "session.md 0.6",
        run: |t| {
            for path in [
                "/v1/session/info",
                "/v1/session/node",
                "/v1/catalog/node",
                "/v1/health/node",
                "/v1/health/state",
            ] {
                t.api_get(path)
                    .is(t.moved(), &t.moved_page(&format!("{path}/")))
                    .header_is("Location", &format!("{path}/"))
                    .header_is("Content-Type", "text/html; charset=utf-8");
            }
            for path in ["/v1/session/destroy", "/v1/session/renew"] {
                t.api_put(path, "")
                    .is(t.moved(), "")
                    .header_is("Location", &format!("{path}/"))
                    .has_no_header("Content-Type");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/path/cleaned-by-redirect",
        claim: "A path with empty or dotted segments is redirected to the clean one, with its query",
        source: "session.md 0.6",
        run: |t| {
            for path in [
                "//v1/session/list",
                "/v1//session/list",
                "/v1/session/info/../list",
                "/v1/session/./list",
            ] {
                t.api_get(&with(path, "x=1"))
                    .status_is(t.moved())
                    .header_is("Location", "/v1/session/list?x=1");
            }
            t.api_put("//v1/session/create", "")
                .is(t.moved(), "")
                .header_is("Location", "/v1/session/create");
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/gzip/smallest-body",
        claim: "Whoever asks for gzip gets it for every body, however small, and not for an empty one",
        source: "session.md 0.4; 1.22.md A6.5 (until 1.9.0 [H])",
        until: Some(Version::V1_9),
        run: |t| {
            is_compressed(
                t,
                t.send(&asking_for_gzip("/v1/status/leader")).status_is(200),
            );
            is_compressed(
                t,
                t.send(&asking_for_gzip("/v1/session/info/")).status_is(400),
            );
            let empty =
                Request::new("OPTIONS", "/v1/session/list").header("Accept-Encoding", "gzip");
            t.send(&empty).is(200, "").has_no_header("Content-Encoding");
            t.api_get("/v1/status/leader")
                .has_no_header("Content-Encoding");
        },
        ..Case::REAL
    },
    Case {
        id: "endpoint/gzip/from-1400-bytes",
        claim: "Whoever asks for gzip gets it for bodies from 1400 bytes on",
        source: "1.22.md A6.5 (since 1.9.0 [H] [G])",
        since: Version::V1_9,
        needs: &[Feature::SingleServer],
        run: |t| {
            for path in ["/v1/status/leader", "/v1/session/info/"] {
                t.send(&asking_for_gzip(path))
                    .has_no_header("Content-Encoding");
            }
            for _ in 0..8 {
                t.session("{}");
            }
            let list = t.send(&asking_for_gzip("/v1/session/list")).status_is(200);
            is_compressed(t, list);
        },
        ..Case::REAL
    },
];
