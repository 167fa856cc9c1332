//! What answers a blocking read of something that exists, and what it sleeps through.

use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::wire::answer::Answer;

/// Far longer than any of these cases takes.
const WAIT: &str = "wait=60s";
/// An answer that comes later than this was not caused by the change.
const SOON: Duration = Duration::from_secs(30);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    // --- an existing key -------------------------------------------------------------------------------------------------------
    Case {
        id: "blocking/key/value-wakes",
        claim: "A changed value answers the read with the new entry and its ModifyIndex",
        run: |t| {
            let answer = woken(t, "", |key| {
                t.put(key, "", "after").is(200, "true");
            });
            let entry = answer.entry().value_is("after");
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/raw-blocks-too",
        claim: "A raw read blocks and answers with the new bytes",
        run: |t| {
            let answer = woken(t, "raw&", |key| {
                t.put(key, "", "after").is(200, "true");
            });
            answer.status_is(200).body_is_exactly("after");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/flags-wake",
        claim: "Changed flags answer the read, though the value stays",
        run: |t| {
            let answer = woken(t, "", |key| {
                t.put(key, "flags=5", "before").is(200, "true");
            });
            answer.entry().value_is("before").flags_is(5);
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/cas-wakes",
        claim: "A check-and-set that succeeds answers the read",
        run: |t| {
            let answer = woken(t, "", |key| {
                let modified = t.get(key, "").entry().modify_index;
                t.put(key, &format!("cas={modified}"), "after")
                    .is(200, "true");
            });
            answer.entry().value_is("after");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/acquire-wakes",
        claim: "An acquire answers the read, though the value stays",
        run: |t| {
            let session = t.session_without_delay();
            let answer = woken(t, "", |key| {
                t.put(key, &format!("acquire={session}"), "before")
                    .is(200, "true");
            });
            answer.entry().value_is("before").session_is(&session);
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/release-wakes",
        claim: "A release answers the read, though the value stays",
        run: |t| {
            let session = t.session_without_delay();
            let answer = woken_when_held(t, &session, |key| {
                t.put(key, &format!("release={session}"), "held")
                    .is(200, "true");
            });
            answer.entry().value_is("held").is_unlocked();
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/session-destroy-wakes",
        claim: "The end of the session that holds the key answers the read: nobody holds it any more",
        run: |t| {
            let session = t.session_without_delay();
            let answer = woken_when_held(t, &session, |_| t.destroy(&session));
            answer.entry().value_is("held").is_unlocked();
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/session-destroy-with-delete-wakes",
        claim: "The end of a session that deletes its keys answers the read with 404",
        run: |t| {
            let session = t.session(r#"{"LockDelay":"0s","NodeChecks":[],"Behavior":"delete"}"#);
            woken_when_held(t, &session, |_| t.destroy(&session)).is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/txn-wakes",
        claim: "A transaction that changes the key answers the read",
        run: |t| {
            let answer = woken(t, "", |key| {
                let set = json!([{"KV": {"Verb": "set", "Key": key, "Value": "YWZ0ZXI="}}]);
                t.txn(&set).status_is(200);
            });
            answer.entry().value_is("after");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/delete-wakes",
        claim: "Deleting the key answers the read with 404 and a greater index",
        run: |t| {
            woken(t, "", |key| {
                t.delete(key, "").is(200, "true");
            })
            .is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/prefix-delete-wakes",
        claim: "Deleting a prefix of the key answers the read with 404 and a greater index",
        run: |t| {
            let answer = woken(t, "", |key| {
                t.delete(key.trim_end_matches('k'), "recurse")
                    .is(200, "true");
            });
            answer.is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/delete-of-everything-wakes",
        claim: "Deleting everything answers the read of a key with 404 and a greater index",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            woken(t, "", |_| {
                t.delete("", "recurse").is(200, "true");
            })
            .is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/delete-and-create-wake",
        claim: "A key that is deleted and at once made anew answers the read, with either state and a greater index",
        run: |t| {
            t.not_compared("the answer may come between the two writes");
            let answer = woken(t, "", |key| {
                t.delete(key, "").is(200, "true");
                t.put(key, "", "anew").is(200, "true");
            });
            if answer.status() != 404 {
                answer.entry().value_is("anew").is_as_created();
            }
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/one-change-wakes-all",
        claim: "One change answers every read that blocks on the key",
        run: |t| {
            let key = t.key("p/k");
            t.put(&key, "", "before").is(200, "true");
            let query = format!("index={}&{WAIT}", t.get(&key, "").index());
            let waiting = t.together(25, |_| t.start_get(&key, &query));
            t.put(&key, "", "after").is(200, "true");
            for waiting in waiting {
                waiting.answer_within(SOON).entry().value_is("after");
            }
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-other-keys",
        claim: "A read of a key sleeps through writes and deletes of others, though their names begin alike",
        run: |t| {
            sleeps_through(t, |key| {
                for other in [
                    format!("{key}/below"),
                    format!("{key}2"),
                    key.trim_end_matches('k').to_owned(),
                    t.key("q"),
                ] {
                    t.put(&other, "", "v").is(200, "true");
                    t.put(&other, "", "w").is(200, "true");
                    t.delete(&other, "").is(200, "true");
                }
                t.delete(&format!("{key}/"), "recurse").is(200, "true");
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-an-identical-write",
        claim: "A read sleeps through a write of what is already there",
        run: |t| {
            sleeps_through(t, |key| {
                t.put(key, "", "before").is(200, "true");
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-a-failed-cas",
        claim: "A read sleeps through check-and-sets that are refused",
        run: |t| {
            sleeps_through(t, |key| {
                t.put(key, "cas=0", "x").is(200, "false");
                t.put(key, "cas=1", "x").is(200, "false");
                t.delete(key, "cas=1").is(200, "false");
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-a-failed-txn",
        claim: "A read sleeps through a transaction that sets the key and then fails",
        run: |t| {
            sleeps_through(t, |key| {
                let refused = json!([
                    {"KV": {"Verb": "set", "Key": key, "Value": "eA=="}},
                    {"KV": {"Verb": "check-not-exists", "Key": key}},
                ]);
                t.txn(&refused).status_is(409);
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-deletes-of-nothing",
        claim: "A read sleeps through deletes of keys and prefixes that are not there",
        run: |t| {
            sleeps_through(t, |key| {
                t.delete(&format!("{key}/none"), "").is(200, "true");
                t.delete(&format!("{key}/"), "recurse").is(200, "true");
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-a-refused-lock",
        claim: "A read of a held key sleeps through acquires and releases by a session that does not hold it",
        run: |t| {
            let (ours, theirs) = (t.session_without_delay(), t.session_without_delay());
            sleeps_through_when_held(t, &ours, |key| {
                t.put(key, &format!("acquire={theirs}"), "x")
                    .is(200, "false");
                t.put(key, &format!("release={theirs}"), "x")
                    .is(200, "false");
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-an-identical-acquire",
        claim: "A read of a held key sleeps through the holder's acquire with the same value",
        run: |t| {
            let session = t.session_without_delay();
            sleeps_through_when_held(t, &session, |key| {
                t.put(key, &format!("acquire={session}"), "held")
                    .is(200, "true");
            });
        },
        ..WAKES
    },
    Case {
        id: "blocking/key/sleeps-through-session-renewals",
        claim: "A read of a held key sleeps through the renewal of its session, and the life and end of others",
        run: |t| {
            let session = t.session(r#"{"TTL":"600s","LockDelay":"0s","NodeChecks":[]}"#);
            sleeps_through_when_held(t, &session, |_| {
                t.api_put(&format!("/v1/session/renew/{session}"), "")
                    .status_is(200);
                t.destroy(&t.session_without_delay());
            });
        },
        ..WAKES
    },
    // --- lists -----------------------------------------------------------------------------------------------------------------
    Case {
        id: "blocking/list/change-wakes",
        claim: "A changed value below the prefix answers the read of the list",
        run: |t| {
            let answer = woken_below(t, "recurse", |p| {
                t.put(&format!("{p}1"), "", "after").is(200, "true");
            });
            let entry = answer.entry().value_is("after");
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..WAKES
    },
    Case {
        id: "blocking/list/create-wakes",
        claim: "A new key below the prefix answers the read of the list",
        run: |t| {
            let answer = woken_below(t, "recurse", |p| {
                t.put(&format!("{p}2"), "", "v").is(200, "true");
            });
            t.same("keys", answer.entries().len(), 2);
        },
        ..WAKES
    },
    Case {
        id: "blocking/list/delete-wakes",
        claim: "Deleting a key below the prefix answers the read of the list",
        run: |t| {
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            let answer = woken_below(t, "recurse", |p| {
                t.delete(&format!("{p}1"), "").is(200, "true");
            });
            t.same("keys", answer.entries().len(), 1);
        },
        ..WAKES
    },
    Case {
        id: "blocking/list/last-delete-wakes",
        claim: "Deleting the last key below the prefix answers the read of the list with 404",
        run: |t| {
            let answer = woken_below(t, "recurse", |p| {
                t.delete(&format!("{p}1"), "").is(200, "true");
            });
            answer.is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/list/delete-of-the-prefix-wakes",
        claim: "Deleting exactly the prefix answers the read of the list with 404, even after older deletions below it",
        run: |t| {
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            t.delete(&t.key("p/2"), "").is(200, "true");
            let answer = woken_below(t, "recurse", |p| {
                t.delete(p, "recurse").is(200, "true");
            });
            answer.is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/list/delete-at-a-shorter-prefix-wakes-without-older-ones",
        claim: "A list without older deletions below it is answered 404 when it is deleted by way of a shorter prefix",
        run: |t| {
            let answer = woken_below(t, "recurse", |p| {
                t.delete(p.trim_end_matches('/'), "recurse").is(200, "true");
            });
            answer.is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/list/sleeps-through-writes-outside",
        claim: "A read of a list sleeps through every write outside of its prefix, and through identical ones below it",
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/1"), "", "before").is(200, "true");
            let index = t.get(&prefix, "recurse").index();
            let waiting = ["recurse", "keys"]
                .map(|kind| t.start_get(&prefix, &format!("{kind}&index={index}&{WAIT}")));
            for other in ["p", "p0", "q/1"] {
                t.put(&t.key(other), "", "v").is(200, "true");
                t.delete(&t.key(other), "").is(200, "true");
            }
            t.put(&t.key("p/1"), "", "before").is(200, "true");
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.put(&t.key("p/1"), "", "after").is(200, "true");
            let [list, keys] = waiting;
            let answer = list.answer_within(SOON);
            answer.entry().value_is("after");
            t.same(
                "the index of the keys",
                keys.answer_within(SOON).index(),
                answer.index(),
            );
        },
        ..WAKES
    },
    Case {
        id: "blocking/keys/change-wakes",
        claim: "A changed value below the prefix answers the read of the keys too, with the same keys and a greater index",
        source: "kv.md 5.3, 1.4",
        run: |t| {
            let answer = woken_below(t, "keys", |p| {
                t.put(&format!("{p}1"), "", "after").is(200, "true");
            });
            t.same("keys", answer.strings(), vec![t.key("p/1")]);
        },
        ..WAKES
    },
    Case {
        id: "blocking/keys/create-wakes",
        claim: "A new key below the prefix answers the read of the keys",
        run: |t| {
            let answer = woken_below(t, "keys", |p| {
                t.put(&format!("{p}2"), "", "v").is(200, "true");
            });
            t.same("keys", answer.strings(), vec![t.key("p/1"), t.key("p/2")]);
        },
        ..WAKES
    },
    Case {
        id: "blocking/keys/folded-change-wakes",
        claim: "A change of a key that the separator folds away answers the read of the keys",
        source: "kv.md 5.3, 1.4",
        run: |t| {
            t.put(&t.key("p/deep/1"), "", "v").is(200, "true");
            let answer = woken_below(t, "keys&separator=/", |p| {
                t.put(&format!("{p}deep/1"), "", "after").is(200, "true");
            });
            t.same(
                "keys",
                answer.strings(),
                vec![t.key("p/1"), t.key("p/deep/")],
            );
        },
        ..WAKES
    },
    Case {
        id: "blocking/keys/delete-wakes",
        claim: "Deleting the last key below the prefix answers the read of the keys with 404",
        run: |t| {
            let answer = woken_below(t, "keys", |p| {
                t.delete(&format!("{p}1"), "").is(200, "true");
            });
            answer.is(404, "");
        },
        ..WAKES
    },
    Case {
        id: "blocking/root/any-change-wakes",
        claim: "Any change answers a read of everything, list or keys",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            t.put("a/1", "", "v").is(200, "true");
            let index = t.get("", "recurse").index();
            let waiting = ["recurse", "keys"]
                .map(|kind| t.start_get("", &format!("{kind}&index={index}&{WAIT}")));
            t.put("b/1", "", "v").is(200, "true");
            for waiting in waiting {
                let answer = waiting.answer_within(SOON);
                t.same("keys", answer.list().len(), 2);
                t.grew("X-Consul-Index", index, answer.index());
            }
        },
        ..WAKES
    },
    Case {
        id: "blocking/root/sleeps-through-an-identical-write",
        claim: "A read of everything sleeps through writes that change nothing",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            t.put("a/1", "", "before").is(200, "true");
            let index = t.get("", "recurse").index();
            let waiting = t.start_get("", &format!("recurse&index={index}&{WAIT}"));
            t.put("a/1", "", "before").is(200, "true");
            t.put("a/1", "cas=0", "x").is(200, "false");
            t.delete("b", "").is(200, "true");
            t.still_blocked(&waiting);
            t.put("a/1", "", "after").is(200, "true");
            waiting.answer_within(SOON).entry().value_is("after");
        },
        ..WAKES
    },
    Case {
        id: "blocking/root/delete-of-everything-wakes",
        claim: "Deleting everything answers a read of everything: 404 for the list, an empty list for the keys",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            t.put("a/1", "", "v").is(200, "true");
            let index = t.get("", "recurse").index();
            let [list, keys] = ["recurse", "keys"]
                .map(|kind| t.start_get("", &format!("{kind}&index={index}&{WAIT}")));
            t.delete("", "recurse").is(200, "true");
            let answer = list.answer_within(SOON).is(404, "");
            t.grew("X-Consul-Index", index, answer.index());
            keys.answer_within(SOON).is(200, "[]");
        },
        ..WAKES
    },
];

/// The usual fields of the cases of this topic.
const WAKES: Case = Case {
    source: "kv.md 5.3",
    needs: &[Feature::Blocking],
    ..Case::MUST
};

/// A read blocks on a key that holds `before`; what it answers after the change, which must come soon and with a greater index.
#[track_caller]
fn woken(t: &Trial, query: &str, change: impl FnOnce(&str)) -> Answer {
    let key = t.key("p/k");
    t.put(&key, "", "before").is(200, "true");
    let index = t.get(&key, "").index();
    blocked_until(t, &key, query, index, || change(&key))
}

/// The same for a key with the value `held` that the session holds.
#[track_caller]
fn woken_when_held(t: &Trial, session: &str, change: impl FnOnce(&str)) -> Answer {
    let key = t.key("p/k");
    t.put(&key, &format!("acquire={session}"), "held")
        .is(200, "true");
    let index = t.get(&key, "").index();
    blocked_until(t, &key, "", index, || change(&key))
}

/// The same for a prefix with one key `1` of value `before` below it.
#[track_caller]
fn woken_below(t: &Trial, query: &str, change: impl FnOnce(&str)) -> Answer {
    let prefix = t.key("p/");
    t.put(&t.key("p/1"), "", "before").is(200, "true");
    let index = t.get(&prefix, query).index();
    blocked_until(t, &prefix, &format!("{query}&"), index, || change(&prefix))
}

#[track_caller]
fn blocked_until(t: &Trial, key: &str, query: &str, index: u64, change: impl FnOnce()) -> Answer {
    let waiting = t.start_get(key, &format!("{query}index={index}&{WAIT}"));
    t.still_blocked(&waiting);
    change();
    let answer = waiting.answer_within(SOON);
    t.grew("X-Consul-Index", index, answer.index());
    answer
}

/// A read of a key that holds `before` sleeps through the event, and the next change answers it.
#[track_caller]
fn sleeps_through(t: &Trial, event: impl FnOnce(&str)) {
    let key = t.key("p/k");
    t.put(&key, "", "before").is(200, "true");
    quiet(t, &key, event);
}

/// The same for a key with the value `held` that the session holds.
#[track_caller]
fn sleeps_through_when_held(t: &Trial, session: &str, event: impl FnOnce(&str)) {
    let key = t.key("p/k");
    t.put(&key, &format!("acquire={session}"), "held")
        .is(200, "true");
    quiet(t, &key, event);
}

#[track_caller]
fn quiet(t: &Trial, key: &str, event: impl FnOnce(&str)) {
    let index = t.get(key, "").index();
    let waiting = t.start_get(key, &format!("index={index}&{WAIT}"));
    event(key);
    t.still_blocked(&waiting);
    t.put(key, "", "witness").is(200, "true");
    waiting.answer_within(SOON).entry().value_is("witness");
}
