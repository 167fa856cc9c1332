//! The verbs of a transaction, and what each says when it fails (kv.md 7.3, 7.4; 1.22.md A7).

use proconsul::Version;

use crate::support::{Consul, create_session};

/// The `What` of the only failed operation.
fn what(consul: &Consul, operation: &str) -> String {
    let answer = consul.put("/v1/txn", format!(r#"[{{"KV":{{{operation}}}}}]"#));
    assert_eq!(answer.code(), 409, "{operation}: {}", answer.text());
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
    let errors = answer["Errors"].as_array().expect("a failure has errors");
    assert_eq!((errors.len(), &errors[0]["OpIndex"]), (1, &0.into()));
    errors[0]["What"].as_str().expect("a text").to_owned()
}

/// The number of results.
fn results(consul: &Consul, operation: &str) -> usize {
    let answer = consul.put("/v1/txn", format!(r#"[{{"KV":{{{operation}}}}}]"#));
    assert_eq!(answer.code(), 200, "{operation}: {}", answer.text());
    answer.text().matches(r#"{"KV":"#).count()
}

#[test]
fn what_failing_verbs_say() {
    for consul in Consul::both() {
        consul.put("/v1/kv/s", "x");
        let index = consul.get("/v1/kv/s").index();
        let wrong = format!("failed index check for key \"s\", current modify index {index} != 1");
        for (operation, text) in [
            (
                r#""Verb":"cas","Key":"s","Index":1"#,
                "failed to set key \"s\", index is stale",
            ),
            (
                r#""Verb":"cas","Key":"s","Index":0"#,
                "failed to set key \"s\", index is stale",
            ),
            (
                r#""Verb":"cas","Key":"no","Index":5"#,
                "failed to set key \"no\", index is stale",
            ),
            (
                r#""Verb":"unlock","Key":"s","Session":"x""#,
                "failed to unlock key \"s\", lock isn't held, or is held by another session",
            ),
            (
                r#""Verb":"unlock","Key":"no","Session":"x""#,
                "failed to unlock key \"no\", lock isn't held, or is held by another session",
            ),
            (r#""Verb":"lock","Key":"s""#, "missing session"),
            (r#""Verb":"unlock","Key":"s""#, "missing session"),
            (r#""Verb":"get","Key":"zzz""#, "key \"zzz\" doesn't exist"),
            (r#""Verb":"check-index","Key":"s","Index":1"#, &wrong),
            (
                r#""Verb":"check-index","Key":"nope","Index":0"#,
                "failed to check index, key \"nope\" doesn't exist",
            ),
            (
                r#""Verb":"check-session","Key":"s","Session":"x""#,
                "failed session check for key \"s\", current session \"\" != \"x\"",
            ),
            (
                r#""Verb":"check-session","Key":"nope""#,
                "failed to check session, key \"nope\" doesn't exist",
            ),
            (r#""Verb":"check-not-exists","Key":"s""#, "key \"s\" exists"),
            (
                r#""Verb":"delete-cas","Key":"s","Index":1"#,
                "failed to delete key \"s\", index is stale",
            ),
            (
                r#""Verb":"get","Key":"q\"\\é\n""#,
                r#"key "q\"\\é\n" doesn't exist"#,
            ),
        ] {
            assert_eq!(what(&consul, operation), text, "{operation}");
        }
        assert_eq!(consul.get("/v1/kv/?recurse").index(), index);
    }
}

#[test]
fn what_succeeding_verbs_show() {
    for consul in Consul::both() {
        consul.put("/v1/kv/s", "x");
        let session = create_session(&consul, r#"{"LockDelay":"0s"}"#);
        let index = || consul.get("/v1/kv/s").index();
        let is = |operation: &str, count: usize| {
            assert_eq!(results(&consul, operation), count, "{operation}");
        };
        is(r#""Verb":"get","Key":"s""#, 1);
        is(r#""Verb":"get-tree","Key":"s""#, 1);
        is(r#""Verb":"get-tree","Key":"none""#, 0);
        is(
            &format!(r#""Verb":"check-index","Key":"s","Index":{}"#, index()),
            1,
        );
        is(r#""Verb":"check-session","Key":"s""#, 1);
        is(r#""Verb":"check-not-exists","Key":"none""#, 0);
        is(
            &format!(r#""Verb":"lock","Key":"s","Session":"{session}""#),
            1,
        );
        is(
            &format!(r#""Verb":"check-session","Key":"s","Session":"{session}""#),
            1,
        );
        is(
            &format!(r#""Verb":"unlock","Key":"s","Session":"{session}""#),
            1,
        );
        is(
            &format!(
                r#""Verb":"cas","Key":"s","Index":{},"Value":"eg==""#,
                index()
            ),
            1,
        );
        is(r#""Verb":"cas","Key":"new","Index":0"#, 1);
        is(r#""Verb":"set","Key":"s/x""#, 1);
        is(
            &format!(r#""Verb":"delete-cas","Key":"s","Index":{}"#, index()),
            0,
        );
        is(r#""Verb":"delete-cas","Key":"none","Index":77"#, 0);
        is(r#""Verb":"delete","Key":"none""#, 0);
        is(r#""Verb":"delete-tree","Key":"s""#, 0);
        consul.get("/v1/kv/?keys").is(200, r#"["new"]"#);
        is(r#""Verb":"delete-tree","Key":"""#, 0);
        consul.get("/v1/kv/?keys").is(200, "[]");
    }
}

#[test]
fn values_are_shown_by_the_reading_verbs_only() {
    for consul in Consul::both() {
        consul.put("/v1/kv/s", "x");
        let index = consul.get("/v1/kv/s").index();
        for (operation, value) in [
            (r#""Verb":"get","Key":"s""#.to_owned(), r#""eA==""#),
            (r#""Verb":"get-tree","Key":"s""#.to_owned(), r#""eA==""#),
            (
                format!(r#""Verb":"check-index","Key":"s","Index":{index}"#),
                "null",
            ),
            (r#""Verb":"check-session","Key":"s""#.to_owned(), "null"),
            (
                r#""Verb":"set","Key":"s","Value":"eA==""#.to_owned(),
                "null",
            ),
        ] {
            let answer = consul.put("/v1/txn", format!(r#"[{{"KV":{{{operation}}}}}]"#));
            let value = format!(r#""Value":{value},"#);
            assert!(
                answer.text().contains(&value),
                "{operation}: {}",
                answer.text()
            );
        }
    }
}

#[test]
fn locks_of_others_and_of_nobody() {
    for consul in Consul::both() {
        let holder = create_session(&consul, "");
        let other = create_session(&consul, "");
        consul.put(&format!("/v1/kv/L?acquire={holder}"), "x");
        let lock = format!(r#""Verb":"lock","Key":"L","Session":"{other}""#);
        assert_eq!(
            what(&consul, &lock),
            "failed to lock key \"L\", lock is already held"
        );
        let unlock = format!(r#""Verb":"unlock","Key":"L","Session":"{other}""#);
        assert_eq!(
            what(&consul, &unlock),
            "failed to unlock key \"L\", lock isn't held, or is held by another session"
        );
        let check = r#""Verb":"check-session","Key":"L","Session":"x""#;
        assert_eq!(
            what(&consul, check),
            format!("failed session check for key \"L\", current session \"{holder}\" != \"x\"")
        );
        let unknown = "00000000-0000-0000-0000-000000000000";
        let lock = format!(r#""Verb":"lock","Key":"f","Session":"{unknown}""#);
        assert_eq!(
            what(&consul, &lock),
            format!("invalid session \"{unknown}\"")
        );
    }
    let malformed = r#""Verb":"lock","Key":"f","Session":"nope""#;
    assert_eq!(
        what(&Consul::v1_8(), malformed),
        "failed session lookup: index error: UUID must be 36 characters"
    );
    assert_eq!(
        what(&Consul::v1_22(), malformed),
        "invalid session \"nope\""
    );
}

#[test]
fn unknown_verbs() {
    let old = Consul::v1_8();
    for verb in ["SET", "", "bogus", "get-or-empty"] {
        let operation = format!(r#""Verb":"{verb}","Key":"a""#);
        assert_eq!(
            what(&old, &operation),
            format!("unknown KV verb \"{verb}\"")
        );
    }
    let new = Consul::v1_22();
    for verb in ["SET", "", "bogus"] {
        let operation = format!(r#""Verb":"{verb}","Key":"a""#);
        assert_eq!(
            what(&new, &operation),
            format!("unknown KV operation: {verb}")
        );
    }
    // An unknown verb counts as a read.
    let answer = old.put("/v1/txn", r#"[{"KV":{"Verb":"bogus","Key":"a"}}]"#);
    assert_eq!(answer.header("X-Consul-Knownleader"), Some("true"));
    let text = |version| what(&Consul::of(version), r#""Verb":"SET","Key":"a""#);
    assert_eq!(text(Version::new(1, 19, 0)), "unknown KV verb \"SET\"");
    assert_eq!(text(Version::new(1, 19, 1)), "unknown KV operation: SET");
}

#[test]
fn operations_without_a_key() {
    for consul in Consul::both() {
        for verb in [
            "set",
            "cas",
            "get",
            "get-tree",
            "delete",
            "check-not-exists",
            "bogus",
        ] {
            let operation = format!(r#""Verb":"{verb}","Key":"""#);
            assert_eq!(what(&consul, &operation), "Must provide key", "{verb}");
        }
        // Nothing of the others is tried.
        let body = r#"[{"KV":{"Verb":"set","Key":"a"}},{"KV":{"Verb":"get","Key":"zz"}},{"KV":{"Verb":"get","Key":""}}]"#;
        let text = r#"{"Results":null,"Errors":[{"OpIndex":2,"What":"Must provide key"}]}"#;
        consul.put("/v1/txn", body).is(409, text);
        consul.get("/v1/kv/a").is(404, "");
    }
}

#[test]
fn get_or_empty_since_1_14() {
    let consul = Consul::of(Version::new(1, 14, 0));
    let body = r#"[{"KV":{"Verb":"get-or-empty","Key":"a","Flags":7,"Session":"s","Index":9}}]"#;
    let answer = consul.put("/v1/txn", body);
    assert_eq!(answer.code(), 200);
    let missing = r#"{"Results":[{"KV":{"LockIndex":0,"Key":"a","Flags":7,"Value":null,"Session":"s","CreateIndex":0,"ModifyIndex":9}}],"#;
    assert!(answer.text().starts_with(missing), "{}", answer.text());
    consul.put("/v1/kv/a", "x");
    let answer = consul.put("/v1/txn", body);
    let there =
        r#"{"Results":[{"KV":{"LockIndex":0,"Key":"a","Flags":0,"Value":"eA==","CreateIndex":"#;
    assert!(answer.text().starts_with(there), "{}", answer.text());
    let answer = Consul::of(Version::new(1, 13, 9)).put("/v1/txn", body);
    assert_eq!(answer.code(), 409);
}

#[test]
fn later_operations_see_earlier_ones_and_any_failure_undoes_all() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a", "old");
        let index = consul.get("/v1/kv/a").index();
        let body = format!(
            r#"[{{"KV":{{"Verb":"set","Key":"a","Value":"bmV3"}}}},
            {{"KV":{{"Verb":"set","Key":"b"}}}},
            {{"KV":{{"Verb":"cas","Key":"a","Index":{index}}}}},
            {{"KV":{{"Verb":"check-not-exists","Key":"b"}}}}]"#
        );
        let text = r#"{"Results":null,"Errors":[{"OpIndex":2,"What":"failed to set key \"a\", index is stale"},{"OpIndex":3,"What":"key \"b\" exists"}]}"#;
        consul.put("/v1/txn", &body).is(409, text);
        consul.get("/v1/kv/a?raw").is(200, "old");
        let keys = consul.get("/v1/kv/?keys");
        keys.is(200, r#"["a"]"#);
        assert_eq!(keys.index(), index);
    }
}
