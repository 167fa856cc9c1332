//! Compressed answers (kv.md 6.5). How well they are compressed is the server's own affair.

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;
use crate::wire::answer::Answer;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/gzip/large-answers",
        claim: "A large answer is compressed for who accepts gzip, as JSON and raw, and nothing is lost",
        source: "kv.md 6.5",
        run: |t| {
            let key = t.key("k");
            let value: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
            t.put(&key, "", &value).is(200, "true");
            let plain = t.get(&key, "").has_no_header("Content-Encoding");
            let json = get(t, &key, "", "gzip").header_is("Content-Type", "application/json");
            t.check(
                unpacked(t, &json) == plain.body(),
                "another body than without gzip",
            );
            let raw = get(t, &key, "raw", "gzip").header_is("X-Consul-Knownleader", "true");
            t.check(unpacked(t, &raw) == value, "another value than was written");
        },
        ..Case::MUST
    },
    Case {
        id: "http/gzip/is-asked-for",
        claim: "gzip counts in any case, beside others and with any quality above 0, but not 0 or a quality that is no number",
        source: "kv.md 6.5",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", vec![b'v'; 10_000]).is(200, "true");
            for accept in [
                "gzip",
                "GZIP",
                "deflate, gzip;q=0.5, br",
                "gzip ; q=0.1",
                "gzip;q=1.5",
                "gzip;q=0.0001",
                "identity;q=1, gzip;q=0.2",
            ] {
                get(t, &key, "raw", accept).header_is("Content-Encoding", "gzip");
            }
            for accept in [
                "",
                "identity",
                "deflate",
                "*",
                "*;q=1",
                "x-gzip",
                "gzip;q=0",
                "gzip;q=abc",
                "gzip, gzip;q=0",
            ] {
                get(t, &key, "raw", accept)
                    .has_no_header("Content-Encoding")
                    .header_is("Content-Length", "10000");
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/gzip/vary-either-way",
        claim: "Every answer of an endpoint says Vary: Accept-Encoding, compressed or not; redirects and unknown paths do not",
        source: "kv.md 6.5",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").header_is("Vary", "Accept-Encoding");
            for accept in ["gzip", "identity"] {
                get(t, &key, "", accept).header_is("Vary", "Accept-Encoding");
                get(t, &t.key("missing"), "", accept).header_is("Vary", "Accept-Encoding");
                get(t, &key, "index=abc", accept).header_is("Vary", "Accept-Encoding");
            }
            t.api_get("/v1/kv")
                .status_is(t.moved())
                .has_no_header("Vary");
            t.api_get("/v1/nowhere")
                .status_is(404)
                .has_no_header("Vary");
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/gzip/type-of-errors-first-since-1-20",
        claim: "A parameter that is refused has its guessed Content-Type behind all headers, and before them for who asks for gzip",
        source: "1.22.md A1.2 (seen on late 2025 [N])",
        since: Version::V1_20,
        run: |t| {
            let key = t.key("k");
            let rest = [
                "Vary",
                "X-Consul-Default-Acl-Policy",
                "Date",
                "Content-Length",
            ];
            let (first, last) = (
                [&["Content-Type"], &rest[..]],
                [&rest[..], &["Content-Type"]],
            );
            for (accept, names) in [("gzip", first), ("identity", last)] {
                get(t, &key, "index=abc", accept)
                    .is(400, "Invalid index")
                    .header_names_are(&names.concat());
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/gzip/no-answer-is-too-short",
        claim: "There is no least size: `true`, a value of one byte and errors are compressed too",
        source: "kv.md 6.5; trap 30",
        until: Some(Version::V1_9),
        run: |t| {
            let key = t.key("k");
            let target = format!("/v1/kv/{key}");
            let packs = |request: Request, status: u16, body: &str| {
                let answer = t.send(&request.header("Accept-Encoding", "gzip"));
                let answer = answer
                    .status_is(status)
                    .header_is("Content-Encoding", "gzip");
                let length = answer.body().len().to_string();
                let text = String::from_utf8_lossy(&unpacked(t, &answer)).into_owned();
                t.same("body", text.trim_end(), body);
                answer.header_is("Content-Length", &length);
            };
            packs(Request::put(&target, "v"), 200, "true");
            packs(Request::get(&format!("{target}?raw")), 200, "v");
            packs(
                Request::get(&format!("{target}?index=abc")),
                400,
                "Invalid index",
            );
            packs(Request::get("/v1/kv/"), 400, "Missing key name");
            packs(
                Request::new("POST", &target),
                405,
                "method POST not allowed",
            );
            packs(
                Request::get(&format!("{target}?dc=conformance-nowhere")),
                500,
                "No path to datacenter",
            );
        },
        ..Case::REAL
    },
    Case {
        id: "http/gzip/header-set",
        claim: "A compressed answer carries exactly these headers: the length comes last, the sniffed type of an error in its place",
        source: "kv.md 6.5",
        until: Some(Version::V1_9),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            get(t, &key, "raw", "gzip").header_names_are(&[
                "Content-Encoding",
                "Content-Security-Policy",
                "Content-Type",
                "Vary",
                "X-Consul-Index",
                "X-Consul-Knownleader",
                "X-Consul-Lastcontact",
                "X-Content-Type-Options",
                "Date",
                "Content-Length",
            ]);
            get(t, &key, "index=abc", "gzip").header_names_are(&[
                "Content-Encoding",
                "Content-Type",
                "Vary",
                "Date",
                "Content-Length",
            ]);
        },
        ..Case::REAL
    },
    Case {
        id: "http/gzip/from-1400-bytes-since-1-9",
        claim: "Answers of 1400 bytes and more are compressed, shorter ones are not",
        source: "1.22.md A6.5 [G]",
        since: Version::V1_9,
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", vec![b'v'; 1399]).is(200, "true");
            get(t, &key, "raw", "gzip")
                .has_no_header("Content-Encoding")
                .header_is("Content-Length", "1399");
            t.put(&key, "", vec![b'v'; 1400]).is(200, "true");
            let answer = get(t, &key, "raw", "gzip").header_is("Content-Encoding", "gzip");
            t.same("value", unpacked(t, &answer), vec![b'v'; 1400]);
            let length = answer.body().len().to_string();
            answer.header_is("Content-Length", &length);
        },
        ..Case::REAL
    },
    Case {
        id: "http/gzip/not-without-a-body",
        claim: "Empty 404s, OPTIONS, redirects, unknown paths and refusals before the endpoint are not compressed",
        source: "kv.md 6.5",
        run: |t| {
            let key = t.key("missing");
            let target = format!("/v1/kv/{key}");
            for (status, request) in [
                (404, Request::get(&target)),
                (404, Request::get(&format!("{target}?raw"))),
                (404, Request::get(&format!("{target}?recurse"))),
                (500, Request::get(&format!("{target}?a=%zz"))),
                (200, Request::new("OPTIONS", &target)),
                (t.moved(), Request::get("/v1/kv")),
                (t.moved(), Request::get(&format!("{target}//x"))),
                (404, Request::get("/v1/nowhere")),
                (400, Request::get(&format!("{target}%00"))),
            ] {
                t.send(&request.header("Accept-Encoding", "gzip"))
                    .status_is(status)
                    .has_no_header("Content-Encoding");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/gzip/raw-of-nothing-is-no-gzip",
        claim: "The raw form of an empty value is called gzip and has no bytes at all, not even gzip's own",
        source: "kv.md 6.5",
        until: Some(Version::V1_9),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "").is(200, "true");
            get(t, &key, "raw", "gzip")
                .is(200, "")
                .header_is("Content-Encoding", "gzip")
                .header_is("Content-Length", "0");
        },
        ..Case::REAL
    },
    Case {
        id: "http/gzip/raw-of-nothing-is-json-since-1-20-2",
        claim: "The raw form of an empty value is called JSON when gzip is accepted",
        source: "1.22.md A1.2 [G]",
        since: Version::new(1, 20, 2),
        until: Some(Version::V1_21_5),
        run: |t| raw_of_nothing(t, "application/json"),
        ..Case::REAL
    },
    Case {
        id: "http/gzip/raw-of-nothing-is-json-since-1-21-5",
        claim: "The raw form of an empty value is called JSON in UTF-8 when gzip is accepted",
        source: "1.22.md A1.2 [G]",
        since: Version::V1_21_5,
        run: |t| raw_of_nothing(t, "application/json; charset=utf-8"),
        ..Case::REAL
    },
    Case {
        id: "http/gzip/raw-of-nothing-takes-the-type-of-the-request",
        claim: "The raw form of an empty value is called what the request calls its own body when gzip is accepted",
        source: "1.22.md A1.2, A6.7 [G]",
        since: Version::new(1, 20, 2),
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "").is(200, "true");
            let request = Request::get(&format!("/v1/kv/{key}?raw"))
                .header("Accept-Encoding", "gzip")
                .header("Content-Type", "text/x-conformance");
            t.send(&request)
                .is(200, "")
                .header_is("Content-Type", "text/x-conformance");
        },
        ..Case::REAL
    },
];

fn get(t: &Trial, key: &str, query: &str, accept: &str) -> Answer {
    let request = Request::get(&format!("/v1/kv/{key}?{query}"));
    t.send(&request.header("Accept-Encoding", accept))
}

/// What a compressed answer holds; nothing when it is not gzip.
fn unpacked(t: &Trial, answer: &Answer) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = GzDecoder::new(answer.body()).read_to_end(&mut bytes);
    t.check(read.is_ok(), "the body is not gzip");
    t.same(
        "Content-Encoding",
        answer.header("Content-Encoding"),
        Some("gzip"),
    );
    bytes
}

fn raw_of_nothing(t: &Trial, content_type: &str) {
    let key = t.key("k");
    t.put(&key, "", "").is(200, "true");
    get(t, &key, "raw", "gzip")
        .is(200, "")
        .has_no_header("Content-Encoding")
        .header_is("Content-Length", "0")
        .header_is("Content-Type", content_type);
}
