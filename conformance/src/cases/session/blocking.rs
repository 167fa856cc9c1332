//! Blocking on sessions: what wakes `session/list`, `session/node` and `session/info`, and what does not.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::session::{
    LIST, Shown, fields, info, node_with_neighbour, of_node, renew_path, session_on, sleeping,
};
use crate::wire::Request;
use crate::wire::waiting::Waiting;

/// An index that no server reaches.
const NEVER: u64 = 1 << 62;

/// Starts a read that blocks until its result is newer than `index`.
fn start(t: &Trial, path: &str, index: u64) -> Waiting {
    t.start(&Request::get(&format!("{path}?index={index}&wait=60s")))
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "session/blocking/list-wakes-on-creation",
        claim: "session/list wakes when any session is created, and shows it",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            let index = t.api_get(LIST).index();
            let waiting = start(t, LIST, index);
            t.still_blocked(&waiting);
            let session = t.session("{}");
            let answer = waiting.answer();
            t.grew("X-Consul-Index", index, answer.index());
            t.same("the sessions", fields(&answer, "ID"), vec![session]);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/list-wakes-on-destruction",
        claim: "session/list wakes when any session is destroyed, and shows it no longer",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            let (stays, goes) = (t.session("{}"), t.session("{}"));
            let index = t.api_get(LIST).index();
            let waiting = start(t, LIST, index);
            t.still_blocked(&waiting);
            t.destroy(&goes);
            let answer = waiting.answer();
            t.grew("X-Consul-Index", index, answer.index());
            t.same("the sessions", fields(&answer, "ID"), vec![stays]);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/info-wakes-on-its-destruction",
        claim: "session/info of a session that lives sleeps through all that other sessions do, and wakes empty when its own is destroyed",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::OwnServer, Feature::Blocking],
        run: |t| {
            let (session, key) = (t.session_without_delay(), t.key("lock"));
            let waiting = sleeping(t, &info(&session), || {
                t.destroy(&t.session("{}"));
                t.api_put(&renew_path(&session), "").status_is(200);
                t.put(&key, &format!("acquire={session}"), "v")
                    .is(200, "true");
            });
            t.destroy(&session);
            let answer = waiting.answer().is(200, "[]");
            let released = t.get(&key, "").entry().is_unlocked().modify_index;
            t.same("X-Consul-Index", answer.index(), released);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/info-sleeps-to-its-end",
        claim: "session/info of a session that lives shows the index from before when its wait runs out, whatever other sessions did meanwhile",
        source: "session.md 2.1, trap 17, trap 18",
        needs: &[Feature::OwnServer, Feature::Blocking],
        run: |t| {
            let session = t.session("{}");
            let before = t.api_get(&info(&session)).index();
            let wait = Duration::from_secs(1);
            let path = format!("{}?index={before}&wait=1s", info(&session));
            let waiting = t.start(&Request::get(&path));
            t.destroy(&t.session("{}"));
            t.settle();
            let after = t.api_get(&info(&session));
            t.grew("X-Consul-Index", before, after.index());
            let told = t.runs_out(&waiting, wait);
            t.same("the index that is told in the end", told.index(), before);
            Shown::of(t, &session).is_alone_in(told);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/info-of-an-unknown-id-wakes-early",
        claim: "session/info of an id that no session has wakes, still empty, when there was no session at all and one is created",
        source: "session.md 2.1, 8(a), trap 18; 1.22.md A5 (until 1.10.9 and 1.11.4 [D])",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer, Feature::Blocking],
        run: |t| {
            let path = info(&t.unknown_session());
            let index = t.api_get(&path).index();
            let waiting = start(t, &path, index);
            t.still_blocked(&waiting);
            t.session("{}");
            let answer = waiting.answer().is(200, "[]");
            t.grew("X-Consul-Index", index, answer.index());
        },
        ..Case::REAL
    },
    Case {
        id: "session/blocking/info-of-an-unknown-id-sleeps",
        claim: "session/info of an id that no session has sleeps through what other sessions do",
        source: "session.md 2.1, 8(a); 1.22.md A5 (since 1.10.9, 1.11.4 and 1.12.0 [D])",
        since: Version::V1_12,
        needs: &[Feature::OwnServer, Feature::Blocking],
        run: |t| {
            let path = info(&t.unknown_session());
            // Nothing can wake it, so it is left to its wait.
            drop(sleeping(t, &path, || t.destroy(&t.session("{}"))));
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/node-wakes-on-creation",
        claim: "session/node of a node with sessions wakes when another is created there",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
        run: |t| {
            let (node, _) = node_with_neighbour(t);
            let first = session_on(t, &node);
            let waiting = sleeping(t, &of_node(&node), || {});
            let mut both = [first, session_on(t, &node)];
            both.sort();
            let ids = fields(&waiting.answer(), "ID");
            t.same("the sessions", ids, both.to_vec());
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/node-wakes-on-destruction",
        claim: "session/node of a node with sessions wakes when one of them is destroyed",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
        run: |t| {
            let (node, _) = node_with_neighbour(t);
            let stays = session_on(t, &node);
            let goes = session_on(t, &node);
            let waiting = sleeping(t, &of_node(&node), || {});
            t.destroy(&goes);
            let ids = fields(&waiting.answer(), "ID");
            t.same("the sessions", ids, vec![stays]);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/node-sleeps-through-other-nodes",
        claim: "session/node of a node with sessions sleeps through what happens on other nodes",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
        run: |t| {
            let (node, other) = node_with_neighbour(t);
            let session = session_on(t, &node);
            let waiting = sleeping(t, &of_node(&node), || {
                t.destroy(&session_on(t, &other));
            });
            t.destroy(&session);
            waiting.answer().is(200, "[]");
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/changes-wake-at-once",
        claim: "A blocked read of all sessions or of those of a node is answered at once when there is another one",
        source: "session.md 2.1",
        needs: &[Feature::OwnServer, Feature::Blocking, Feature::Registration],
        run: |t| {
            let (node, _) = node_with_neighbour(t);
            session_on(t, &node);
            for path in [LIST, &of_node(&node)] {
                t.wakes_at_once(path, || drop(session_on(t, &node)));
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/own-node-wakes",
        claim: "session/node of the agent's node wakes when a session is created or destroyed there",
        source: "session.md 2.1, trap 18",
        needs: &[Feature::Blocking],
        run: |t| {
            let path = of_node(&t.facts().node);
            let session = t.session("{}");
            let index = t.api_get(&path).index();
            let waiting = start(t, &path, index);
            t.session("{}");
            let created = waiting.answer().status_is(200).index();
            t.grew("X-Consul-Index", index, created);
            let index = t.api_get(&path).index();
            let waiting = start(t, &path, index);
            t.destroy(&session);
            t.grew("X-Consul-Index", index, waiting.answer().index());
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/node-without-sessions-wakes-early",
        claim: "session/node of a node without sessions wakes, still empty, when a session is created anywhere",
        source: "session.md 2.1, trap 18; 1.22.md A5",
        needs: &[Feature::Blocking],
        run: |t| {
            // A name that begins as no other does: which neighbours wake it depends on the names.
            let path = of_node(&format!("~{}", t.node("nobody")));
            let index = t.api_get(&path).index();
            let waiting = start(t, &path, index);
            t.session("{}");
            let answer = waiting.answer().is(200, "[]");
            t.grew("X-Consul-Index", index, answer.index());
        },
        ..Case::REAL
    },
    Case {
        id: "session/blocking/zero-never-blocks",
        claim: "An index of 0, or none, is answered at once whatever the wait",
        source: "session.md 0.10",
        needs: &[Feature::Blocking],
        run: |t| {
            let session = t.session("{}");
            for query in ["wait=60s", "index=0&wait=60s"] {
                let answer = t.api_get(&format!("{}?{query}", info(&session)));
                t.check(answer.took() < Duration::from_secs(30), "it blocked");
                Shown::of(t, &session).is_alone_in(answer);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/older-index-never-blocks",
        claim: "An index older than the result is answered at once",
        source: "session.md 0.10",
        needs: &[Feature::Blocking],
        run: |t| {
            let session = t.session("{}");
            let index = t.api_get(&info(&session)).index();
            t.session("{}");
            for older in [1, index - 1] {
                let answer = t.api_get(&format!("{}?index={older}&wait=60s", info(&session)));
                t.check(answer.took() < Duration::from_secs(30), "it blocked");
                Shown::of(t, &session).is_alone_in(answer);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/runs-out-with-a-plain-answer",
        claim: "A read whose wait runs out is answered as a plain read, with the result's own index, which may be lower than the one asked for",
        source: "session.md 0.10",
        needs: &[Feature::Blocking],
        run: |t| {
            let session = t.session("{}");
            let wait = Duration::from_secs(2);
            let path = format!("{}?index={NEVER}&wait=2s", info(&session));
            let waiting = t.start(&Request::get(&path));
            let answer = t.runs_out(&waiting, wait);
            t.check(
                answer.index() < NEVER,
                "it shows the index that was asked for",
            );
            Shown::of(t, &session).is_alone_in(answer);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/five-minutes-by-default",
        claim: "A read that blocks without wait runs out after five minutes",
        source: "session.md 0.10",
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let session = t.session("{}");
            let waiting = t.start(&Request::get(&format!("{}?index={NEVER}", info(&session))));
            let answer = t.runs_out(&waiting, Duration::from_secs(300));
            Shown::of(t, &session).is_alone_in(answer);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/ten-minutes-at-most",
        claim: "A read that would block for longer runs out after ten minutes",
        source: "session.md 0.10",
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let session = t.session("{}");
            let path = format!("{}?index={NEVER}&wait=1h", info(&session));
            let waiting = t.start(&Request::get(&path));
            let answer = t.runs_out(&waiting, Duration::from_secs(600));
            Shown::of(t, &session).is_alone_in(answer);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/destruction-wakes-the-keys-it-touches",
        claim: "A read of a key sleeps through sessions that do not hold it, and wakes when its holder is destroyed",
        source: "session.md 2.1",
        needs: &[Feature::Blocking],
        run: |t| {
            let key = t.key("lock");
            let (holder, other) = (t.session_without_delay(), t.session_without_delay());
            t.put(&key, &format!("acquire={holder}"), "v")
                .is(200, "true");
            t.put(&t.key("other"), &format!("acquire={other}"), "v")
                .is(200, "true");
            let index = t.get(&key, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.session("{}");
            t.destroy(&other);
            t.still_blocked(&waiting);
            t.destroy(&holder);
            let answer = waiting.answer();
            let entry = answer.entry().is_unlocked();
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
            t.grew("X-Consul-Index", index, answer.index());
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/destruction-wakes-all-at-once",
        claim: "The destruction of a holder wakes those who wait for its key, its prefix and the keys there, all with the index of that moment",
        source: "session.md 3.2",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, prefix) = (t.key("dir/lock"), t.key("dir/"));
            let session = t.session_without_delay();
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            let index = t.get(&key, "").index();
            let at_key = t.start_get(&key, &format!("index={index}&wait=60s"));
            let at_prefix = t.start_get(&prefix, &format!("recurse&index={index}&wait=60s"));
            let at_keys = t.start_get(&prefix, &format!("keys&index={index}&wait=60s"));
            for waiting in [&at_key, &at_prefix, &at_keys] {
                t.still_blocked(waiting);
            }
            t.destroy(&session);
            let entry = at_key.answer().entry().is_unlocked();
            let destroyed = entry.modify_index;
            t.same("the index of the key", at_key.answer().index(), destroyed);
            let listed = at_prefix.answer();
            t.same("the index of the prefix", listed.index(), destroyed);
            t.same("the entry", listed.entry(), entry);
            t.same("the index of the keys", at_keys.answer().index(), destroyed);
        },
        ..Case::MUST
    },
    Case {
        id: "session/blocking/destruction-wakes-with-deletions",
        claim: "Behavior delete wakes those who wait for the key and its prefix with 404 and the index of the deletion",
        source: "session.md 3.2, trap 29",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, prefix) = (t.key("dir/lock"), t.key("dir/"));
            let session = t.session(r#"{"Behavior":"delete","LockDelay":"0s","NodeChecks":[]}"#);
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            let index = t.get(&key, "").index();
            let at_key = t.start_get(&key, &format!("index={index}&wait=60s"));
            let at_prefix = t.start_get(&prefix, &format!("recurse&index={index}&wait=60s"));
            t.destroy(&session);
            let at_prefix = at_prefix.answer().is(404, "");
            t.grew("the index of the prefix", index, at_prefix.index());
            // The index of a key that is missing is that of all keys, which others move.
            let at_key = at_key.answer().is(404, "");
            t.check(
                at_key.index() >= at_prefix.index(),
                "the key's 404 shows an index older than the deletion",
            );
        },
        ..Case::MUST
    },
];
