//! What autopilot does with servers that are away (cluster.md 2.7).

use proconsul::{Server, Version};

use crate::agents::{cluster, get, put};
use crate::support::SECOND;

const NODE: &str = r#"{"Node":"proconsul-1"}"#;

/// Switches on or off that autopilot removes dead servers.
pub(crate) fn remove_dead_servers(server: &Server, removes: bool) {
    let settings = format!(r#"{{"CleanupDeadServers":{removes},"ServerStabilizationTime":"10s"}}"#);
    let configured = put(server, 0, "/v1/operator/autopilot/configuration", &settings);
    assert_eq!(configured.body, "true");
}

fn voters(server: &Server, agent: usize) -> [usize; 2] {
    let raft = get(server, agent, "/v1/operator/raft/configuration").body;
    ["true", "false"].map(|votes| raft.matches(&format!("\"Voter\":{votes}")).count())
}

#[test]
fn a_dead_server_is_removed_and_votes_again_when_it_has_been_back_for_a_while() {
    let server = cluster();
    let node = || get(&server, 0, "/v1/catalog/node/proconsul-1").body;
    server.advance(SECOND);
    server.kill_agent(1).expect("it closes");
    server.advance(8 * SECOND);
    assert!(node().contains("proconsul-1"), "{}", node());
    assert_eq!(voters(&server, 0), [3, 0]);
    // Ten seconds after the leader was elected.
    server.advance(SECOND);
    assert_eq!(node().trim(), "null");
    let said = server.history_text();
    assert!(said.contains("autopilot has removed proconsul-1"), "{said}");
    assert_eq!(voters(&server, 0), [2, 0]);
    let refused = put(&server, 0, "/v1/session/create", NODE);
    assert_eq!(refused.body, "Missing node registration");
    server.start_agent(1).expect("its port is kept");
    assert_eq!(voters(&server, 2), [2, 1]);
    let health = get(&server, 2, "/v1/operator/autopilot/health").body;
    assert!(health.contains("\"FailureTolerance\":0"), "{health}");
    server.advance(SECOND);
    assert!(node().contains("proconsul-1"), "{}", node());
    // The next look comes before it has been healthy for as long as it must.
    server.advance(10 * SECOND);
    assert_eq!(voters(&server, 0), [2, 1]);
    server.advance(9 * SECOND);
    assert_eq!(voters(&server, 0), [3, 0]);
}

#[test]
fn the_leader_is_not_replaced_while_one_of_two_voters_is_left() {
    let server = cluster();
    server.kill_agent(1).expect("it closes");
    server.advance(10 * SECOND);
    server.kill_agent(0).expect("it closes");
    server.start_agent(1).expect("its port is kept");
    server.advance(80 * SECOND);
    assert_eq!(get(&server, 2, "/v1/status/leader").body, "\"\"");
    server.start_agent(0).expect("its port is kept");
    server.advance(SECOND);
    assert_eq!(put(&server, 1, "/v1/kv/k", "x").body, "true");
}

/// Autopilot has a state from 1.9 on.
#[test]
fn a_server_without_a_vote_is_called_so() {
    let builder = Server::builder().version(Version::V1_22_0).frozen();
    let server = builder.agents(3).start().expect("free ports");
    server.kill_agent(1).expect("it closes");
    server.advance(10 * SECOND);
    server.start_agent(1).expect("its port is kept");
    let state = get(&server, 0, "/v1/operator/autopilot/state").body;
    let count = |status: &str| state.matches(&format!("\"Status\":\"{status}\"")).count();
    let counts = ["leader", "voter", "non-voter"].map(count);
    assert_eq!(counts, [1, 1, 1], "{state}");
    let (_, voters) = state.split_once("\"Voters\":[").expect("it lists them");
    assert_eq!(voters.matches('-').count(), 2 * 4, "two ids: {state}");
}

/// A lone server leads, whoever it reaches.
#[test]
fn a_leader_does_not_remove_itself() {
    let builder = Server::builder().frozen().agents_and_clients(1, 1);
    let server = builder.start().expect("free ports");
    put(&server, 0, "/v1/session/create", "");
    server.agent(0).pause();
    server.advance(60 * SECOND);
    server.agent(0).resume();
    server.advance(60 * SECOND);
    assert_eq!(voters(&server, 0), [1, 0]);
    assert_eq!(server.sessions().list().len(), 1);
}

#[test]
fn a_dead_server_stays_where_autopilot_does_not_remove_it() {
    let server = cluster();
    remove_dead_servers(&server, false);
    server.kill_agent(1).expect("it closes");
    server.advance(60 * SECOND);
    assert_eq!(voters(&server, 0), [3, 0]);
    // It looks at what is away when that is changed.
    remove_dead_servers(&server, true);
    server.advance(10 * SECOND);
    assert_eq!(voters(&server, 0), [2, 0]);
}
