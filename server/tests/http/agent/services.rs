//! The agent's own services: registered, read, in maintenance, taken away (session.md 4.4).

use proconsul::Version;

use crate::agent::register;
use crate::support::Consul;

#[test]
fn a_service_is_in_the_catalog_at_once_with_its_checks_in_one_index() {
    for consul in Consul::both() {
        register(&consul, r#"{"Name":"web","Port":80,"Check":{"TTL":"1h"}}"#);
        let service = consul.get("/v1/catalog/service/web");
        assert!(
            service.text().contains(r#""ServicePort":80"#),
            "{}",
            service.text()
        );
        let checks = consul.get("/v1/health/checks/web");
        assert!(checks.text().contains(
            r#""CheckID":"service:web","Name":"Service 'web' check","Status":"critical""#
        ));
        assert_eq!(service.index(), checks.index());
    }
}

#[test]
fn the_json_of_a_service() {
    let body = r#"{"Name":"w","ID":"w1","Port":80,"Address":"1.2.3.4","Tags":["a"],"Meta":{"k":"v"},"TaggedAddresses":{"lan":{"Address":"9.9.9.9","Port":8}},"EnableTagOverride":true,"Weights":{"Passing":5,"Warning":2}}"#;
    let shown = r#""ID":"w1","Service":"w","Tags":["a"],"Meta":{"k":"v"},"Port":80,"Address":"1.2.3.4","TaggedAddresses":{"lan":{"Address":"9.9.9.9","Port":8},"lan_ipv4":{"Address":"1.2.3.4","Port":80},"wan_ipv4":{"Address":"1.2.3.4","Port":80}},"Weights":{"Passing":5,"Warning":2},"EnableTagOverride":true"#;
    let old = Consul::v1_8();
    register(&old, body);
    old.get("/v1/agent/services")
        .is(200, &format!(r#"{{"w1":{{{shown}}}}}"#));
    let one = old.get("/v1/agent/service/w1");
    let hash = one
        .header("X-Consul-Contenthash")
        .expect("an answer has a hash");
    one.is(200, &format!(r#"{{{shown},"ContentHash":"{hash}"}}"#));
    let new = Consul::v1_22();
    register(&new, body);
    new.get("/v1/agent/services")
        .is(200, &format!(r#"{{"w1":{{{shown},"Datacenter":"dc1"}}}}"#));
}

#[test]
fn a_check_of_nothing_is_none() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"v","Check":{}}"#);
    consul.get("/v1/agent/checks").is(200, "{}");
}

#[test]
fn a_parameter_with_another_value_replaces_no_checks() {
    let consul = Consul::v1_8();
    register(
        &consul,
        r#"{"Name":"w","Checks":[{"TTL":"1h"},{"TTL":"1h"}]}"#,
    );
    for off in ["x", "0", "1"] {
        let path = format!("/v1/agent/service/register?replace-existing-checks={off}");
        let body = r#"{"Name":"w","Check":{"TTL":"1h"}}"#;
        consul.put(&path, body).is(200, "");
        let checks = consul.get("/v1/health/checks/w");
        assert_eq!(checks.text().matches("CheckID").count(), 3, "{off}");
    }
}

#[test]
fn health_of_a_service_counts_the_checks_of_the_node() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"w"}"#);
    let health = "/v1/agent/health/service/id/w?format=text";
    consul.get(health).is(200, "passing");
    let node = r#"{"Name":"of the node","TTL":"1h"}"#;
    consul.put("/v1/agent/check/register", node).is(200, "");
    consul.get(health).is(503, "critical");
}

#[test]
fn health_of_an_unknown_service_as_text() {
    let consul = Consul::v1_8();
    consul
        .get("/v1/agent/health/service/id/x?format=text")
        .is(404, "\"ServiceId x not found\"");
    consul
        .get("/v1/agent/health/service/name/x?format=text")
        .is(404, "ServiceName x Not Found");
    consul
        .get("/v1/agent/health/service/id/")
        .is(500, "Bad request: Missing serviceID");
}

#[test]
fn maintenance_of_a_service_has_a_reason_of_its_own() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"w"}"#);
    consul
        .put("/v1/agent/service/maintenance/w?enable=true", "")
        .is(200, "");
    let critical = consul.get("/v1/health/state/critical");
    let notes = r#""Notes":"Maintenance mode is enabled for this service, but no reason was provided. This is a default message.""#;
    assert!(critical.text().contains(notes), "{}", critical.text());
    consul.get("/v1/health/service/w?passing").is(200, "[]");
}

#[test]
fn a_known_hash_waits_for_another_one() {
    let consul = Consul::frozen(Version::V1_8_7);
    register(&consul, r#"{"Name":"w"}"#);
    let first = consul.get("/v1/agent/service/w");
    let hash = first
        .header("X-Consul-Contenthash")
        .expect("an answer has a hash");
    let target = format!("/v1/agent/service/w?hash={hash}&wait=1m");
    let mut changed = consul.block(&target);
    register(&consul, r#"{"Name":"w"}"#);
    assert!(
        !consul.has_answered(&mut changed),
        "nothing of what is shown has changed"
    );
    register(&consul, r#"{"Name":"w","Port":1}"#);
    assert!(changed.answer().text().contains(r#""Port":1"#));
    let answer = consul.get("/v1/agent/service/w");
    let hash = answer
        .header("X-Consul-Contenthash")
        .expect("an answer has a hash");
    let target = format!("/v1/agent/service/w?hash={hash}&wait=1m");
    let mut over = consul.block(&target);
    consul.advance(64);
    assert_eq!(over.answer().code(), 200);
    let mut gone = consul.block(&target);
    consul.put("/v1/agent/service/deregister/w", "");
    gone.answer().is(404, "unknown service ID: w");
}

#[test]
fn a_reload_keeps_what_clients_registered_where_something_keeps_it() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"w","Check":{"TTL":"1h"}}"#);
    consul.put("/v1/agent/reload", "").is(200, "");
    assert_ne!(consul.get("/v1/agent/services").text(), "{}");
}

#[test]
fn a_cluster_of_one() {
    let consul = Consul::v1_8();
    consul.put("/v1/agent/join/127.0.0.1", "").is(200, "");
    consul
        .put("/v1/agent/force-leave/proconsul", "")
        .is(200, "");
    consul
        .put("/v1/agent/force-leave/other", "")
        .is(500, "agent: No node found with name 'other'");
    consul
        .put("/v1/agent/token/default", r#"{"Token":"x"}"#)
        .is(401, "ACL support disabled");
    assert!(
        consul
            .get("/v1/agent/metrics")
            .text()
            .starts_with(r#"{"Timestamp":""#)
    );
    assert_eq!(
        consul.get("/v1/agent/metrics?format=prometheus").code(),
        415
    );
    assert!(
        consul
            .get("/v1/agent/host")
            .text()
            .contains(r#""Host":{"hostname":"#)
    );
    assert_eq!(consul.get("/v1/agent/version").code(), 404);
    let new = Consul::v1_22();
    let version = new.get("/v1/agent/version");
    assert!(version.text().contains(r#""HumanVersion":"1.22.0""#));
}

#[test]
fn a_filter_leaves_out_services_and_checks() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"w","Tags":["a"],"Check":{"TTL":"1h"}}"#);
    register(&consul, r#"{"Name":"v","Check":{"TTL":"1h"}}"#);
    let services = consul.get("/v1/agent/services?filter=a%20in%20Tags");
    assert!(services.text().contains(r#""w""#) && !services.text().contains(r#""v""#));
    let checks = consul.get("/v1/agent/checks?filter=ServiceID==v");
    assert!(checks.text().contains("service:v") && !checks.text().contains("service:w"));
    assert_eq!(consul.get("/v1/agent/checks?filter=x").code(), 500);
}

/// A thousand services with two checks each, and a hundred clients that wait for the health of one each: a change
/// of one service wakes those who wait for it, and nobody else.
#[test]
fn a_change_of_one_of_a_thousand_services_wakes_its_watchers_only() {
    let consul = Consul::frozen(Version::V1_8_7);
    for number in 0..1_000 {
        let body = format!(
            r#"{{"Name":"s{number}","Checks":[{{"TTL":"1h","Status":"passing"}},{{"TTL":"1h","Status":"passing"}}]}}"#
        );
        register(&consul, &body);
    }
    let checks = consul.get("/v1/health/state/passing");
    assert_eq!(
        checks.text().matches(r#""CheckID":"service:"#).count(),
        2_000
    );
    let mut waiting: Vec<_> = (0..100)
        .map(|number| {
            let path = format!("/v1/health/service/s{number}");
            let index = consul.get(&path).index();
            consul.block(&format!("{path}?index={index}&wait=10m"))
        })
        .collect();
    consul
        .put("/v1/agent/check/warn/service:s7:1", "")
        .is(200, "");
    let changed = waiting[7].answer();
    assert!(changed.text().contains(r#""Status":"warning""#));
    for (number, waiting) in waiting.iter_mut().enumerate() {
        let expected = number == 7;
        assert!(expected || !consul.has_answered(waiting), "s{number}");
    }
}
