//! Blocking reads of what is not there: the one place where Consul may answer early, so that clients must ask again.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::answer::Answer;

const WAIT: Duration = Duration::from_secs(2);
/// How often a client asks again; other cases' writes may answer it early many times.
const PATIENCE: usize = 1_000;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "blocking/missing/creation-is-seen",
        claim: "A client that blocks on a missing key, and asks again after every 404, sees its creation",
        source: "kv.md 5.3, 5.4, trap 16",
        needs: &[Feature::Blocking],
        run: |t| {
            let key = t.key("missing");
            let index = t.get(&key, "").is(404, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.put(&key, "", "v").is(200, "true");
            let answer = asking_again(t, &key, "", index, waiting.answer());
            let entry = answer.entry().value_is("v").is_as_created();
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/creation-below-is-seen",
        claim: "A client that blocks on a prefix without keys, and asks again after every 404, sees the first key",
        source: "kv.md 5.3, 5.4, trap 16",
        needs: &[Feature::Blocking],
        run: |t| {
            for kind in ["recurse", "keys"] {
                let prefix = t.key(&format!("{kind}/"));
                let index = t.get(&prefix, kind).is(404, "").index();
                let waiting = t.start_get(&prefix, &format!("{kind}&index={index}&wait=60s"));
                t.put(&format!("{prefix}k"), "", "v").is(200, "true");
                let answer = asking_again(t, &prefix, kind, index, waiting.answer());
                t.same("keys", answer.list().len(), 1);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/creation-by-a-lock-or-a-txn-is-seen",
        claim: "A missing key that an acquire or a transaction creates is seen by a client that blocks on it",
        source: "kv.md 5.3",
        needs: &[Feature::Blocking],
        run: |t| {
            let session = t.session_without_delay();
            let (locked, set) = (t.key("locked"), t.key("set"));
            let index = t.get(&locked, "").index();
            let waiting =
                [&locked, &set].map(|key| t.start_get(key, &format!("index={index}&wait=60s")));
            t.put(&locked, &format!("acquire={session}"), "v")
                .is(200, "true");
            let operations =
                serde_json::json!([{"KV": {"Verb": "set", "Key": set, "Value": "dg=="}}]);
            t.txn(&operations).status_is(200);
            for (key, waiting) in [&locked, &set].into_iter().zip(waiting) {
                asking_again(t, key, "", index, waiting.answer())
                    .entry()
                    .value_is("v");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/answers-at-once-when-something-is-newer",
        claim: "A read of a missing key whose index is below that of the last change to any key answers 404 at once",
        source: "kv.md 5.2, 1.22.md A5",
        run: |t| {
            let key = t.key("missing");
            let before = t.get(&key, "").index();
            t.put(&t.key("other"), "", "v").is(200, "true");
            for (key, query) in [
                (&key, ""),
                (&t.key("p/"), "recurse&"),
                (&t.key("p/"), "keys&"),
            ] {
                let answer = t
                    .get(key, &format!("{query}index={before}&wait=60s"))
                    .is(404, "");
                t.grew("X-Consul-Index", before, answer.index());
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/early-only-with-a-greater-index",
        claim: "A read that blocks on a missing key ends before its wait only with 404 and a greater index",
        source: "kv.md 5.4, trap 16",
        needs: &[Feature::Blocking],
        run: |t| early_only_with_a_greater_index(t, &t.key("missing"), ""),
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/early-only-with-a-greater-index-below",
        claim: "A read that blocks on a prefix that never had keys ends before its wait only with 404 and a greater index",
        source: "kv.md 5.4, trap 16",
        needs: &[Feature::Blocking],
        run: |t| {
            early_only_with_a_greater_index(t, &t.key("p/"), "recurse&");
            early_only_with_a_greater_index(t, &t.key("p/"), "keys&");
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/sleeps-through-writes-that-change-nothing",
        claim: "A read that blocks on a missing key sleeps through identical writes and deletes of nothing",
        source: "kv.md 5.4",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            t.put("other", "", "v").is(200, "true");
            let index = t.get("missing", "").index();
            let waiting = t.start_get("missing", &format!("index={index}&wait=60s"));
            t.put("other", "", "v").is(200, "true");
            t.put("other", "cas=0", "w").is(200, "false");
            t.delete("nothing", "").is(200, "true");
            t.delete("nothing/", "recurse").is(200, "true");
            t.still_blocked(&waiting);
            t.put("missing", "", "witness").is(200, "true");
            waiting.answer().entry().value_is("witness");
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/emptied-prefix-sleeps-through-writes-elsewhere",
        claim: "A read that blocks on an emptied prefix sleeps through writes elsewhere and is answered by a new key below it",
        source: "kv.md 5.3",
        needs: &[Feature::Blocking],
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            t.delete(&t.key("p/1"), "").is(200, "true");
            let index = t.get(&prefix, "recurse").is(404, "").index();
            let waiting = ["recurse", "keys"]
                .map(|kind| t.start_get(&prefix, &format!("{kind}&index={index}&wait=60s")));
            for other in ["p", "q/1", "a"] {
                t.put(&t.key(other), "", "v").is(200, "true");
                t.delete(&t.key(other), "").is(200, "true");
            }
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            for waiting in waiting {
                let answer = waiting.answer();
                t.same("keys", answer.list().len(), 1);
                t.grew("X-Consul-Index", index, answer.index());
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/timeout-shows-the-index-of-the-last-look",
        claim: "A read of a missing key that no write has woken ends with the index of its last look, though other keys have changed since",
        source: "kv.md 5.2",
        needs: &[Feature::Blocking, Feature::OwnServer],
        until: Some(Version::new(1, 10, 9)),
        run: |t| {
            t.not_compared("an early answer is neither required nor forbidden");
            // Keys that begin like the missing one keep writes that begin otherwise out of its sight (kv.md 5.4).
            for key in ["nokez", "nokex", "q"] {
                t.put(key, "", "v").is(200, "true");
            }
            let index = t.get("nokey", "").is(404, "").index();
            let waiting = t.start_get("nokey", &format!("index={index}&wait=2s"));
            t.put("q", "", "w").is(200, "true");
            t.settle();
            if waiting.peek().is_some() {
                // A server may wake more readers than it must.
                t.grew(
                    "X-Consul-Index",
                    index,
                    waiting.answer().is(404, "").index(),
                );
            } else {
                let answer = t.runs_out(&waiting, WAIT).is(404, "");
                t.same("X-Consul-Index", answer.index(), index);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/missing/keeps-blocking-since-1-12",
        claim: "A read that blocks on a missing key sleeps through all writes elsewhere until the key is created",
        source: "1.22.md A5 [S, D: 1.10.9, 1.11.4, 1.12.0]",
        // Its first look returns at once when others have written since the index was read.
        needs: &[Feature::Blocking, Feature::OwnServer],
        since: Version::V1_12,
        run: |t| {
            let key = t.key("missing");
            let index = t.get(&key, "").is(404, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            for other in ["missing/below", "missing2", "m", "z"] {
                t.put(&t.key(other), "", "v").is(200, "true");
                t.delete(&t.key(other), "").is(200, "true");
            }
            t.still_blocked(&waiting);
            t.put(&key, "", "created").is(200, "true");
            let answer = waiting.answer();
            let entry = answer.entry().value_is("created");
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/missing/timeout-shows-the-newest-index-since-1-12",
        claim: "A read of a missing key that sleeps through writes elsewhere ends 404 with an index above the one it asked for",
        source: "1.22.md A5 [S, D: 1.10.9, 1.11.4, 1.12.0]",
        needs: &[Feature::Blocking, Feature::OwnServer],
        since: Version::V1_12,
        run: |t| {
            // No key begins like the missing one, so every write is looked at (kv.md 5.4).
            t.put("a", "", "v").is(200, "true");
            let index = t.get("missing", "").is(404, "").index();
            let waiting = t.start_get("missing", &format!("index={index}&wait=2s"));
            t.put("a", "", "w").is(200, "true");
            t.settle();
            let changed = t.get("a", "").index();
            let answer = t.runs_out(&waiting, WAIT).is(404, "");
            t.same("X-Consul-Index", answer.index(), changed);
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/missing/deletion-merges-nodes-of-the-tree",
        claim: "A read that blocks on a prefix without keys ends when a deletion leaves its neighbour in the tree alone",
        source: "kv.md 5.4",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            for key in ["p/a", "p/b", "p/c", "q"] {
                t.put(key, "", "v").is(200, "true");
            }
            let index = t.get("p/a/", "recurse").is(404, "").index();
            let waiting = ["recurse", "keys"]
                .map(|kind| t.start_get("p/a/", &format!("{kind}&index={index}&wait=60s")));
            // Two are left below `p/`: neither takes the place of the other.
            t.delete("p/c", "").is(200, "true");
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.delete("p/b", "").is(200, "true");
            for waiting in waiting {
                let answer = waiting.answer().is(404, "");
                t.grew("X-Consul-Index", index, answer.index());
            }
        },
        ..Case::REAL
    },
];

/// What a client does that got `answer`: while it is 404, it asks again with the index that came. Gives the first other answer.
#[track_caller]
fn asking_again(t: &Trial, key: &str, kind: &str, mut index: u64, mut answer: Answer) -> Answer {
    for _ in 0..PATIENCE {
        if answer.status() != 404 {
            return answer;
        }
        t.grew("the index of an early answer", index, answer.index());
        index = answer.index();
        answer = t.get(key, &format!("{kind}&index={index}&wait=10s"));
    }
    answer.status_is(200)
}

/// Whether the writes elsewhere answer the read early is left to the server; how it is then answered is not.
#[track_caller]
fn early_only_with_a_greater_index(t: &Trial, key: &str, query: &str) {
    t.not_compared("an early answer is neither required nor forbidden");
    let index = t.get(key, query).is(404, "").index();
    let waiting = t.start_get(key, &format!("{query}index={index}&wait=2s"));
    t.put(&t.key("other"), "", format!("{index}"))
        .is(200, "true");
    t.settle();
    if waiting.peek().is_some() {
        t.grew(
            "X-Consul-Index",
            index,
            waiting.answer().is(404, "").index(),
        );
        return;
    }
    // Not yet: either at the end, or still early because of another case's write.
    t.pass(WAIT + WAIT / 8);
    let answer = waiting.answer().is(404, "");
    t.check(
        answer.index() >= index,
        format!("the index went back from {index} to {}", answer.index()),
    );
    t.check(
        answer.index() > index || t.facts().has(Feature::MovableClock) || answer.took() >= WAIT,
        "an early answer without a greater index",
    );
}
