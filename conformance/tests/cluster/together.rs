//! One datacenter, all well (cluster.md 1).

use std::time::Duration;

use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::Reply;
use serde_json::Value;

use crate::agents::{AGENTS, CLIENT, Cluster, answered, header, text};
use crate::held;

held! {
    writes_and_reads_are_the_leaders
    a_follower_is_one_entry_behind
    a_stale_session_comes_later
    conflicting_consistency_is_refused
    blocked_queries_wake
    sessions_are_of_the_agent_that_is_asked
    checks_of_a_session_are_on_its_node
    the_servers_are_known_everywhere
    the_keyring_is_of_all_agents
    agents_say_who_they_are
    services_are_the_agents_own
    catalogs_tell_the_consistency
    snapshots_are_the_leaders
    transactions_say_the_last_contact
    a_wait_ends_everywhere
    events_reach_all_agents
    health_is_cached
    stale_reads_go_back
    servers_are_named_over_dns
}

/// No answer tells which agent was asked.
fn writes_and_reads_are_the_leaders(cluster: &Cluster) {
    for agent in 0..AGENTS {
        let value = format!("by {agent}");
        let written = cluster.put(agent, "/v1/kv/all", &value);
        assert_eq!((written.status, text(&written).trim()), (200, "true"));
        for name in [
            "X-Consul-Index",
            "X-Consul-KnownLeader",
            "X-Consul-LastContact",
        ] {
            assert_eq!(header(&written, name), None, "{}: {name}", cluster.name);
        }
        for reader in 0..AGENTS {
            for consistency in ["raw", "raw&consistent"] {
                let read = cluster.get(reader, &format!("/v1/kv/all?{consistency}"));
                assert_eq!(
                    text(&read),
                    value,
                    "{}: written at {agent}, read at {reader}",
                    cluster.name
                );
                assert_eq!(header(&read, "X-Consul-LastContact").as_deref(), Some("0"));
                assert_eq!(
                    header(&read, "X-Consul-KnownLeader").as_deref(),
                    Some("true")
                );
            }
        }
        let stale = cluster.get(cluster.leader(), "/v1/kv/all?stale&raw");
        assert_eq!(
            text(&stale),
            value,
            "{}: the leader has no lag",
            cluster.name
        );
        assert_eq!(header(&stale, "X-Consul-LastContact").as_deref(), Some("0"));
    }
}

/// Directly after a write a follower shows what was before, nearly always, and has it soon.
fn a_follower_is_one_entry_behind(cluster: &Cluster) {
    const WRITES: usize = 20;
    let [follower, other] = cluster.followers();
    let mut old = 0;
    for write in 0..WRITES {
        let value = write.to_string();
        cluster.put(other, "/v1/kv/behind", &value);
        let read = cluster.get(follower, "/v1/kv/behind?stale&raw");
        old += usize::from(text(&read) != value);
        let took = cluster.until("the follower has it", || {
            text(&cluster.get(follower, "/v1/kv/behind?stale&raw")) == value
        });
        assert!(took < Duration::from_secs(2), "{}: {took:?}", cluster.name);
    }
    // Nearly all of them; on a busy machine a read may come late.
    assert!(old > 0, "{}: no read of {WRITES} was old", cluster.name);
}

fn a_stale_session_comes_later(cluster: &Cluster) {
    const SESSIONS: usize = 20;
    let [follower, _] = cluster.followers();
    let mut missing = 0;
    for _ in 0..SESSIONS {
        let session = cluster.session(follower, "{}");
        let info = format!("/v1/session/info/{session}");
        let stale = || text(&cluster.get(follower, &format!("{info}?stale")));
        missing += usize::from(stale().trim() == "[]");
        assert!(
            text(&cluster.get(follower, &info)).contains(&session),
            "{}",
            cluster.name
        );
        cluster.until("it comes", || stale().contains(&session));
    }
    assert!(
        missing > 0,
        "{}: no session of {SESSIONS} came later",
        cluster.name
    );
}

fn conflicting_consistency_is_refused(cluster: &Cluster) {
    for agent in 0..AGENTS {
        let refused = cluster.get(agent, "/v1/kv/all?stale&consistent");
        let expected = "Cannot specify ?stale with ?consistent, conflicting semantics.";
        assert_eq!((refused.status, text(&refused).as_str()), (400, expected));
    }
}

/// Default queries of all agents, and a stale one of a follower, are answered by a write.
fn blocked_queries_wake(cluster: &Cluster) {
    let [follower, _] = cluster.followers();
    cluster.put(0, "/v1/kv/wake", "before");
    cluster.until("the follower has it", || {
        text(&cluster.get(follower, "/v1/kv/wake?stale&raw")) == "before"
    });
    let read = cluster.get(0, "/v1/kv/wake");
    let index = header(&read, "X-Consul-Index").expect("a read has one");
    let target = format!("/v1/kv/wake?index={index}&wait=20s");
    let mut waiting: Vec<_> = (0..AGENTS)
        .map(|agent| cluster.asked(agent, &target))
        .collect();
    waiting.push(cluster.asked(follower, &format!("{target}&stale")));
    // Nothing tells when they wait: what comes after the write is answered at once.
    cluster.put(follower, "/v1/kv/wake", "after");
    let written = Stopwatch::start();
    let mut answers = Vec::new();
    for waits in waiting {
        let reply = answered(waits);
        answers.push((header(&reply, "X-Consul-Index"), text(&reply)));
        // The stale one is answered at the moment of the leader's message.
        let contact = header(&reply, "X-Consul-LastContact").and_then(|text| text.parse().ok());
        assert!(
            contact.is_some_and(|contact: u32| contact < 20),
            "{}: {contact:?}",
            cluster.name
        );
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{}: {answers:?}",
        cluster.name
    );
    // In Base64.
    assert!(
        answers[0].1.contains("YWZ0ZXI="),
        "{}: {answers:?}",
        cluster.name
    );
    let late = written.elapsed();
    assert!(late < Duration::from_secs(5), "{}: {late:?}", cluster.name);
}

fn sessions_are_of_the_agent_that_is_asked(cluster: &Cluster) {
    for agent in 0..AGENTS {
        let session = cluster.session(agent, r#"{"LockDelay":"0s"}"#);
        let other = (agent + 1) % AGENTS;
        let info = text(&cluster.get(other, &format!("/v1/session/info/{session}")));
        let own = text(&cluster.get(agent, "/v1/agent/self"));
        let own: Value = serde_json::from_str(&own).expect("JSON");
        let name = own["Config"]["NodeName"].as_str().expect("it has a name");
        assert!(
            info.contains(&format!(r#""Node":"{name}""#)),
            "{}: {info}",
            cluster.name
        );
        let acquire = format!("/v1/kv/held?acquire={session}");
        for again in [agent, other] {
            assert_eq!(text(&cluster.put(again, &acquire, "")).trim(), "true");
        }
        let held = text(&cluster.get(other, "/v1/kv/held"));
        let locks = format!(r#""LockIndex":{}"#, agent + 1);
        assert!(held.contains(&locks), "{}: {held}", cluster.name);
        assert_eq!(
            cluster
                .put(other, &format!("/v1/session/renew/{session}"), "")
                .status,
            200
        );
        cluster.put(other, &format!("/v1/session/destroy/{session}"), "");
        let renewed = cluster.put(agent, &format!("/v1/session/renew/{session}"), "");
        assert_eq!(renewed.status, 404, "{}", cluster.name);
    }
}

/// A session with the check of a service on another node is refused.
fn checks_of_a_session_are_on_its_node(cluster: &Cluster) {
    let service = r#"{"Name":"web1","Check":{"TTL":"60s","Status":"passing"}}"#;
    cluster.put(CLIENT, "/v1/agent/service/register", service);
    let with = r#"{"Checks":["serfHealth","service:web1"]}"#;
    let refused = cluster.put(cluster.leader(), "/v1/session/create", with);
    let expected = "Missing check 'service:web1' registration";
    assert_eq!(
        (refused.status, text(&refused).as_str()),
        (500, expected),
        "{}",
        cluster.name
    );
    cluster.session(CLIENT, with);
    cluster.put(CLIENT, "/v1/agent/service/deregister/web1", "");
}

fn the_servers_are_known_everywhere(cluster: &Cluster) {
    let leader = text(&cluster.get(0, "/v1/status/leader"));
    for agent in 0..AGENTS {
        assert_eq!(
            text(&cluster.get(agent, "/v1/status/leader")),
            leader,
            "{}",
            cluster.name
        );
        let peers = text(&cluster.get(agent, "/v1/status/peers"));
        assert_eq!(peers.matches(":").count(), 3, "{}: {peers}", cluster.name);
        assert!(peers.contains(leader.trim()), "{}: {peers}", cluster.name);
        let raft = text(&cluster.get(agent, "/v1/operator/raft/configuration"));
        assert_eq!(
            raft.matches(r#""Voter":true"#).count(),
            3,
            "{}: {raft}",
            cluster.name
        );
        assert_eq!(
            raft.matches(r#""Leader":true"#).count(),
            1,
            "{}: {raft}",
            cluster.name
        );
        let consul = text(&cluster.get(agent, "/v1/catalog/service/consul"));
        assert_eq!(
            consul.matches(r#""ServiceName":"consul""#).count(),
            3,
            "{}",
            cluster.name
        );
        let members = text(&cluster.get(agent, "/v1/agent/members"));
        let count = |part: &str| members.matches(part).count();
        let counts = [
            r#""Status":1"#,
            r#""role":"consul""#,
            r#""role":"node""#,
            r#""expect":"3""#,
            r#""acls":"0""#,
        ]
        .map(count);
        assert_eq!(counts, [4, 3, 1, 3, 4], "{}: {members}", cluster.name);
    }
    let health = || text(&cluster.get(0, "/v1/operator/autopilot/health"));
    cluster.until("autopilot is well", || {
        health().contains(r#""FailureTolerance":1"#)
    });
}

fn the_keyring_is_of_all_agents(cluster: &Cluster) {
    let names: Vec<_> = (0..AGENTS).map(|agent| cluster.node(agent)).collect();
    let of_lan = complaints("dc1 (LAN)", &names);
    for agent in 0..CLIENT {
        keyring_is_refused(cluster, agent, "local-only=1", &of_lan);
    }
    let refused = cluster.get(CLIENT, "/v1/operator/keyring");
    let says = "keyring operations must run against a server node";
    cluster.is(&refused, 500, says);
    let wrong = cluster.get(CLIENT, "/v1/operator/keyring?relay-factor=9");
    assert_eq!(wrong.status, 400, "{}", cluster.name);
}

/// What a pool of gossip says without encryption.
pub(crate) fn complaints(pool: &str, names: &[String]) -> Vec<String> {
    let count = names.len();
    let all = format!("\t* {pool} error: {count}/{count} nodes reported failure");
    let says = "Keyring is empty (encryption not enabled)";
    let each = names.iter().map(|name| format!("\t* {name}: {says}"));
    std::iter::once(all).chain(each).collect()
}

/// Compares the lines in any order: each pool lists its members at random.
pub(crate) fn keyring_is_refused(
    cluster: &Cluster,
    agent: usize,
    query: &str,
    complaints: &[String],
) {
    let refused = cluster.get(agent, &format!("/v1/operator/keyring?{query}"));
    let said = text(&refused);
    let (count, lines) = said.split_once('\n').expect("it has lines");
    let mut lines: Vec<_> = lines.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    let mut expected: Vec<_> = complaints.iter().map(String::as_str).collect();
    expected.sort_unstable();
    let says = format!("{} errors occurred:", expected.len());
    assert_eq!(
        (refused.status, count, lines),
        (500, says.as_str(), expected),
        "{}",
        cluster.name
    );
}

fn agents_say_who_they_are(cluster: &Cluster) {
    let number = cluster.leader();
    for agent in 0..AGENTS {
        let own = text(&cluster.get(agent, "/v1/agent/self"));
        let own: Value = serde_json::from_str(&own).expect("JSON");
        let (consul, raft) = (&own["Stats"]["consul"], &own["Stats"]["raft"]);
        if agent == CLIENT {
            assert_eq!(consul["known_servers"], "3", "{}: {consul}", cluster.name);
            assert!(
                raft.is_null() && own["Config"]["Server"] == false,
                "{}",
                cluster.name
            );
        } else {
            assert_eq!(
                consul["leader"] == "true",
                agent == number,
                "{}: {consul}",
                cluster.name
            );
            let state = if agent == number {
                "Leader"
            } else {
                "Follower"
            };
            assert_eq!(raft["state"], state, "{}: {raft}", cluster.name);
            assert_eq!(raft["num_peers"], "2", "{}: {raft}", cluster.name);
        }
    }
}

fn services_are_the_agents_own(cluster: &Cluster) {
    let service = r#"{"Name":"web2","Check":{"TTL":"60s","Status":"passing"}}"#;
    let [follower, other] = cluster.followers();
    cluster.put(CLIENT, "/v1/agent/service/register", service);
    assert_eq!(
        text(&cluster.get(other, "/v1/agent/services")).trim(),
        "{}",
        "{}",
        cluster.name
    );
    let unknown = cluster.get(other, "/v1/agent/service/web2");
    assert_eq!(
        (unknown.status, text(&unknown).as_str()),
        (404, "unknown service ID: web2")
    );
    let passed = cluster.put(other, "/v1/agent/check/pass/service:web2", "");
    let expected = r#"CheckID "service:web2" does not have associated TTL"#;
    assert_eq!(
        (passed.status, text(&passed).as_str()),
        (500, expected),
        "{}",
        cluster.name
    );
    assert_eq!(
        cluster
            .put(other, "/v1/agent/service/deregister/web2", "")
            .status,
        200
    );
    let missing = cluster.put(other, "/v1/agent/service/maintenance/web2?enable=true", "");
    let expected = r#"No service registered with ID "web2""#;
    assert_eq!(
        (missing.status, text(&missing).as_str()),
        (404, expected),
        "{}",
        cluster.name
    );
    cluster.put(follower, "/v1/agent/service/register", service);
    let instances = || text(&cluster.get(other, "/v1/catalog/service/web2"));
    assert_eq!(
        instances().matches(r#""ServiceID":"web2""#).count(),
        2,
        "{}",
        cluster.name
    );
    for agent in [CLIENT, follower] {
        cluster.put(agent, "/v1/agent/service/deregister/web2", "");
    }
}

/// Keys, sessions and coordinates do not.
fn catalogs_tell_the_consistency(cluster: &Cluster) {
    let told = |agent, target: &str| {
        header(
            &cluster.get(agent, target),
            "X-Consul-Effective-Consistency",
        )
    };
    for agent in 0..AGENTS {
        for (asked, expected) in [
            ("", "leader"),
            ("?stale", "stale"),
            ("?consistent", "consistent"),
        ] {
            for of in ["catalog/nodes", "health/state/any", "query"] {
                let told = told(agent, &format!("/v1/{of}{asked}"));
                assert_eq!(told.as_deref(), Some(expected), "{}: {of}", cluster.name);
            }
            for of in ["kv/all", "session/list", "coordinate/nodes"] {
                assert_eq!(told(agent, &format!("/v1/{of}{asked}")), None, "{of}");
            }
        }
    }
}

fn snapshots_are_the_leaders(cluster: &Cluster) {
    for agent in 0..AGENTS {
        let archive = cluster.get(agent, "/v1/snapshot");
        let contact = header(&archive, "X-Consul-LastContact");
        assert_eq!((archive.status, contact.as_deref()), (200, Some("0")));
    }
}

/// In the body as in the header, and more exactly. A transaction that writes says nothing.
fn transactions_say_the_last_contact(cluster: &Cluster) {
    let name = cluster.name;
    let [follower, _] = cluster.followers();
    let get = r#"[{"KV":{"Verb":"get-tree","Key":"none"}}]"#;
    let nanoseconds = |body: &str| {
        let number = body.split(r#""LastContact":"#).nth(1);
        let number = number.and_then(|rest| rest.split([',', '}']).next()?.parse::<u64>().ok());
        number.unwrap_or_else(|| panic!("{name}: {body}"))
    };
    let header_of = |reply: &Reply| header(reply, "X-Consul-LastContact");
    // Some time passes between the two.
    let agrees = (0..50).any(|_| {
        let stale = cluster.put(follower, "/v1/txn?stale", get);
        let milliseconds = nanoseconds(&text(&stale)) / 1_000_000;
        milliseconds > 0 && header_of(&stale) == Some(milliseconds.to_string())
    });
    assert!(agrees, "{name}");
    let own = cluster.put(follower, "/v1/txn", get);
    assert_eq!(nanoseconds(&text(&own)), 0, "{name}");
    let set = r#"[{"KV":{"Verb":"set","Key":"txn","Value":"eA=="}}]"#;
    let written = cluster.put(follower, "/v1/txn?stale", set);
    assert_eq!((written.status, header_of(&written)), (200, None), "{name}");
    assert!(!text(&written).contains("LastContact"), "{name}");
}

/// An index that is not there yet is waited for, and the answer has the one that is.
fn a_wait_ends_everywhere(cluster: &Cluster) {
    let index = |reply: &Reply| -> u64 {
        let index = header(reply, "X-Consul-Index").expect("a read has one");
        index.parse().expect("it is a number")
    };
    let ahead = index(&cluster.get(0, "/v1/kv/all")) + 1000;
    for agent in 0..AGENTS {
        let began = Stopwatch::start();
        let answer = cluster.get(agent, &format!("/v1/kv/all?index={ahead}&wait=1s"));
        let took = began.elapsed();
        assert!(took >= Duration::from_secs(1), "{}: {took:?}", cluster.name);
        assert!(
            answer.status == 200 && index(&answer) < ahead,
            "{}",
            cluster.name
        );
    }
}

fn events_reach_all_agents(cluster: &Cluster) {
    let [follower, _] = cluster.followers();
    let fired = text(&cluster.put(follower, "/v1/event/fire/deploy", "now"));
    let fired: Value = serde_json::from_str(&fired).expect("it is JSON");
    assert_eq!(fired["LTime"], 0, "{}", cluster.name);
    let listed = |agent| -> Option<Value> {
        let list = text(&cluster.get(agent, "/v1/event/list?name=deploy"));
        let list: Vec<Value> = serde_json::from_str(&list).expect("it is a list");
        list.into_iter().find(|event| event["ID"] == fired["ID"])
    };
    for agent in 0..AGENTS {
        cluster.until("the event comes", || listed(agent).is_some());
    }
    let first = listed(0).expect("it came");
    for agent in 1..AGENTS {
        let there = listed(agent).expect("it came");
        assert_eq!(there["LTime"], first["LTime"], "{}", cluster.name);
        assert_eq!(there["Payload"], first["Payload"], "{}", cluster.name);
    }
}

/// By each agent for itself, for default reads and stale ones.
fn health_is_cached(cluster: &Cluster) {
    let [follower, other] = cluster.followers();
    for agent in [cluster.leader(), follower, CLIENT, other] {
        // Whose read is the first one.
        let is_stale = agent == other;
        for (is_stale, cache) in [(is_stale, "MISS"), (is_stale, "HIT"), (!is_stale, "HIT")] {
            let (query, consistency) = match is_stale {
                true => ("?cached&stale", "stale"),
                false => ("?cached", "leader"),
            };
            let health = cluster.get(agent, &format!("/v1/health/service/consul{query}"));
            let shown = ["X-Consul-Effective-Consistency", "X-Cache"]
                .map(|name| header(&health, name).unwrap_or_default());
            let name = cluster.name;
            assert_eq!(shown, [consistency, cache], "{name}: agent {agent}");
        }
    }
}

/// Who reads from one server after the other sees an older state now and then, but never with default reads.
fn stale_reads_go_back(cluster: &Cluster) {
    // A quick machine shows it rarely.
    for (consistency, goes_back, rounds) in [("?stale", true, 2_000), ("", false, 40)] {
        let (mut last, mut back) = (0, 0);
        for round in 0..rounds {
            if back > 0 {
                break;
            }
            cluster.put(round % CLIENT, "/v1/kv/rotated", &round.to_string());
            for server in 0..CLIENT {
                let read = cluster.get(server, &format!("/v1/kv/rotated{consistency}"));
                let index = header(&read, "X-Consul-Index").expect("a read has one");
                let index: u64 = index.parse().expect("it is a number");
                back += usize::from(index < last);
                last = index;
            }
        }
        assert_eq!(
            back > 0,
            goes_back,
            "{}: {consistency} {back}",
            cluster.name
        );
    }
}

/// With their addresses, by a client agent, too.
fn servers_are_named_over_dns(cluster: &Cluster) {
    let mut names: Vec<String> = (0..CLIENT)
        .map(|server| format!(" NS {}.node.dc1.consul.", cluster.node(server)))
        .collect();
    names.sort();
    for agent in 0..AGENTS {
        for (kind, section) in [("NS", "answer "), ("SOA", "authority ")] {
            let (outcome, records) = cluster.resolve(agent, "consul", kind);
            assert_eq!(outcome, "NOERROR", "{}", cluster.name);
            let servers = records.iter().filter(|record| record.starts_with(section));
            let servers = servers.filter_map(|record| record.find(" NS ").map(|at| &record[at..]));
            assert_eq!(
                servers.collect::<Vec<_>>(),
                names,
                "{}: {kind}",
                cluster.name
            );
            let addresses = records
                .iter()
                .filter(|record| record.starts_with("additional "));
            assert_eq!(addresses.count(), 3, "{}: {kind}", cluster.name);
        }
    }
}
