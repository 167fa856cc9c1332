//! Single keys: get, put, delete, flags, check-and-set, acquire and release.
//!
//! This file is the model for the others: one claim per case, the body as short as the claim allows.

use std::time::Duration;

use crate::case::Case;
use crate::feature::Feature;
use crate::wire::Request;

/// The cases of this topic.
pub(super) const CASES: &[Case] = &[
    Case {
        id: "kv/get/missing-is-404-with-index",
        claim: "A missing key is 404 with an empty body, no Content-Type, and the read headers",
        source: "kv.md 1.2",
        run: |t| {
            t.get(&t.key("missing"), "")
                .is(404, "")
                .has_no_header("Content-Type")
                .has_header("X-Consul-Index")
                .header_is("X-Consul-Knownleader", "true")
                .header_is("X-Consul-Lastcontact", "0");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/list-of-one",
        claim: "An existing key is a list of one entry with its value, flags and indexes",
        source: "API docs, KV store: read key",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "hello").is(200, "true");
            let answer = t
                .get(&key, "")
                .header_is("Content-Type", "application/json");
            let entry = answer
                .entry()
                .value_is("hello")
                .flags_is(0)
                .lock_index_is(0);
            t.same("Key", &entry.key, &key);
            let entry = entry.is_unlocked().is_as_created();
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/header-set",
        claim: "A hit carries exactly these headers, in Go's spelling and order",
        source: "kv.md 1.2",
        until: Some(crate::version::Version::V1_9),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            t.get(&key, "").header_names_are(&[
                "Content-Type",
                "Vary",
                "X-Consul-Index",
                "X-Consul-Knownleader",
                "X-Consul-Lastcontact",
                "Date",
                "Content-Length",
            ]);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/raw-is-the-value",
        claim: "With ?raw the body is the value's bytes and nothing else, even from a dev agent",
        source: "API docs, KV store: read key, parameter raw",
        run: |t| {
            let key = t.key("k");
            let every_byte: Vec<u8> = (0..=255).collect();
            t.put(&key, "", &every_byte).is(200, "true");
            t.get(&key, "raw")
                .status_is(200)
                .body_is_exactly(&every_byte);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/dev-prints-pretty",
        claim: "A dev agent indents JSON by four spaces and ends it with a newline",
        source: "kv.md 1.3",
        until: Some(crate::version::Version::V1_17),
        needs: &[Feature::DevMode],
        run: |t| {
            t.put(&t.key("k"), "", "v").body_is_exactly("true\n");
            let keys = t.get(&t.key(""), "keys");
            keys.body_is_exactly(format!("[\n    \"{}\"\n]\n", t.key("k")));
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/empty-value-is-null",
        claim: "An empty value is printed as null, never as an empty text",
        source: "kv.md 1.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "").is(200, "true");
            t.get(&key, "").entry().value_is_null();
            t.send(&Request::new("PUT", &format!("/v1/kv/{key}")))
                .is(200, "true");
            t.get(&key, "").entry().value_is_null();
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/answers-without-index",
        claim: "A write is answered true, without any of the read headers",
        source: "kv.md 2.1",
        run: |t| {
            t.put(&t.key("k"), "", "v")
                .is(200, "true")
                .header_is("Content-Type", "application/json")
                .has_no_header("X-Consul-Index")
                .has_no_header("X-Consul-Knownleader")
                .has_no_header("X-Consul-Lastcontact");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/flags-fall-back-to-zero",
        claim: "Flags hold a full unsigned 64-bit number, and a write without flags sets them to 0",
        source: "kv.md 1.3, 2.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=18446744073709551615", "v")
                .is(200, "true");
            t.get(&key, "").entry().flags_is(u64::MAX);
            t.put(&key, "", "v").is(200, "true");
            t.get(&key, "").entry().flags_is(0);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/identical-write-moves-nothing",
        claim: "Writing what is already there is answered true and leaves the ModifyIndex as it was",
        source: "kv.md 2.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=3", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            t.put(&key, "flags=3", "v").is(200, "true");
            let same = t.get(&key, "").entry().is_unchanged_since(&before);
            t.put(&key, "flags=3", "w").is(200, "true");
            t.get(&key, "").entry().is_modified_since(&same);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/zero-creates-only",
        claim: "cas=0 writes a missing key and refuses one that exists",
        source: "API docs, KV store: update key, parameter cas",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "cas=0", "a").is(200, "true");
            t.put(&key, "cas=0", "b").is(200, "false");
            t.get(&key, "").entry().value_is("a");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/cas/needs-the-modify-index",
        claim: "cas=N writes iff N is the key's ModifyIndex, and never creates a key",
        source: "API docs, KV store: update key, parameter cas",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "cas=7", "x").is(200, "false");
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
        id: "kv/cas/bad-number-is-500",
        claim: "A cas that is not a base-10 unsigned number is 500 with Go's text",
        source: "kv.md 2.1",
        run: |t| {
            let key = t.key("k");
            for (sent, quoted) in [("abc", "abc"), ("", ""), ("-1", "-1"), ("0x10", "0x10")] {
                let text = format!("strconv.ParseUint: parsing \"{quoted}\": invalid syntax");
                t.put(&key, &format!("cas={sent}"), "v").is(500, &text);
            }
            t.get(&key, "").is(404, "");
        },
        ..Case::REAL
    },
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
        id: "kv/acquire/one-holder",
        claim: "A key is held by the session that acquired it until that session releases it",
        source: "API docs, KV store: update key, parameters acquire and release",
        run: |t| {
            let key = t.key("lock");
            let (ours, theirs) = (t.session_without_delay(), t.session_without_delay());
            t.put(&key, &format!("acquire={ours}"), "ours")
                .is(200, "true");
            t.put(&key, &format!("acquire={theirs}"), "theirs")
                .is(200, "false");
            t.put(&key, &format!("release={theirs}"), "theirs")
                .is(200, "false");
            t.get(&key, "")
                .entry()
                .value_is("ours")
                .session_is(&ours)
                .lock_index_is(1);
            t.put(&key, &format!("release={ours}"), "left")
                .is(200, "true");
            t.get(&key, "")
                .entry()
                .value_is("left")
                .is_unlocked()
                .lock_index_is(1);
            t.put(&key, &format!("acquire={theirs}"), "theirs")
                .is(200, "true");
            t.get(&key, "").entry().session_is(&theirs).lock_index_is(2);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/acquire/plain-put-zeroes-the-lock-index",
        claim: "A plain write on a held key keeps its Session and sets its LockIndex to 0",
        source: "kv.md 2.5",
        run: |t| {
            let key = t.key("lock");
            let session = t.session_without_delay();
            t.put(&key, &format!("acquire={session}"), "v")
                .is(200, "true");
            let held = t.get(&key, "").entry().lock_index_is(1);
            t.put(&key, "", "v").is(200, "true");
            let entry = t
                .get(&key, "")
                .entry()
                .session_is(&session)
                .lock_index_is(0);
            entry.is_modified_since(&held);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/blocking/woken-by-a-change-and-nothing-else",
        claim: "A read that blocks on a key sleeps through writes elsewhere and returns on the key's change",
        source: "kv.md 5.3",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, other) = (t.key("k"), t.key("other"));
            t.put(&key, "", "before").is(200, "true");
            let index = t.get(&key, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.put(&other, "", "v").is(200, "true");
            t.put(&key, "", "before").is(200, "true");
            t.still_blocked(&waiting);
            t.put(&key, "", "after").is(200, "true");
            let answer = waiting.answer();
            let entry = answer.entry().value_is("after");
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/lapses-after-twice-its-ttl",
        claim: "A session that nobody renews is alive shortly before twice its TTL and gone after it",
        source: "session.md 3.4",
        run: |t| {
            let (ttl, text) = t.shortest_ttl();
            let session = t.session(&format!(r#"{{"TTL":"{text}"}}"#));
            let info = format!("/v1/session/info/{session}");
            t.pass(ttl * 3 / 2);
            t.api_get(&info).field_is("/0/ID", session.as_str());
            t.pass(ttl / 2);
            t.eventually("the session lapses", Duration::from_secs(5), || {
                t.api_get(&info).list().is_empty().then_some(())
            });
        },
        ..Case::MUST
    },
];
