//! The whole state of several agents.

use crate::agents::{cluster, get, put};
use crate::support::SECOND;

const WEB: &str = r#"{"Name":"web","Check":{"CheckID":"ttl","TTL":"30s","Status":"passing"}}"#;

#[test]
fn each_agent_has_its_services_and_checks_again() {
    let server = cluster();
    for agent in [1, 3] {
        put(&server, agent, "/v1/agent/service/register", WEB);
    }
    server.advance(10 * SECOND);
    let state = server.dump();
    let other = cluster();
    other.load(&state).expect("it is a state");
    assert_eq!(other.dump(), state);
    for agent in 0..4 {
        let services = get(&other, agent, "/v1/agent/services").body;
        assert_eq!(services.contains("web"), agent % 2 == 1, "{services}");
    }
    // What is left of a TTL goes on.
    let is_critical = || get(&other, 3, "/v1/agent/checks").body.contains("critical");
    other.advance(19 * SECOND);
    assert!(!is_critical());
    other.advance(2 * SECOND);
    assert!(is_critical());
}

#[test]
fn the_state_of_several_agents_is_refused_by_another_number_of_them() {
    let state = cluster().dump();
    let alone = proconsul::Server::builder().version(proconsul::Version::V1_8_7);
    let alone = alone.start().expect("a free port");
    let refused = alone.load(&state).expect_err("it is of four agents");
    let expected = "the state is of a server with agents 4, expected 1 as this one has";
    assert_eq!(refused.to_string(), expected);
}
