//! Agents that leave and die, while the leader stays (cluster.md 1.33 to 1.39).

use std::time::Duration;

use proconsul_conformance::wire::Request;

use crate::agents::{CLIENT, Cluster, SECOND, answered, text};
use crate::held;

held! {
    an_agent_leaves
    the_leader_leaves
    a_dead_server_is_removed
    a_client_agent_dies
}

/// Its node is deregistered, and with it all its sessions. A server is no peer any more, until it is back.
fn an_agent_leaves(cluster: &mut Cluster) {
    let [server, _] = cluster.followers();
    let other = cluster.leader();
    let peers = |cluster: &Cluster| {
        text(&cluster.get(other, "/v1/status/peers"))
            .matches(':')
            .count()
    };
    for (agent, delay, left) in [(CLIENT, "8s", 3), (server, "0s", 2)] {
        let name = cluster.name;
        let node = cluster.node(agent);
        let bound = format!(r#"{{"LockDelay":"{delay}","Checks":[]}}"#);
        let bound = cluster.session(agent, &bound);
        let next = cluster.session(other, "{}");
        let key = format!("of-{agent}-that-leaves");
        assert!(cluster.acquires(agent, &key, &bound), "{name}");
        let answer = cluster.put(agent, "/v1/agent/leave", "");
        cluster.is(&answer, 200, "");
        // A server answers after some 13 s.
        let is_free = cluster.acquires(other, &key, &next);
        assert_eq!(is_free, agent == server, "{name}: its lock-delay");
        let info = cluster.get(other, &format!("/v1/session/info/{bound}"));
        assert_eq!(text(&info).trim(), "[]", "{name}");
        // It may register itself once more before it ends, without its check.
        let checks = cluster.get(other, &format!("/v1/health/node/{node}"));
        assert_eq!(text(&checks).trim(), "[]", "{name}");
        let members = text(&cluster.get(other, "/v1/agent/members"));
        assert_eq!(
            members.matches(r#""Status":3"#).count(),
            1,
            "{name}: {members}"
        );
        let of_node = format!(r#"{{"Node":"{node}"}}"#);
        let refused = cluster.put(other, "/v1/session/create", &of_node);
        assert_eq!(refused.status, 500, "{name}");
        let refused = text(&refused);
        assert!(refused.contains("Missing "), "{name}: {refused}");
        assert_eq!(peers(cluster), left, "{name}");
        cluster.until("its port is closed", || {
            cluster
                .asks(agent, &Request::get("/v1/agent/version"))
                .is_none()
        });
        cluster.until("its lock is free", || cluster.acquires(other, &key, &next));
        cluster.start(agent);
        let back = cluster.until("it is back", || {
            let checks = text(&cluster.get(other, &format!("/v1/health/node/{node}")));
            let raft = text(&cluster.get(other, "/v1/operator/raft/configuration"));
            checks.contains("alive") && raft.matches(r#""Voter":true"#).count() == 3
        });
        cluster.took(
            "the return of an agent that has left",
            back,
            Duration::ZERO..30 * SECOND,
        );
        cluster.put(other, &format!("/v1/kv/{key}"), "");
    }
}

/// After some six seconds its sessions with serfHealth end, and the others go on. The lock-delay begins then.
fn a_client_agent_dies(cluster: &mut Cluster) {
    let node = cluster.node(CLIENT);
    let bound = cluster.session(CLIENT, r#"{"LockDelay":"4s"}"#);
    let free = cluster.session(CLIENT, r#"{"Checks":[]}"#);
    cluster.put(CLIENT, "/v1/agent/service/register", r#"{"Name":"kept"}"#);
    let leader = cluster.leader();
    let [follower, _] = cluster.followers();
    let next = cluster.session(leader, "{}");
    assert!(
        cluster.acquires(leader, "of-a-client", &bound),
        "{}",
        cluster.name
    );
    cluster.kill(CLIENT);
    let info = |session: &str| text(&cluster.get(leader, &format!("/v1/session/info/{session}")));
    let noticed = cluster.until("its session ends", || info(&bound).trim() == "[]");
    cluster.took(
        "an agent's failure, until it is noticed,",
        noticed,
        3 * SECOND..12 * SECOND,
    );
    assert!(info(&free).contains(&free), "{}", cluster.name);
    let delay = cluster.until("the lock is free", || {
        cluster.acquires(leader, "of-a-client", &next)
    });
    cluster.took("a lock-delay of 4 s", delay, 2 * SECOND..8 * SECOND);
    let refused = cluster.put(
        follower,
        "/v1/session/create",
        &format!(r#"{{"Node":"{node}"}}"#),
    );
    let expected = "rpc error making call: Check 'serfHealth' is in critical state";
    assert_eq!(
        (refused.status, text(&refused).as_str()),
        (500, expected),
        "{}",
        cluster.name
    );
    let critical = text(&cluster.get(leader, "/v1/health/state/critical"));
    assert!(
        critical.contains("Agent not live or unreachable"),
        "{}: {critical}",
        cluster.name
    );
    let members = text(&cluster.get(leader, "/v1/agent/members"));
    assert_eq!(
        members.matches(r#""Status":4"#).count(),
        1,
        "{}: {members}",
        cluster.name
    );
    comes_back_and_is_removed(cluster, leader, &node, &bound);
}

/// With the services that it had. When it dies again, `force-leave` makes its failure a leave.
fn comes_back_and_is_removed(cluster: &mut Cluster, leader: usize, node: &str, bound: &str) {
    let name = cluster.name;
    cluster.start(CLIENT);
    let checks = |cluster: &Cluster| text(&cluster.get(leader, &format!("/v1/health/node/{node}")));
    let back = cluster.until("it is back", || {
        checks(cluster).contains("alive and reachable")
    });
    cluster.took("the return of an agent", back, Duration::ZERO..8 * SECOND);
    cluster.until("its service is there", || {
        let services = cluster.asks(CLIENT, &Request::get("/v1/agent/services"));
        services.is_some_and(|services| text(&services).contains("kept"))
    });
    let info = cluster.get(leader, &format!("/v1/session/info/{bound}"));
    assert_eq!(text(&info).trim(), "[]", "{name}");
    cluster.kill(CLIENT);
    let forced = cluster.put(leader, &format!("/v1/agent/force-leave/{node}"), "");
    cluster.is(&forced, 200, "");
    let gone = cluster.until("its node is gone", || checks(cluster).trim() == "[]");
    cluster.took("a forced leave", gone, Duration::ZERO..12 * SECOND);
    let members = text(&cluster.get(leader, "/v1/agent/members"));
    assert_eq!(
        members.matches(r#""Status":3"#).count(),
        1,
        "{name}: {members}"
    );
}

/// Autopilot takes a dead server for one that has left, and lets it vote again a while after it is back.
fn a_dead_server_is_removed(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let [dead, other] = cluster.followers();
    let (name, node) = (cluster.name, cluster.node(dead));
    cluster.remove_dead_servers(true);
    cluster.kill(dead);
    let is_known = |cluster: &Cluster| {
        text(&cluster.get(other, &format!("/v1/catalog/node/{node}"))).trim() != "null"
    };
    let removed = cluster.until("its node is gone", || !is_known(cluster));
    let bounds = 3 * SECOND..17 * SECOND;
    cluster.took("a dead server's removal", removed, bounds);
    let of_node = format!(r#"{{"Node":"{node}"}}"#);
    let refused = cluster.put(leader, "/v1/session/create", &of_node);
    cluster.is(&refused, 500, "Missing node registration");
    let members = text(&cluster.get(leader, "/v1/agent/members"));
    let left = members.matches(r#""Status":3"#).count();
    assert_eq!(left, 1, "{name}: {members}");
    let voters = |cluster: &Cluster| {
        let raft = text(&cluster.get(leader, "/v1/operator/raft/configuration"));
        ["true", "false"].map(|votes| raft.matches(&format!(r#""Voter":{votes}"#)).count())
    };
    cluster.until("it is no peer", || voters(cluster) == [2, 0]);
    cluster.start(dead);
    cluster.until("it is a peer without a vote", || voters(cluster) == [2, 1]);
    let votes = cluster.until("it votes", || voters(cluster) == [3, 0]);
    cluster.took("a server's way to its vote", votes, 4 * SECOND..25 * SECOND);
    cluster.until("its node is back", || is_known(cluster));
    cluster.remove_dead_servers(false);
}

/// One request may fail; the others are held until another leads.
fn the_leader_leaves(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let [follower, _] = cluster.followers();
    let name = cluster.name;
    let leaves = cluster.sent(leader, &Request::put("/v1/agent/leave", ""));
    let mut refused = 0;
    let changed = cluster.until("another leads", || {
        let write = cluster.put(follower, "/v1/kv/left", "x");
        refused += usize::from(write.status != 200);
        let peers = text(&cluster.get(follower, "/v1/status/peers"));
        write.status == 200 && peers.matches(':').count() == 2
    });
    cluster.took("a leader's leave", changed, Duration::ZERO..15 * SECOND);
    assert!(refused <= 2, "{name}: {refused} were refused");
    let left = answered(leaves);
    assert_eq!(left.status, 200, "{name}");
    cluster.until("its port is closed", || {
        let version = Request::get("/v1/agent/version");
        cluster.asks(leader, &version).is_none()
    });
    cluster.start(leader);
    cluster.until("it is back", || {
        let raft = text(&cluster.get(follower, "/v1/operator/raft/configuration"));
        raft.matches(r#""Voter":true"#).count() == 3
            && text(&cluster.get(follower, "/v1/health/state/critical")).trim() == "[]"
    });
}
