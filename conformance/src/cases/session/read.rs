//! `session/info`, `session/node` and `session/list`.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::cases::support::acl;
use crate::cases::support::session::{
    LIST, MALFORMED, Shown, fields, info, leaves_alone, of_node, renew_path,
};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The headers of every read.
#[track_caller]
fn has_read_headers(answer: Answer) -> Answer {
    answer
        .header_is("Content-Type", "application/json")
        .has_header("X-Consul-Index")
        .header_is("X-Consul-Knownleader", "true")
        .header_is("X-Consul-Lastcontact", "0")
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/read/info-is-a-list-of-one",
        claim: "session/info of a session that lives is a list of it alone, with the read headers",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            let answer = has_read_headers(t.api_get(&info(&session)));
            Shown::of(t, &session).is_alone_in(answer);
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/info-of-an-unknown-id",
        claim: "session/info of an id that no session has is 200 with an empty list and the read headers, never 404",
        source: "session.md 2, 7.1, trap 15",
        run: |t| {
            has_read_headers(t.api_get(&info(&t.unknown_session()))).is(200, "[]");
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/info-after-destroy",
        claim: "A destroyed session is known no longer",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            t.destroy(&session);
            t.api_get(&info(&session)).is(200, "[]");
            let ids = fields(&t.api_get(LIST), "ID");
            t.check(!ids.contains(&session), "it is still in the list");
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/info-of-a-malformed-id",
        claim: "session/info of what is no UUID is 500 with the words of the lookup",
        source: "session.md 2, 8(a); 1.22.md B2 (until 1.11.0 [H])",
        until: Some(Version::V1_11),
        run: |t| {
            for (id, words) in MALFORMED {
                t.api_get(&info(id))
                    .is(500, &format!("failed session lookup: index error: {words}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/info-of-any-text",
        claim: "session/info of what is no UUID is 200 with an empty list, as of any unknown id",
        source: "1.22.md B2 (since 1.11.0 [H])",
        since: Version::V1_11,
        run: |t| {
            for (id, _) in MALFORMED {
                t.api_get(&info(id)).is(200, "[]");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/info-needs-an-id",
        claim: "session/info/ without an id is 400",
        source: "session.md 2",
        run: |t| {
            t.api_get("/v1/session/info/").is(400, "Missing session");
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/info-in-any-case",
        claim: "An id in upper case finds the session, which is shown with its own id in lower case",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            Shown::of(t, &session).is_alone_in(t.api_get(&info(&session.to_uppercase())));
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/node-lists-its-sessions",
        claim: "session/node shows the sessions of the node as session/info does, with the read headers",
        source: "session.md 2",
        run: |t| {
            let session = t.session(r#"{"Name":"of this node"}"#);
            let answer = has_read_headers(t.api_get(&of_node(&t.facts().node)));
            let info = t.api_get(&info(&session)).json();
            t.check(
                answer.list().contains(&info[0]),
                "the session is not among those of its node",
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/node-of-the-agent-only",
        claim: "session/node shows no sessions of other nodes",
        source: "session.md 2",
        needs: &[Feature::Registration],
        run: |t| {
            let node = t.register_node("n");
            let here = t.session(&format!(r#"{{"Node":"{node}","NodeChecks":[]}}"#));
            t.session("{}");
            let ids = fields(&t.api_get(&of_node(&node)), "ID");
            t.same("the sessions of the node", ids, vec![here]);
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/node-in-any-case",
        claim: "session/node finds the node by its name in any case",
        source: "session.md 2, trap 14",
        run: |t| {
            let session = t.session("{}");
            let ids = fields(&t.api_get(&of_node(&t.facts().node.to_uppercase())), "ID");
            t.check(ids.contains(&session), "the session is not shown");
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/node-unknown",
        claim: "session/node of a node that does not exist is 200 with an empty list and the read headers",
        source: "session.md 2",
        run: |t| {
            has_read_headers(t.api_get(&of_node(&t.node("unknown")))).is(200, "[]");
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/node-needs-a-name",
        claim: "session/node/ without a name is 400",
        source: "session.md 2",
        run: |t| {
            t.api_get("/v1/session/node/").is(400, "Missing node name");
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/list-shows-all",
        claim: "session/list shows every session as session/info does, with the read headers",
        source: "session.md 2",
        run: |t| {
            let sessions = [
                t.session(r#"{"Name":"one"}"#),
                t.session(r#"{"NodeChecks":[]}"#),
            ];
            let list = has_read_headers(t.api_get(LIST)).list();
            for session in &sessions {
                let info = t.api_get(&info(session)).json();
                t.check(list.contains(&info[0]), format!("{session} is not listed"));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/ordered-by-id",
        claim: "Lists of sessions are in the order of their ids, not of their creation",
        source: "session.md 2",
        run: |t| {
            for _ in 0..8 {
                t.session("{}");
            }
            for path in [LIST.to_owned(), of_node(&t.facts().node)] {
                let ids = fields(&t.api_get(&path), "ID");
                t.check(ids.len() >= 8, format!("{path} shows {}", ids.len()));
                t.check(ids.is_sorted(), format!("{path} is not in order: {ids:?}"));
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/filter-is-ignored",
        claim: "?filter= does nothing on session reads, even when it cannot be parsed",
        source: "session.md 2",
        run: |t| {
            let session = t.session("{}");
            for filter in ["Name==nobody", "(("] {
                for path in [LIST.to_owned(), info(&session), of_node(&t.facts().node)] {
                    let ids = fields(&t.api_get(&format!("{path}?filter={filter}")), "ID");
                    t.check(ids.contains(&session), format!("{path} lacks the session"));
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/one-index-for-all",
        claim: "All session reads show the same index, whatever they look for and whether they find it",
        source: "session.md 2.1, trap 17",
        needs: &[Feature::OwnServer],
        run: |t| {
            // The index is not that of the session: another came later.
            let session = t.session("{}");
            t.session("{}");
            let paths = [
                LIST.to_owned(),
                info(&session),
                info(&t.unknown_session()),
                of_node(&t.facts().node),
                of_node(&t.node("unknown")),
            ];
            let indexes = paths.each_ref().map(|path| t.api_get(path).index());
            let first = indexes[0];
            t.same("the indexes", indexes, [first; 5]);
        },
        ..Case::REAL
    },
    Case {
        id: "session/read/index-is-one-at-first",
        claim: "Before there was any session, every session read shows the index 1, never 0",
        source: "session.md 2.1, trap 17",
        needs: &[Feature::AclPolicies],
        // The suite makes a session to see that a server serves, which this one refuses.
        settings: acl::SETTINGS,
        run: |t| {
            let read = |path: &str| {
                let request = Request::get(path).header("X-Consul-Token", acl::ROOT);
                t.send(&request)
            };
            t.eventually("ACLs are known", Duration::from_secs(10), || {
                (read(LIST).status() == 200).then_some(())
            });
            let paths = [
                LIST.to_owned(),
                info(&t.unknown_session()),
                of_node(&t.facts().node),
                of_node("nobody"),
            ];
            for path in paths {
                let answer = read(&path).is(200, "[]");
                t.same(&path, answer.index(), 1);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/index-follows-create-and-destroy",
        claim: "Every creation and every destruction moves the index of session reads",
        source: "session.md 2.1",
        run: |t| {
            let index = || t.api_get(LIST).index();
            let before = index();
            let session = t.session("{}");
            let created = index();
            t.grew("the index after a creation", before, created);
            t.destroy(&session);
            t.grew("the index after a destruction", created, index());
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/index-ignores-the-rest",
        claim: "Neither a renewal nor a lock nor any other write of a key moves the index of session reads",
        source: "session.md 2.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            let (session, key) = (t.session("{}"), t.key("k"));
            leaves_alone(
                t,
                "the index of session reads",
                || t.api_get(LIST).index(),
                || {
                    t.api_put(&renew_path(&session), "").status_is(200);
                    t.put(&key, &format!("acquire={session}"), "v")
                        .is(200, "true");
                    t.put(&key, &format!("release={session}"), "w")
                        .is(200, "true");
                    t.delete(&key, "").is(200, "true");
                },
            );
        },
        ..Case::MUST
    },
    Case {
        id: "session/read/no-effective-consistency",
        claim: "Session reads accept ?stale and ?consistent, and never say which consistency was in effect",
        source: "session.md 0.11",
        run: |t| {
            let session = t.session("{}");
            for mode in ["", "stale", "consistent"] {
                let answer = t
                    .api_get(&format!("{}?{mode}", info(&session)))
                    .has_no_header("X-Consul-Effective-Consistency");
                Shown::of(t, &session).is_alone_in(has_read_headers(answer));
            }
        },
        ..Case::REAL
    },
];
