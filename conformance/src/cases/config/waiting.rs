//! Reads of entries that wait (operator.md 4.1).

use serde_json::{Value, json};

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::cases::support::config::{PATH, read, remove, set};
use crate::wire::Request;
use crate::wire::waiting::Waiting;

fn waiting(place: &str, index: u64) -> Request {
    Request::get(&format!("{PATH}/{place}?index={index}&wait=60s"))
}

/// The kinds of which chains are made.
const CHAIN: [&str; 4] = [
    "service-defaults",
    "service-resolver",
    "service-router",
    "service-splitter",
];

/// An entry of one of these kinds that leads nowhere else.
fn of_chain(kind: &str, name: &str) -> Value {
    let mut entry = json!({"Kind": kind, "Name": name});
    match kind {
        "service-defaults" => entry["Protocol"] = json!("http"),
        "service-splitter" => entry["Splits"] = json!([{"Weight": 100}]),
        _ => {}
    }
    entry
}

/// Writes all entries that a chain can have of its service.
fn whole(t: &Trial, name: &str) {
    for kind in CHAIN {
        set(t, &of_chain(kind, name));
    }
}

/// Starts a read of the chain of a service that waits.
fn chain(t: &Trial, name: &str) -> Waiting {
    let path = format!("/v1/discovery-chain/{name}");
    let index = t.api_get(&path).index();
    t.start(&Request::get(&format!("{path}?index={index}&wait=60s")))
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "config/waiting/own-changes",
        claim: "A read of an entry waits for its own write or deletion, a list for one of its kind",
        source: "operator.md 4.1.r4, 4.1.r6",
        needs: &[Feature::OwnServer],
        run: |t| {
            let entry = |name: &str, sni: &str| json!({"Kind": "service-defaults", "Name": name, "ExternalSNI": sni});
            set(t, &json!({"Kind": "service-resolver", "Name": "b"}));
            set(t, &entry("a", "1"));
            set(t, &entry("b", "1"));
            let index = read(t, "service-defaults/a").index();
            let one = t.start(&waiting("service-defaults/A", index));
            let kind = t.start(&waiting("service-defaults", index));
            set(t, &json!({"Kind": "service-resolver", "Name": "b"}));
            t.still_blocked(&one);
            t.still_blocked(&kind);
            set(t, &entry("b", "2"));
            t.same("the entries", kind.answer().list().len(), 2);
            t.still_blocked(&one);
            set(t, &entry("a", "3"));
            one.answer().field_is("/ExternalSNI", "3");
        },
        ..Case::SHOULD
    },
    Case {
        id: "config/waiting/deletion-in-1-8",
        claim: "A read that waits while its entry is deleted is answered with the entry as it was, and the new index",
        source: "operator.md 4.1.r4b",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-defaults", "Name": "a"}));
            let index = read(t, "service-defaults/a").index();
            let one = t.start(&waiting("service-defaults/a", index));
            t.still_blocked(&one);
            remove(t, "service-defaults/a").is(200, "{}");
            let answer = one.answer().field_is("/Name", "a");
            t.grew("the index", index, answer.index());
            read(t, "service-defaults/a").status_is(404);
        },
        ..Case::REAL
    },
    Case {
        id: "config/waiting/missing-in-1-8",
        claim: "A read of a missing entry or of an empty kind wakes at any change of an entry",
        source: "operator.md 4.1.r5",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-resolver", "Name": "a"}));
            let index = read(t, "service-defaults/a").index();
            let one = t.start(&waiting("service-defaults/a", index));
            let kind = t.start(&waiting("proxy-defaults", index));
            set(t, &json!({"Kind": "service-resolver", "Name": "b"}));
            one.answer().status_is(404);
            kind.answer().is(200, "[]");
        },
        ..Case::REAL
    },
    Case {
        id: "config/waiting/missing-since-1-22",
        claim: "A read of a missing entry or of an empty kind sleeps until there is one",
        source: "operator.md 4.1.r5",
        since: Version::V1_22,
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-resolver", "Name": "a"}));
            let index = read(t, "service-defaults/a").index();
            let one = t.start(&waiting("service-defaults/a", index));
            let kind = t.start(&waiting("service-defaults", index));
            set(t, &json!({"Kind": "service-resolver", "Name": "b"}));
            t.still_blocked(&one);
            t.still_blocked(&kind);
            set(t, &json!({"Kind": "service-defaults", "Name": "a"}));
            one.answer().status_is(200);
            t.same("the entries", kind.answer().list().len(), 1);
        },
        ..Case::REAL
    },
    Case {
        id: "config/waiting/neighbours-in-1-8",
        claim: "A read of a missing entry wakes at a write into the branch of the tree where its search ended, and at no other",
        source: "operator.md 4.1.r16",
        until: Some(Version::V1_10),
        needs: &[Feature::OwnServer],
        run: |t| {
            set(t, &json!({"Kind": "service-resolver", "Name": "a"}));
            set(t, &json!({"Kind": "service-defaults", "Name": "a"}));
            let index = read(t, "service-defaults/none").index();
            let one = t.start(&waiting("service-defaults/none", index));
            set(t, &json!({"Kind": "service-resolver", "Name": "b"}));
            t.still_blocked(&one);
            set(t, &json!({"Kind": "service-defaults", "Name": "b"}));
            one.answer().status_is(404);
        },
        ..Case::REAL
    },
    Case {
        id: "config/waiting/chain-in-1-8",
        claim: "A chain waits for its entries, and for those it lacks in the branches of the tree where they would be",
        source: "operator.md 4.1.r16",
        until: Some(Version::V1_10),
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            whole(t, "web");
            for kind in CHAIN {
                let chain = chain(t, "web");
                set(t, &of_chain(kind, "other"));
                t.still_blocked(&chain);
                set(
                    t,
                    &json!({"Kind": "service-resolver", "Name": "web", "ConnectTimeout": format!("{}s", kind.len())}),
                );
                chain.answer().status_is(200);
            }
            set(t, &of_chain("service-resolver", "half"));
            let half = chain(t, "half");
            set(t, &of_chain("service-resolver", "another"));
            t.still_blocked(&half);
            set(t, &of_chain("service-router", "another"));
            half.answer().status_is(200);
        },
        ..Case::REAL
    },
    Case {
        id: "config/waiting/chain-since-1-22",
        claim: "A chain waits for the entries that concern it, and for no others",
        source: "operator.md 4.1.r16",
        since: Version::V1_22,
        needs: &[Feature::Connect, Feature::OwnServer],
        run: |t| {
            set(
                t,
                &json!({"Kind": "proxy-defaults", "Config": {"protocol": "http"}}),
            );
            let missing = chain(t, "nothing");
            set(t, &of_chain("service-resolver", "web"));
            let web = chain(t, "web");
            set(t, &of_chain("service-defaults", "other"));
            set(t, &of_chain("service-resolver", "other"));
            remove(t, "service-resolver/other").is(200, "{}");
            t.still_blocked(&missing);
            t.still_blocked(&web);
            set(t, &of_chain("service-defaults", "nothing"));
            missing.answer().status_is(200);
            t.still_blocked(&web);
            set(t, &of_chain("service-router", "web"));
            web.answer().status_is(200);
        },
        ..Case::REAL
    },
];
