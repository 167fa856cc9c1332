//! Reading: which parameter decides, and what a hit, a miss and a refusal look like (kv.md 1.1 and 1.2).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::{Framing, Request};

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/get/list-of-one",
        claim: "An existing key is a list of one entry with its value, flags and indexes",
        source: "kv.md 1.2.r1, 1.3",
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
        id: "kv/get/missing-is-404-with-index",
        claim: "A missing key is 404 with an empty body, no Content-Type, and the read headers",
        source: "kv.md 1.2; session.md trap 29",
        run: |t| is_a_miss(t, &t.key("missing"), ""),
        ..Case::MUST
    },
    Case {
        id: "kv/get/missing-raw-is-404-with-index",
        claim: "A missing key is the same empty 404 with ?raw",
        source: "kv.md 1.2",
        run: |t| is_a_miss(t, &t.key("missing"), "raw"),
        ..Case::MUST
    },
    Case {
        id: "kv/get/recurse-of-nothing-is-404",
        claim: "?recurse on a prefix without keys is an empty 404 with the read headers, not an empty list",
        source: "kv.md 1.2; trap 8",
        run: |t| is_a_miss(t, &t.key("empty/"), "recurse"),
        ..Case::MUST
    },
    Case {
        id: "kv/get/keys-of-nothing-are-404",
        claim: "?keys on a non-empty prefix without keys is an empty 404 with the read headers, not an empty list",
        source: "kv.md 1.2; trap 8",
        run: |t| is_a_miss(t, &t.key("empty/"), "keys"),
        ..Case::MUST
    },
    Case {
        id: "kv/get/recurse-lists-the-prefix",
        claim: "?recurse lists every entry whose key starts with the path, in byte order, with its value",
        source: "kv.md 1.1.r2",
        run: |t| {
            t.put(&t.key("p/b"), "", "2").is(200, "true");
            t.put(&t.key("p/a"), "flags=5", "1").is(200, "true");
            t.put(&t.key("p"), "", "0").is(200, "true");
            t.put(&t.key("other"), "", "x").is(200, "true");
            let entries = t.get(&t.key("p"), "recurse").entries();
            let keys: Vec<_> = entries.iter().map(|entry| entry.key.clone()).collect();
            t.same("keys", keys, vec![t.key("p"), t.key("p/a"), t.key("p/b")]);
            for (entry, (value, flags)) in entries.into_iter().zip([("0", 0), ("1", 5), ("2", 0)]) {
                entry.value_is(value).flags_is(flags);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/recurse-is-a-byte-prefix",
        claim: "?recurse knows no path: the prefix `p` also lists `p2`",
        source: "kv.md 1.4; trap 19",
        run: |t| {
            t.put(&t.key("p2"), "", "v").is(200, "true");
            let entries = t.get(&t.key("p"), "recurse").entries();
            t.same("keys", entries.len(), 1);
            t.same("key", &entries[0].key, &t.key("p2"));
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/recurse-false-recurses",
        claim: "Parameters count by presence: ?recurse=false lists the prefix",
        source: "kv.md 1.1; trap 7",
        run: |t| {
            let key = t.key("p/k");
            t.put(&key, "", "v").is(200, "true");
            let answer = t.get(&t.key("p/"), "recurse=false");
            t.same("key", &answer.entry().key, &key);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/keys-false-lists-keys",
        claim: "Parameters count by presence: ?keys=false lists keys",
        source: "kv.md 1.1; trap 7",
        run: |t| {
            let key = t.key("p/k");
            t.put(&key, "", "v").is(200, "true");
            let keys = t.get(&t.key("p/"), "keys=false").strings();
            t.same("keys", keys, vec![key]);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/raw-false-is-raw",
        claim: "Parameters count by presence: ?raw=false answers with the bare value",
        source: "kv.md 1.1",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "value").is(200, "true");
            t.get(&key, "raw=false")
                .status_is(200)
                .body_is_exactly("value");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/keys-win-over-recurse-and-raw",
        claim: "With ?keys, ?recurse and ?raw say nothing",
        source: "kv.md 1.1",
        run: |t| {
            let key = t.key("p/k");
            t.put(&key, "", "v").is(200, "true");
            for query in ["keys&recurse", "raw&keys", "recurse&raw&keys"] {
                let keys = t.get(&t.key("p/"), query).strings();
                t.same(query, keys, vec![key.clone()]);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/recurse-wins-over-raw",
        claim: "With ?recurse, ?raw says nothing",
        source: "kv.md 1.1",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let answer = t
                .get(&key, "raw&recurse")
                .header_is("Content-Type", "application/json");
            answer.entry().value_is("v");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/single-key-ignores-separator",
        claim: "Without ?keys a separator says nothing",
        source: "kv.md 1.1",
        run: |t| {
            let key = t.key("p/k");
            t.put(&key, "", "v").is(200, "true");
            let entry = t.get(&key, "separator=/").entry();
            t.same("key", &entry.key, &key);
            let entry = t.get(&t.key("p"), "recurse&separator=/").entry();
            t.same("key", &entry.key, &key);
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/keys-of-an-empty-store",
        claim: "?keys of the whole store is 200 with an empty list when the store is empty",
        source: "kv.md 1.2; trap 8",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.api_get("/v1/kv/?keys")
                .is(200, "[]")
                .header_is("Content-Type", "application/json")
                .has_header("X-Consul-Index");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/recurse-of-an-empty-store",
        claim: "?recurse of the whole store is an empty 404 with the read headers when the store is empty",
        source: "kv.md 1.2; trap 8",
        needs: &[Feature::OwnServer],
        run: |t| is_a_miss(t, "", "recurse"),
        ..Case::MUST
    },
    Case {
        id: "kv/get/empty-key-is-400",
        claim: "Reading, writing or deleting a single key without a name is 400 and says that the name is missing",
        source: "kv.md 1.2, 2.1, 3",
        run: |t| {
            for method in ["GET", "PUT", "DELETE"] {
                t.send(&Request::new(method, "/v1/kv/"))
                    .says(400, "Missing key name");
            }
            t.api_get("/v1/kv/?raw").says(400, "Missing key name");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/empty-key-words",
        claim: "The whole text of the refusal of an empty key is `Missing key name`, without a newline",
        source: "kv.md 1.2",
        until: Some(Version::V1_12),
        run: missing_key_name,
        ..Case::SHOULD
    },
    Case {
        id: "kv/get/empty-key-words-in-1-12",
        claim: "The refusal of an empty key begins with `Bad request: ` in 1.12",
        source: "1.22.md A6.2 [H]",
        since: Version::V1_12,
        until: Some(Version::V1_13),
        run: |t| {
            t.api_get("/v1/kv/")
                .is(400, "Bad request: Missing key name");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/empty-key-words-since-1-13",
        claim: "The whole text of the refusal of an empty key is `Missing key name`, without a newline",
        source: "1.22.md D2",
        since: Version::V1_13,
        run: missing_key_name,
        ..Case::SHOULD
    },
    Case {
        id: "kv/get/empty-key-comes-before-namespace",
        claim: "A read with an empty key and a namespace is refused for the key, a write for the namespace",
        source: "kv.md 1.1",
        run: |t| {
            t.api_get("/v1/kv/?ns=x").says(400, "Missing key name");
            t.api_put("/v1/kv/?ns=x", "")
                .says(400, "Invalid query parameter: \"ns\"");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/kv-without-slash-redirects",
        claim: "/v1/kv is 301 to /v1/kv/ with a small HTML body and no Vary",
        source: "kv.md 1.2, 1.6",
        run: |t| {
            t.api_get("/v1/kv")
                .is(t.moved(), &t.moved_page("/v1/kv/"))
                .header_names_are(&["Content-Type", "Location", "Date", "Content-Length"])
                .header_is("Content-Type", "text/html; charset=utf-8")
                .header_is("Location", "/v1/kv/");
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/refusals-carry-no-index",
        claim: "A read that is refused (400, 405, 500) carries none of the read headers",
        source: "kv.md 1.2; trap 9",
        run: |t| {
            let target = format!("/v1/kv/{}", t.key("k"));
            for (status, request) in [
                (400, Request::get("/v1/kv/")),
                (400, Request::get(&format!("{target}?index=abc"))),
                (405, Request::new("POST", &target)),
                (
                    500,
                    Request::get(&format!("{target}?dc=conformance-nowhere")),
                ),
                (500, Request::get(&format!("{target}?a=%zz"))),
            ] {
                t.send(&request)
                    .status_is(status)
                    .has_no_header("X-Consul-Index")
                    .has_no_header("X-Consul-Knownleader")
                    .has_no_header("X-Consul-Lastcontact");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "kv/get/more-than-2048-bytes-are-chunked",
        claim: "A JSON body of 2048 bytes has a Content-Length, one of 2049 goes out in chunks",
        source: "kv.md 1.2, 1.22.md A1.2 [G]",
        run: |t| {
            let length = |name: &str| t.get(&t.key(name), "keys").body().len();
            t.put(&t.key("k"), "", "").is(200, "true");
            let fill = 2048 - length("k");
            let (fits, exceeds) = ("a".repeat(fill + 1), "b".repeat(fill + 2));
            for (name, framing) in [(fits, Framing::Length), (exceeds, Framing::Chunked)] {
                t.put(&t.key(&name), "", "").is(200, "true");
                let answer = t.get(&t.key(&name), "keys");
                t.same("framing", answer.reply().framing, framing);
            }
        },
        ..Case::REAL
    },
    Case {
        id: "kv/get/body-is-ignored",
        claim: "The body of a GET says nothing",
        source: "kv.md 6.6",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "stored").is(200, "true");
            let target = format!("/v1/kv/{key}");
            let answer = t.send(&Request::get(&target).body("sent"));
            answer.entry().value_is("stored");
            t.send(&Request::get(&format!("{target}?raw")).chunked(&[b"sent"]))
                .is(200, "stored");
        },
        ..Case::SHOULD
    },
];

/// A 404 that is empty and carries the read headers.
fn is_a_miss(t: &Trial, key: &str, query: &str) {
    t.get(key, query)
        .is(404, "")
        .has_no_header("Content-Type")
        .has_header("X-Consul-Index")
        .header_is("X-Consul-Knownleader", "true")
        .header_is("X-Consul-Lastcontact", "0")
        .header_is("Content-Length", "0");
}

fn missing_key_name(t: &Trial) {
    t.api_get("/v1/kv/")
        .is(400, "Missing key name")
        .header_is("Content-Type", "text/plain; charset=utf-8")
        .header_is("Content-Length", "16");
}
