//! `PUT /v1/txn`: bodies, the two paths, and the form of answers (kv.md 7.1 to 7.3; 1.22.md A7).

mod catalog;
mod verbs;

use proconsul::Version;

use crate::support::{Consul, request};

#[test]
fn a_transaction_that_writes() {
    let consul = Consul::v1_8();
    let set =
        r#"[{"KV":{"Verb":"set","Key":"a","Value":"eA==","Flags":5,"Index":9,"Session":"x"}}]"#;
    let text = r#"{"Results":[{"KV":{"LockIndex":0,"Key":"a","Flags":5,"Value":null,"CreateIndex":8,"ModifyIndex":8}}],"Errors":null}"#;
    consul.put("/v1/txn", set).is(200, text).has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 115",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
    ]);
    let delete = r#"[{"KV":{"Verb":"delete","Key":"a"}}]"#;
    let nothing = r#"{"Results":[],"Errors":null}"#;
    consul.put("/v1/txn", delete).is(200, nothing);
}

#[test]
fn a_transaction_that_reads() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a", "x");
    let get = r#"[{"KV":{"Verb":"get","Key":"a"}}]"#;
    let results = r#""Results":[{"KV":{"LockIndex":0,"Key":"a","Flags":0,"Value":"eA==","CreateIndex":8,"ModifyIndex":8}}],"Errors":null"#;
    let text = format!(
        r#"{{{results},"Index":0,"LastContact":0,"KnownLeader":true,"ConsistencyLevel":""}}"#
    );
    consul.put("/v1/txn", get).is(200, &text).has_head(&[
        "HTTP/1.1 200 OK",
        &format!("Content-Length: {}", text.len()),
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
    ]);
    let consul = Consul::v1_22();
    consul.put("/v1/kv/a", "x");
    let text = format!(
        r#"{{{results},"Index":1,"LastContact":0,"KnownLeader":true,"ConsistencyLevel":"","NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}}"#
    );
    consul.put("/v1/txn", get).is(200, &text).has_head(&[
        "HTTP/1.1 200 OK",
        &format!("Content-Length: {}", text.len()),
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
        "X-Consul-Default-Acl-Policy: allow",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
    ]);
}

#[test]
fn the_fields_of_reading_answers_came_one_by_one() {
    let tail = |version| {
        let answer = Consul::of(version).put("/v1/txn", "[]");
        let text = answer.text();
        let start = r#"{"Results":[],"Errors":null,"#;
        text.strip_prefix(start)
            .expect("an empty result")
            .to_owned()
    };
    let common = r#""LastContact":0,"KnownLeader":true,"ConsistencyLevel":"""#;
    for (version, expected) in [
        (Version::new(1, 8, 19), format!(r#""Index":0,{common}}}"#)),
        (
            Version::new(1, 9, 0),
            format!(r#""Index":0,{common},"NotModified":false}}"#),
        ),
        (
            Version::new(1, 10, 1),
            format!(r#""Index":0,{common},"NotModified":false,"Backend":0}}"#),
        ),
        (
            Version::new(1, 11, 0),
            format!(
                r#""Index":0,{common},"NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}}"#
            ),
        ),
        (
            Version::new(1, 12, 0),
            format!(
                r#""Index":1,{common},"NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}}"#
            ),
        ),
    ] {
        assert_eq!(tail(version), expected, "{version}");
    }
}

#[test]
fn a_transaction_that_fails() {
    let get = r#"[{"KV":{"Verb":"get","Key":"zzz"}},{"KV":{"Verb":"set","Key":"a"}},{"KV":{"Verb":"check-index","Key":"b"}}]"#;
    let text = r#"{"Results":null,"Errors":[{"OpIndex":0,"What":"key \"zzz\" doesn't exist"},{"OpIndex":2,"What":"failed to check index, key \"b\" doesn't exist"}]}"#;
    let head = |content_type: &str| {
        [
            "HTTP/1.1 409 Conflict".to_owned(),
            format!("Content-Length: {}", text.len()),
            format!("Content-Type: {content_type}"),
            "Vary: Accept-Encoding".to_owned(),
        ]
    };
    let consul = Consul::v1_8();
    let answer = consul.put("/v1/txn", get);
    answer.is(409, text);
    answer.has_head(&head("application/json").each_ref().map(String::as_str));
    consul.get("/v1/kv/a").is(404, "");
    let content_type = |version| {
        let answer = Consul::of(version).put("/v1/txn", get);
        answer.is(409, text);
        answer.header("Content-Type").map(str::to_owned)
    };
    assert_eq!(
        content_type(Version::new(1, 21, 4)).as_deref(),
        Some("application/json")
    );
    assert_eq!(
        content_type(Version::V1_21_5).as_deref(),
        Some("application/json; charset=utf-8")
    );
}

#[test]
fn a_reading_transaction_that_fails_before_it_runs() {
    let body = r#"[{"KV":{"Verb":"get-tree","Key":""}}]"#;
    let errors = r#""Errors":[{"OpIndex":0,"What":"Must provide key"}]"#;
    let answer = Consul::v1_8().put("/v1/txn", body);
    answer.is(
        409,
        &format!(
            r#"{{"Results":null,{errors},"Index":0,"LastContact":0,"KnownLeader":true,"ConsistencyLevel":""}}"#
        ),
    );
    assert_eq!(answer.header("X-Consul-Knownleader"), Some("true"));
    let answer = Consul::v1_22().put("/v1/txn", body);
    answer.is(
        409,
        &format!(
            r#"{{"Results":null,{errors},"Index":0,"LastContact":0,"KnownLeader":false,"ConsistencyLevel":"","NotModified":false,"Backend":0,"ResultsFilteredByACLs":false}}"#
        ),
    );
    assert_eq!(answer.header("X-Consul-Knownleader"), Some("false"));
}

// trap: kv 29
#[test]
fn the_body_is_strict_about_fields_and_lax_about_case_and_what_follows() {
    for consul in Consul::both() {
        for body in [
            "[]",
            "null",
            "[{}]",
            r#"[{"KV":null}]"#,
            "[] trailing garbage",
            "[]]",
            " \n[]",
            r#"[{"KV":{"Verb":"get-tree","Key":"zz","Namespace":"x"}}]"#,
            r#"[{"kv":{"VERB":"get-tree","keY":"zz"}}]"#,
        ] {
            let answer = consul.put("/v1/txn", body);
            assert_eq!(answer.code(), 200, "{body}: {}", answer.text());
            assert!(
                answer
                    .text()
                    .starts_with(r#"{"Results":[],"Errors":null,"Index":"#)
            );
        }
        for field in ["Session", "Intention", "Bogus"] {
            let body = format!(r#"[{{"{field}":{{}}}}]"#);
            let text = format!("Failed to parse body: json: unknown field \"{field}\"");
            consul.put("/v1/txn", body).is(400, &text);
        }
    }
}

#[test]
fn bodies_that_do_not_parse() {
    for consul in Consul::both() {
        for (body, text) in [
            ("", "EOF"),
            (" ", "EOF"),
            ("[", "unexpected EOF"),
            (r#"[{"KV":{"Verb":"set","#, "unexpected EOF"),
            (
                "{}",
                "json: cannot unmarshal object into Go value of type api.TxnOps",
            ),
            (
                "5",
                "json: cannot unmarshal number into Go value of type api.TxnOps",
            ),
            (r#"[{"KV":{"Bogus":1}}]"#, "json: unknown field \"Bogus\""),
            (
                r#"[{"KV":{"Verb":"set","Key":"a","Value":"!"}}]"#,
                "illegal base64 data at input byte 0",
            ),
            (
                r#"[{"KV":{"Verb":"set","Key":"a","Value":"eA"}}]"#,
                "illegal base64 data at input byte 0",
            ),
            (
                "nonsense",
                "invalid character 'o' in literal null (expecting 'u')",
            ),
            (
                "\u{0}",
                "invalid character '\\x00' looking for beginning of value",
            ),
            ("[{}", "unexpected EOF"),
            ("[{} {}]", "invalid character '{' after array element"),
        ] {
            let answer = consul.put("/v1/txn", body);
            answer.is(400, &format!("Failed to parse body: {text}"));
        }
        consul.get("/v1/kv/?keys").is(200, "[]");
    }
}

#[test]
fn types_of_members_in_the_words_of_go() {
    let consul = Consul::v1_8();
    for (member, text) in [
        (
            r#""Value":5"#,
            "number into Go struct field KVTxnOp.KV.Value of type []uint8",
        ),
        (
            r#""Flags":-1"#,
            "number -1 into Go struct field KVTxnOp.KV.Flags of type uint64",
        ),
        (
            r#""Flags":"1""#,
            "string into Go struct field KVTxnOp.KV.Flags of type uint64",
        ),
    ] {
        let body = format!(r#"[{{"KV":{{"Verb":"set","Key":"a",{member}}}}}]"#);
        let text = format!("Failed to parse body: json: cannot unmarshal {text}");
        consul.put("/v1/txn", body).is(400, &text);
    }
}

#[test]
fn an_operation_that_is_null_ends_the_connection_without_a_word() {
    for consul in Consul::both() {
        let mut wire = consul.connect();
        wire.send(&request("PUT", "/v1/txn", &[], b"[null]"));
        assert!(wire.is_closed());
        let set = br#"[{"KV":{"Verb":"set","Key":"a"}},null]"#;
        let mut wire = consul.connect();
        wire.send(&request("PUT", "/v1/txn", &[], set));
        assert!(wire.is_closed());
        consul.get("/v1/kv/?keys").is(200, "[]");
    }
}

#[test]
fn parameters_are_checked_as_for_a_read_only_where_nothing_is_written() {
    for consul in Consul::both() {
        for (parameters, text) in [
            (
                "stale&consistent",
                "Cannot specify ?stale with ?consistent, conflicting semantics.",
            ),
            ("index=abc", "Invalid index"),
            ("wait=abc", "Invalid wait time"),
            ("max_stale=abc", "Invalid max_stale value \"abc\""),
        ] {
            let target = format!("/v1/txn?{parameters}");
            consul.put(&target, "[]").is(400, text);
            let set = r#"[{"KV":{"Verb":"set","Key":"a"}}]"#;
            assert_eq!(consul.put(&target, set).code(), 200);
        }
        let header = ["Cache-Control: max-age=x"];
        let answer = consul.ask_with("PUT", "/v1/txn", &header, b"[]");
        answer.is(400, "Invalid Cache-Control header.");
        // It never waits.
        let answer = consul.put("/v1/txn?index=1000000&wait=10m", "[]");
        assert_eq!(answer.code(), 200);
    }
}

#[test]
fn results_are_a_flat_list() {
    for consul in Consul::both() {
        let body = r#"[
            {"KV":{"Verb":"check-not-exists","Key":"a"}},
            {"KV":{"Verb":"set","Key":"a","Value":"MQ=="}},
            {"KV":{"Verb":"get","Key":"a"}},
            {"KV":{"Verb":"set","Key":"a","Value":"Mg=="}},
            {"KV":{"Verb":"set","Key":"a/b"}},
            {"KV":{"Verb":"get-tree","Key":"a"}},
            {"KV":{"Verb":"delete","Key":"a"}}]"#;
        let entry = |key: &str, value: &str| {
            format!(
                r#"{{"KV":{{"LockIndex":0,"Key":"{key}","Flags":0,"Value":{value},"CreateIndex":8,"ModifyIndex":8}}}}"#
            )
        };
        let results = [
            entry("a", "null"),
            entry("a", r#""MQ==""#),
            entry("a", "null"),
            entry("a/b", "null"),
            entry("a", r#""Mg==""#),
            entry("a/b", "null"),
        ];
        let text = format!(r#"{{"Results":[{}],"Errors":null}}"#, results.join(","));
        consul.put("/v1/txn", body).is(200, &text);
        consul.get("/v1/kv/?keys").is(200, r#"["a/b"]"#);
    }
}

#[test]
fn pretty_and_compressed_as_any_answer() {
    let consul = Consul::dev(Version::V1_8_7);
    let text = "{\n    \"Results\": [],\n    \"Errors\": null\n}\n";
    let delete = r#"[{"KV":{"Verb":"delete","Key":"a"}}]"#;
    consul.put("/v1/txn", delete).is(200, text);
    let failed = consul.put("/v1/txn", r#"[{"KV":{"Verb":"set"}}]"#);
    let text = "{\n    \"Results\": null,\n    \"Errors\": [\n        {\n            \"OpIndex\": 0,\n            \"What\": \"Must provide key\"\n        }\n    ]\n}\n";
    failed.is(409, text);
    let answer = consul.ask_with("PUT", "/v1/txn", &["Accept-Encoding: gzip"], b"[]");
    assert_eq!(answer.header("Content-Encoding"), Some("gzip"));
}
