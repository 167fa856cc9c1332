//! `PUT /v1/session/create`: fields, defaults and refusals (session.md 1; 1.22.md B0, B1).

use std::time::Duration;

use proconsul::Version;

use crate::support::{Consul, create_session, request};

/// One member of the session that a body creates, as it is read back.
fn member(consul: &Consul, body: &str, name: &str) -> Option<serde_json::Value> {
    let id = create_session(consul, body);
    let answer = consul.get(&format!("/v1/session/info/{id}"));
    let list: serde_json::Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
    list[0].get(name).cloned()
}

#[test]
fn the_answer() {
    let consul = Consul::v1_8();
    let answer = consul.put("/v1/session/create", "");
    let id = answer.text().split('"').nth(3).expect("an id").to_owned();
    answer.is(200, &format!(r#"{{"ID":"{id}"}}"#)).has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 45",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
    ]);
    let info = consul.get(&format!("/v1/session/info/{id}"));
    info.is(
        200,
        &format!(
            r#"[{{"ID":"{id}","Name":"","Node":"proconsul","LockDelay":15000000000,"Behavior":"release","TTL":"","NodeChecks":["serfHealth"],"ServiceChecks":null,"CreateIndex":8,"ModifyIndex":8}}]"#
        ),
    );
}

// trap: session 10
#[test]
fn the_id_is_the_servers_and_no_version_4() {
    for consul in Consul::both() {
        let own = "11111111-2222-3333-4444-555555555555";
        let body = format!(r#"{{"ID":"{own}","CreateIndex":5,"ModifyIndex":5}}"#);
        let id = create_session(&consul, &body);
        assert_ne!(id, own);
        consul.get(&format!("/v1/session/info/{own}")).is(200, "[]");
        let ids: Vec<String> = (0..20).map(|_| create_session(&consul, "")).collect();
        for id in &ids {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            let digits = |letter: char| letter == '-' || matches!(letter, '0'..='9' | 'a'..='f');
            assert!(id.chars().all(digits), "{id}");
        }
        assert!(ids.iter().any(|id| id.as_bytes()[14] != b'4'));
    }
}

// trap: session 13
#[test]
fn what_holds_where_the_body_says_nothing() {
    for consul in Consul::both() {
        for body in [
            "",
            "{}",
            "null",
            r#"{"Name":null,"Behavior":"","TTL":"","LockDelay":null}"#,
        ] {
            let id = create_session(&consul, body);
            let answer = consul.get(&format!("/v1/session/info/{id}"));
            let expected = format!(
                r#"[{{"ID":"{id}","Name":"","Node":"proconsul","LockDelay":15000000000,"Behavior":"release","TTL":"","NodeChecks":["serfHealth"],"ServiceChecks":null,"#
            );
            assert!(answer.text().starts_with(&expected), "{}", answer.text());
        }
        let id = create_session(
            &consul,
            r#"{"Name":"a","Behavior":"delete","TTL":"10s","LockDelay":"1s","Node":"PROCONSUL"}"#,
        );
        let answer = consul.get(&format!("/v1/session/info/{id}"));
        let expected = format!(
            r#"[{{"ID":"{id}","Name":"a","Node":"PROCONSUL","LockDelay":1000000000,"Behavior":"delete","TTL":"10s","NodeChecks":["serfHealth"],"#
        );
        assert!(answer.text().starts_with(&expected), "{}", answer.text());
    }
}

// trap: session 9
#[test]
fn unknown_fields_are_fine_here_and_nowhere_else() {
    for consul in Consul::both() {
        let body = r#"{"Bogus":1,"Namespace":"x","Nested":{"a":[1,{}]}}"#;
        assert_eq!(consul.put("/v1/session/create", body).code(), 200);
        let operation = r#"[{"KV":{"Verb":"get","Key":"a","Bogus":1}}]"#;
        let text = "Failed to parse body: json: unknown field \"Bogus\"";
        consul.put("/v1/txn", operation).is(400, text);
    }
}

// trap: session 8
#[test]
fn a_chunked_body_is_ignored() {
    for consul in Consul::both() {
        let mut wire = consul.connect();
        let headers = ["Transfer-Encoding: chunked"];
        for body in [r#"{"Name":"x"}"#, "{nonsense", r#"{"TTL":5}"#] {
            let mut bytes = request("PUT", "/v1/session/create", &headers, b"");
            let size = body.len();
            bytes.extend_from_slice(format!("{size:x}\r\n{body}\r\n0\r\n\r\n").as_bytes());
            wire.send(&bytes);
            assert_eq!(wire.answer().code(), 200);
        }
        let list = consul.get("/v1/session/list");
        assert_eq!(list.text().matches(r#""Name":"","#).count(), 3);
    }
}

#[test]
fn the_rest_behind_the_body_and_the_case_of_names_do_not_matter() {
    for consul in Consul::both() {
        for (body, name) in [
            (r#"{"Name":"a"} junk"#, "a"),
            (r#"{"name":"b"}"#, "b"),
            (r#"{"NAME":"c","Name":"d"}"#, "d"),
            (r#"{"Name":"d","NAME":"c"}"#, "c"),
        ] {
            assert_eq!(member(&consul, body, "Name"), Some(name.into()), "{body}");
        }
        let form = ["Content-Type: application/x-www-form-urlencoded"];
        let answer = consul.ask_with("PUT", "/v1/session/create", &form, br#"{"Name":"e"}"#);
        assert_eq!(answer.code(), 200);
    }
}

// trap: session 3
#[test]
fn a_small_lock_delay_is_in_seconds() {
    for consul in Consul::both() {
        for (sent, nanoseconds) in [
            (r#""15s""#, 15_000_000_000_i64),
            ("15", 15_000_000_000),
            ("0", 0),
            (r#""0s""#, 0),
            (r#""0""#, 0),
            ("999", 999_000_000_000),
            ("1000", 1000),
            (r#""1us""#, 1000),
            (r#""999ns""#, 999_000_000_000),
            (r#""1ms""#, 1_000_000),
            ("1.5", 1_000_000_000),
            ("0.5", 0),
            ("61", 61_000_000_000),
            (r#""90s""#, 90_000_000_000),
            (r#""1h""#, 3_600_000_000_000),
            ("-1", -1_000_000_000),
            (r#""-1s""#, -1_000_000_000_000_000_000),
            ("true", 0),
            ("{}", 0),
            ("[]", 0),
            ("1e10", 10_000_000_000),
            ("10000000000", 10_000_000_000),
            ("2000000000", 2_000_000_000),
        ] {
            let body = format!(r#"{{"LockDelay":{sent}}}"#);
            let stored = member(&consul, &body, "LockDelay");
            assert_eq!(stored, Some(nanoseconds.into()), "{sent}");
        }
    }
}

// trap: session 5
#[test]
fn bad_json_and_lock_delays_are_400_and_all_else_500() {
    for consul in Consul::both() {
        for (body, text) in [
            ("{", "unexpected EOF"),
            (" ", "EOF"),
            (
                "[]",
                "json: cannot unmarshal array into Go value of type struct {",
            ),
            (
                r#""x""#,
                "json: cannot unmarshal string into Go value of type struct {",
            ),
            (
                r#"{"LockDelay":"15"}"#,
                "time: missing unit in duration \"15\"",
            ),
            (r#"{"LockDelay":""}"#, "time: invalid duration \"\""),
            (r#"{"LockDelay":"abc"}"#, "time: invalid duration \"abc\""),
            (r#"{"LockDelay":" 15s"}"#, "time: invalid duration \" 15s\""),
        ] {
            let answer = consul.put("/v1/session/create", body);
            let text = format!("Request decode failed: {text}");
            assert_eq!(answer.code(), 400, "{body}");
            assert!(
                answer.text().starts_with(&text),
                "{body}: {}",
                answer.text()
            );
        }
        for (body, text) in [
            (r#"{"Node":""}"#, "Must provide Node"),
            (
                r#"{"Behavior":"Delete"}"#,
                "Invalid Behavior setting 'Delete'",
            ),
            (
                r#"{"TTL":"10"}"#,
                "Session TTL '10' invalid: time: missing unit in duration \"10\"",
            ),
            (
                r#"{"TTL":"abc"}"#,
                "Session TTL 'abc' invalid: time: invalid duration \"abc\"",
            ),
            (
                r#"{"TTL":"1d"}"#,
                "Session TTL '1d' invalid: time: unknown unit \"d\" in duration \"1d\"",
            ),
        ] {
            consul.put("/v1/session/create", body).is(500, text);
        }
        consul.get("/v1/session/list").is(200, "[]");
    }
}

#[test]
fn what_is_refused_when_it_is_applied() {
    let lookup = "failed check lookup: index error: object is missing a value for this index";
    for (consul, prefix, empty) in [
        (Consul::v1_8(), "", "Missing check '' registration"),
        (Consul::v1_22(), "apply failed: ", lookup),
    ] {
        for (body, text) in [
            (r#"{"Node":"nope"}"#, "Missing node registration"),
            (
                r#"{"NodeChecks":["nope"]}"#,
                "Missing check 'nope' registration",
            ),
            (r#"{"NodeChecks":[""]}"#, empty),
            (
                r#"{"ServiceChecks":[{"ID":"nope"}]}"#,
                "Missing check 'nope' registration",
            ),
        ] {
            let answer = consul.put("/v1/session/create", body);
            answer.is(500, &format!("{prefix}{text}"));
        }
        consul.get("/v1/session/list").is(200, "[]");
    }
}

#[test]
fn types_of_members_in_the_words_of_go() {
    for (consul, field) in [(Consul::v1_8(), ".Name"), (Consul::v1_22(), ".Alias.Name")] {
        consul.put("/v1/session/create", r#"{"Name":5}"#).is(
            400,
            &format!(
                "Request decode failed: json: cannot unmarshal number into Go struct field {field} of type string"
            ),
        );
        let answer = consul.put("/v1/session/create", r#"{"TTL":10}"#);
        assert_eq!(answer.code(), 400);
        let answer = consul.put("/v1/session/create", r#"{"ServiceChecks":["x"]}"#);
        assert_eq!(answer.code(), 400);
    }
}

// trap: session 6
#[test]
fn a_ttl_out_of_range() {
    for consul in Consul::both() {
        for (ttl, nanoseconds) in [
            ("5s", "5000000000"),
            ("9.999s", "9999000000"),
            ("-10s", "-10000000000"),
            ("24h1ns", "86400000000001"),
        ] {
            let body = format!(r#"{{"TTL":"{ttl}"}}"#);
            consul.put("/v1/session/create", &body).is(
                500,
                &format!("Invalid Session TTL '{nanoseconds}', must be between [10s=24h0m0s]"),
            );
        }
    }
    let consul = Consul::with(|config| config.session_ttl_min = Duration::from_secs(1));
    let text = "Invalid Session TTL '999000000', must be between [1s=24h0m0s]";
    consul
        .put("/v1/session/create", r#"{"TTL":"999ms"}"#)
        .is(500, text);
    create_session(&consul, r#"{"TTL":"1s"}"#);
}

// trap: session 7
#[test]
fn a_ttl_comes_back_as_it_was_sent_and_a_lock_delay_as_a_number() {
    for consul in Consul::both() {
        for ttl in ["10s", "24h", "1m30s", "1.5m", "10000ms", "0", "0s", "600s"] {
            let body = format!(r#"{{"TTL":"{ttl}","LockDelay":"{ttl}"}}"#);
            assert_eq!(member(&consul, &body, "TTL"), Some(ttl.into()));
            let lock_delay = member(&consul, &body, "LockDelay").expect("a lock-delay");
            assert!(lock_delay.is_i64(), "{lock_delay}");
        }
    }
}

/// NodeChecks, ServiceChecks and Checks of the session that a body creates.
fn checks(consul: &Consul, body: &str) -> String {
    let id = create_session(consul, body);
    let answer = consul.get(&format!("/v1/session/info/{id}"));
    let text = answer.text();
    let start = text
        .find(r#""NodeChecks""#)
        .expect("a session has node checks");
    let end = text
        .find(r#","CreateIndex""#)
        .expect("a session has an index");
    text[start..end].to_owned()
}

// trap: session 11
#[test]
fn empty_lists_of_checks_wipe_each_other() {
    for consul in Consul::both() {
        for (body, expected) in [
            (
                r#"{"Checks":[]}"#,
                r#""NodeChecks":[],"ServiceChecks":null"#,
            ),
            (
                r#"{"Checks":null}"#,
                r#""NodeChecks":[],"ServiceChecks":null"#,
            ),
            (
                r#"{"NodeChecks":[]}"#,
                r#""NodeChecks":[],"ServiceChecks":null"#,
            ),
            (
                r#"{"NodeChecks":null}"#,
                r#""NodeChecks":null,"ServiceChecks":null"#,
            ),
            (
                r#"{"Checks":["nope"],"NodeChecks":[]}"#,
                r#""NodeChecks":[],"ServiceChecks":null"#,
            ),
            (
                r#"{"Checks":[],"NodeChecks":["nope"]}"#,
                r#""NodeChecks":[],"ServiceChecks":null"#,
            ),
            (
                r#"{"ServiceChecks":[]}"#,
                r#""NodeChecks":["serfHealth"],"ServiceChecks":[]"#,
            ),
        ] {
            assert_eq!(checks(&consul, body), expected, "{body}");
        }
    }
}

// trap: session 12
#[test]
fn named_checks_are_added_to_serf_health_which_itself_disappears() {
    for consul in Consul::both() {
        for (body, expected) in [
            (
                r#"{"Checks":["serfHealth"]}"#,
                r#""NodeChecks":["serfHealth"],"ServiceChecks":null"#,
            ),
            (
                r#"{"Checks":["SERFHEALTH"]}"#,
                r#""NodeChecks":["serfHealth"],"ServiceChecks":null,"Checks":["SERFHEALTH"]"#,
            ),
            (
                r#"{"Checks":["serfHealth","SerfHealth"]}"#,
                r#""NodeChecks":["serfHealth"],"ServiceChecks":null,"Checks":["serfHealth","SerfHealth"]"#,
            ),
            (
                r#"{"Checks":["serfHealth"],"NodeChecks":["SerfHealth"]}"#,
                r#""NodeChecks":["SerfHealth"],"ServiceChecks":null"#,
            ),
            (
                r#"{"NodeChecks":["serfHealth","serfHealth"]}"#,
                r#""NodeChecks":["serfHealth","serfHealth"],"ServiceChecks":null"#,
            ),
            (
                r#"{"ServiceChecks":[{"ID":"serfHealth","Namespace":"x"}]}"#,
                r#""NodeChecks":["serfHealth"],"ServiceChecks":[{"ID":"serfHealth","Namespace":"x"}]"#,
            ),
        ] {
            assert_eq!(checks(&consul, body), expected, "{body}");
        }
    }
}

#[test]
fn a_bad_ttl_wins_over_an_unknown_node_and_a_bad_behavior_over_both() {
    for consul in Consul::both() {
        let body = r#"{"Node":"nope","TTL":"1s","Behavior":"x"}"#;
        consul
            .put("/v1/session/create", body)
            .is(500, "Invalid Behavior setting 'x'");
        let body = r#"{"Node":"nope","TTL":"1s"}"#;
        let answer = consul.put("/v1/session/create", body);
        assert!(answer.text().starts_with("Invalid Session TTL"));
    }
}

#[test]
fn a_refusal_when_applied_was_prefixed_in_1_10() {
    let text = |version| {
        let consul = Consul::of(version);
        let answer = consul.put("/v1/session/create", r#"{"Node":"nope"}"#);
        answer.text().to_owned()
    };
    assert_eq!(text(Version::new(1, 9, 9)), "Missing node registration");
    assert_eq!(
        text(Version::new(1, 10, 0)),
        "apply failed: Missing node registration"
    );
}

#[test]
fn a_text_that_repeats_binary_bytes_is_no_text_to_go() {
    let consul = Consul::v1_8();
    let behavior = r#"{"Behavior":"\u0001"}"#;
    let answer = consul.put("/v1/session/create", behavior);
    answer.is(500, "Invalid Behavior setting '\u{1}'");
    assert_eq!(
        answer.header("Content-Type"),
        Some("application/octet-stream")
    );
    // Since 1.20 the type of errors is not guessed.
    let answer = Consul::v1_22().put("/v1/session/create", behavior);
    assert_eq!(
        answer.header("Content-Type"),
        Some("text/plain; charset=utf-8")
    );
}
