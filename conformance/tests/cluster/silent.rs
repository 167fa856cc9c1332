//! Agents whose processes stand still (cluster.md 2.3, 3.5, 3.12 to 3.14, 4).

use std::thread::JoinHandle;
use std::time::Duration;

use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::{Reply, Request};

use crate::agents::{CLIENT, Cluster, SECOND, answered, header, text};
use crate::held;

held! {
    a_follower_stops
    a_lone_leader_steps_down
    the_leader_is_silent
    a_client_agent_waits_for_servers
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
    let answer = answered(waits);
    cluster.is(&answer, 200, "after");
    let back = cluster.until("it is well", || {
        text(&cluster.get(other, "/v1/health/state/critical")).trim() == "[]"
    });
    cluster.took(
        "the return of a follower, until it is noticed,",
        back,
        Duration::ZERO..5 * SECOND,
    );
}

/// What is under way when it does fails, and sessions live on for their full time when the others are back.
fn a_lone_leader_steps_down(cluster: &Cluster) {
    let name = cluster.name;
    let leader = cluster.leader();
    let ttl = cluster.session(leader, r#"{"TTL":"10s","Checks":[]}"#);
    let followers = cluster.followers();
    for follower in followers {
        cluster.pause(follower, true);
    }
    cluster.steps_down(leader, "pending");
    let own = text(&cluster.get(leader, "/v1/agent/self"));
    assert!(own.contains(r#""leader_addr":"""#), "{name}");
    for follower in followers {
        cluster.pause(follower, false);
    }
    let back = cluster.until("a write succeeds", || {
        cluster.put(leader, "/v1/kv/pending", "y").status == 200
    });
    let returned = Stopwatch::start();
    cluster.took("the return of the quorum", back, Duration::ZERO..5 * SECOND);
    cluster.until("the session expires", || {
        let info = format!("/v1/session/info/{ttl}");
        text(&cluster.get(leader, &info)).trim() == "[]"
    });
    let lived = returned.elapsed();
    cluster.took(
        "a TTL of 10 s, from the return on,",
        lived,
        15 * SECOND..23 * SECOND,
    );
}

/// A request to it hangs until its connection is given up, though another leads meanwhile. Stale reads go on.
fn the_leader_is_silent(cluster: &Cluster) {
    let name = cluster.name;
    let leader = cluster.leader();
    let [follower, other] = cluster.followers();
    let address = || {
        text(&cluster.get(follower, "/v1/status/leader"))
            .trim()
            .to_owned()
    };
    let before = address();
    cluster.put(leader, "/v1/kv/silent", "before");
    let stale = |agent| text(&cluster.get(agent, "/v1/kv/silent?stale&raw"));
    cluster.until("the followers have it", || {
        stale(follower) == "before" && stale(other) == "before"
    });
    let [waits, waits_stale] = cluster.blocked(follower, "silent");
    cluster.pause(leader, true);
    let begun = Stopwatch::start();
    let hangs = cluster.asked(follower, "/v1/kv/none");
    let elected = cluster.until("another leads", || {
        assert_eq!(stale(follower), "before", "{name}");
        let now = address();
        now != "\"\"" && now != before
    });
    cluster.took("a new leader", elected, SECOND..8 * SECOND);
    assert_eq!(
        cluster.put(other, "/v1/kv/silent", "after").status,
        200,
        "{name}"
    );
    let woken = answered(waits_stale);
    assert_eq!(text(&woken), "after", "{name}");
    for waits in [hangs, waits] {
        is_given_up(cluster, waits, begun);
    }
    // It takes itself for the leader for a moment.
    let [stale, read, consistent] = ["stale", "", "consistent"]
        .map(|how| cluster.asked(leader, &format!("/v1/kv/silent?raw&{how}")));
    cluster.pause(leader, false);
    let refusals = [
        "node is not the leader",
        "leadership lost while committing log",
    ];
    for (waited, refusals) in [(stale, &[][..]), (read, &[]), (consistent, &refusals[..])] {
        let waited = answered(waited);
        let says = (waited.status, text(&waited));
        let is_refused = says.0 == 500 && refusals.contains(&says.1.as_str());
        let is_state = says.0 == 200 && ["before", "after"].contains(&says.1.as_str());
        assert!(is_state || is_refused, "{name}: {says:?}");
    }
    cluster.until("it follows", || {
        text(&cluster.get(leader, "/v1/kv/silent?raw")) == "after"
    });
    cluster.until("all is well", || {
        text(&cluster.get(other, "/v1/health/state/critical")).trim() == "[]"
    });
}

/// It answers for itself meanwhile, and says at last that there are none.
fn a_client_agent_waits_for_servers(cluster: &Cluster) {
    let name = cluster.name;
    let pause = |stops| (0..CLIENT).for_each(|server| cluster.pause(server, stops));
    let ask = |target| cluster.asked(CLIENT, &format!("/v1/{target}"));
    let targets = ["kv/silent?stale&raw", "kv/silent?raw"];
    pause(true);
    let waits = targets.map(ask);
    assert_eq!(cluster.get(CLIENT, "/v1/agent/self").status, 200, "{name}");
    pause(false);
    let back = Stopwatch::start();
    for waits in waits {
        cluster.is(&answered(waits), 200, "after");
    }
    let back = back.elapsed();
    cluster.took(
        "the return of the servers",
        back,
        Duration::ZERO..5 * SECOND,
    );
    pause(true);
    let silent = Stopwatch::start();
    let all = [
        &targets[..],
        &[
            "status/leader",
            "catalog/datacenters",
            "operator/raft/configuration",
            "query",
        ],
    ]
    .concat();
    for waits in all.iter().map(|target| ask(target)).collect::<Vec<_>>() {
        cluster.is(&answered(waits), 500, "rpc error making call: EOF");
    }
    let given_up = silent.elapsed();
    cluster.took(
        "silent servers, until they are given up,",
        given_up,
        9 * SECOND..45 * SECOND,
    );
    // It may ask another one first, which hangs likewise.
    cluster.until("the client agent says it", || {
        all.iter().all(|target| {
            let refused = cluster.asks(CLIENT, &Request::get(&format!("/v1/{target}")));
            refused.is_some_and(|refused| {
                (refused.status, text(&refused).as_str()) == (500, "No known Consul servers")
            })
        })
    });
    let health = cluster.get(CLIENT, "/v1/health/service/consul");
    cluster.is(&health, 500, "No known Consul servers");
    for (name, value) in [
        ("Index", "1"),
        ("KnownLeader", "false"),
        ("LastContact", "0"),
    ] {
        let shown = header(&health, &format!("X-Consul-{name}"));
        assert_eq!(shown.as_deref(), Some(value), "{}: {name}", cluster.name);
    }
    let node = format!("{}.node.consul", cluster.node(CLIENT));
    assert_eq!(cluster.resolve(CLIENT, &node, "A").0, "SERVFAIL", "{name}");
    let service = r#"{"Name":"alone"}"#;
    let registered = cluster.put(CLIENT, "/v1/agent/service/register", service);
    cluster.is(&registered, 200, "");
    pause(false);
    cluster.until("it has told of its service", || {
        text(&cluster.get(CLIENT, "/v1/catalog/service/alone")).contains("alone")
    });
}

/// What was sent to a leader fails when its connection is given up. `since` is when it fell silent.
pub(crate) fn is_given_up(cluster: &Cluster, waits: JoinHandle<Option<Reply>>, since: Stopwatch) {
    let hung = answered(waits);
    cluster.is(&hung, 500, "rpc error making call: EOF");
    assert_eq!(
        header(&hung, "X-Consul-KnownLeader"),
        None,
        "{}",
        cluster.name
    );
    let took = since.elapsed();
    cluster.took(
        "a request to a silent leader",
        took,
        9 * SECOND..45 * SECOND,
    );
}
