//! Consistency and cache parameters (kv.md 6.1).

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::wire::Request;

/// The text about two consistencies at once.
const STALE: &str = "Cannot specify ?stale with ?consistent, conflicting semantics.";

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "http/consistency/every-mode-answers",
        claim: "Every consistency gives the entry that was just written, with a known leader",
        source: "kv.md 6.1.r1",
        needs: &[Feature::SingleServer],
        run: |t| {
            let key = t.key("k");
            for (number, query) in [
                "stale",
                "consistent",
                "leader",
                "cached",
                "cached&stale",
                "leader&stale",
                "leader&consistent",
                "max_stale=1s",
                "max_stale=0s",
                "max_stale=-1s",
                "max_stale=",
            ]
            .iter()
            .enumerate()
            {
                let value = number.to_string();
                t.put(&key, "", &value).is(200, "true");
                let answer = t
                    .get(&key, query)
                    .header_is("X-Consul-Knownleader", "true")
                    .header_is("X-Consul-Lastcontact", "0");
                answer.entry().value_is(&value);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "http/consistency/stale-and-consistent-conflict",
        claim: "stale, in whatever way it is asked for, and consistent together are 400",
        source: "kv.md 6.1; trap 7",
        run: |t| {
            for query in [
                "stale&consistent",
                "consistent&stale",
                "stale=false&consistent=false",
                "max_stale=1s&consistent",
                "stale&consistent&cached",
                "leader&stale&consistent",
            ] {
                refused(t, query, STALE);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "http/consistency/cached-and-consistent-conflict",
        claim: "cached and consistent together are 400",
        source: "kv.md 6.1",
        run: |t| {
            let text = "Cannot specify ?cached with ?consistent, conflicting semantics.";
            refused(t, "cached&consistent", text);
            refused(t, "consistent=&cached=false", text);
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/consistency/max-stale-of-nothing-is-not-stale",
        claim: "max_stale of zero or less does not make a read stale, so that it may be consistent",
        source: "kv.md 6.1",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            for query in ["max_stale=0s&consistent", "max_stale=-1s&consistent"] {
                t.get(&key, query).entry().value_is("v");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "http/consistency/max-stale-is-a-duration",
        claim: "A max_stale that is no Go duration is 400 and quoted, before conflicts are looked at",
        source: "kv.md 6.1",
        run: |t| {
            for text in ["abc", "10", "1d", "1S", "1.5"] {
                let words = format!("Invalid max_stale value \"{text}\"");
                refused(t, &format!("max_stale={text}"), &words);
                refused(t, &format!("max_stale={text}&stale&consistent"), &words);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/consistency/cache-control-must-parse",
        claim: "A max-age or stale-if-error in Cache-Control that is no number is 400",
        source: "kv.md 6.1",
        run: |t| {
            for value in [
                "max-age=abc",
                "MAX-AGE=abc",
                "stale-if-error=x",
                "no-cache, max-age=1.5",
                "max-age=1, max-age=x",
            ] {
                let target = format!("/v1/kv/{}", t.key("k"));
                for method in ["GET", "PUT", "DELETE"] {
                    let request = Request::new(method, &target).header("Cache-Control", value);
                    t.send(&request).is(400, "Invalid Cache-Control header.");
                }
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/consistency/cache-control-says-nothing",
        claim: "Any other Cache-Control says nothing, and no KV answer speaks of a cache or an age",
        source: "kv.md 6.1",
        run: |t| {
            let key = t.key("k");
            for (number, value) in [
                "no-cache",
                "max-age=5, must-revalidate",
                "max-age=-1",
                "stale-if-error=5",
                "max-age",
                "nonsense=abc",
            ]
            .iter()
            .enumerate()
            {
                let written = number.to_string();
                t.put(&key, "", &written).is(200, "true");
                let request = Request::get(&format!("/v1/kv/{key}?cached"));
                let answer = t.send(&request.header("Cache-Control", value));
                let answer = answer.has_no_header("X-Cache").has_no_header("Age");
                answer.entry().value_is(&written);
            }
        },
        ..Case::SHOULD
    },
    Case {
        id: "http/consistency/hash-says-nothing",
        claim: "KV reads know no content hash: ?hash= does not block, and no answer carries X-Consul-ContentHash",
        source: "kv.md 5.5",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let answer = t.get(&key, "hash=abc&wait=60s");
            answer
                .has_no_header("X-Consul-ContentHash")
                .entry()
                .value_is("v");
        },
        ..Case::SHOULD
    },
];

/// Reads and writes are refused alike.
fn refused(t: &Trial, query: &str, text: &str) {
    let key = t.key("k");
    t.get(&key, query).is(400, text);
    t.get(&key, &format!("recurse&{query}")).is(400, text);
    t.put(&key, query, "v").is(400, text);
    t.delete(&key, query).is(400, text);
}
