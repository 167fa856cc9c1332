//! What the conformance suite does not say of transactions: layout, where Go's decoder stops, and both sides of each release that
//! changed something between those that the suite runs on (kv.md 7.1 to 7.4; 1.22.md A7).

use proconsul::Version;

use crate::support::{Consul, request};

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
fn bodies_that_are_no_json() {
    for consul in Consul::both() {
        for (body, text) in [
            (" ", "EOF"),
            (
                "nonsense",
                "invalid character 'o' in literal null (expecting 'u')",
            ),
            (
                "\u{0}",
                "invalid character '\\x00' looking for beginning of value",
            ),
            ("[{} {}]", "invalid character '{' after array element"),
        ] {
            let answer = consul.put("/v1/txn", body);
            answer.is(400, &format!("Failed to parse body: {text}"));
        }
    }
}

#[test]
fn an_operation_that_is_null_undoes_those_before_it() {
    for consul in Consul::both() {
        let set = br#"[{"KV":{"Verb":"set","Key":"a"}},null]"#;
        let mut wire = consul.connect();
        wire.send(&request("PUT", "/v1/txn", &[], set));
        assert!(wire.is_closed());
        consul.get("/v1/kv/?keys").is(200, "[]");
    }
}

#[test]
fn a_refusal_is_called_json_in_utf_8_since_1_21_5() {
    let content_type = |version| {
        let get = r#"[{"KV":{"Verb":"get","Key":"zzz"}}]"#;
        let answer = Consul::of(version).put("/v1/txn", get);
        assert_eq!(answer.status, "HTTP/1.1 409 Conflict");
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
fn verbs_by_release() {
    let what = |version, verb: &str| {
        let body = format!(r#"[{{"KV":{{"Verb":"{verb}","Key":"a"}}}}]"#);
        let answer = Consul::of(version).put("/v1/txn", body);
        answer.json()["Errors"][0]["What"]
            .as_str()
            .map(str::to_owned)
    };
    let unknown = |text: &str| Some(text.to_owned());
    assert_eq!(
        what(Version::new(1, 19, 0), "SET"),
        unknown("unknown KV verb \"SET\"")
    );
    assert_eq!(
        what(Version::new(1, 19, 1), "SET"),
        unknown("unknown KV operation: SET")
    );
    assert_eq!(
        what(Version::new(1, 13, 9), "get-or-empty"),
        unknown("unknown KV verb \"get-or-empty\"")
    );
    assert_eq!(what(Version::new(1, 14, 0), "get-or-empty"), None);
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
