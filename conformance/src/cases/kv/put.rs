//! Writing: what is checked in which order, numbers, flags, and writes that change nothing (kv.md 2.1 and 2.3).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

/// Since then the text about conflicting flags ends with a newline (1.22.md A2).
const V1_19_1: Version = Version::new(1, 19, 1);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/put/answers-without-index",
        claim: "A write is answered true, without any of the read headers",
        source: "kv.md 2.1; trap 9",
        run: |t| {
            let key = t.key("k");
            for answer in [
                t.put(&key, "", "v").is(200, "true"),
                t.put(&key, "cas=0", "v").is(200, "false"),
                t.delete(&key, "").is(200, "true"),
            ] {
                answer
                    .header_is("Content-Type", "application/json")
                    .has_no_header("X-Consul-Index")
                    .has_no_header("X-Consul-Knownleader")
                    .has_no_header("X-Consul-Lastcontact");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/new-key",
        claim: "A new key has its ModifyIndex as CreateIndex, LockIndex 0, no Session, and the flags that were given",
        source: "kv.md 2.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=42", "v").is(200, "true");
            let entry = t.get(&key, "").entry().value_is("v").flags_is(42);
            entry.is_as_created().lock_index_is(0).is_unlocked();
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/overwrite-keeps-the-create-index",
        claim: "Writing over a key keeps its CreateIndex and raises its ModifyIndex",
        source: "kv.md 2.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "before").is(200, "true");
            let before = t.get(&key, "").entry();
            t.put(&key, "", "after").is(200, "true");
            let after = t.get(&key, "").entry().value_is("after");
            after.is_modified_since(&before).lock_index_is(0);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/flags-fall-back-to-zero",
        claim: "Flags hold a full unsigned 64-bit number, and a write without flags sets them to 0",
        source: "kv.md 1.3, 2.3; trap 4",
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
        id: "kv/put/flags-alone-are-a-change",
        claim: "A write of the same value with other flags raises the ModifyIndex",
        source: "kv.md 2.3",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=1", "v").is(200, "true");
            let before = t.get(&key, "").entry();
            t.put(&key, "flags=2", "v").is(200, "true");
            let after = t.get(&key, "").entry().flags_is(2);
            after.is_modified_since(&before);
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/identical-write-moves-nothing",
        claim: "Writing what is already there is answered true and leaves the ModifyIndex as it was",
        source: "kv.md 2.3; trap 12",
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
        id: "kv/put/identical-write-moves-no-listing",
        claim: "Writing what is already there leaves the index of every prefix as it was",
        source: "kv.md 2.3; trap 12",
        run: |t| {
            let (key, prefix) = (t.key("p/k"), t.key("p/"));
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&prefix, "recurse").index();
            t.put(&key, "", "v").is(200, "true");
            let same = t.get(&prefix, "recurse").index();
            t.same("X-Consul-Index", same, before);
            t.put(&key, "", "w").is(200, "true");
            t.grew("X-Consul-Index", before, t.get(&prefix, "recurse").index());
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/identical-write-wakes-nobody",
        claim: "Writing what is already there wakes no blocking read of the key or of its prefix",
        source: "kv.md 2.3; trap 12",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, prefix) = (t.key("p/k"), t.key("p/"));
            t.put(&key, "flags=3", "v").is(200, "true");
            let blocks = format!("index={}&wait=60s", t.get(&key, "").index());
            let on_key = t.start_get(&key, &blocks);
            let on_prefix = t.start_get(&prefix, &format!("recurse&{blocks}"));
            t.put(&key, "flags=3", "v").is(200, "true");
            t.still_blocked(&on_key);
            t.still_blocked(&on_prefix);
            t.put(&key, "flags=3", "w").is(200, "true");
            on_key.answer().entry().value_is("w");
            on_prefix.answer().entry().value_is("w");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/identical-write-burns-an-index",
        claim: "Writing what is already there consumes a raft index: the next change is at least two on",
        source: "kv.md 2.3; trap 12",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let before = t.get(&key, "").index();
            t.put(&key, "", "v").is(200, "true");
            t.put(&key, "", "w").is(200, "true");
            t.grew("ModifyIndex", before + 1, t.get(&key, "").index());
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/bad-flags-are-500",
        claim: "Flags that are no base-10 unsigned number are 500 with Go's text, and nothing is written",
        source: "kv.md 2.1; trap 6",
        run: |t| bad_numbers(t, "flags"),
        ..Case::REAL
    },
    Case {
        id: "kv/cas/bad-number-is-500",
        claim: "A cas that is no base-10 unsigned number is 500 with Go's text, and nothing is written",
        source: "kv.md 2.1; trap 6",
        run: |t| bad_numbers(t, "cas"),
        ..Case::REAL
    },
    Case {
        id: "kv/put/numbers-beyond-64-bits-are-500",
        claim: "Flags or a cas of 2^64 or more are 500 with Go's text",
        source: "kv.md 2.1",
        run: |t| {
            for name in ["flags", "cas"] {
                for number in ["18446744073709551616", "99999999999999999999999"] {
                    let text =
                        format!("strconv.ParseUint: parsing \"{number}\": value out of range");
                    t.put(&t.key("k"), &format!("{name}={number}"), "v")
                        .is(500, &text);
                }
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/number-errors-are-quoted",
        claim: "The text about a bad number quotes it as Go does",
        source: "kv.md 2.1 (Go's strconv)",
        run: |t| {
            for (sent, quoted) in [("%22%0A%C3%A9", "\\\"\\né"), ("%5C%00", "\\\\\\x00")] {
                let text = format!("strconv.ParseUint: parsing \"{quoted}\": invalid syntax");
                t.put(&t.key("k"), &format!("flags={sent}"), "v")
                    .is(500, &text);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/leading-zeros",
        claim: "Leading zeros of flags and cas count for nothing",
        source: "kv.md 2.1",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=007&cas=000", "v").is(200, "true");
            t.get(&key, "").entry().flags_is(7);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/first-of-repeated-parameters",
        claim: "Of a parameter that is given twice the first counts",
        source: "kv.md 2.1",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "flags=1&flags=abc", "v").is(200, "true");
            t.get(&key, "").entry().flags_is(1);
            t.put(&key, "cas=0&cas=abc", "v").is(200, "false");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/conflicting-parameters-are-400",
        claim: "Two or three of cas, acquire and release in one write are 400, whatever their values, and nothing is written",
        source: "kv.md 2.1.r5",
        run: |t| {
            let key = t.key("k");
            for query in [
                "cas=0&acquire=x",
                "cas=0&release=x",
                "acquire=x&release=x",
                "cas&acquire",
                "cas=0&acquire=x&release=y",
            ] {
                t.put(&key, query, "v").says(400, "Conflicting flags: ");
            }
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/put/conflict-words",
        claim: "The text about a conflict holds all parameters, sorted by name and encoded anew",
        source: "kv.md 2.1",
        until: Some(V1_19_1),
        run: |t| conflict_words(t, ""),
        ..Case::REAL
    },
    Case {
        id: "kv/put/conflict-words-since-1-19-1",
        claim: "The text about a conflict holds all parameters, sorted by name and encoded anew, and ends with a newline",
        source: "1.22.md A2 [D] [S]",
        since: V1_19_1,
        run: |t| conflict_words(t, "\n"),
        ..Case::REAL
    },
    Case {
        id: "kv/put/order-of-checks",
        claim: "A write is checked for namespace, key, conflict, flags, cas and datacenter in this order",
        source: "kv.md 2.1",
        run: |t| {
            let key = t.key("k");
            let number =
                |text: &str| format!("strconv.ParseUint: parsing \"{text}\": invalid syntax");
            t.put(&key, "ns=x&cas=0&acquire=x", "v")
                .says(400, "Invalid query parameter: \"ns\"");
            t.put("", "ns=x", "v")
                .says(400, "Invalid query parameter: \"ns\"");
            t.put("", "cas=0&acquire=x", "v")
                .says(400, "Missing key name");
            t.put(&key, "cas=0&acquire=x&flags=bad", "v")
                .says(400, "Conflicting flags");
            t.put(&key, "flags=bad&cas=worse", "v")
                .is(500, &number("bad"));
            t.put(&key, "cas=worse&dc=conformance-nowhere", "v")
                .is(500, &number("worse"));
            t.put(&key, "acquire=bad&dc=conformance-nowhere", "v")
                .is(500, "No path to datacenter");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/read-parameters-are-checked-first",
        claim: "A write with a bad index, wait or consistency is refused as a read is, before anything else of it is looked at",
        source: "kv.md 0.10",
        run: |t| {
            let key = t.key("k");
            for (query, text) in [
                ("index=abc", "Invalid index"),
                ("wait=10", "Invalid wait time"),
                (
                    "stale&consistent",
                    "Cannot specify ?stale with ?consistent, conflicting semantics.",
                ),
            ] {
                t.put(&key, query, "v").is(400, text);
                t.delete(&key, query).is(400, text);
                t.put("", &format!("{query}&flags=abc"), "v").is(400, text);
            }
            t.get(&key, "").is(404, "");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/put/does-not-block",
        claim: "An index and a wait on a write say nothing when they are well-formed",
        source: "kv.md 0.10",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "index=9223372036854775807&wait=60s", "v")
                .is(200, "true");
            let target = format!("/v1/kv/{key}?index=9223372036854775807&wait=60s");
            t.send(&Request::delete(&target)).is(200, "true");
        },
        ..Case::SHOULD
    },
];

fn bad_numbers(t: &Trial, name: &str) {
    let key = t.key("k");
    let texts = ["abc", "", "-1", "0.5", "0x10", "0_0", "0e3"];
    let encoded = [("%200", " 0"), ("+0", " 0"), ("%2B0", "+0"), ("0%20", "0 ")];
    for (sent, quoted) in texts.map(|text| (text, text)).into_iter().chain(encoded) {
        let text = format!("strconv.ParseUint: parsing \"{quoted}\": invalid syntax");
        t.put(&key, &format!("{name}={sent}"), "v").is(500, &text);
    }
    let text = "strconv.ParseUint: parsing \"\": invalid syntax";
    t.put(&key, name, "v").is(500, text);
    t.get(&key, "").is(404, "");
}

fn conflict_words(t: &Trial, end: &str) {
    let key = t.key("k");
    for (query, words) in [
        ("cas=0&acquire=x", "acquire=x&cas=0"),
        ("cas&acquire", "acquire=&cas="),
        (
            "release=b&flags=3&dc=dc1&cas=0&acquire=a",
            "acquire=a&cas=0&dc=dc1&flags=3&release=b",
        ),
        (
            "acquire=a%20b/c&cas=0&cas=00&recurse",
            "acquire=a+b%2Fc&cas=0&cas=00&recurse=",
        ),
    ] {
        t.put(&key, query, "v")
            .is(400, &format!("Conflicting flags: {words}{end}"));
    }
    t.delete(&key, "recurse&cas=0")
        .is(400, &format!("Conflicting flags: cas=0&recurse={end}"));
}
