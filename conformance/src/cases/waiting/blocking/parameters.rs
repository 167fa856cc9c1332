//! Blocking reads: their two parameters, when they answer at once, and what they answer when nothing happens.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;

/// Far above every index that a server will ever have.
const FAR: u64 = u64::MAX / 2;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "blocking/index/none-answers-at-once",
        claim: "Without an index, with an empty one or with 0 a read answers at once, whatever its wait",
        source: "kv.md 5.1",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            for query in [
                "wait=60s",
                "index=&wait=60s",
                "index=0&wait=60s",
                "index=00&wait=60s",
            ] {
                t.get(&key, query).entry().value_is("v");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/index/smaller-answers-at-once",
        claim: "A read whose index is below the current one answers at once",
        source: "kv.md 5.2",
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "v").is(200, "true");
            let index = t.get(&key, "").index();
            for smaller in [1, index - 1] {
                let answer = t.get(&key, &format!("index={smaller}&wait=60s"));
                t.same("X-Consul-Index", answer.index(), index);
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/index/equal-blocks",
        claim: "A read whose index is the current one blocks until the key changes",
        source: "kv.md 5.2",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.still_blocked(&waiting);
            t.put(&key, "", "after").is(200, "true");
            waiting.answer().entry().value_is("after");
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/index/greater-blocks",
        claim: "A read whose index is above the current one blocks too: it does not answer at once",
        source: "kv.md 5.2, trap 13",
        needs: &[Feature::Blocking],
        run: |t| {
            t.not_compared("either write may be the one that wakes it");
            let (key, index) = written(t);
            let above = format!("index={}&wait=60s", index + 1);
            let waiting = t.start_get(&key, &above);
            t.still_blocked(&waiting);
            // The next two writes have indexes above the one that was asked for, at the latest the second.
            t.put(&key, "", "after").is(200, "true");
            t.put(&key, "", "later").is(200, "true");
            let answer = waiting.answer();
            t.grew("the answer's index", index + 1, answer.index());
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/index/far-ahead-sleeps-through-changes",
        claim: "A read whose index is far above the current one sleeps through changes and then answers what is there, with a smaller index",
        source: "kv.md 5.2, 5.3",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            let waiting = t.start_get(&key, &format!("index={FAR}&wait=2s"));
            t.put(&key, "", "after").is(200, "true");
            let answer = t.runs_out(&waiting, Duration::from_secs(2));
            let entry = answer.entry().value_is("after");
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
            t.grew("X-Consul-Index", index, answer.index());
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/index/must-be-an-unsigned-number",
        claim: "An index that is not a base-10 unsigned 64-bit number is 400, for reads and writes",
        source: "kv.md 5.1, trap 6",
        run: |t| {
            let key = t.key("k");
            let wrong = [
                "abc",
                "-1",
                "1.5",
                "0x1",
                "+5",
                "%2B5",
                "%205",
                "1_0",
                "18446744073709551616",
            ];
            for index in wrong {
                t.get(&key, &format!("index={index}"))
                    .is(400, "Invalid index");
            }
            t.put(&key, "index=abc", "v").is(400, "Invalid index");
            t.delete(&key, "index=abc").is(400, "Invalid index");
            t.get(&key, "").is(404, "");
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/index/the-greatest-number-is-one",
        claim: "2^64-1 is an index, and so is a number with leading zeros",
        source: "kv.md 5.1",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            let greatest = t.start_get(&key, &format!("index={}&wait=1s", u64::MAX));
            t.runs_out(&greatest, Duration::from_secs(1))
                .entry()
                .value_is("before");
            let padded = t.start_get(&key, &format!("index=00{index}&wait=60s"));
            t.still_blocked(&padded);
            t.put(&key, "", "after").is(200, "true");
            padded.answer().entry().value_is("after");
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/index/first-of-several-counts",
        claim: "Of several index parameters the first counts",
        source: "kv.md 5.1",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            t.get(&key, &format!("index=0&index={FAR}&wait=60s"))
                .entry()
                .value_is("before");
            let waiting = t.start_get(&key, &format!("index={index}&index=0&wait=60s"));
            t.still_blocked(&waiting);
            t.put(&key, "", "after").is(200, "true");
            waiting.answer().entry().value_is("after");
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/wait/forms",
        claim: "wait is a duration as Go writes them: decimal numbers with units from ns to h, several in a row, signed, or a bare 0",
        source: "kv.md 5.1",
        run: |t| {
            let key = t.key("k");
            let forms = [
                "5ns", "5us", "5%C2%B5s", "5ms", "5s", "5m", "5h", "1h2m3s", "1.5s", ".5s", "1.s",
                "%2B1s", "-1s", "0", "-0", "0s", "",
            ];
            for wait in forms {
                t.get(&key, &format!("wait={wait}")).is(404, "");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/wait/must-be-a-duration",
        claim: "A wait without unit, with an unknown one or beyond what Go can hold is 400, for reads and writes, with or without index",
        source: "kv.md 5.1, trap 15",
        run: |t| {
            let key = t.key("k");
            let wrong = [
                "10",
                "1.5",
                "00",
                "1S",
                "1d",
                "1e3s",
                "abc",
                ".",
                "-",
                "%201s",
                "+1s",
                "99999999h",
            ];
            for wait in wrong {
                t.get(&key, &format!("wait={wait}"))
                    .is(400, "Invalid wait time");
            }
            t.get(&key, "index=1&wait=10").is(400, "Invalid wait time");
            t.put(&key, "wait=10", "v").is(400, "Invalid wait time");
            t.delete(&key, "wait=10").is(400, "Invalid wait time");
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/is-checked-before-the-index",
        claim: "When wait and index are both wrong, the answer speaks of the wait",
        source: "kv.md 0",
        run: |t| {
            t.get(&t.key("k"), "index=abc&wait=abc")
                .is(400, "Invalid wait time");
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/wait/ends-the-read",
        claim: "When nothing has changed after the wait, the answer is 200 with what is there and the same index",
        source: "kv.md 5.2, trap 14",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            let before = t.get(&key, "").entry();
            let waiting = t.start_get(&key, &format!("index={index}&wait=2s"));
            let answer = t.runs_out(&waiting, Duration::from_secs(2));
            answer.entry().is_unchanged_since(&before);
            t.same("X-Consul-Index", answer.index(), index);
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/ends-the-read-of-a-list",
        claim: "A list and a list of keys are answered in full when the wait ends, with the same index",
        source: "kv.md 5.2, trap 14",
        needs: &[Feature::Blocking],
        run: |t| {
            let (_, index) = written(t);
            let wait = Duration::from_secs(2);
            let [list, keys] = ["recurse", "keys"]
                .map(|kind| t.start_get(&t.key(""), &format!("{kind}&index={index}&wait=4s")));
            let answer = t.runs_out(&list, wait * 2);
            answer.entry().value_is("before");
            t.same("X-Consul-Index", answer.index(), index);
            t.same("keys", keys.answer().strings(), vec![t.key("k")]);
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/ends-the-read-of-an-emptied-prefix",
        claim: "An emptied prefix is answered 404 when the wait ends, with the index of its deletion",
        source: "kv.md 5.2, trap 14",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, prefix) = (t.key("p/k"), t.key("p/"));
            t.put(&key, "", "v").is(200, "true");
            t.delete(&key, "").is(200, "true");
            let index = t.get(&prefix, "recurse").is(404, "").index();
            let waiting = t.start_get(&prefix, &format!("recurse&index={index}&wait=2s"));
            t.put(&t.key("q"), "", "v").is(200, "true");
            let answer = t.runs_out(&waiting, Duration::from_secs(2)).is(404, "");
            t.same("X-Consul-Index", answer.index(), index);
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/may-have-several-parts",
        claim: "A wait of several parts is their sum",
        source: "kv.md 5.1",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            let waiting = t.start_get(&key, &format!("index={index}&wait=1s500ms"));
            t.runs_out(&waiting, Duration::from_millis(1500))
                .entry()
                .value_is("before");
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/wait/zero-does-not-mean-at-once",
        claim: "A wait of 0 or below blocks like one that is left out",
        source: "kv.md 5.1, trap 15",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, index) = written(t);
            let queries = ["", "&wait=0", "&wait=0s", "&wait=", "&wait=-1s"];
            let waiting = queries.map(|wait| t.start_get(&key, &format!("index={index}{wait}")));
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.put(&key, "", "after").is(200, "true");
            for waiting in waiting {
                waiting.answer().entry().value_is("after");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/five-minutes-when-left-out",
        claim: "A wait that is left out, 0 or negative lasts five minutes and up to a sixteenth more",
        source: "kv.md 5.1, trap 15",
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let (key, index) = written(t);
            let queries = ["", "&wait=0s", "&wait=-1s"];
            let waiting = queries.map(|wait| t.start_get(&key, &format!("index={index}{wait}")));
            t.pass(Duration::from_secs(290));
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.pass(Duration::from_secs(10 + 19));
            for waiting in waiting {
                waiting.answer().entry().value_is("before");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/ten-minutes-at-most",
        claim: "A wait above ten minutes lasts ten minutes and up to a sixteenth more",
        source: "kv.md 5.1, trap 15",
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let (key, index) = written(t);
            let waiting =
                ["11m", "24h"].map(|wait| t.start_get(&key, &format!("index={index}&wait={wait}")));
            t.pass(Duration::from_secs(590));
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.pass(Duration::from_secs(10 + 38));
            for waiting in waiting {
                waiting.answer().entry().value_is("before");
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/wait/never-short-and-at-most-a-sixteenth-long",
        claim: "A read is held for its whole wait, and at most a sixteenth longer",
        source: "kv.md 5.1, trap 15",
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let (key, index) = written(t);
            let query = format!("index={index}&wait=8m");
            let waiting = t.together(4, |_| t.start_get(&key, &query));
            t.pass(Duration::from_secs(8 * 60 - 10));
            for waiting in &waiting {
                t.still_blocked(waiting);
            }
            t.pass(Duration::from_secs(10 + 31));
            for waiting in waiting {
                waiting.answer().entry().value_is("before");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/wait/default-and-cap-are-settings",
        claim: "default_query_time is the wait that is left out or 0, and max_query_time the longest",
        source: "kv.md 5.1",
        needs: &[Feature::Blocking],
        settings: r#"{"default_query_time": "1s", "max_query_time": "3s"}"#,
        run: |t| {
            let (key, index) = written(t);
            let of = |wait: &str| t.start_get(&key, &format!("index={index}{wait}"));
            for wait in ["", "&wait=0s"] {
                t.runs_out(&of(wait), Duration::from_secs(1))
                    .entry()
                    .value_is("before");
            }
            t.runs_out(&of("&wait=60s"), Duration::from_secs(3))
                .entry()
                .value_is("before");
        },
        ..Case::SHOULD
    },
    Case {
        id: "blocking/wait/ends-at-once-with-a-change",
        claim: "A blocked read of a key, a prefix or its names is answered at once when something has changed there",
        source: "kv.md 5.3",
        needs: &[Feature::Blocking],
        run: |t| {
            let key = t.key("k");
            t.put(&key, "", "0").is(200, "true");
            let mut last = 0;
            for query in ["", "?raw", "?recurse", "?keys"] {
                t.wakes_at_once(&format!("/v1/kv/{key}{query}"), || {
                    last += 1;
                    t.put(&key, "", last.to_string()).is(200, "true");
                });
            }
        },
        ..Case::MUST
    },
    Case {
        id: "blocking/hash/means-nothing-here",
        claim: "hash= does not make a KV read block",
        source: "kv.md 5.5",
        run: |t| {
            let (key, _) = written(t);
            t.get(&key, "hash=abc&wait=60s")
                .has_no_header("X-Consul-ContentHash")
                .entry()
                .value_is("before");
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/headers/no-query-backend-before-1-10-1",
        claim: "No read says X-Consul-Query-Backend",
        source: "kv.md 5.5, 1.22.md A5",
        until: Some(Version::new(1, 10, 1)),
        run: |t| {
            let (key, _) = written(t);
            t.get(&key, "").has_no_header("X-Consul-Query-Backend");
        },
        ..Case::REAL
    },
    Case {
        id: "blocking/headers/query-backend-since-1-11",
        claim: "Every KV read, 404 included, says X-Consul-Query-Backend: blocking-query, and no write does",
        source: "1.22.md A5 [S, H: listed in 1.10.1, certain from 1.11.0]",
        since: Version::V1_11,
        run: |t| {
            let (key, _) = written(t);
            for (key, query) in [
                (&key, ""),
                (&key, "recurse"),
                (&key, "keys"),
                (&t.key("missing"), ""),
            ] {
                t.get(key, query)
                    .header_is("X-Consul-Query-Backend", "blocking-query");
            }
            t.put(&key, "", "v").has_no_header("X-Consul-Query-Backend");
        },
        ..Case::REAL
    },
];

/// A key that holds `before`, and its index.
fn written(t: &Trial) -> (String, u64) {
    let key = t.key("k");
    t.put(&key, "", "before").is(200, "true");
    let index = t.get(&key, "").index();
    (key, index)
}
