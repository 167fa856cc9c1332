//! `session/create`: what is answered, how the body is read, and which session comes of it.

use std::collections::BTreeSet;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::session::{
    LIST, Shown, info, is_session_id, leaves_alone, takes_raft_indexes,
};
use crate::wire::Request;

const CREATE: &str = "/v1/session/create";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/create/answers-with-the-id",
        claim: "A created session is answered with an object of its ID alone, without any of the read headers",
        source: "session.md 1",
        run: |t| {
            let answer = t
                .create_session("{}")
                .header_is("Content-Type", "application/json")
                .has_no_header("X-Consul-Index")
                .has_no_header("X-Consul-Knownleader")
                .has_no_header("X-Consul-Lastcontact");
            let id = answer.json()["ID"].as_str().unwrap_or_default().to_owned();
            t.check(!id.is_empty(), "there is no ID");
            answer.is(200, &format!(r#"{{"ID":"{id}"}}"#));
        },
        ..Case::MUST
    },
    Case {
        id: "session/create/id-form",
        claim: "Ids are 32 lower-case hexadecimal digits with four dashes, and no two sessions have the same",
        source: "session.md 1",
        run: |t| {
            let ids = [t.session("{}"), t.session("{}"), t.session("{}")];
            for id in &ids {
                t.check(is_session_id(id), format!("{id} is not an id"));
            }
            t.check(
                ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
                "an id came twice",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/create/id-is-not-a-version-4-uuid",
        claim: "Ids are random throughout: the digit that says 4 in a version 4 UUID varies",
        source: "session.md 1, trap 10",
        run: |t| {
            // One id in sixteen says 4 by chance, so that all of thirty do is out of the question.
            let digits: BTreeSet<char> = (0..30)
                .filter_map(|_| t.session("{}").chars().nth(14))
                .collect();
            t.check(digits.len() > 1, format!("always {digits:?}"));
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/defaults",
        claim: "Without a body the session is of the agent's node, without name and TTL, released by its node's serfHealth, with a lock-delay of 15s",
        source: "session.md 1, trap 13",
        run: |t| {
            let session = t.session("");
            Shown::of(t, &session).is_stored(t);
        },
        ..Case::MUST
    },
    Case {
        id: "session/create/null-is-an-empty-object",
        claim: "A body of null or {} gives the same defaults as no body at all",
        source: "session.md 0.13, 1",
        run: |t| {
            for body in ["null", "{}", "{\n}\n"] {
                let session = t.session(body);
                Shown::of(t, &session).is_stored(t);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "session/create/nulls-are-defaults",
        claim: "A field that is null keeps its default",
        source: "session.md 1.1",
        run: |t| {
            let body = r#"{"Name":null,"Node":null,"LockDelay":null,"Behavior":null,"TTL":null,"ServiceChecks":null}"#;
            let session = t.session(body);
            Shown::of(t, &session).is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/every-field",
        claim: "What was asked for is stored and shown as it was sent, the lock-delay in nanoseconds",
        source: "session.md 1.1, 2",
        run: |t| {
            let node = &t.facts().node;
            let body = format!(
                r#"{{"Name":"every field","Node":"{node}","LockDelay":"30s","Behavior":"delete","TTL":"1h0m5s","NodeChecks":["serfHealth"]}}"#
            );
            let session = t.session(&body);
            let shown = Shown {
                name: "every field",
                lock_delay: 30_000_000_000,
                behavior: "delete",
                ttl: "1h0m5s",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::MUST
    },
    Case {
        id: "session/create/chunked-body-is-ignored",
        claim: "A body without Content-Length is not even read: all defaults apply, whatever it says",
        source: "session.md 1, trap 8",
        run: |t| {
            for body in [r#"{"Name":"chunked","LockDelay":"1s"}"#, "{ no JSON"] {
                let request = Request::new("PUT", CREATE).chunked(&[body.as_bytes()]);
                let answer = t.send(&request).status_is(200);
                let id = answer.json()["ID"].as_str().unwrap_or_default().to_owned();
                Shown::of(t, &id).is_stored(t);
                t.destroy(&id);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/blank-body",
        claim: "A body of white space alone is 400: there is a body, and no JSON in it",
        source: "session.md 1",
        run: |t| {
            for body in [" ", "\n"] {
                t.create_session(body).is(400, "Request decode failed: EOF");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/cut-off-body",
        claim: "JSON that ends too early is 400 with the decoder's words",
        source: "session.md 1.1",
        run: |t| {
            for body in ["{", r#"{"Name":"a""#, r#"{"Name""#] {
                t.create_session(body)
                    .is(400, "Request decode failed: unexpected EOF");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/body-is-an-object",
        claim: "JSON that is neither an object nor null is 400",
        source: "session.md 1.1",
        run: |t| {
            for (body, kind) in [
                ("[]", "array"),
                (r#""x""#, "string"),
                ("1", "number"),
                ("true", "bool"),
            ] {
                let text = format!("Request decode failed: json: cannot unmarshal {kind} into Go ");
                t.create_session(body).says(400, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "session/create/field-of-another-kind",
        claim: "A field of the wrong JSON kind is 400",
        source: "session.md 1.1, trap 5",
        run: |t| {
            for (body, kind) in [
                (r#"{"Name":1}"#, "number"),
                (r#"{"Node":1}"#, "number"),
                (r#"{"Behavior":1}"#, "number"),
                (r#"{"TTL":10}"#, "number"),
                (r#"{"NodeChecks":"serfHealth"}"#, "string"),
                (r#"{"NodeChecks":[1]}"#, "number"),
                (r#"{"ServiceChecks":["serfHealth"]}"#, "string"),
                (r#"{"Checks":"serfHealth"}"#, "string"),
            ] {
                let text = format!(
                    "Request decode failed: json: cannot unmarshal {kind} into Go struct field "
                );
                t.create_session(body).says(400, &text);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "session/create/field-names-in-any-case",
        claim: "Field names are read in any case",
        source: "session.md 0.13",
        run: |t| {
            let session = t.session(r#"{"NAME":"a","lockdelay":"30s","bEHAVIOR":"delete"}"#);
            let shown = Shown {
                name: "a",
                lock_delay: 30_000_000_000,
                behavior: "delete",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/later-duplicate-wins",
        claim: "Of a field that stands twice, in whatever case, the later counts",
        source: "session.md 0.13",
        run: |t| {
            let session =
                t.session(r#"{"Name":"a","name":"b","LockDelay":"1h","lockdelay":"30s"}"#);
            let shown = Shown {
                name: "b",
                lock_delay: 30_000_000_000,
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/garbage-behind-is-ignored",
        claim: "What follows the first JSON value is ignored",
        source: "session.md 0.13",
        run: |t| {
            for body in [
                r#"{"Name":"a"} junk"#,
                r#"{"Name":"a"}}"#,
                r#"{"Name":"a"}{"Name":"b"}"#,
            ] {
                let session = t.session(body);
                let shown = Shown {
                    name: "a",
                    ..Shown::of(t, &session)
                };
                shown.is_stored(t);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/unknown-fields-are-ignored",
        claim: "Fields that a session does not have are accepted and forgotten",
        source: "session.md 0.13, 1.1, trap 9",
        run: |t| {
            let session =
                t.session(r#"{"Name":"a","Color":"red","Namespace":"x","Deep":{"er":[1]}}"#);
            let shown = Shown {
                name: "a",
                ..Shown::of(t, &session)
            };
            shown.is_stored(t);
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/own-id-is-ignored",
        claim: "An ID, CreateIndex or ModifyIndex of the client's is accepted and overwritten",
        source: "session.md 1, trap 10",
        run: |t| {
            let wanted = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
            let body = format!(r#"{{"ID":"{wanted}","CreateIndex":7,"ModifyIndex":9}}"#);
            let session = t.session(&body);
            t.check(session != wanted, "the client's ID was taken");
            // The two indexes are equal, which 7 and 9 are not.
            Shown::of(t, &session).is_stored(t);
            t.api_get(&info(wanted)).is(200, "[]");
        },
        ..Case::MUST
    },
    Case {
        id: "session/create/content-type-is-not-looked-at",
        claim: "The body is read as JSON whatever Content-Type the request names",
        source: "session.md 1.1",
        run: |t| {
            for content_type in [
                "text/plain",
                "application/x-www-form-urlencoded",
                "nonsense",
            ] {
                let request =
                    Request::put(CREATE, r#"{"Name":"a"}"#).header("Content-Type", content_type);
                let answer = t.send(&request).status_is(200);
                let id = answer.json()["ID"].as_str().unwrap_or_default().to_owned();
                let shown = Shown {
                    name: "a",
                    ..Shown::of(t, &id)
                };
                shown.is_stored(t);
                t.destroy(&id);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "session/create/index-grows",
        claim: "CreateIndex and ModifyIndex are the raft index of the creation, which session reads show from then on",
        source: "session.md 2, 2.1",
        run: |t| {
            let before = t.api_get(LIST).index();
            let first = t.session("{}");
            let second = t.session("{}");
            let index = |session: &str| {
                let answer = t.api_get(&info(session));
                let created = answer.json()[0]["CreateIndex"].as_u64().unwrap_or_default();
                t.check(answer.index() >= created, "a read shows an older index");
                created
            };
            t.grew("the first CreateIndex", before, index(&first));
            t.grew("the second CreateIndex", index(&first), index(&second));
        },
        ..Case::MUST
    },
    Case {
        id: "session/create/takes-one-raft-index",
        claim: "Creating a session takes one raft index",
        source: "session.md 1.1, 2",
        needs: &[Feature::OwnServer],
        run: |t| takes_raft_indexes(t, 1, || drop(t.session("{}"))),
        ..Case::REAL
    },
    Case {
        id: "session/create/refused-early-takes-no-raft-index",
        claim: "A session whose Node is empty, or whose Behavior or TTL is wrong, takes no raft index",
        source: "session.md 1.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            takes_raft_indexes(t, 0, || {
                for body in [r#"{"Node":""}"#, r#"{"Behavior":"x"}"#, r#"{"TTL":"x"}"#] {
                    t.create_session(body).status_is(500);
                }
            });
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/refused-late-takes-a-raft-index",
        claim: "A session on an unknown node or check takes a raft index",
        source: "session.md 1.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            takes_raft_indexes(t, 2, || {
                t.create_session(r#"{"Node":"nobody"}"#).status_is(500);
                t.create_session(r#"{"NodeChecks":["nope"]}"#)
                    .status_is(500);
            });
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/refused-moves-no-table",
        claim: "A refused session leaves the index of session reads as it was",
        source: "session.md 1.1, 2.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            leaves_alone(
                t,
                "the index of session reads",
                || t.api_get(LIST).index(),
                || {
                    t.create_session(r#"{"Node":"nobody"}"#).status_is(500);
                    t.create_session(r#"{"NodeChecks":["nope"]}"#)
                        .status_is(500);
                    t.create_session(r#"{"TTL":"1ns"}"#).status_is(500);
                },
            );
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/read-parameters-are-not-looked-at",
        claim: "The parameters of reads are ignored, even wrong ones",
        source: "session.md 0.7",
        run: |t| {
            for query in ["index=abc", "wait=abc", "stale&consistent", "filter=("] {
                let answer = t.api_put(&format!("{CREATE}?{query}"), "").status_is(200);
                let id = answer.json()["ID"].as_str().unwrap_or_default().to_owned();
                t.destroy(&id);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/path-is-exact",
        claim: "A trailing slash makes the path another one, which is unknown",
        source: "session.md 0.5",
        run: |t| {
            t.api_put("/v1/session/create/", "").status_is(404);
            t.api_get("/v1/session/list/").status_is(404);
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/unprefixed-texts",
        claim: "Refusals by the store are worded bare",
        source: "session.md 1.1, 1.4; 1.22.md B1 (apply failed: since 1.10.0 [H])",
        until: Some(Version::V1_10),
        run: |t| {
            t.create_session(r#"{"Node":"nobody"}"#)
                .is(500, "Missing node registration");
            t.create_session(r#"{"NodeChecks":["nope"]}"#)
                .is(500, "Missing check 'nope' registration");
        },
        ..Case::REAL
    },
    Case {
        id: "session/create/prefixed-texts",
        claim: "Refusals by the store begin with `apply failed: `, those before it do not",
        source: "1.22.md B1 (since 1.10.0 [H])",
        since: Version::V1_10,
        run: |t| {
            t.create_session(r#"{"Node":"nobody"}"#)
                .is(500, "apply failed: Missing node registration");
            t.create_session(r#"{"NodeChecks":["nope"]}"#)
                .is(500, "apply failed: Missing check 'nope' registration");
            t.create_session(r#"{"Node":""}"#)
                .is(500, "Must provide Node");
            t.create_session(r#"{"Behavior":"x"}"#)
                .is(500, "Invalid Behavior setting 'x'");
        },
        ..Case::REAL
    },
];
