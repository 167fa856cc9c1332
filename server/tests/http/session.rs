//! What the conformance suite does not say of sessions: settings, Go's words in full, and both sides of each release that changed
//! something between those that the suite runs on (session.md 1, 2; 1.22.md B0 to B2).

use std::time::Duration;

use proconsul::Version;

use crate::support::{Consul, create_session};

#[test]
fn types_of_members_in_the_words_of_go() {
    for (consul, field) in [(Consul::v1_8(), ".Name"), (Consul::v1_22(), ".Alias.Name")] {
        consul.put("/v1/session/create", r#"{"Name":5}"#).is(
            400,
            &format!(
                "Request decode failed: json: cannot unmarshal number into Go struct field {field} of type string"
            ),
        );
    }
}

#[test]
fn the_least_ttl_is_a_setting() {
    let consul = Consul::with(|config| config.session_ttl_min = Duration::from_secs(1));
    let text = "Invalid Session TTL '999000000', must be between [1s=24h0m0s]";
    consul
        .put("/v1/session/create", r#"{"TTL":"999ms"}"#)
        .is(500, text);
    create_session(&consul, r#"{"TTL":"1s"}"#);
    let text = "Invalid Session TTL '9999000000', must be between [10s=24h0m0s]";
    Consul::v1_22()
        .put("/v1/session/create", r#"{"TTL":"9.999s"}"#)
        .is(500, text);
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

#[test]
fn serf_health_disappears_from_the_checks_alone_and_in_its_own_spelling() {
    for consul in Consul::both() {
        for (body, expected) in [
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
        ] {
            assert_eq!(checks(&consul, body), expected, "{body}");
        }
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
fn since_1_20_a_text_that_repeats_binary_bytes_is_text_all_the_same() {
    let answer = Consul::v1_22().put("/v1/session/create", r#"{"Behavior":"\u0001"}"#);
    answer.is(500, "Invalid Behavior setting '\u{1}'");
    assert_eq!(
        answer.header("Content-Type"),
        Some("text/plain; charset=utf-8")
    );
}

#[test]
fn a_lookup_that_fails_has_the_headers_of_a_read() {
    let answer = Consul::v1_8().get("/v1/session/info/nope");
    answer.has_head(&[
        "HTTP/1.1 500 Internal Server Error",
        "Content-Length: 62",
        "Content-Type: text/plain; charset=utf-8",
        "Vary: Accept-Encoding",
        "X-Consul-Index: 1",
        "X-Consul-Knownleader: false",
        "X-Consul-Lastcontact: 0",
    ]);
}

#[test]
fn malformed_ids_are_unknown_ones_since_1_11() {
    let code = |version| Consul::of(version).get("/v1/session/info/nope").code();
    assert_eq!(code(Version::new(1, 10, 12)), 500);
    assert_eq!(code(Version::new(1, 11, 0)), 200);
}
