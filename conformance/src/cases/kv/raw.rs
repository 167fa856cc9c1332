//! The bare value (kv.md 1.5).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Framing;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "kv/get/raw-is-the-value",
        claim: "With ?raw the body is the value's bytes and nothing else, even from a dev agent",
        source: "kv.md 1.5",
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
        id: "kv/raw/empty-value",
        claim: "The raw form of an empty value is 200 with Content-Length 0",
        source: "kv.md 1.5",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "").is(200, "true");
            t.get(&key, "raw")
                .is(200, "")
                .header_is("Content-Length", "0");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/raw/carries-the-read-headers",
        claim: "A raw answer carries the read headers, with the ModifyIndex as X-Consul-Index",
        source: "kv.md 1.5",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let answer = t.get(&key, "raw");
            let entry = t.get(&key, "").entry();
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
            answer
                .header_is("X-Consul-Knownleader", "true")
                .header_is("X-Consul-Lastcontact", "0");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/raw/large-values-have-a-length",
        claim: "A raw value of any size has a Content-Length and is not chunked",
        source: "kv.md 1.5",
        run: |t| {
            let key = t.key("k");
            let value = vec![b'x'; 100_000];
            t.put(&key, "", &value).is(200, "true");
            let answer = t.get(&key, "raw").header_is("Content-Length", "100000");
            t.same("framing", answer.reply().framing, Framing::Length);
            answer.body_is_exactly(&value);
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/raw/blocks",
        claim: "A raw read blocks like any other and answers with the new value",
        source: "kv.md 1.5",
        needs: &[Feature::Blocking],
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "before").is(200, "true");
            let index = t.get(&key, "").index();
            let waiting = t.start_get(&key, &format!("raw&index={index}&wait=60s"));
            t.still_blocked(&waiting);
            t.put(&key, "", "after").is(200, "true");
            waiting.answer().is(200, "after");
        },
        ..Case::MUST
    },
    Case {
        id: "kv/raw/harmless-headers-of-1-8-7",
        claim: "The raw form of a value is text/plain, not to be sniffed and in a sandbox; exactly these headers",
        source: "kv.md 1.5 (Debian's 1.8.7 carries the fix of CVE-2020-25864, upstream has it since 1.8.10)",
        since: Version::new(1, 8, 7),
        until: Some(Version::V1_9),
        run: |t| {
            header_set(
                t,
                "text/plain",
                &[
                    "Content-Length",
                    "Content-Security-Policy",
                    "Content-Type",
                    "Vary",
                    "X-Consul-Index",
                    "X-Consul-Knownleader",
                    "X-Consul-Lastcontact",
                    "X-Content-Type-Options",
                    "Date",
                ],
            );
        },
        ..Case::SHOULD
    },
    Case {
        id: "kv/raw/harmless-headers",
        claim: "The raw form of a value is text/plain, not to be sniffed and in a sandbox",
        source: "kv.md 1.5 [C], 1.22.md F kv.raw_headers [S] [D]",
        since: Version::new(1, 9, 5),
        until: Some(Version::V1_21_5),
        run: |t| harmless(t, "text/plain"),
        ..Case::SHOULD
    },
    Case {
        id: "kv/raw/harmless-headers-with-charset",
        claim: "The raw form of a value is text/plain in UTF-8, not to be sniffed and in a sandbox; exactly these headers",
        source: "1.22.md A1.2 [S] [D]",
        since: Version::V1_21_5,
        run: |t| {
            header_set(
                t,
                "text/plain; charset=utf-8",
                &[
                    "Content-Length",
                    "Content-Security-Policy",
                    "Content-Type",
                    "Vary",
                    "X-Consul-Default-Acl-Policy",
                    "X-Consul-Index",
                    "X-Consul-Knownleader",
                    "X-Consul-Lastcontact",
                    "X-Consul-Query-Backend",
                    "X-Content-Type-Options",
                    "Date",
                ],
            );
        },
        ..Case::SHOULD
    },
];

fn header_set(t: &Trial, content_type: &str, names: &[&str]) {
    let key = t.key("k");
    harmless(t, content_type);
    t.get(&key, "raw").header_names_are(names);
}

/// Also for a value that a browser would take for a page.
fn harmless(t: &Trial, content_type: &str) {
    let key = t.key("k");
    for value in ["", "{\"a\":1}", "<html><script>alert(1)</script></html>"] {
        t.put(&key, "", value).is(200, "true");
        t.get(&key, "raw")
            .is(200, value)
            .header_is("Content-Type", content_type)
            .header_is("X-Content-Type-Options", "nosniff")
            .header_is("Content-Security-Policy", "sandbox");
    }
}
