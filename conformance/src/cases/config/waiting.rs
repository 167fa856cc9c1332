//! Reads of entries that wait (operator.md 4.1).

use serde_json::json;

use super::{PATH, read, remove, set};
use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::version::Version;
use crate::wire::Request;

fn waiting(place: &str, index: u64) -> Request {
    Request::get(&format!("{PATH}/{place}?index={index}&wait=60s"))
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
];
