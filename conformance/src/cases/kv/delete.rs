//! Deleting (kv.md 3).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::wire::Request;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/delete/always-true",
        claim: "Deleting a key is answered true, whether it was there or not",
        source: "kv.md 3",
        run: |t| {
            let key = t.key("k");
            t.delete(&key, "").is(200, "true");
            t.put(&key, "", "v").is(200, "true");
            t.delete(&key, "").is(200, "true");
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/one-key-only",
        claim: "Without ?recurse exactly the named key goes",
        source: "kv.md 3.r1",
        run: |t| {
            for name in ["k", "k2", "k/x"] {
                t.put(&t.key(name), "", "v").is(200, "true");
            }
            t.delete(&t.key("k"), "").is(200, "true");
            let keys = t.get(&t.key(""), "keys").strings();
            t.same("keys", keys, vec![t.key("k/x"), t.key("k2")]);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/recurse-is-a-byte-prefix",
        claim: "?recurse deletes every key whose name starts with the path: `k`, `k2` and `k/x`, and nothing else",
        source: "kv.md 3; trap 19",
        run: |t| {
            for name in ["j", "k", "k/x", "k/y/z", "k2", "l"] {
                t.put(&t.key(name), "", "v").is(200, "true");
            }
            t.delete(&t.key("k"), "recurse").is(200, "true");
            let keys = t.get(&t.key(""), "keys").strings();
            t.same("keys", keys, vec![t.key("j"), t.key("l")]);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/recurse-of-nothing",
        claim: "?recurse, whatever its value, is answered true also when nothing is there",
        source: "kv.md 3; trap 7",
        run: |t| {
            t.delete(&t.key("empty/"), "recurse").is(200, "true");
            t.put(&t.key("full/k"), "", "v").is(200, "true");
            t.delete(&t.key("full/"), "recurse=false").is(200, "true");
            t.get(&t.key("full/k"), "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/recurse-of-the-root",
        claim: "?recurse without a key deletes the whole store",
        source: "kv.md 3",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.put(&t.key("k"), "", "v").is(200, "true");
            t.put("conformance-elsewhere", "", "v").is(200, "true");
            t.delete("", "recurse").is(200, "true");
            t.get("", "keys").is(200, "[]");
            t.get("", "recurse").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/cas-on-a-missing-key-is-true",
        claim: "cas=N on a missing key is answered true for every N",
        source: "kv.md 3; trap 18",
        run: |t| {
            let key = t.key("k");
            for number in ["0", "9000000001", "18446744073709551615"] {
                t.delete(&key, &format!("cas={number}")).is(200, "true");
            }
            t.get(&key, "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/cas-zero-is-false",
        claim: "cas=0 on a key that exists is answered false and deletes nothing",
        source: "kv.md 3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            t.delete(&key, "cas=0").is(200, "false");
            t.get(&key, "").entry().is_unchanged_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/cas-needs-the-modify-index",
        claim: "cas=N deletes iff N is the key's ModifyIndex",
        source: "kv.md 3.r4",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            t.put(&key, "", "w").is(200, "true");
            let before = t.get(&key, "").entry();
            for wrong in [before.create_index, before.modify_index + 1] {
                t.delete(&key, &format!("cas={wrong}")).is(200, "false");
                t.get(&key, "").entry().is_unchanged_since(&before);
            }
            t.delete(&key, &format!("cas={}", before.modify_index))
                .is(200, "true");
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/bad-cas-is-500",
        claim: "A cas that is no number is 500 with Go's text, and nothing is deleted",
        source: "kv.md 3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            for (query, quoted) in [
                ("cas=abc", "abc"),
                ("cas", ""),
                ("cas=", ""),
                ("cas=-1", "-1"),
            ] {
                let text = format!("strconv.ParseUint: parsing \"{quoted}\": invalid syntax");
                t.delete(&key, query).is(500, &text);
            }
            t.get(&key, "raw").is(200, "v");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/recurse-and-cas-conflict",
        claim: "?recurse and cas together are 400, and nothing is deleted",
        source: "kv.md 3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            t.delete(&key, "recurse&cas=0")
                .says(400, "Conflicting flags: cas=0&recurse=");
            t.delete(&key, "acquire=x&cas&recurse=false")
                .says(400, "Conflicting flags: acquire=x&cas=&recurse=false");
            t.get(&key, "raw").is(200, "v");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/order-of-checks",
        claim: "A delete is checked for namespace, conflict, key, cas and datacenter in this order",
        source: "kv.md 3",
        run: |t| {
            let namespace = "Invalid query parameter: \"ns\"";
            t.delete("", "ns=x").says(400, namespace);
            t.delete("", "ns=x&recurse&cas=0").says(400, namespace);
            t.delete("", "recurse&cas=0").says(400, "Conflicting flags");
            t.delete("", "cas=abc").says(400, "Missing key name");
            t.delete(&t.key("k"), "cas=abc&dc=conformance-nowhere")
                .is(500, "strconv.ParseUint: parsing \"abc\": invalid syntax");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/other-parameters-say-nothing",
        claim: "acquire, release and flags say nothing on a delete, even when they are nonsense, nor does a body",
        source: "kv.md 3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            t.delete(&key, "acquire=x&cas=0").is(200, "false");
            let target = format!("/v1/kv/{key}?acquire=x&release=y&flags=abc");
            t.send(&Request::delete(&target).body("{\"recurse\":1}"))
                .is(200, "true");
            t.get(&key, "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/of-a-held-key",
        claim: "A held key is deleted like others: its session lives on, another may acquire at once, and the key is new",
        source: "kv.md 3; trap 21",
        run: |t| {
            let key = t.key("lock");
            let ours = t.session(r#"{"LockDelay":"60s","NodeChecks":[]}"#);
            let theirs = t.session_without_delay();
            t.put(&key, &format!("acquire={ours}"), "v").is(200, "true");
            let before = t.get(&key, "").entry();
            t.delete(&key, "").is(200, "true");
            t.api_get(&format!("/v1/session/info/{ours}"))
                .field_is("/0/ID", ours.as_str());
            t.put(&key, &format!("acquire={theirs}"), "w")
                .is(200, "true");
            let after = t.get(&key, "").entry().session_is(&theirs);
            let after = after.lock_index_is(1).is_as_created();
            t.grew("CreateIndex", before.create_index, after.create_index);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/delete/leaves-a-tombstone",
        claim: "After a delete the index of the key as a prefix is that of the delete, whatever is written elsewhere",
        source: "kv.md 3, 4.2",
        run: |t| {
            let (key, other) = (t.key("k"), t.key("other"));
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "recurse").index();
            t.delete(&key, "").is(200, "true");
            let deleted = t.get(&key, "recurse").is(404, "").index();
            t.grew("X-Consul-Index", before, deleted);
            t.put(&other, "", "v").is(200, "true");
            let later = t.get(&key, "recurse").is(404, "").index();
            t.same("X-Consul-Index", later, deleted);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/of-nothing-leaves-no-tombstone",
        claim: "After a delete of a missing key its index as a prefix still follows every change elsewhere",
        source: "kv.md 3, 4.2",
        run: |t| {
            let (key, other) = (t.key("k"), t.key("other"));
            t.delete(&key, "").is(200, "true");
            t.delete(&key, "cas=9000000007").is(200, "true");
            t.delete(&key, "recurse").is(200, "true");
            let before = t.get(&key, "recurse").is(404, "").index();
            t.put(&other, "", "v").is(200, "true");
            let after = t.get(&key, "recurse").is(404, "").index();
            t.grew("X-Consul-Index", before, after);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/recurse-leaves-one-tombstone",
        claim: "A recursive delete leaves one tombstone, at its prefix: longer prefixes follow every change elsewhere",
        source: "kv.md 3, 4.2",
        run: |t| {
            let (prefix, longer) = (t.key("p/"), t.key("p/a/"));
            t.put(&t.key("p/a/1"), "", "v").is(200, "true");
            t.put(&t.key("p/b"), "", "v").is(200, "true");
            t.delete(&prefix, "recurse").is(200, "true");
            let deleted = t.get(&prefix, "recurse").is(404, "").index();
            t.put(&t.key("other"), "", "v").is(200, "true");
            let index = |prefix: &str| t.get(prefix, "recurse").is(404, "").index();
            t.same("X-Consul-Index", index(&prefix), deleted);
            t.grew("X-Consul-Index of the longer", deleted, index(&longer));
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/of-nothing-moves-no-listing",
        claim: "Deleting what is not there, or with a wrong cas, leaves the index of the prefix as it was",
        source: "kv.md 3; trap 12",
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/k"), "", "v").is(200, "true");
            let before = t.get(&prefix, "recurse").index();
            t.delete(&t.key("p/missing"), "").is(200, "true");
            t.delete(&t.key("p/missing"), "recurse").is(200, "true");
            t.delete(&t.key("p/missing"), "cas=9000000007")
                .is(200, "true");
            t.delete(&t.key("p/k"), "cas=0").is(200, "false");
            t.same("index", t.get(&prefix, "recurse").index(), before);
            t.delete(&t.key("p/k"), "").is(200, "true");
            t.grew("index", before, t.get(&prefix, "recurse").index());
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/prefix-is-cleaned-since-1-21-5",
        claim: "The prefix of a recursive delete is cleaned like a key",
        source: "1.22.md A3 [S]",
        since: Version::V1_21_5,
        run: |t| {
            t.put(&t.key("a/k"), "", "v").is(200, "true");
            t.put(&t.key("ab"), "", "v").is(200, "true");
            t.delete(&t.key("a%2F%2F"), "recurse").is(200, "true");
            let keys = t.get(&t.key(""), "keys").strings();
            t.same("keys", keys, vec![t.key("ab")]);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/of-nothing-burns-an-index",
        claim: "Deleting what is not there consumes a raft index: the next change is at least two on",
        source: "kv.md 3; trap 12",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").index();
            t.delete(&t.key("missing"), "").is(200, "true");
            t.put(&key, "", "w").is(200, "true");
            t.grew("ModifyIndex", before + 1, t.get(&key, "").index());
        },
        ..Case::REAL
    },
    Case {
        id: "kv/delete/created-anew",
        claim: "A key that was deleted and written again has a new CreateIndex",
        source: "kv.md 3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            t.delete(&key, "").is(200, "true");
            t.txn(&json!([{"KV": {"Verb": "set", "Key": key, "Value": "dg=="}}]))
                .status_is(200);
            let after = t.get(&key, "").entry().is_as_created();
            t.grew("CreateIndex", before.create_index, after.create_index);
        },
        ..Case::MUST
    },
];
