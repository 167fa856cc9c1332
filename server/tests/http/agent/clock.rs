//! What the agent and its leader do by themselves, on the server's clock (session.md 4.3, 4.4).

use proconsul::Version;

use crate::support::{Consul, create_session};

const OWN_NODE: &str = r#""Node":"proconsul","Address":"127.0.0.1","SkipNodeUpdate":true"#;

#[test]
fn what_others_put_on_the_agents_node_goes_within_two_minutes() {
    let consul = Consul::frozen(Version::V1_8_7);
    let body = format!(
        r#"{{{OWN_NODE},"Service":{{"Service":"foreign"}},"Checks":[{{"Name":"f","Status":"passing"}}]}}"#
    );
    consul.put("/v1/catalog/register", body).is(200, "true");
    let session = create_session(&consul, r#"{"NodeChecks":["f"]}"#);
    consul.advance(59);
    assert_ne!(consul.get("/v1/catalog/service/foreign").text(), "[]");
    consul.advance(61);
    consul.get("/v1/catalog/service/foreign").is(200, "[]");
    consul
        .get(&format!("/v1/session/info/{session}"))
        .is(200, "[]");
    let left = consul.get("/v1/health/node/proconsul");
    assert!(left.text().contains("serfHealth") && !left.text().contains(r#""CheckID":"f""#));
}

#[test]
fn what_others_change_of_the_agents_own_is_changed_back() {
    let consul = Consul::frozen(Version::V1_8_7);
    let own = r#"{"Name":"own","Port":1,"Tags":["mine"],"Check":{"TTL":"1h","Status":"passing"}}"#;
    consul.put("/v1/agent/service/register", own).is(200, "");
    let other = format!(
        r#"{{{OWN_NODE},"Service":{{"Service":"own","Port":2}},"Checks":[{{"CheckID":"service:own","Name":"x","ServiceID":"own","Status":"critical"}}]}}"#
    );
    consul.put("/v1/catalog/register", other).is(200, "true");
    consul.advance(120);
    let service = consul.get("/v1/catalog/service/own");
    assert!(
        service.text().contains(r#""ServicePort":1"#),
        "{}",
        service.text()
    );
    let checks = consul.get("/v1/health/checks/own");
    assert!(
        checks.text().contains(r#""Status":"passing""#),
        "{}",
        checks.text()
    );
    let gone = r#"{"Node":"proconsul","ServiceID":"own"}"#;
    consul.put("/v1/catalog/deregister", gone).is(200, "true");
    consul.advance(120);
    assert_ne!(consul.get("/v1/health/checks/own").text(), "[]");
}

#[test]
fn tags_are_taken_over_where_others_may_change_them() {
    let consul = Consul::frozen(Version::V1_8_7);
    let own = r#"{"Name":"own","Tags":["mine"],"EnableTagOverride":true}"#;
    consul.put("/v1/agent/service/register", own).is(200, "");
    let other = format!(
        r#"{{{OWN_NODE},"Service":{{"Service":"own","Tags":["theirs"],"EnableTagOverride":true,"Meta":{{}}}}}}"#
    );
    consul.put("/v1/catalog/register", other).is(200, "true");
    consul.advance(120);
    for path in ["/v1/agent/service/own", "/v1/catalog/service/own"] {
        let answer = consul.get(path);
        assert!(answer.text().contains("theirs"), "{}", answer.text());
    }
}

#[test]
fn an_agent_that_was_taken_out_is_entered_again_within_a_minute() {
    let consul = Consul::frozen(Version::V1_8_7);
    let gone = r#"{"Node":"proconsul"}"#;
    consul.put("/v1/catalog/deregister", gone).is(200, "true");
    consul
        .put("/v1/session/create", "{}")
        .is(500, "Missing node registration");
    consul.advance(60);
    create_session(&consul, "{}");
    consul.advance(60);
    let node = consul.get("/v1/catalog/node/proconsul");
    assert!(
        node.text().contains("lan_ipv4"),
        "the agent adds what the leader does not know"
    );
}

#[test]
fn nothing_is_written_while_agent_and_catalog_agree() {
    let consul = Consul::frozen(Version::V1_8_7);
    consul
        .put(
            "/v1/agent/service/register",
            r#"{"Name":"w","Check":{"TTL":"1h"}}"#,
        )
        .is(200, "");
    let indexes = || {
        [
            "/v1/catalog/nodes",
            "/v1/catalog/services",
            "/v1/health/state/any",
        ]
        .map(|path| consul.get(path).index())
    };
    let before = indexes();
    consul.advance(600);
    assert_eq!(indexes(), before);
}

#[test]
fn a_service_that_stays_critical_goes_after_a_minute_at_the_earliest() {
    let consul = Consul::frozen(Version::V1_8_7);
    let register = |name: &str, after: &str| {
        let body = format!(
            r#"{{"Name":"{name}","Check":{{"TTL":"1h","DeregisterCriticalServiceAfter":"{after}"}}}}"#
        );
        consul.put("/v1/agent/service/register", body).is(200, "");
    };
    let there = |name: &str| consul.get(&format!("/v1/catalog/service/{name}")).text() != "[]";
    consul.advance(10);
    register("soon", "5s");
    register("late", "3m");
    register("well", "1m");
    register("unheard", "1m");
    for (report, name) in [("fail", "soon"), ("fail", "late"), ("pass", "well")] {
        consul
            .put(&format!("/v1/agent/check/{report}/service:{name}"), "")
            .is(200, "");
    }
    consul.advance(60);
    assert!(there("soon"), "the agent looks every half minute");
    consul.advance(20);
    assert!(!there("soon") && there("late") && there("well"));
    consul
        .get("/v1/agent/checks?")
        .text()
        .contains("service:soon")
        .then(|| panic!("the check goes with its service"));
    consul.advance(120);
    assert!(!there("late") && there("well"));
    consul
        .put("/v1/agent/check/fail/service:well", "")
        .is(200, "");
    consul.advance(90);
    assert!(!there("well"));
    assert!(
        there("unheard"),
        "it began critical, and nobody has reported so"
    );
}
