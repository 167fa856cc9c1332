//! The agent's own checks: registered, reported, and how they come into the catalog (session.md 4.4).

use std::time::Duration;

use proconsul::Version;

use crate::support::{Consul, create_session};

fn register(consul: &Consul, body: &str) {
    consul.put("/v1/agent/check/register", body).is(200, "");
}

/// Of the checks of the agent's node in the catalog, what is there of this one.
fn in_catalog(consul: &Consul, id: &str) -> serde_json::Value {
    let checks = consul.get("/v1/health/node/proconsul");
    let checks: Vec<serde_json::Value> =
        serde_json::from_slice(&checks.body).expect("the body is a list");
    let mut found = checks.into_iter().filter(|check| check["CheckID"] == id);
    found.next().unwrap_or_default()
}

#[test]
fn a_check_is_critical_and_in_the_catalog_at_once() {
    for consul in Consul::both() {
        register(&consul, r#"{"Name":"c","TTL":"1h","Notes":"n"}"#);
        let check = in_catalog(&consul, "c");
        assert_eq!(check["Status"], "critical");
        assert_eq!(check["Type"], "ttl");
        assert_eq!(check["Notes"], "n");
    }
}

#[test]
fn the_json_of_a_check() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"c","TTL":"1h"}"#);
    consul.get("/v1/agent/checks").is(
        200,
        r#"{"c":{"Node":"proconsul","CheckID":"c","Name":"c","Status":"critical","Notes":"","Output":"","ServiceID":"","ServiceName":"","ServiceTags":[],"Type":"ttl","Definition":{},"CreateIndex":0,"ModifyIndex":0}}"#,
    );
    let answer = consul.get("/v1/agent/checks");
    assert!(answer.header("X-Consul-Index").is_none());
}

#[test]
fn what_is_wrong_with_a_check_is_said_in_this_order() {
    let interval = "Invalid check: Interval must be > 0 for Script, HTTP, or TCP checks";
    let rows = [
        ("", 400, "Request decode failed: EOF"),
        ("{}", 400, "Missing check name"),
        (
            r#"{"Name":"c","TTL":"0s","Status":"x"}"#,
            400,
            "Bad check status",
        ),
        (
            r#"{"Name":"c","TTL":"1h","Interval":"1h","HTTP":"http://x"}"#,
            400,
            "Invalid check: Interval and TTL cannot both be specified",
        ),
        (
            r#"{"Name":"c","TTL":"1h","HTTP":"http://x"}"#,
            400,
            interval,
        ),
        (
            r#"{"Name":"c","AliasService":"x","TTL":"1s"}"#,
            400,
            "Invalid check: TTL must be not be set for Alias checks",
        ),
        (
            r#"{"Name":"c","Interval":"1h"}"#,
            400,
            "Invalid check: TTL must be > 0 for TTL checks",
        ),
        (
            r#"{"Name":"c","TTL":"1h","OutputMaxSize":-1}"#,
            400,
            "Invalid check: MaxOutputMaxSize must be positive",
        ),
        (
            r#"{"Name":"c","Args":["x"],"Interval":"1h"}"#,
            500,
            "Scripts are disabled on this agent from remote calls; to enable, configure 'enable_script_checks' to true",
        ),
        (
            r#"{"Name":"c","TTL":"1h","ServiceID":"s"}"#,
            500,
            "ServiceID \"s\" does not exist",
        ),
        (
            r#"{"Name":"c","TTL":"10"}"#,
            400,
            "Request decode failed: time: missing unit in duration \"10\"",
        ),
        (
            r#"{"Name":"c","CheckID":"c","TTL":"1h"}"#,
            400,
            "Request decode failed: json: unknown field \"CheckID\"",
        ),
    ];
    let consul = Consul::v1_8();
    for (body, code, text) in rows {
        consul.put("/v1/agent/check/register", body).is(code, text);
    }
    consul.get("/v1/agent/checks").is(200, "{}");
}

#[test]
fn newer_releases_refuse_a_check_in_other_words() {
    let newer = Consul::v1_22();
    newer
        .put("/v1/agent/check/register", r#"{"Name":"c","HTTP":"http://x"}"#)
        .is(400, "Invalid check: Interval must be > 0 for Script, HTTP, H2PING, TCP, UDP or OSService checks");
    newer
        .put(
            "/v1/agent/check/register",
            r#"{"Name":"c","TTL":"1h","ServiceID":"s"}"#,
        )
        .is(404, "ServiceID \"s\" does not exist");
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
fn a_check_of_the_operating_system_is_refused_as_on_linux() {
    let consul = Consul::v1_22();
    let check = r#""OSService":"s","Interval":"1s""#;
    let alone = format!(r#"{{"Name":"c",{check}}}"#);
    let of_service = format!(r#"{{"Name":"s","Check":{{{check}}}}}"#);
    for (what, body) in [("check", alone), ("service", of_service)] {
        consul
            .put(&format!("/v1/agent/{what}/register"), &body)
            .is(500, "not implemented");
        consul.get(&format!("/v1/agent/{what}s")).is(200, "{}");
    }
}

#[test]
fn an_unknown_check_is_answered_as_the_release_does() {
    let old = Consul::v1_8();
    let no_ttl = "CheckID \"x\" does not have associated TTL";
    for verb in ["pass", "warn", "fail"] {
        old.put(&format!("/v1/agent/check/{verb}/x"), "")
            .is(500, no_ttl);
    }
    old.put("/v1/agent/check/update/x", r#"{"Status":"passing"}"#)
        .is(500, no_ttl);
    old.put("/v1/agent/check/deregister/x", "").is(200, "");
    old.put("/v1/agent/check/deregister/", "")
        .is(500, "CheckID missing");
    let new = Consul::v1_22();
    let unknown = "Unknown check ID \"x\". Ensure that the check ID is passed, not the check name.";
    new.put("/v1/agent/check/pass/x", "").is(404, unknown);
    new.put("/v1/agent/check/deregister/x", "").is(404, unknown);
    let between = Consul::of(Version::new(1, 11, 0));
    between
        .put("/v1/agent/check/deregister/x", "")
        .is(500, "Unknown check \"x\"");
    let later = Consul::of(Version::new(1, 11, 2));
    later
        .put("/v1/agent/check/deregister/x", "")
        .is(404, "Unknown check \"x\"");
    register(
        &new,
        r#"{"Name":"x","HTTP":"http://127.0.0.1:1/","Interval":"1h"}"#,
    );
    new.put("/v1/agent/check/pass/x", "").is(500, no_ttl);
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
fn a_report_sets_status_and_output() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"c","TTL":"1h"}"#);
    for (path, body, status, output) in [
        ("pass/c?note=so%20so", "", "passing", "so so"),
        ("warn/c", "", "warning", ""),
        ("fail/c?note=no", "", "critical", "no"),
        (
            "update/c",
            r#"{"Status":"passing","Output":"yes"}"#,
            "passing",
            "yes",
        ),
    ] {
        consul
            .put(&format!("/v1/agent/check/{path}"), body)
            .is(200, "");
        let check = in_catalog(&consul, "c");
        assert_eq!(
            (check["Status"].as_str(), check["Output"].as_str()),
            (Some(status), Some(output))
        );
    }
    consul
        .put("/v1/agent/check/update/c", r#"{"Status":"maintenance"}"#)
        .is(400, "Invalid check status: 'maintenance'");
}

#[test]
fn a_long_output_is_cut() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"c","TTL":"1h"}"#);
    register(&consul, r#"{"Name":"short","TTL":"1h","OutputMaxSize":3}"#);
    let report = |id: &str, length: usize| {
        let body = format!(
            r#"{{"Status":"passing","Output":"{}"}}"#,
            "x".repeat(length)
        );
        consul.put("/v1/agent/check/fail/c", "");
        consul.put("/v1/agent/check/fail/short", "");
        consul
            .put(&format!("/v1/agent/check/update/{id}"), body)
            .is(200, "");
        in_catalog(&consul, id)["Output"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(report("c", 4096), "x".repeat(4096));
    assert_eq!(
        report("c", 4097),
        format!("{} ... (captured 4096 of 4097 bytes)", "x".repeat(4096))
    );
    assert_eq!(report("short", 4), "xxx ... (captured 3 of 4 bytes)");
    // What the agent keeps is the most (seen on 1.8.7).
    register(
        &consul,
        r#"{"Name":"long","TTL":"1h","OutputMaxSize":5000}"#,
    );
    let cut = format!("{} ... (captured 4096 of 4097 bytes)", "x".repeat(4096));
    assert_eq!(report("long", 4097), cut);
}

#[test]
fn a_check_registered_again_keeps_its_status_and_output() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"c","TTL":"1h"}"#);
    consul.put("/v1/agent/check/pass/c?note=well", "");
    register(
        &consul,
        r#"{"Name":"c","TTL":"1h","Status":"critical","Notes":"new"}"#,
    );
    let check = in_catalog(&consul, "c");
    assert_eq!(check["Status"], "passing");
    assert_eq!(check["Output"], "well");
    assert_eq!(check["Notes"], "new");
}

#[test]
fn a_status_ends_the_sessions_bound_to_the_check_and_a_deregistration_too() {
    let consul = Consul::v1_8();
    let bound = || {
        consul.put("/v1/agent/check/pass/c", "");
        create_session(&consul, r#"{"NodeChecks":["c"],"LockDelay":"0s"}"#)
    };
    register(&consul, r#"{"Name":"c","TTL":"1h"}"#);
    let session = bound();
    consul.put("/v1/agent/check/warn/c", "");
    assert_ne!(
        consul.get(&format!("/v1/session/info/{session}")).text(),
        "[]"
    );
    consul.put("/v1/agent/check/fail/c", "");
    consul
        .get(&format!("/v1/session/info/{session}"))
        .is(200, "[]");
    let session = bound();
    consul.put("/v1/agent/check/deregister/c", "");
    consul
        .get(&format!("/v1/session/info/{session}"))
        .is(200, "[]");
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
fn an_expired_ttl_ends_session_and_lock_in_one_index() {
    let consul = Consul::frozen(Version::V1_8_7);
    register(&consul, r#"{"Name":"c","TTL":"10s","Status":"passing"}"#);
    let session = create_session(&consul, r#"{"NodeChecks":["c"]}"#);
    consul
        .put(&format!("/v1/kv/k?acquire={session}"), "v")
        .is(200, "true");
    consul.server().advance(Duration::from_secs(10));
    let index = consul.get("/v1/session/list").index();
    assert_eq!(consul.get("/v1/health/node/proconsul").index(), index);
    assert_eq!(consul.get("/v1/kv/k").index(), index);
    consul
        .get(&format!("/v1/session/info/{session}"))
        .is(200, "[]");
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
