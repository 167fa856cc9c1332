//! What is not emulated says so.

use crate::support::Consul;

#[test]
fn endpoints_that_are_not_emulated_name_themselves() {
    let consul = Consul::v1_22();
    for (method, path) in [
        ("GET", "/v1/internal/federation-states"),
        ("GET", "/v1/agent/connect/ca/leaf/web"),
        ("PUT", "/v1/connect/ca/configuration"),
    ] {
        let text = format!("{method} {path} is not emulated by proconsul");
        consul.ask(method, path).is(501, &text);
    }
}

#[test]
fn a_strict_server_does_not_know_what_is_not_emulated() {
    let consul = Consul::with(|config| config.strict = true);
    let unknown = "Invalid URL path: not a recognized HTTP API endpoint\n";
    for (method, path) in [
        ("GET", "/v1/agent/connect/ca/leaf/web"),
        ("OPTIONS", "/v1/internal/federation-states"),
        ("PUT", "/v1/connect/ca/configuration"),
    ] {
        consul.ask(method, path).is(404, unknown);
    }
    assert_eq!(consul.get("/v1/operator/raft/configuration").code(), 200);
}

#[test]
fn acl_endpoints_take_their_methods_alone() {
    let disabled = "ACL support disabled";
    for consul in Consul::both() {
        consul.get("/v1/acl/policies").is(401, disabled);
        consul.ask("DELETE", "/v1/acl/token/x").is(401, disabled);
        let refused = consul.ask("PUT", "/v1/acl/token/self");
        refused.is(405, "method PUT not allowed");
        assert_eq!(refused.header("Allow"), Some("OPTIONS,GET"));
        let options = consul.ask("OPTIONS", "/v1/acl/role/x");
        options.is(200, "");
        assert_eq!(options.header("Allow"), Some("OPTIONS,GET,PUT,DELETE"));
        assert_eq!(consul.get("/v1/acl/nothing").code(), 404);
        assert_eq!(consul.get("/v1/acl").code(), 404);
    }
    let [old, new] = [Consul::v1_8(), Consul::v1_22()];
    old.get("/v1/acl/list").is(401, disabled);
    assert_eq!(new.get("/v1/acl/list").code(), 404);
    assert_eq!(old.get("/v1/acl/templated-policies").code(), 404);
    new.get("/v1/acl/templated-policies").is(401, disabled);
}
