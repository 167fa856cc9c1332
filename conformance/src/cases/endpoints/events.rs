//! User events (session.md 4.6, 1.22.md B4.6).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;
use crate::wire::answer::Answer;

const SOURCE: &str = "session.md 4.6";

/// Fires an event with a payload; gives the answer.
fn fire(t: &Trial, name: &str, query: &str, payload: &str) -> Answer {
    t.api_put(&format!("/v1/event/fire/{name}?{query}"), payload)
}

/// The events of a name, when there are so many of them.
fn listed(t: &Trial, name: &str, count: usize) -> Answer {
    t.eventually(
        "the event is listed",
        std::time::Duration::from_secs(5),
        || {
            let answer = t.api_get(&format!("/v1/event/list?name={name}"));
            (answer.list().len() == count).then_some(answer)
        },
    )
}

/// The index that a list ends with: both halves of the last id over each other.
fn index_of(id: &str) -> u64 {
    let digits: String = id.chars().filter(|digit| *digit != '-').collect();
    let half = |range| {
        let digits = digits.get(range).unwrap_or_default();
        u64::from_str_radix(digits, 16).unwrap_or_default()
    };
    half(0..16) ^ half(16..32)
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "event/fire/answer",
        claim: "A fired event is answered with these fields in this order, its payload in base64 or null, and no place in time",
        source: SOURCE,
        run: |t| {
            let name = t.node("event");
            for (query, payload, shown, filters) in [
                (
                    "",
                    "",
                    "null",
                    r#""NodeFilter":"","ServiceFilter":"","TagFilter":"""#,
                ),
                (
                    "node=n.*&service=s&tag=t",
                    "payload",
                    "\"cGF5bG9hZA==\"",
                    r#""NodeFilter":"n.*","ServiceFilter":"s","TagFilter":"t""#,
                ),
            ] {
                let answer = fire(t, &name, query, payload);
                let id = answer.json()["ID"].as_str().unwrap_or_default().to_owned();
                answer.is(
                    200,
                    &format!(
                        "{{\"ID\":\"{id}\",\"Name\":\"{name}\",\"Payload\":{shown},{filters},\"Version\":1,\"LTime\":0}}"
                    ),
                );
            }
        },
        ..Case::MUST
    },
    Case {
        id: "event/fire/refused",
        claim: "An event needs a name, filters that are regular expressions, and a service for a tag",
        source: SOURCE,
        run: |t| {
            t.api_put("/v1/event/fire/", "").says(400, "Missing name");
            let regexp = "error parsing regexp: missing closing ]: `[`";
            for which in ["node", "service"] {
                fire(t, "x", &format!("{which}=["), "")
                    .says(500, &format!("Invalid {which} filter: {regexp}"));
            }
            fire(t, "x", "service=a&tag=[", "").says(500, &format!("Invalid tag filter: {regexp}"));
            fire(t, "x", "tag=a", "").says(500, "Cannot provide tag filter without service filter");
            fire(t, "x", "dc=elsewhere", "").says(500, "No path to datacenter");
        },
        ..Case::SHOULD
    },
    Case {
        id: "event/fire/too-large",
        claim: "An event of more than 512 bytes with what belongs to it is 500",
        source: "session.md 4.6",
        until: Some(Version::V1_10),
        run: |t| {
            // Well away from the limit: the clock of events counts as well, and grows with each.
            fire(t, "a", "node=nobody", &"x".repeat(380)).status_is(200);
            fire(t, "a", "node=nobody", &"x".repeat(450)).is(
                500,
                "1 error occurred:\n\t* error broadcasting event to segment \"\": user event exceeds \
                 configured limit of 512 bytes before encoding\n\n",
            );
            fire(t, "abcdefghij", "node=nobody", &"x".repeat(360)).status_is(200);
            fire(t, "abcdefghij", "node=nobody", &"x".repeat(450)).status_is(500);
        },
        ..Case::REAL
    },
    Case {
        id: "event/fire/limit-since-1-22",
        claim: "An event of more than 300 bytes is 413, one of unknown length 400",
        source: "1.22.md B4.6 (1.22.0 [D])",
        since: Version::V1_22,
        run: |t| {
            fire(t, "a", "node=nobody", &"x".repeat(300)).status_is(200);
            fire(t, "a", "node=nobody", &"x".repeat(301)).says(
                413,
                "Event payload too large, received 301 bytes, max size: 300 bytes. User events should be kept small for efficient gossip propagation.",
            );
            t.send(&Request::new("PUT", "/v1/event/fire/a").chunked(&[b"x"]))
                .is(400, "Event payload size must be greater than zero");
        },
        ..Case::REAL
    },
    Case {
        id: "event/list/in-order",
        claim: "Events are listed oldest first, with rising times, by their name alone if that is asked for",
        source: SOURCE,
        run: |t| {
            t.not_compared("a list of all events has those of all cases");
            let name = t.node("event");
            let other = t.node("other");
            let id = |answer: Answer| answer.json()["ID"].clone();
            let first = id(fire(t, &name, "", "1"));
            listed(t, &name, 1);
            fire(t, &other, "", "2").status_is(200);
            let last = id(fire(t, &name, "", "3"));
            let events = listed(t, &name, 2).list();
            let times: Vec<u64> = events
                .iter()
                .filter_map(|event| event["LTime"].as_u64())
                .collect();
            t.check(
                times[0] >= 1 && times[1] >= times[0] + 2,
                format!("{times:?}"),
            );
            let ids: Vec<Value> = events.iter().map(|event| event["ID"].clone()).collect();
            t.same("the ids", ids, vec![first, last]);
            t.same("the payload", &events[1]["Payload"], &json!("Mw=="));
            let all = t.api_get("/v1/event/list").list();
            t.check(all.len() > 2, "all events are listed without a name");
            t.api_get("/v1/event/list?name=nobody-fired-this")
                .is(200, "[]");
        },
        ..Case::MUST
    },
    Case {
        id: "event/list/the-last-256",
        claim: "The last 256 events are kept, and the older ones forgotten",
        source: SOURCE,
        needs: &[Feature::OwnServer],
        run: |t| {
            t.not_compared("hundreds of events say no more than one");
            for number in 0..260 {
                fire(t, &format!("e{number}"), "", "").status_is(200);
            }
            t.eventually(
                "the last event is listed",
                std::time::Duration::from_secs(5),
                || {
                    let events = t.api_get("/v1/event/list").list();
                    (events.last()?["Name"] == "e259").then_some(())
                },
            );
            let kept = t.api_get("/v1/event/list").field_is("/0/Name", "e4");
            t.same("the number of events", kept.list().len(), 256);
        },
        ..Case::REAL
    },
    Case {
        id: "event/list/of-others",
        claim: "An event for other nodes, or for services that the agent does not have, is not listed",
        source: SOURCE,
        run: |t| {
            let name = t.node("event");
            fire(t, &name, "node=nobody-is-called-this", "").status_is(200);
            fire(t, &name, "service=nobody-is-called-this", "").status_is(200);
            let own = format!("node=^{}$", t.facts().node);
            fire(t, &name, &own, "").status_is(200);
            listed(t, &name, 1).field_is("/0/NodeFilter", format!("^{}$", t.facts().node).as_str());
        },
        ..Case::MUST
    },
    Case {
        id: "event/list/index",
        claim: "The index of a list is made from the id of its last event, and 1 without one; it comes alone",
        source: SOURCE,
        run: |t| {
            let name = t.node("event");
            t.api_get(&format!("/v1/event/list?name={name}"))
                .is(200, "[]")
                .header_is("X-Consul-Index", "1")
                .has_no_header("X-Consul-Knownleader")
                .has_no_header("X-Consul-Lastcontact");
            let fired = fire(t, &name, "", "").json();
            let expected = index_of(fired["ID"].as_str().unwrap_or_default());
            t.same("the index", listed(t, &name, 1).index(), expected);
        },
        ..Case::MUST
    },
    Case {
        id: "event/list/blocks",
        claim: "A list with an index waits while the index is the same, and answers at once to a higher and a lower one",
        source: SOURCE,
        needs: &[Feature::Blocking],
        run: |t| {
            let name = t.node("event");
            fire(t, &name, "", "").status_is(200);
            let index = listed(t, &name, 1).index();
            let path = format!("/v1/event/list?name={name}&wait=60s&index");
            for other in [index - 1, index.saturating_add(1)] {
                t.same(
                    "events",
                    t.api_get(&format!("{path}={other}")).list().len(),
                    1,
                );
            }
            let waiting = t.start(&Request::get(&format!("{path}={index}")));
            t.still_blocked(&waiting);
            fire(t, &name, "", "").status_is(200);
            t.same("events", waiting.answer().list().len(), 2);
        },
        ..Case::MUST
    },
    Case {
        id: "event/list/parameters",
        claim: "A list looks at wait and index and at no other parameter of reads",
        source: "session.md 4.6",
        run: |t| {
            t.api_get("/v1/event/list?index=x")
                .says(400, "Invalid index");
            t.api_get("/v1/event/list?wait=x")
                .says(400, "Invalid wait time");
            for query in ["stale&consistent", "dc=elsewhere"] {
                t.api_get(&format!("/v1/event/list?name=nobody&{query}"))
                    .is(200, "[]");
            }
        },
        ..Case::REAL
    },
    Case {
        id: "event/name/any-bytes",
        claim: "The name of an event may be any bytes; events are found by theirs alone, and shown with a replacement for each other byte",
        source: "session.md 4.6",
        run: |t| {
            let name = t.node("event");
            for (bytes, shown) in [
                ("%ff", r"\ufffd"),
                ("%e2%82", r"\ufffd\ufffd"),
                ("%ef%bf%bd", "\u{fffd}"),
            ] {
                let fired = fire(t, &format!("{name}{bytes}"), "", "");
                let text = fired.status_is(200).text();
                let quoted = format!("\"{name}{shown}\"");
                t.check(
                    text.contains(&quoted),
                    format!("{text} has no name {quoted}"),
                );
                listed(t, &format!("{name}{bytes}"), 1);
            }
        },
        ..Case::REAL
    },
];
