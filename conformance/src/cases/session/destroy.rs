//! `session/destroy`: what is answered. What it does to keys is in `invalidation`.

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::session::{
    LIST, MALFORMED, Shown, destroy, is_gone, leaves_alone, takes_raft_indexes,
};
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/destroy/true-without-index",
        claim: "Destroying a session is answered true, without any of the read headers",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            t.api_put(&destroy(&session), "")
                .is(200, "true")
                .header_is("Content-Type", "application/json")
                .has_no_header("X-Consul-Index")
                .has_no_header("X-Consul-Knownleader")
                .has_no_header("X-Consul-Lastcontact");
            is_gone(t, &session);
        },
        ..Case::MUST
    },
    Case {
        id: "session/destroy/unknown-id",
        claim: "Destroying a session that does not exist, or no longer does, is answered true",
        source: "session.md 2, 7.1, trap 15",
        run: |t| {
            t.destroy(&t.unknown_session());
            let session = t.session("{}");
            t.destroy(&session);
            t.destroy(&session);
        },
        ..Case::MUST
    },
    Case {
        id: "session/destroy/unknown-id-moves-no-table",
        claim: "Destroying a session that does not exist leaves the index of session reads as it was",
        source: "session.md 2",
        needs: &[Feature::OwnServer],
        run: |t| {
            leaves_alone(
                t,
                "the index of session reads",
                || t.api_get(LIST).index(),
                || t.destroy(&t.unknown_session()),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/destroy/takes-one-raft-index",
        claim: "Creating and destroying a session take one raft index each",
        source: "session.md 2",
        needs: &[Feature::OwnServer],
        run: |t| {
            takes_raft_indexes(t, 2, || {
                let session = t.session("{}");
                t.destroy(&session);
            });
        },
        ..Case::REAL
    },
    Case {
        id: "session/destroy/unknown-id-takes-a-raft-index",
        claim: "Destroying a session that does not exist takes a raft index all the same",
        source: "session.md 2; 1.22.md A4 (until 1.11.0 [H])",
        until: Some(Version::V1_11),
        needs: &[Feature::OwnServer],
        run: |t| takes_raft_indexes(t, 1, || t.destroy(&t.unknown_session())),
        ..Case::REAL
    },
    Case {
        id: "session/destroy/unknown-id-takes-no-raft-index",
        claim: "Destroying a session that does not exist takes no raft index",
        source: "1.22.md A4, B2 (since 1.11.0 [H])",
        since: Version::V1_11,
        needs: &[Feature::OwnServer],
        run: |t| takes_raft_indexes(t, 0, || t.destroy(&t.unknown_session())),
        ..Case::REAL
    },
    Case {
        id: "session/destroy/malformed-id",
        claim: "Destroying what is no UUID is 500 with the words of the lookup",
        source: "session.md 2, 8(a); 1.22.md B2 (until 1.11.0 [H])",
        until: Some(Version::V1_11),
        run: |t| {
            for (id, words) in MALFORMED {
                // With ACLs on, more words stand before these.
                t.api_put(&destroy(id), "")
                    .says(500, &format!("failed session lookup: index error: {words}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/destroy/any-text",
        claim: "Destroying what is no UUID is answered true, as of any unknown id",
        source: "1.22.md B2 (since 1.11.0 [H])",
        since: Version::V1_11,
        run: |t| {
            for (id, _) in MALFORMED {
                t.destroy(id);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/destroy/needs-an-id",
        claim: "session/destroy/ without an id is 400",
        source: "session.md 2",
        run: |t| {
            t.api_put("/v1/session/destroy/", "")
                .is(400, "Missing session");
        },
        ..Case::MUST
    },
    Case {
        id: "session/destroy/in-any-case",
        claim: "An id in upper case destroys the session",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            t.destroy(&session.to_uppercase());
            is_gone(t, &session);
        },
        ..Case::REAL
    },
    Case {
        id: "session/destroy/only-that-one",
        claim: "Other sessions stay, also those of the same name and node",
        source: "session.md 3.2.r2",
        run: |t| {
            let (one, other) = (
                t.session(r#"{"Name":"twin"}"#),
                t.session(r#"{"Name":"twin"}"#),
            );
            t.destroy(&one);
            is_gone(t, &one);
            let shown = Shown {
                name: "twin",
                ..Shown::of(t, &other)
            };
            shown.is_stored(t);
        },
        ..Case::MUST
    },
    Case {
        id: "session/destroy/body-and-read-parameters-are-ignored",
        claim: "Neither a body nor the parameters of reads, even wrong ones, keep a session from being destroyed",
        source: "session.md 0.7, 2",
        run: |t| {
            for query in ["index=abc", "wait=abc", "stale&consistent"] {
                let session = t.session("{}");
                t.api_put(&format!("{}?{query}", destroy(&session)), "{ no JSON")
                    .is(200, "true");
                is_gone(t, &session);
            }
            let session = t.session("{}");
            let chunked = Request::new("PUT", &destroy(&session)).chunked(&[b"{ no JSON"]);
            t.send(&chunked).is(200, "true");
            is_gone(t, &session);
        },
        ..Case::REAL
    },
];
