//! Check-and-set (kv.md 2.4).

use crate::case::Case;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/cas/zero-creates-only",
        claim: "cas=0 writes a missing key and refuses one that exists",
        source: "kv.md 2.4.r1, 2.4.r2",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "cas=0", "a").is(200, "true");
            t.get(&key, "").entry().is_as_created();
            t.put(&key, "cas=0", "b").is(200, "false");
            t.get(&key, "").entry().value_is("a");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/needs-the-modify-index",
        claim: "cas=N writes iff N is the key's ModifyIndex, and never creates a key",
        source: "kv.md 2.4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "cas=9000000007", "x").is(200, "false");
            t.get(&key, "").is(404, "");
            t.put(&key, "", "a").is(200, "true");
            let before = t.get(&key, "").entry();
            let stale = before.modify_index + 1;
            t.put(&key, &format!("cas={stale}"), "b").is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&before);
            t.put(&key, &format!("cas={}", before.modify_index), "b")
                .is(200, "true");
            t.get(&key, "")
                .entry()
                .value_is("b")
                .is_modified_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/the-create-index-does-not-do",
        claim: "cas with the CreateIndex of a key that was changed since is false",
        source: "kv.md 2.4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "a").is(200, "true");
            t.put(&key, "", "b").is(200, "true");
            let entry = t.get(&key, "").entry();
            t.put(&key, &format!("cas={}", entry.create_index), "c")
                .is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&entry);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/missing-key-refuses-every-number",
        claim: "A key that is gone is not written by cas with its last ModifyIndex, only by cas=0",
        source: "kv.md 2.4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "a").is(200, "true");
            let last = t.get(&key, "").index();
            t.delete(&key, "").is(200, "true");
            t.put(&key, &format!("cas={last}"), "b").is(200, "false");
            t.put(&key, "cas=18446744073709551615", "b")
                .is(200, "false");
            t.get(&key, "").is(404, "");
            t.put(&key, "cas=0", "c").is(200, "true");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/identical-content-keeps-the-index",
        claim: "A successful cas that changes nothing is true and keeps the ModifyIndex, so that the same cas works again",
        source: "kv.md 2.4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=1", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            let query = format!("flags=1&cas={}", before.modify_index);
            t.put(&key, &query, "v").is(200, "true");
            t.get(&key, "").entry().is_unchanged_since(&before);
            t.put(&key, &query, "v").is(200, "true");
            t.put(&key, &query, "w").is(200, "true");
            t.put(&key, &query, "w").is(200, "false");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/cas/flags-fall-back-to-zero",
        claim: "A successful cas sets the flags that it gives, or 0",
        source: "kv.md 2.4; trap 4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "cas=0&flags=5", "v").is(200, "true");
            let entry = t.get(&key, "").entry().flags_is(5);
            t.put(&key, &format!("cas={}", entry.modify_index), "v")
                .is(200, "true");
            let after = t.get(&key, "").entry().flags_is(0);
            after.is_modified_since(&entry);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/keeps-the-holder",
        claim: "A successful cas on a held key keeps its Session and sets its LockIndex to 0",
        source: "kv.md 2.4, 2.5; trap 2",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            t.put(&key, &format!("acquire={session}"), "a")
                .is(200, "true");
            let held = t.get(&key, "").entry().lock_index_is(1);
            t.put(&key, &format!("cas={}", held.modify_index), "b")
                .is(200, "true");
            let entry = t.get(&key, "").entry().value_is("b");
            entry
                .session_is(&session)
                .lock_index_is(0)
                .is_modified_since(&held);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/cas/refusal-burns-an-index",
        claim: "A cas that is refused changes nothing but consumes a raft index: the next change is at least two on",
        source: "kv.md 2.4; trap 12",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            t.put(&key, "cas=0", "w").is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&before);
            t.put(&key, "", "w").is(200, "true");
            let after = t.get(&key, "").index();
            t.grew("ModifyIndex", before.modify_index + 1, after);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/cas/one-winner",
        claim: "Of many that cas with the same index at once, exactly one is told true, and its value stays",
        source: "kv.md 2.4.r2",
        run: |t| {
            let key = t.key("k");
            for round in 0..5 {
                let index = if round == 0 {
                    0
                } else {
                    t.get(&key, "").index()
                };
                let query = format!("cas={index}");
                let won = t.together(8, |number| {
                    let value = format!("{round}-{number}");
                    t.put(&key, &query, &value).status_is(200).json() == true
                });
                let winners: Vec<_> = (0..8).filter(|number| won[*number]).collect();
                t.same("winners", winners.len(), 1);
                t.get(&key, "")
                    .entry()
                    .value_is(format!("{round}-{}", winners[0]));
            }
        },
        ..Case::MUST
    },
];
