//! Alias checks: they follow the checks of another service, at once (seen on 1.8.7).

use crate::agent::register;
use crate::support::Consul;

/// Status and output of a check, as the agent has it.
#[track_caller]
fn is(consul: &Consul, id: &str, status: &str, output: &str) {
    let checks = consul.get("/v1/agent/checks").json();
    let check = &checks[id];
    assert_eq!(
        (check["Status"].as_str(), check["Output"].as_str()),
        (Some(status), Some(output)),
        "{check}"
    );
}

/// A service with a TTL check, and one whose only check follows it.
fn followed() -> Consul {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"web","Check":{"TTL":"1h"}}"#);
    register(
        &consul,
        r#"{"Name":"side","Check":{"Name":"alias","AliasService":"web"}}"#,
    );
    consul
}

fn report(consul: &Consul, verb: &str, id: &str, note: &str) {
    let target = format!("/v1/agent/check/{verb}/{id}?note={note}");
    consul.put(&target, "").is(200, "");
}

#[test]
fn an_alias_follows_the_status_of_a_service_and_not_its_output_alone() {
    let consul = followed();
    let failing = "Aliased check \"Service 'web' check\" failing: ";
    is(&consul, "service:side", "critical", failing);
    report(&consul, "pass", "service:web", "");
    is(&consul, "service:side", "passing", "All checks passing.");
    report(&consul, "warn", "service:web", "hm");
    is(&consul, "service:side", "warning", &format!("{failing}hm"));
    report(&consul, "fail", "service:web", "bad");
    is(
        &consul,
        "service:side",
        "critical",
        &format!("{failing}bad"),
    );
    report(&consul, "fail", "service:web", "worse");
    is(
        &consul,
        "service:side",
        "critical",
        &format!("{failing}bad"),
    );
    let health = consul.get("/v1/health/checks/side");
    assert!(
        health.text().contains(r#""Status":"critical""#),
        "{}",
        health.text()
    );
    consul.put("/v1/agent/check/deregister/service:web", "");
    is(&consul, "service:side", "passing", "No checks found.");
    consul.put("/v1/agent/service/deregister/web", "");
    let gone = "Service web could not be found on node ";
    is(&consul, "service:side", "critical", gone);
}

#[test]
fn checks_of_the_node_count_when_it_looks_and_do_not_make_it_look() {
    let consul = followed();
    report(&consul, "pass", "service:web", "");
    let node = r#"{"Name":"of the node","ID":"n","TTL":"1h","Notes":"x"}"#;
    consul.put("/v1/agent/check/register", node).is(200, "");
    is(&consul, "service:side", "passing", "All checks passing.");
    report(&consul, "warn", "service:web", "");
    let failing = "Aliased check \"of the node\" failing: ";
    is(&consul, "service:side", "critical", failing);
}

#[test]
fn an_alias_of_a_node_in_the_catalog_follows_all_that_happens_there() {
    let consul = Consul::v1_8();
    let node = |fields: &str| {
        let body = format!(r#"{{"Node":"ext","Address":"1.2.3.4",{fields}}}"#);
        consul.put("/v1/catalog/register", body).is(200, "true");
    };
    let check = |id: &str, status: &str| {
        node(&format!(
            r#""Check":{{"CheckID":"{id}","Name":"n{id}","Status":"{status}","ServiceID":"db","Output":"o{id}"}}"#
        ));
    };
    register(
        &consul,
        r#"{"Name":"side","Check":{"Name":"alias","AliasNode":"ext","AliasService":"db"}}"#,
    );
    let gone = "Service db could not be found on node ext";
    is(&consul, "service:side", "critical", gone);
    node(r#""Service":{"Service":"db"}"#);
    is(&consul, "service:side", "passing", "No checks found.");
    for id in ["b", "c"] {
        check(id, "warning");
    }
    let last = "Aliased check \"nc\" failing: oc";
    is(&consul, "service:side", "warning", last);
    for id in ["b", "c"] {
        check(id, "critical");
    }
    let first = "Aliased check \"nb\" failing: ob";
    is(&consul, "service:side", "critical", first);
    for id in ["b", "c"] {
        check(id, "passing");
    }
    is(&consul, "service:side", "passing", "All checks passing.");
    let all = r#"{"Node":"ext"}"#;
    consul.put("/v1/catalog/deregister", all).is(200, "true");
    is(&consul, "service:side", "critical", gone);
}

#[test]
fn aliases_of_each_other_come_to_rest() {
    let consul = Consul::v1_8();
    register(
        &consul,
        r#"{"Name":"a","Check":{"Name":"x","AliasService":"b"}}"#,
    );
    register(
        &consul,
        r#"{"Name":"b","Check":{"Name":"y","AliasService":"a"}}"#,
    );
    consul
        .get("/v1/agent/health/service/id/a?format=text")
        .is(503, "critical");
}

#[test]
fn the_name_of_a_failing_check_is_quoted_as_go_does() {
    let consul = Consul::v1_8();
    register(
        &consul,
        r#"{"Name":"web","Check":{"Name":"a\"b\u0001é\u0000","TTL":"1h"}}"#,
    );
    register(
        &consul,
        r#"{"Name":"side","Check":{"Name":"alias","AliasService":"web"}}"#,
    );
    let failing = r#"Aliased check "a\"b\x01é\x00" failing: "#;
    is(&consul, "service:side", "critical", failing);
}
