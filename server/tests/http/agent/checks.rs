//! The agent's own checks: registered, reported, and how they come into the catalog (session.md 4.4).

use std::time::Duration;

use proconsul::Version;

use crate::support::Consul;

fn register(consul: &Consul, body: &str) {
    consul.put("/v1/agent/check/register", body).is(200, "");
}

/// Of the checks of the agent's node in the catalog, what is there of this one.
fn in_catalog(consul: &Consul, id: &str) -> serde_json::Value {
    let checks = consul.get("/v1/health/node/proconsul").json();
    let mut checks = checks.as_array().expect("the body is a list").iter();
    let found = checks.find(|check| check["CheckID"] == id);
    found.cloned().unwrap_or_default()
}

#[test]
fn an_output_cannot_be_limited_to_less_than_nothing() {
    let body = r#"{"Name":"c","TTL":"1h","OutputMaxSize":-1}"#;
    let text = "Invalid check: MaxOutputMaxSize must be positive";
    Consul::v1_8()
        .put("/v1/agent/check/register", body)
        .is(400, text);
}

#[test]
fn a_docker_check_keeps_its_status_and_says_so() {
    let consul = Consul::with(|config| config.enable_script_checks = true);
    let body = r#"{"Name":"c","Status":"passing","DockerContainerID":"c","Args":["true"],"Interval":"1s"}"#;
    consul.put("/v1/agent/check/register", body).is(200, "");
    let checks = consul.get("/v1/agent/checks");
    for part in [
        r#""Status":"passing""#,
        r#""Output":"proconsul does not run checks of this type"#,
    ] {
        assert!(checks.text().contains(part), "{}", checks.text());
    }
}

#[test]
fn a_service_with_a_check_of_the_operating_system_is_refused_whole() {
    let consul = Consul::v1_22();
    let body = r#"{"Name":"s","Check":{"OSService":"s","Interval":"1s"}}"#;
    consul
        .put("/v1/agent/service/register", body)
        .is(500, "not implemented");
    consul.get("/v1/agent/services").is(200, "{}");
}

#[test]
fn an_unknown_check_is_answered_as_the_release_does() {
    for (version, code) in [(Version::new(1, 11, 0), 500), (Version::new(1, 11, 2), 404)] {
        Consul::of(version)
            .put("/v1/agent/check/deregister/x", "")
            .is(code, "Unknown check \"x\"");
    }
}

#[test]
fn an_empty_answer_has_the_type_of_its_release() {
    let head = |consul: Consul| {
        let answer = consul.put("/v1/agent/check/register", r#"{"Name":"c","TTL":"1h"}"#);
        answer.header("Content-Type").map(str::to_owned)
    };
    assert_eq!(head(Consul::v1_8()), None);
    assert_eq!(
        head(Consul::of(Version::V1_20_0)).as_deref(),
        Some("text/plain; charset=utf-8")
    );
    assert_eq!(
        head(Consul::v1_22()).as_deref(),
        Some("application/json; charset=utf-8")
    );
}

#[test]
fn an_output_alone_reaches_the_catalog_later() {
    let consul = Consul::frozen(Version::V1_8_7);
    register(&consul, r#"{"Name":"c","TTL":"1h"}"#);
    consul.put("/v1/agent/check/pass/c?note=one", "");
    consul.put("/v1/agent/check/pass/c?note=two", "");
    assert_eq!(in_catalog(&consul, "c")["Output"], "one");
    consul.server().advance(Duration::from_secs(149));
    assert_eq!(in_catalog(&consul, "c")["Output"], "one");
    consul.server().advance(Duration::from_secs(301));
    assert_eq!(in_catalog(&consul, "c")["Output"], "two");
    let at_once = Consul::with(|config| config.check_update_interval = Duration::ZERO);
    register(&at_once, r#"{"Name":"c","TTL":"1h"}"#);
    at_once.put("/v1/agent/check/pass/c?note=one", "");
    at_once.put("/v1/agent/check/pass/c?note=two", "");
    assert_eq!(in_catalog(&at_once, "c")["Output"], "two");
}

#[test]
fn a_ttl_expires_once_and_says_what_was_last_said() {
    let consul = Consul::frozen(Version::V1_8_7);
    let advance = |milliseconds| consul.server().advance(Duration::from_millis(milliseconds));
    register(&consul, r#"{"Name":"c","TTL":"10s","Status":"passing"}"#);
    advance(9_999);
    assert_eq!(in_catalog(&consul, "c")["Status"], "passing");
    advance(1);
    assert_eq!(in_catalog(&consul, "c")["Status"], "critical");
    assert_eq!(in_catalog(&consul, "c")["Output"], "TTL expired");
    consul.put("/v1/agent/check/pass/c?note=fine", "");
    advance(6_000);
    consul.put("/v1/agent/check/warn/c?note=still%20fine", "");
    advance(9_999);
    assert_eq!(
        in_catalog(&consul, "c")["Status"],
        "warning",
        "a report starts the TTL anew"
    );
    advance(1);
    assert_eq!(
        in_catalog(&consul, "c")["Output"],
        "TTL expired (last output before timeout follows): still fine"
    );
    let index = consul.get("/v1/health/node/proconsul").index();
    advance(20_000);
    assert_eq!(consul.get("/v1/health/node/proconsul").index(), index);
}

#[test]
fn interval_and_timeout_are_shown_since_1_10() {
    let consul = Consul::v1_22();
    let alone = r#"{"Name":"a","ID":"a","TCP":"127.0.0.1:1","Interval":"1m"}"#;
    consul.put("/v1/agent/check/register", alone).is(200, "");
    let of_service = r#"{"Name":"s","Check":{"TTL":"1h"}}"#;
    consul
        .put("/v1/agent/service/register", of_service)
        .is(200, "");
    let checks = consul.get("/v1/agent/checks");
    for shown in [
        r#""Type":"tcp","Interval":"1m0s","Timeout":"0s""#,
        r#""Type":"ttl","Interval":"","Timeout":"""#,
    ] {
        assert!(checks.text().contains(shown), "{}", checks.text());
    }
}
