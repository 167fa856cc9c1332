//! Acquiring and releasing keys (kv.md 2.5, 8; session.md 3.5).

use std::time::Duration;

use proconsul::Version;

use crate::support::{Consul, create_session};

/// What a lock shows of itself: LockIndex, value, flags, session.
fn lock(consul: &Consul) -> (u64, Option<String>, u64, Option<String>) {
    let answer = consul.get("/v1/kv/k");
    let list: serde_json::Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
    let text = |field: &str| {
        list[0]
            .get(field)
            .and_then(|text| text.as_str())
            .map(str::to_owned)
    };
    let number = |field: &str| list[0][field].as_u64().expect("a number");
    (
        number("LockIndex"),
        text("Value"),
        number("Flags"),
        text("Session"),
    )
}

const NO_DELAY: &str = r#"{"LockDelay":"0s"}"#;

#[test]
fn a_lock_from_its_first_holder_to_its_next() {
    for consul in Consul::both() {
        let first = create_session(&consul, NO_DELAY);
        let second = create_session(&consul, NO_DELAY);
        let put = |parameters: &str, value: &str, answer: &str| {
            consul
                .put(&format!("/v1/kv/k?{parameters}"), value)
                .is(200, answer);
        };
        let x = Some("eA==".to_owned());
        let y = Some("eQ==".to_owned());
        let held = Some(first.clone());
        put(&format!("release={first}"), "x", "false");
        consul.get("/v1/kv/k").is(404, "");
        put(&format!("acquire={first}&flags=9"), "x", "true");
        assert_eq!(lock(&consul), (1, x.clone(), 9, held.clone()));
        let index = consul.get("/v1/kv/k").index();
        put(&format!("acquire={first}&flags=9"), "x", "true");
        assert_eq!(consul.get("/v1/kv/k").index(), index);
        put(&format!("acquire={first}"), "y", "true");
        assert_eq!(lock(&consul), (1, y.clone(), 0, held.clone()));
        put(&format!("acquire={second}"), "x", "false");
        assert_eq!(lock(&consul), (1, y.clone(), 0, held.clone()));
        put("", "x", "true");
        assert_eq!(lock(&consul), (0, x.clone(), 0, held.clone()));
        put(&format!("acquire={first}"), "x", "true");
        assert_eq!(lock(&consul), (0, x, 0, held));
        put(&format!("release={second}"), "", "false");
        put(&format!("release={first}&flags=3"), "y", "true");
        assert_eq!(lock(&consul), (0, y, 3, None));
        put(&format!("release={first}"), "", "false");
        put(&format!("acquire={second}"), "", "true");
        assert_eq!(lock(&consul), (1, None, 0, Some(second.clone())));
        put(&format!("release={second}"), "", "true");
        assert_eq!(lock(&consul), (1, None, 0, None));
    }
}

const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

#[test]
fn sessions_that_are_none_in_1_8() {
    let consul = Consul::v1_8();
    let length = "failed session lookup: index error: UUID must be 36 characters";
    let byte =
        "failed session lookup: index error: Invalid UUID: encoding/hex: invalid byte: U+005A 'Z'";
    let unknown = format!("invalid session \"{UNKNOWN}\"");
    for (session, text) in [
        ("", "missing session"),
        ("nope", length),
        ("ZZZZZZZZ-0000-0000-0000-000000000000", byte),
        (UNKNOWN, &unknown),
    ] {
        let answer = consul.put(&format!("/v1/kv/k?acquire={session}"), "x");
        answer.is(500, text).has_head(&[
            "HTTP/1.1 500 Internal Server Error",
            &format!("Content-Length: {}", text.len()),
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
        ]);
    }
    consul.get("/v1/kv/k").is(404, "");
}

#[test]
fn sessions_that_are_none_in_newer_versions() {
    for version in [Version::new(1, 11, 0), Version::V1_22_0] {
        let consul = Consul::of(version);
        for session in ["nope", "ZZZZZZZZ-0000-0000-0000-000000000000", UNKNOWN] {
            let answer = consul.put(&format!("/v1/kv/k?acquire={session}"), "x");
            answer.is(
                500,
                &format!("raft apply failed: invalid session \"{session}\""),
            );
        }
        let answer = consul.put("/v1/kv/k?acquire=", "x");
        answer.is(500, "raft apply failed: missing session");
    }
    // The prefix is a little older than the lookup.
    let consul = Consul::of(Version::new(1, 10, 0));
    let answer = consul.put("/v1/kv/k?acquire=nope", "x");
    answer.is(
        500,
        "raft apply failed: failed session lookup: index error: UUID must be 36 characters",
    );
}

#[test]
fn releasing_for_a_session_that_is_none() {
    for consul in Consul::both() {
        consul.put("/v1/kv/k", "x");
        for session in ["nope", UNKNOWN] {
            let answer = consul.put(&format!("/v1/kv/k?release={session}"), "y");
            answer.is(200, "false");
        }
        consul.get("/v1/kv/k?raw").is(200, "x");
    }
    Consul::v1_8()
        .put("/v1/kv/k?release=", "y")
        .is(500, "missing session");
    Consul::v1_22()
        .put("/v1/kv/k?release=", "y")
        .is(500, "raft apply failed: missing session");
}

#[test]
fn a_holder_is_known_by_the_spelling_of_its_id() {
    for consul in Consul::both() {
        let session = create_session(&consul, NO_DELAY);
        let upper = session.to_uppercase();
        let put = |parameters: String, answer: &str| {
            consul
                .put(&format!("/v1/kv/k?{parameters}"), "")
                .is(200, answer);
        };
        put(format!("acquire={upper}"), "true");
        assert_eq!(lock(&consul).3.as_deref(), Some(upper.as_str()));
        put(format!("acquire={session}"), "false");
        put(format!("release={session}"), "false");
        put(format!("release={upper}"), "true");
    }
}

#[test]
fn a_key_is_guarded_after_its_holder_fell() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::frozen(version);
        let first = create_session(&consul, r#"{"LockDelay":"15s"}"#);
        let second = create_session(&consul, "{}");
        consul
            .put(&format!("/v1/kv/k?acquire={first}"), "x")
            .is(200, "true");
        consul
            .put(&format!("/v1/session/destroy/{first}"), "")
            .is(200, "true");
        let acquire = |session: &str| {
            let answer = consul.put(&format!("/v1/kv/k?acquire={session}"), "y");
            assert_eq!(answer.code(), 200, "{}", answer.text());
            answer.text() == "true"
        };
        for session in [&second, UNKNOWN, "nope", ""] {
            assert!(!acquire(session), "{session:?}");
        }
        let lock_in_txn = format!(r#"[{{"KV":{{"Verb":"lock","Key":"k","Session":"{second}"}}}}]"#);
        let text = r#"{"Results":null,"Errors":[{"OpIndex":0,"What":"failed to lock key \"k\" due to lock delay"}]}"#;
        consul.put("/v1/txn", &lock_in_txn).is(409, text);
        // Writing, deleting and writing again are free, and change nothing of it.
        consul.put("/v1/kv/k", "z").is(200, "true");
        consul.delete("/v1/kv/k").is(200, "true");
        consul.put("/v1/kv/k?cas=0", "z").is(200, "true");
        assert!(!acquire(&second));
        assert_eq!(lock(&consul).3, None);
        consul.server().advance(Duration::from_millis(14_999));
        assert!(!acquire(&second));
        consul.server().advance(Duration::from_millis(1));
        assert!(acquire(&second));
    }
}
