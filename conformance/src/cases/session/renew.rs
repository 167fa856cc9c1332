//! `session/renew`: what is answered. What it does to a TTL is in `session_ttl`.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::session::{
    LIST, MALFORMED, Shown, leaves_alone, renew_path, takes_raft_indexes,
};
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/renew/list-of-one-without-index",
        claim: "A renewal is answered with a list of the session alone, without any of the read headers",
        source: "session.md 2, trap 16",
        run: |t| {
            let session = t.session(r#"{"TTL":"1h"}"#);
            let answer = t
                .api_put(&renew_path(&session), "")
                .header_is("Content-Type", "application/json")
                .has_no_header("X-Consul-Index")
                .has_no_header("X-Consul-Knownleader")
                .has_no_header("X-Consul-Lastcontact");
            let shown = Shown {
                ttl: "1h",
                ..Shown::of(t, &session)
            };
            shown.is_alone_in(answer);
        },
        ..Case::MUST
    },
    Case {
        id: "session/renew/changes-nothing",
        claim: "A renewal changes nothing that can be read: neither the session nor the index of session reads",
        source: "session.md 2, 2.1, trap 16",
        needs: &[Feature::OwnServer],
        run: |t| {
            let session = t.session(r#"{"TTL":"1h"}"#);
            let shown = Shown {
                ttl: "1h",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
            leaves_alone(
                t,
                "the index of session reads",
                || t.api_get(LIST).index(),
                || drop(t.api_put(&renew_path(&session), "").status_is(200)),
            );
            shown.is_stored(t);
        },
        ..Case::MUST
    },
    Case {
        id: "session/renew/takes-no-raft-index",
        claim: "A renewal takes no raft index",
        source: "session.md 2.1, trap 16",
        needs: &[Feature::OwnServer],
        run: |t| {
            let session = t.session(r#"{"TTL":"1h"}"#);
            takes_raft_indexes(t, 0, || {
                drop(t.api_put(&renew_path(&session), "").status_is(200));
            });
        },
        ..Case::REAL
    },
    Case {
        id: "session/renew/without-ttl",
        claim: "A session without TTL can be renewed, too",
        source: "session.md 2, 3.4.r4",
        run: |t| {
            for body in ["{}", r#"{"TTL":"0"}"#] {
                let session = t.session(body);
                t.api_put(&renew_path(&session), "")
                    .field_is("/0/ID", session.as_str());
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "session/renew/body-is-ignored",
        claim: "A body changes nothing, JSON or not, sized or chunked",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            for body in [r#"{"TTL":"1h","Name":"other"}"#, "{ no JSON"] {
                Shown::of(t, &session).is_alone_in(t.api_put(&renew_path(&session), body));
                let chunked =
                    Request::new("PUT", &renew_path(&session)).chunked(&[body.as_bytes()]);
                Shown::of(t, &session).is_alone_in(t.send(&chunked));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/renew/unknown-id",
        claim: "Renewing a session that does not exist is 404 with its id in the text, without any of the read headers",
        source: "session.md 2, 7.1, trap 15",
        run: |t| {
            let id = t.unknown_session();
            t.api_put(&renew_path(&id), "")
                .is(404, &format!("Session id '{id}' not found"))
                .has_no_header("X-Consul-Index")
                .header_is("Content-Type", "text/plain; charset=utf-8");
        },
        ..Case::MUST
    },
    Case {
        id: "session/renew/after-destroy",
        claim: "A destroyed session can no longer be renewed",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            t.destroy(&session);
            t.api_put(&renew_path(&session), "")
                .is(404, &format!("Session id '{session}' not found"));
        },
        ..Case::MUST
    },
    Case {
        id: "session/renew/malformed-id",
        claim: "Renewing what is no UUID is 500 with the words of the lookup",
        source: "session.md 2, 8(a); 1.22.md B2 (until 1.11.0 [H])",
        until: Some(Version::V1_11),
        run: |t| {
            for (id, words) in MALFORMED {
                t.api_put(&renew_path(id), "")
                    .is(500, &format!("failed session lookup: index error: {words}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/renew/any-text",
        claim: "Renewing what is no UUID is 404, as of any unknown id",
        source: "1.22.md B2 (since 1.11.0 [H])",
        since: Version::V1_11,
        run: |t| {
            for (id, _) in MALFORMED {
                t.api_put(&renew_path(id), "")
                    .is(404, &format!("Session id '{id}' not found"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/renew/needs-an-id",
        claim: "session/renew/ without an id is 400",
        source: "session.md 2",
        run: |t| {
            t.api_put("/v1/session/renew/", "")
                .is(400, "Missing session");
        },
        ..Case::MUST
    },
    Case {
        id: "session/renew/in-any-case",
        claim: "An id in upper case finds the session, which is shown with its own id in lower case",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            let answer = t.api_put(&renew_path(&session.to_uppercase()), "");
            Shown::of(t, &session).is_alone_in(answer);
        },
        ..Case::REAL
    },
    Case {
        id: "session/renew/reads-the-parameters-of-reads",
        claim: "A wrong index, wait or pair of consistency modes is 400 on a renewal, too",
        source: "session.md 0.7",
        run: |t| {
            let session = t.session("{}");
            for (query, text) in [
                ("index=abc", "Invalid index"),
                ("wait=abc", "Invalid wait time"),
                (
                    "stale&consistent",
                    "Cannot specify ?stale with ?consistent, conflicting semantics.",
                ),
            ] {
                t.api_put(&format!("{}?{query}", renew_path(&session)), "")
                    .is(400, text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/renew/never-blocks",
        claim: "A renewal with an index and a wait is answered at once",
        source: "session.md 0.7",
        run: |t| {
            let session = t.session("{}");
            let query = "index=4611686018427387904&wait=60s";
            let answer = t.api_put(&format!("{}?{query}", renew_path(&session)), "");
            t.check(
                answer.took() < Duration::from_secs(30),
                "it took as long as a blocking read",
            );
            Shown::of(t, &session).is_alone_in(answer);
        },
        ..Case::REAL
    },
];
