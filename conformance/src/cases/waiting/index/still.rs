//! What moves no index that a client can see, and what takes a place in the log all the same.

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::wire::Request;

/// The cases of this topic. Each has a server of its own: elsewhere other cases' writes move the index of all keys.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "index/still/identical-write",
        claim: "Writing what is already there moves no index at all",
        source: "kv.md 2.3, trap 12",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |key| {
                t.put(key, "", "v").is(200, "true");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "index/still/cas-with-identical-content",
        claim: "A check-and-set of what is already there is answered true and moves no index",
        source: "kv.md 2.4",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |key| {
                let modified = t.get(key, "").entry().modify_index;
                t.put(key, &format!("cas={modified}"), "v").is(200, "true");
            });
        },
        ..Case::REAL
    },
    Case {
        id: "index/still/failed-cas",
        claim: "A check-and-set that is refused moves no index",
        source: "kv.md 2.4, trap 12",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |key| {
                t.put(key, "cas=0", "w").is(200, "false");
                t.put("missing", "cas=7", "w").is(200, "false");
                t.delete(key, "cas=1").is(200, "false");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "index/still/deleting-nothing",
        claim: "Deleting a key or a prefix that is not there moves no index",
        source: "kv.md 3, trap 12",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |_| {
                t.delete("missing", "").is(200, "true");
                t.delete("missing", "cas=7").is(200, "true");
                t.delete("missing/", "recurse").is(200, "true");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "index/still/refused-lock",
        claim: "An acquire or a release that is refused moves no index",
        source: "kv.md 2.5",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |key| {
                let unknown = t.unknown_session();
                t.put(key, &format!("release={unknown}"), "w")
                    .is(200, "false");
                t.put(key, &format!("acquire={unknown}"), "w")
                    .says(500, "invalid session");
            });
        },
        ..Case::MUST
    },
    Case {
        id: "index/still/refused-txn",
        claim: "A transaction that fails moves no index, though its first operations were good",
        source: "kv.md 7.4, trap 12",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |key| {
                let operations = json!([
                    {"KV": {"Verb": "set", "Key": key, "Value": "dw=="}},
                    {"KV": {"Verb": "delete", "Key": key}},
                    {"KV": {"Verb": "get", "Key": "missing"}},
                ]);
                t.txn(&operations).status_is(409);
            });
        },
        ..Case::MUST
    },
    Case {
        id: "index/still/sessions-without-keys",
        claim: "Creating, renewing and destroying a session that holds no key moves no KV index",
        source: "kv.md 4.2",
        needs: &[Feature::OwnServer],
        run: |t| {
            moves_nothing(t, |_| {
                let session = t.session(r#"{"TTL":"60s"}"#);
                t.api_put(&format!("/v1/session/renew/{session}"), "")
                    .status_is(200);
                t.destroy(&session);
            });
        },
        ..Case::MUST
    },
    Case {
        id: "index/log/writes-without-effect-take-a-place",
        claim: "A write that changes nothing, or is refused in the log, takes a place in the log all the same",
        source: "kv.md 4.1, trap 12",
        needs: &[Feature::OwnServer],
        run: |t| {
            let unknown = t.unknown_session();
            let session = t.session_without_delay();
            t.put("k", "", "v").is(200, "true");
            let refused = json!([
                {"KV": {"Verb": "set", "Key": "k", "Value": "dw=="}},
                {"KV": {"Verb": "get", "Key": "missing"}},
            ]);
            takes_a_place(t, "an identical write", || {
                t.put("k", "", "v");
            });
            takes_a_place(t, "a failed cas", || {
                t.put("k", "cas=1", "w").is(200, "false");
            });
            takes_a_place(t, "deleting nothing", || {
                t.delete("missing", "");
            });
            takes_a_place(t, "a refused release", || {
                t.put("k", &format!("release={session}"), "w")
                    .is(200, "false");
            });
            takes_a_place(t, "an acquire by nobody", || {
                t.put("k", &format!("acquire={unknown}"), "w")
                    .status_is(500);
            });
            takes_a_place(t, "a transaction that fails", || {
                t.txn(&refused).status_is(409);
            });
        },
        ..Case::REAL
    },
    Case {
        id: "index/log/a-session-takes-one-place",
        claim: "Creating a session takes a place in the log, and so does destroying it, with all the keys that it held",
        source: "kv.md 4.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            let body = r#"{"LockDelay":"0s","NodeChecks":[]}"#;
            takes_a_place(t, "session/create", || {
                t.session(body);
            });
            let one = least_step(t, || {
                t.session(body);
            });
            let both = least_step(t, || t.destroy(&t.session(body)));
            t.grew("the places of create and destroy", one, both);
            let with_keys = least_step(t, || {
                let session = t.session(body);
                let acquire = format!("acquire={session}");
                for key in ["held/1", "held/2", "held/3"] {
                    t.put(key, &acquire, "v").is(200, "true");
                }
                t.destroy(&session);
            });
            t.same("places with three acquired keys", with_keys, both + 3);
        },
        ..Case::REAL
    },
    Case {
        id: "index/log/reads-take-no-place",
        claim: "Reads and transactions that only read take no place in the log",
        source: "kv.md 4.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            takes_no_place(t, "reads", || {
                for query in ["", "raw", "recurse", "keys"] {
                    t.get("k", query);
                }
            });
            takes_no_place(t, "a transaction that reads", || {
                let read = json!([{"KV": {"Verb": "get-tree", "Key": "k"}}]);
                t.txn(&read).status_is(200);
            });
        },
        ..Case::REAL
    },
    Case {
        id: "index/log/refused-requests-take-no-place",
        claim: "A request that is refused before the log takes no place in it: 400, 405, 413 and numbers that are none",
        source: "kv.md 4.1",
        needs: &[Feature::OwnServer],
        run: |t| {
            takes_no_place(t, "bad requests", || {
                t.put("", "", "v").status_is(400);
                t.put("k", "cas=0&acquire=x", "v").status_is(400);
                t.put("k", "wait=abc", "v").status_is(400);
                t.send(&Request::new("POST", "/v1/kv/k")).status_is(405);
                t.put("k", "cas=abc", "v").status_is(500);
                t.put("k", "flags=-1", "v").status_is(500);
            });
            // Refused by its announced length alone, so that nothing needs to be sent.
            let announced = format!(
                "PUT /v1/kv/k HTTP/1.1\r\nHost: {}\r\nContent-Length: 524289\r\n\r\n",
                t.host()
            );
            takes_no_place(t, "too large a value", || {
                t.raw(&announced).status_is(413);
            });
        },
        ..Case::REAL
    },
    Case {
        id: "index/log/lock-delay-and-pre-check-take-no-place",
        claim: "An acquire during a lock-delay and a transaction that the pre-check refuses take no place in the log",
        source: "kv.md 4.1, trap 22; session.md 3.3.r1",
        needs: &[Feature::OwnServer],
        run: |t| {
            let session = t.session(r#"{"LockDelay":"60s","NodeChecks":[]}"#);
            t.put("k", &format!("acquire={session}"), "v")
                .is(200, "true");
            t.destroy(&session);
            let next = t.session_without_delay();
            takes_no_place(t, "an acquire during the lock-delay", || {
                t.put("k", &format!("acquire={next}"), "w").is(200, "false");
            });
            takes_no_place(t, "a transaction that locks during the lock-delay", || {
                let lock = json!([{"KV": {"Verb": "lock", "Key": "k", "Session": next}}]);
                t.txn(&lock).status_is(409);
            });
            takes_no_place(t, "a transaction without a key", || {
                t.txn(&json!([{"KV": {"Verb": "set", "Key": ""}}]))
                    .status_is(409);
            });
        },
        ..Case::REAL
    },
];

/// `event` is given a key with the value `v`, and neither the key's index nor its prefix's nor that of all keys moves.
#[track_caller]
fn moves_nothing(t: &Trial, event: impl FnOnce(&str)) {
    t.put("p/k", "", "v").is(200, "true");
    let indexes = || {
        [
            t.get("p/k", "").index(),
            t.get("p/", "recurse").index(),
            t.get("p/", "keys").index(),
            t.get("", "recurse").index(),
            t.get("nothing", "").index(),
        ]
    };
    let before = indexes();
    event("p/k");
    t.same("the indexes", indexes(), before);
    t.put("p/k", "", "changed").is(200, "true");
    for (before, after) in before.into_iter().zip(indexes()) {
        t.grew("an index, after a change", before, after);
    }
}

/// How far the log moves at least from one write to the next, with `event` between.
///
/// The server itself writes into its log now and then, which only ever makes a step longer: the least of several is the true one.
#[track_caller]
fn least_step(t: &Trial, event: impl Fn()) -> u64 {
    let write = |value: &str| {
        t.put("counter", "", value).is(200, "true");
        t.get("counter", "").entry().modify_index
    };
    let step = |number: usize| {
        let before = write(&format!("{number} before"));
        event();
        write(&format!("{number} after")) - before
    };
    (0..4).map(step).min().expect("there were steps")
}

#[track_caller]
fn takes_a_place(t: &Trial, what: &str, event: impl Fn()) {
    let (without, with) = (least_step(t, || {}), least_step(t, event));
    t.same(
        &format!("the places in the log that {what} takes"),
        with - without,
        1,
    );
}

#[track_caller]
fn takes_no_place(t: &Trial, what: &str, event: impl Fn()) {
    let (without, with) = (least_step(t, || {}), least_step(t, event));
    t.same(
        &format!("the places in the log that {what} take"),
        with - without,
        0,
    );
}
