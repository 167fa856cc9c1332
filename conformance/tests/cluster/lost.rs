//! Leaders that die, and servers that remain alone (cluster.md 3, 4).

use std::time::Duration;

use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::Request;

use crate::agents::{CLIENT, Cluster, SECOND, answered, header, text};
use crate::errors::bad_input_needs_no_leader;
use crate::held;

held! {
    the_leader_dies
    the_quorum_is_lost
    a_follower_is_left_alone
    bad_input_needs_no_leader
    dead_servers_are_given_up
}

/// Refused at first, and answered by a new leader; stale reads go on meanwhile (3.2).
fn the_leader_dies(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let [follower, other] = cluster.followers();
    let holder = cluster.session(follower, r#"{"LockDelay":"15s"}"#);
    let next = cluster.session(follower, "{}");
    let ttl = cluster.session(other, r#"{"TTL":"10s","Behavior":"delete"}"#);
    assert!(
        cluster.acquires(follower, "delayed", &holder),
        "{}",
        cluster.name
    );
    cluster.put(follower, &format!("/v1/session/destroy/{holder}"), "");
    let destroyed = Stopwatch::start();
    cluster.put(follower, "/v1/kv/kept", "kept");
    let written = index(cluster, follower, "kept");
    let stale = |cluster: &Cluster, agent| text(&cluster.get(agent, "/v1/kv/kept?stale&raw"));
    cluster.until("the followers have it", || {
        [follower, other].map(|agent| stale(cluster, agent) == "kept") == [true; 2]
    });
    let of_leader = cluster.session(leader, "{}");
    let [waits, waits_stale] = cluster.blocked(follower, "kept");
    cluster.kill(leader);
    let died = Stopwatch::start();
    let waited = answered(waits);
    cluster.is(&waited, 500, "rpc error making call: EOF");
    refused_at_first(cluster, follower, &ttl);
    cluster.until("a write succeeds", || {
        assert_eq!(stale(cluster, follower), "kept", "{}", cluster.name);
        let attempt = cluster.put(follower, "/v1/kv/lost", "x");
        // What comes when the death is noticed is held until there is a leader.
        let says = text(&attempt);
        let is_refused = attempt.status == 500 && says.contains("rpc error ");
        assert!(
            attempt.status == 200 || is_refused,
            "{}: {says}",
            cluster.name
        );
        attempt.status == 200
    });
    let elected = Stopwatch::start();
    // The change takes some entries, and each refused write may take one. Coordinates and the failed node take more with time.
    let entries = index(cluster, follower, "lost") - written;
    assert!(
        (2..=20).contains(&entries),
        "{}: {entries} entries",
        cluster.name
    );
    cluster.put(follower, "/v1/kv/kept", "still");
    let woken = answered(waits_stale);
    assert_eq!(text(&woken), "still", "{}", cluster.name);
    cluster.took("a new leader", died.elapsed(), SECOND..8 * SECOND);
    assert_ne!(cluster.leader(), leader, "{}", cluster.name);
    assert!(
        !cluster.acquires(follower, "delayed", &next),
        "{}",
        cluster.name
    );
    ends(cluster, follower, &of_leader);
    state_goes_on(cluster, follower, (&next, destroyed), (&ttl, elected));
}

/// Returns the index of a key.
fn index(cluster: &Cluster, agent: usize, key: &str) -> u64 {
    let entry = text(&cluster.get(agent, &format!("/v1/kv/{key}")));
    let index = entry.split(r#""ModifyIndex":"#).nth(1);
    let index = index.and_then(|rest| rest.split([',', '}']).next()?.parse().ok());
    index.unwrap_or_else(|| panic!("{entry}"))
}

/// What an agent answers that does not know yet that its leader is dead.
fn refused_at_first(cluster: &Cluster, agent: usize, session: &str) {
    let name = cluster.name;
    for refused in [
        cluster.put(agent, "/v1/kv/lost", "x"),
        cluster.get(agent, "/v1/kv/kept?consistent"),
        cluster.put(agent, &format!("/v1/session/renew/{session}"), ""),
        cluster.get(agent, "/v1/catalog/nodes"),
    ] {
        let says = (refused.status, text(&refused));
        assert!(
            says.0 == 500 && says.1.starts_with("rpc error "),
            "{name}: {says:?}"
        );
    }
    let shown = |target| {
        let refused = cluster.get(agent, target);
        ["X-Consul-KnownLeader", "X-Consul-LastContact"].map(|of| header(&refused, of))
    };
    let expected = ["false", "0"].map(|value| Some(value.to_owned()));
    assert_eq!(shown("/v1/catalog/nodes"), expected, "{name}");
    assert_eq!(shown("/v1/kv/kept"), [None, None], "{name}");
}

/// Waits until a session has ended.
fn ends(cluster: &Cluster, agent: usize, session: &str) {
    let info = format!("/v1/session/info/{session}");
    cluster.until("the session ends", || {
        text(&cluster.get(agent, &info)).trim() == "[]"
    });
}

/// Lock-delays go on, and TTLs start anew.
fn state_goes_on(cluster: &Cluster, agent: usize, next: (&str, Stopwatch), ttl: (&str, Stopwatch)) {
    cluster.until("the lock-delay is over", || {
        cluster.acquires(agent, "delayed", next.0)
    });
    cluster.took(
        "the lock-delay of 15 s",
        next.1.elapsed(),
        10 * SECOND..18 * SECOND,
    );
    ends(cluster, agent, ttl.0);
    cluster.took(
        "a TTL of 10 s, from the new leader on,",
        ttl.1.elapsed(),
        15 * SECOND..23 * SECOND,
    );
}

/// A lone leader steps down, answers stale reads alone, and takes writes when another is back.
fn the_quorum_is_lost(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let last = (0..CLIENT).find(|agent| *agent != leader && runs(cluster, *agent));
    let last = last.expect("two servers run");
    cluster.put(leader, "/v1/kv/kept", "by two");
    let own = cluster.blocked(leader, "kept");
    let of_last = cluster.blocked(last, "kept");
    cluster.kill(last);
    for closed in of_last {
        assert!(
            closed.join().expect("it ends").is_none(),
            "{}",
            cluster.name
        );
    }
    assert!(!runs(cluster, last), "{}", cluster.name);
    cluster.until("it steps down", || cluster.knows_none(leader));
    cluster.waits_in_vain(leader);
    let stale = cluster.get(leader, "/v1/kv/kept?stale&raw");
    cluster.is(&stale, 200, "by two");
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
    what_needs_no_leader(cluster, leader);
    cluster.until("the client agent says it", || {
        let refused = cluster.get(CLIENT, "/v1/kv/kept");
        (refused.status, text(&refused).as_str())
            == (500, "rpc error making call: No cluster leader")
    });
    cluster.start(last);
    let back = cluster.until("a write succeeds", || {
        let written = cluster.asks(leader, &Request::put("/v1/kv/back", "x"));
        written.is_some_and(|written| written.status == 200)
    });
    cluster.took("the return of the quorum", back, Duration::ZERO..8 * SECOND);
    cluster.until("it has told of its service", || {
        text(&cluster.get(leader, "/v1/catalog/service/alone")).contains("alone")
    });
    cluster.put(leader, "/v1/kv/kept", "by two again");
    for waits in own {
        let woken = answered(waits);
        assert_eq!(text(&woken), "by two again", "{}", cluster.name);
    }
}

/// Whether an agent answers.
pub(crate) fn runs(cluster: &Cluster, agent: usize) -> bool {
    let version = Request::get("/v1/agent/version");
    cluster.asks(agent, &version).is_some()
}

/// Names, and what is an agent's own.
fn what_needs_no_leader(cluster: &Cluster, agent: usize) {
    let name = cluster.name;
    let begun = Stopwatch::start();
    for target in [
        "status/peers",
        "catalog/datacenters",
        "operator/raft/configuration?stale",
        "snapshot?stale",
        "agent/self",
    ] {
        let answer = cluster.get(agent, &format!("/v1/{target}"));
        assert_eq!(answer.status, 200, "{name}: {target}");
    }
    assert_eq!(
        cluster.put(agent, "/v1/event/fire/e", "").status,
        200,
        "{name}"
    );
    let reads = r#"[{"KV":{"Verb":"get","Key":"kept"}}]"#;
    let reads = cluster.put(agent, "/v1/txn?stale", reads);
    assert_eq!(reads.status, 200, "{name}: {}", text(&reads));
    assert_eq!(
        header(&reads, "X-Consul-KnownLeader").as_deref(),
        Some("false")
    );
    // The cache asks the server itself.
    let cached = cluster.get(agent, "/v1/health/service/consul?cached");
    let leader = header(&cached, "X-Consul-KnownLeader");
    assert_eq!(
        (cached.status, leader.as_deref()),
        (200, Some("false")),
        "{name}"
    );
    let own = text(&cluster.get(agent, "/v1/agent/self"));
    assert!(own.contains(r#""leader_addr":"""#), "{name}");
    let node = format!("{}.node.consul", cluster.node(agent));
    assert_eq!(cluster.resolve(agent, &node, "A").0, "NOERROR", "{name}");
    cluster.took(
        "what needs no leader",
        begun.elapsed(),
        Duration::ZERO..4 * SECOND,
    );
    let begun = Stopwatch::start();
    let service = Request::put("/v1/agent/service/register", r#"{"Name":"alone"}"#);
    let registers = cluster.sent(agent, &service);
    let mut read = Duration::ZERO;
    while read < SECOND {
        assert!(!registers.is_finished(), "{name}: no read waits for it");
        let asked = Stopwatch::start();
        assert_eq!(cluster.get(agent, "/v1/agent/services").status, 200);
        read = asked.elapsed();
    }
    assert_eq!(answered(registers).status, 200, "{name}");
    for (what, took) in [
        ("a registration without a leader", begun.elapsed()),
        ("a read of services meanwhile", read),
    ] {
        cluster.took(what, took, 6 * SECOND..10 * SECOND);
    }
}

/// Its requests are refused until it knows that the leader is dead. Later ones wait for another leader, and fail.
fn a_follower_is_left_alone(cluster: &mut Cluster) {
    let leader = cluster.leader();
    let lone = (0..CLIENT).find(|agent| *agent != leader && runs(cluster, *agent));
    let lone = lone.expect("two servers run");
    cluster.kill(leader);
    let refused = cluster.put(lone, "/v1/kv/lost", "x");
    let refused = (refused.status, text(&refused));
    assert!(
        refused.0 == 500 && refused.1.starts_with("rpc error "),
        "{}: {refused:?}",
        cluster.name
    );
    let noticed = cluster.until("it has no leader", || cluster.knows_none(lone));
    cluster.took(
        "the death of a leader, until it is noticed,",
        noticed,
        SECOND / 2..6 * SECOND,
    );
    cluster.waits_in_vain(lone);
}

/// Their ports refuse the requests of a client agent until it has given up the last one. A service can be registered at it all the
/// same.
fn dead_servers_are_given_up(cluster: &mut Cluster) {
    let name = cluster.name;
    let last = (0..CLIENT).find(|agent| runs(cluster, *agent));
    cluster.kill(last.expect("a server runs"));
    let asked = ["kv/kept", "kv/kept?stale", "status/leader"].map(|target| format!("/v1/{target}"));
    // Before that, a connection may end.
    cluster.until("their ports refuse it", || {
        asked.iter().all(|target| {
            let refused = cluster.get(CLIENT, target);
            assert_eq!(refused.status, 500, "{name}: {target}");
            text(&refused).starts_with("rpc error getting client: failed to get conn: ")
        })
    });
    let service = r#"{"Name":"alone"}"#;
    let registered = cluster.put(CLIENT, "/v1/agent/service/register", service);
    cluster.is(&registered, 200, "");
    let node = format!("{}.node.consul", cluster.node(CLIENT));
    assert_eq!(cluster.resolve(CLIENT, &node, "A").0, "SERVFAIL", "{name}");
    let given_up = cluster.until("they are given up", || {
        asked.iter().all(|target| {
            let refused = cluster.get(CLIENT, target);
            (refused.status, text(&refused).as_str()) == (500, "No known Consul servers")
        })
    });
    cluster.took(
        "dead servers, until they are given up,",
        given_up,
        3 * SECOND..45 * SECOND,
    );
}
