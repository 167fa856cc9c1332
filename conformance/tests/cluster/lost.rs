//! Agents that stop and die (cluster.md 1.33, 1.35, 2, 3, 4).

use std::time::Duration;

use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::Request;

use crate::agents::{CLIENT, Cluster, header, text};
use crate::held;

const SECOND: Duration = Duration::from_secs(1);

held! {
    a_follower_stops
    an_agent_leaves
    a_client_agent_dies
    the_leader_dies
    the_quorum_is_lost
}

/// The rest goes on, its failure is noticed, and it answers what was sent meanwhile when it goes on.
fn a_follower_stops(cluster: &Cluster) {
    let [follower, other] = cluster.followers();
    let bound = cluster.session(follower, "{}");
    cluster.put(other, "/v1/kv/stops", "before");
    cluster.pause(follower, true);
    let stopped = Stopwatch::start();
    let after = cluster.put(other, "/v1/kv/stops", "after");
    assert_eq!(after.status, 200, "{}", cluster.name);
    let waits = cluster.asked(follower, "/v1/kv/stops?raw");
    cluster.until("its session ends", || {
        let info = format!("/v1/session/info/{bound}");
        text(&cluster.get(other, &info)).trim() == "[]"
    });
    cluster.took(
        "the failure of a follower, until it is noticed,",
        stopped.elapsed(),
        3 * SECOND..12 * SECOND,
    );
    cluster.pause(follower, false);
    let answer = waits.join().expect("it ends").expect("it is answered");
    assert_eq!(
        (answer.status, text(&answer).as_str()),
        (200, "after"),
        "{}",
        cluster.name
    );
    let back = cluster.until("it is well", || {
        text(&cluster.get(other, "/v1/health/state/critical")).trim() == "[]"
    });
    cluster.took(
        "the return of a follower, until it is noticed,",
        back,
        Duration::ZERO..5 * SECOND,
    );
}

/// Its node is deregistered, and with it all its sessions. A server is no peer any more, until it is back.
fn an_agent_leaves(cluster: &mut Cluster) {
    let followers = cluster.followers();
    // The first is the one that the others join.
    let server = followers.into_iter().max().expect("there are two");
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
        assert!(acquire(cluster, agent, &key, &bound), "{name}");
        let answer = cluster.put(agent, "/v1/agent/leave", "");
        assert_eq!((answer.status, text(&answer).as_str()), (200, ""), "{name}");
        // A server answers after some 13 s.
        let is_free = acquire(cluster, other, &key, &next);
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
        cluster.until("its lock is free", || acquire(cluster, other, &key, &next));
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
    let leader = cluster.leader();
    let [follower, _] = cluster.followers();
    let next = cluster.session(leader, "{}");
    assert!(
        acquire(cluster, leader, "of-a-client", &bound),
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
        acquire(cluster, leader, "of-a-client", &next)
    });
    cluster.took("a lock-delay of 4 s", delay, 3 * SECOND..8 * SECOND);
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
}

/// Refused at first, and answered by a new leader; stale reads go on meanwhile (3.2).
fn the_leader_dies(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let [follower, other] = cluster.followers();
    let holder = cluster.session(follower, r#"{"LockDelay":"15s"}"#);
    let next = cluster.session(follower, "{}");
    let ttl = cluster.session(other, r#"{"TTL":"10s","Behavior":"delete"}"#);
    assert!(
        acquire(cluster, follower, "delayed", &holder),
        "{}",
        cluster.name
    );
    cluster.put(follower, &format!("/v1/session/destroy/{holder}"), "");
    let destroyed = Stopwatch::start();
    cluster.put(follower, "/v1/kv/kept", "kept");
    let stale = |agent: usize| cluster.get(agent, "/v1/kv/kept?stale&raw");
    cluster.until("the followers have it", || {
        let kept = [follower, other].map(|agent| text(&stale(agent)) == "kept");
        kept == [true; 2]
    });
    cluster.kill(leader);
    let died = Stopwatch::start();
    let refused = cluster.put(follower, "/v1/kv/lost", "x");
    let refused = (refused.status, text(&refused));
    assert!(
        refused.0 == 500 && refused.1.starts_with("rpc error "),
        "{}: {refused:?}",
        cluster.name
    );
    cluster.until("a write succeeds", || {
        let stale = cluster.get(follower, "/v1/kv/kept?stale&raw");
        let says = (stale.status, text(&stale));
        assert_eq!(says, (200, "kept".to_owned()), "{}", cluster.name);
        cluster.put(follower, "/v1/kv/lost", "x").status == 200
    });
    let elected = Stopwatch::start();
    cluster.took("a new leader", died.elapsed(), SECOND..8 * SECOND);
    assert_ne!(cluster.leader(), leader, "{}", cluster.name);
    assert!(
        !acquire(cluster, follower, "delayed", &next),
        "{}",
        cluster.name
    );
    state_goes_on(cluster, follower, (&next, destroyed), (&ttl, elected));
}

/// Lock-delays go on, and TTLs start anew.
fn state_goes_on(cluster: &Cluster, agent: usize, next: (&str, Stopwatch), ttl: (&str, Stopwatch)) {
    cluster.until("the lock-delay is over", || {
        acquire(cluster, agent, "delayed", next.0)
    });
    cluster.took(
        "the lock-delay of 15 s",
        next.1.elapsed(),
        10 * SECOND..18 * SECOND,
    );
    cluster.until("the session lapses", || {
        let info = format!("/v1/session/info/{}", ttl.0);
        text(&cluster.get(agent, &info)).trim() == "[]"
    });
    cluster.took(
        "a TTL of 10 s, from the new leader on,",
        ttl.1.elapsed(),
        18 * SECOND..23 * SECOND,
    );
}

fn acquire(cluster: &Cluster, agent: usize, key: &str, session: &str) -> bool {
    let acquire = Request::put(&format!("/v1/kv/{key}?acquire={session}"), "x");
    let acquired = cluster.asks(agent, &acquire);
    acquired.is_some_and(|acquired| text(&acquired).trim() == "true")
}

/// A lone leader steps down, answers stale reads alone, and takes writes when another is back.
fn the_quorum_is_lost(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let dead = |agent: &usize| {
        cluster
            .asks(*agent, &Request::get("/v1/agent/version"))
            .is_none()
    };
    let last = (0..CLIENT).find(|agent| *agent != leader && !dead(agent));
    let last = last.expect("two servers run");
    cluster.put(leader, "/v1/kv/kept", "by two");
    cluster.kill(last);
    cluster.until("it steps down", || {
        text(&cluster.get(leader, "/v1/status/leader")).trim() == "\"\""
    });
    let begun = Stopwatch::start();
    let refused = cluster.put(leader, "/v1/kv/lost", "x");
    let took = begun.elapsed();
    assert_eq!(
        (refused.status, text(&refused).as_str()),
        (500, "No cluster leader"),
        "{}",
        cluster.name
    );
    cluster.took("a write without a quorum", took, 6 * SECOND..9 * SECOND);
    let stale = cluster.get(leader, "/v1/kv/kept?stale&raw");
    assert_eq!(
        (stale.status, text(&stale).as_str()),
        (200, "by two"),
        "{}",
        cluster.name
    );
    assert_eq!(
        header(&stale, "X-Consul-KnownLeader").as_deref(),
        Some("false")
    );
    let contact = header(&stale, "X-Consul-LastContact").and_then(|text| text.parse::<u64>().ok());
    assert!(
        contact.is_some_and(|contact| contact > 5000),
        "{}: {contact:?}",
        cluster.name
    );
    cluster.start(last);
    let back = cluster.until("a write succeeds", || {
        let written = cluster.asks(leader, &Request::put("/v1/kv/back", "x"));
        written.is_some_and(|written| written.status == 200)
    });
    cluster.took("the return of the quorum", back, Duration::ZERO..8 * SECOND);
}
