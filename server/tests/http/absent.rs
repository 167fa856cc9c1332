//! What is not emulated says so.

use crate::support::Consul;

#[test]
fn endpoints_that_are_not_emulated_name_themselves() {
    let consul = Consul::v1_22();
    for (method, path) in [
        ("GET", "/v1/snapshot"),
        ("PUT", "/v1/snapshot"),
        ("GET", "/v1/operator/autopilot/health"),
        ("GET", "/v1/discovery-chain/web"),
        ("GET", "/v1/connect/intentions/match"),
        ("POST", "/v1/connect/intentions"),
        ("PUT", "/v1/connect/ca/configuration"),
        ("PUT", "/v1/config"),
    ] {
        let text = format!("{method} {path} is not emulated by proconsul");
        consul.ask(method, path).is(501, &text);
    }
}
