//! Indexes of prefixes that go backwards: Consul promises nothing else, so clients must expect it.

use std::time::Duration;

use crate::case::Case;
use crate::case::feature::Feature;

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "index/slide/delete-at-a-shorter-prefix",
        claim: "A prefix that is deleted by way of a shorter one falls back to the index of its older deletion",
        source: "kv.md 4.3, trap 17",
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            t.delete(&t.key("p/2"), "").is(200, "true");
            let older = t.get(&prefix, "recurse").index();
            t.put(&t.key("p/3"), "", "v").is(200, "true");
            t.grew(
                "the prefix's index",
                older,
                t.get(&prefix, "recurse").index(),
            );
            t.delete(&t.key("p"), "recurse").is(200, "true");
            t.same(
                "recurse",
                t.get(&prefix, "recurse").is(404, "").index(),
                older,
            );
            t.same("keys", t.get(&prefix, "keys").is(404, "").index(), older);
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/not-when-the-prefix-itself-is-deleted",
        claim: "A prefix that is deleted by its own name goes on to the index of this deletion",
        source: "kv.md 4.3",
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            t.delete(&t.key("p/2"), "").is(200, "true");
            let older = t.get(&prefix, "recurse").index();
            t.delete(&prefix, "recurse").is(200, "true");
            t.grew(
                "the prefix's index",
                older,
                t.get(&prefix, "recurse").is(404, "").index(),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/not-without-an-older-deletion",
        claim: "A prefix without older deletions that is deleted by way of a shorter one has the index of the last change to any key",
        source: "kv.md 4.3",
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            let before = t.get(&prefix, "recurse").index();
            t.delete(&t.key("p"), "recurse").is(200, "true");
            let deleted = t.get(&prefix, "recurse").is(404, "").index();
            t.grew("the prefix's index", before, deleted);
            t.put(&t.key("q"), "", "v").is(200, "true");
            t.grew(
                "the index after a change elsewhere",
                deleted,
                t.get(&prefix, "recurse").index(),
            );
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/delete-of-everything",
        claim: "When everything is deleted, a prefix falls back to its older deletion, and others have the index of the last change",
        source: "kv.md 4.3, trap 17",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.put("a/1", "", "v").is(200, "true");
            t.delete("a/1", "").is(200, "true");
            let older = t.get("a/", "recurse").index();
            t.put("a/2", "", "v").is(200, "true");
            t.put("b/1", "", "v").is(200, "true");
            let newest = t.get("b/", "recurse").index();
            t.delete("", "recurse").is(200, "true");
            t.same("a/", t.get("a/", "recurse").is(404, "").index(), older);
            let other = t.get("b/", "recurse").is(404, "").index();
            t.grew("b/", newest, other);
            t.same("all keys", t.get("", "keys").is(200, "[]").index(), other);
            t.same(
                "a missing key",
                t.get("missing", "").is(404, "").index(),
                other,
            );
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/delete-of-everything-is-not-remembered",
        claim: "Deleting everything leaves no memory of a deletion: an emptied prefix follows every later change elsewhere",
        source: "kv.md 3, 4.3",
        needs: &[Feature::OwnServer],
        run: |t| {
            t.put("b/1", "", "v").is(200, "true");
            t.delete("", "recurse").is(200, "true");
            let deleted = t.get("b/", "recurse").is(404, "").index();
            t.put("c", "", "v").is(200, "true");
            let later = t.get("b/", "recurse").is(404, "").index();
            t.grew("b/", deleted, later);
            t.same("the last change", later, t.get("c", "").index());
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/sleeps-through-a-delete-at-a-shorter-prefix",
        claim: "A read that blocks on a prefix with an older deletion sleeps through its deletion at a shorter prefix, \
                and answers 404 with an index below the one it asked for",
        source: "kv.md 4.3, trap 17",
        needs: &[Feature::Blocking],
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            t.delete(&t.key("p/2"), "").is(200, "true");
            let older = t.get(&prefix, "recurse").index();
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            let index = t.get(&prefix, "recurse").index();
            let waiting = t.start_get(&prefix, &format!("recurse&index={index}&wait=3s"));
            t.delete(&t.key("p"), "recurse").is(200, "true");
            let answer = t.runs_out(&waiting, Duration::from_secs(3)).is(404, "");
            t.same("X-Consul-Index", answer.index(), older);
            t.grew("what was asked for", older, index);
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/sleeps-through-a-delete-of-everything",
        claim: "A read that blocks on a prefix with an older deletion sleeps through the deletion of everything",
        source: "kv.md 4.3, trap 17",
        needs: &[Feature::Blocking, Feature::OwnServer],
        run: |t| {
            t.put("a/2", "", "v").is(200, "true");
            t.delete("a/2", "").is(200, "true");
            let older = t.get("a/", "keys").index();
            t.put("a/1", "", "v").is(200, "true");
            let index = t.get("a/", "keys").index();
            let waiting = t.start_get("a/", &format!("keys&index={index}&wait=3s"));
            t.delete("", "recurse").is(200, "true");
            let answer = t.runs_out(&waiting, Duration::from_secs(3)).is(404, "");
            t.same("X-Consul-Index", answer.index(), older);
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/deletions-are-forgotten",
        claim: "A deletion is forgotten between 15 minutes and 15 minutes and 30 seconds after it: the prefix falls back to what is left",
        source: "kv.md 4.3, trap 17",
        needs: &[Feature::MovableClock],
        run: |t| {
            let (kept, emptied) = (t.key("kept/"), t.key("emptied/"));
            t.put(&t.key("kept/1"), "", "v").is(200, "true");
            let left = t.get(&kept, "recurse").index();
            for key in ["kept/2", "emptied/1"] {
                t.put(&t.key(key), "", "v").is(200, "true");
                t.delete(&t.key(key), "").is(200, "true");
            }
            let deleted = t.get(&kept, "recurse").index();
            let emptied_at = t.get(&emptied, "recurse").is(404, "").index();
            t.put(&t.key("last"), "", "v").is(200, "true");
            let last = t.get(&t.key("last"), "").index();
            t.pass(Duration::from_secs(14 * 60 + 55));
            t.same("before", t.get(&kept, "recurse").index(), deleted);
            t.same("before", t.get(&emptied, "recurse").index(), emptied_at);
            t.pass(Duration::from_secs(40));
            t.same("afterwards", t.get(&kept, "recurse").index(), left);
            let emptied = t.get(&emptied, "recurse").is(404, "").index();
            t.check(
                emptied >= last,
                "an emptied prefix shows the last change to any key",
            );
            let missing = t.get(&t.key("missing"), "").index();
            t.check(missing >= last, "a missing key does not fall back");
        },
        ..Case::REAL
    },
    Case {
        id: "index/slide/forgetting-wakes-nobody",
        claim: "A read that blocks on a prefix is not answered when deletions below it are forgotten",
        source: "kv.md 4.3",
        needs: &[Feature::Blocking, Feature::MovableClock],
        run: |t| {
            let prefix = t.key("p/");
            t.put(&t.key("p/1"), "", "v").is(200, "true");
            t.put(&t.key("p/2"), "", "v").is(200, "true");
            t.delete(&t.key("p/2"), "").is(200, "true");
            t.pass(Duration::from_secs(14 * 60));
            let index = t.get(&prefix, "recurse").index();
            let waiting = t.start_get(&prefix, &format!("recurse&index={index}&wait=10m"));
            t.pass(Duration::from_secs(2 * 60));
            t.grew(
                "what was asked for",
                t.get(&prefix, "recurse").index(),
                index,
            );
            t.still_blocked(&waiting);
            t.put(&t.key("p/1"), "", "woken").is(200, "true");
            waiting.answer().entry().value_is("woken");
        },
        ..Case::REAL
    },
];
