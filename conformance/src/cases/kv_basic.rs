//! A blocking read and a session's end.

use std::time::Duration;

use crate::case::Case;
use crate::feature::Feature;

/// The cases of this topic.
pub(super) const CASES: &[Case] = &[
    Case {
        id: "kv/blocking/woken-by-a-change-and-nothing-else",
        claim: "A read that blocks on a key sleeps through writes elsewhere and returns on the key's change",
        source: "kv.md 5.3",
        needs: &[Feature::Blocking],
        run: |t| {
            let (key, other) = (t.key("k"), t.key("other"));
            t.put(&key, "", "before").is(200, "true");
            let index = t.get(&key, "").index();
            let waiting = t.start_get(&key, &format!("index={index}&wait=60s"));
            t.put(&other, "", "v").is(200, "true");
            t.put(&key, "", "before").is(200, "true");
            t.still_blocked(&waiting);
            t.put(&key, "", "after").is(200, "true");
            let answer = waiting.answer();
            let entry = answer.entry().value_is("after");
            t.same("X-Consul-Index", answer.index(), entry.modify_index);
        },
        ..Case::MUST
    },
    Case {
        id: "session/ttl/lapses-after-twice-its-ttl",
        claim: "A session that nobody renews is alive shortly before twice its TTL and gone after it",
        source: "session.md 3.4",
        run: |t| {
            let (ttl, text) = t.shortest_ttl();
            let session = t.session(&format!(r#"{{"TTL":"{text}"}}"#));
            let info = format!("/v1/session/info/{session}");
            t.pass(ttl * 3 / 2);
            t.api_get(&info).field_is("/0/ID", session.as_str());
            t.pass(ttl / 2);
            t.eventually("the session lapses", Duration::from_secs(5), || {
                t.api_get(&info).list().is_empty().then_some(())
            });
        },
        ..Case::MUST
    },
];
