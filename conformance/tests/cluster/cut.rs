//! Agents that are cut off from the others, but not from their clients (cluster.md 2.5, 3.5, 3.11).

use proconsul_conformance::time::Stopwatch;

use crate::agents::{CLIENT, Cluster, SECOND, answered, header, text};
use crate::held;
use crate::silent::is_given_up;

held! {
    a_follower_is_cut_off
    the_leader_is_cut_off
}

/// It answers stale reads from what it had, and tells that it has no leader. The rest goes on.
fn a_follower_is_cut_off(cluster: &Cluster) {
    let [follower, other] = cluster.followers();
    cluster.put(other, "/v1/kv/cut", "before");
    let stale = || cluster.get(follower, "/v1/kv/cut?stale&raw");
    cluster.until("the follower has it", || text(&stale()) == "before");
    let [waits, waits_stale] = cluster.blocked(follower, "cut");
    cluster.cut(follower, true);
    let begun = Stopwatch::start();
    let hangs = cluster.asked(follower, "/v1/kv/none");
    assert_eq!(cluster.put(other, "/v1/kv/cut", "after").status, 200);
    let given_up = cluster.until("it has no leader", || {
        header(&stale(), "X-Consul-KnownLeader").as_deref() == Some("false")
    });
    cluster.took("giving up the leader", given_up, SECOND / 2..6 * SECOND);
    let name = cluster.name;
    assert!(cluster.knows_none(follower), "{name}");
    has_no_leader(cluster, follower, "cut");
    let services = cluster.get(follower, "/v1/agent/services");
    assert_eq!(services.status, 200, "{name}");
    for waits in [hangs, waits] {
        is_given_up(cluster, waits, begun);
    }
    cluster.cut(follower, false);
    let woken = answered(waits_stale);
    assert_eq!(text(&woken), "after", "{name}");
    is_well(cluster);
}

/// Another leads; the old one steps down soon, and joins when it is back.
fn the_leader_is_cut_off(cluster: &Cluster) {
    let leader = cluster.leader();
    let [follower, other] = cluster.followers();
    let name = cluster.name;
    cluster.put(leader, "/v1/kv/led", "before");
    cluster.until("the followers have it", || {
        let stale = |agent| text(&cluster.get(agent, "/v1/kv/led?stale&raw"));
        stale(follower) == "before" && stale(other) == "before"
    });
    cluster.cut(leader, true);
    let begun = Stopwatch::start();
    let hangs = cluster.asked(follower, "/v1/kv/none");
    let early = cluster.get(leader, "/v1/kv/led?raw");
    cluster.is(&early, 200, "before");
    cluster.steps_down(leader, "led");
    has_no_leader(cluster, leader, "led");
    is_given_up(cluster, hangs, begun);
    assert_eq!(
        cluster.put(other, "/v1/kv/led", "after").status,
        200,
        "{name}"
    );
    cluster.cut(leader, false);
    cluster.until("it follows", || {
        let read = cluster.get(leader, "/v1/kv/led?raw");
        (read.status, text(&read).as_str()) == (200, "after")
    });
    is_well(cluster);
}

/// What an agent answers without a leader.
fn has_no_leader(cluster: &Cluster, agent: usize, key: &str) {
    let name = cluster.name;
    let stale = cluster.get(agent, &format!("/v1/kv/{key}?stale&raw"));
    cluster.is(&stale, 200, "before");
    assert_eq!(
        header(&stale, "X-Consul-KnownLeader").as_deref(),
        Some("false"),
        "{name}"
    );
    cluster.waits_in_vain(agent);
    let nodes = cluster.get(agent, "/v1/catalog/nodes");
    cluster.is(&nodes, 500, "No cluster leader");
    let shown = ["X-Consul-KnownLeader", "X-Consul-LastContact"].map(|of| header(&nodes, of));
    assert_eq!(
        shown,
        ["false", "0"].map(|value| Some(value.to_owned())),
        "{name}"
    );
}

/// Waits until everything is as it was: a follower that comes back costs the others an election.
fn is_well(cluster: &Cluster) {
    cluster.until("all is well", || {
        (0..CLIENT).all(|agent| cluster.put(agent, "/v1/kv/well", "x").status == 200)
            && text(&cluster.get(0, "/v1/health/state/critical")).trim() == "[]"
    });
}
