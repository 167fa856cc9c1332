//! Several agents over one store: what each answers, and what happens between them (cluster.md).

use std::thread::JoinHandle;
use std::time::Duration;

use proconsul::control::{Lag, Link};
use proconsul::history::{Filter, Kind};
use proconsul::{Server, Version};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_udp};

use crate::autopilot::remove_dead_servers;
use crate::support::{Answer, PATIENCE, SECOND, ask_at, exchange, join, request};

/// Three servers and a client agent, whose clock stands still.
pub(crate) fn cluster() -> Server {
    let builder = Server::builder().version(Version::V1_8_7).seed(7).frozen();
    builder
        .agents_and_clients(3, 1)
        .start()
        .expect("free ports")
}

pub(crate) fn get(server: &Server, agent: usize, target: &str) -> Answer {
    ask_at(server.agent(agent).addr(), "GET", target, "")
}

pub(crate) fn put(server: &Server, agent: usize, target: &str, body: &str) -> Answer {
    ask_at(server.agent(agent).addr(), "PUT", target, body)
}

fn create_session(server: &Server, agent: usize, body: &str) -> String {
    let made = put(server, agent, "/v1/session/create", body);
    assert_eq!(made.status, 200, "{}", made.body);
    made.body
        .split('"')
        .nth(3)
        .expect("it has an id")
        .to_owned()
}

/// Sends a request that waits, and returns when it does.
pub(crate) fn parked(
    server: &Server,
    agent: usize,
    method: &'static str,
    target: &str,
) -> JoinHandle<Answer> {
    parked_with(server, agent, method, target, "x")
}

/// The same, with a body.
pub(crate) fn parked_with(
    server: &Server,
    agent: usize,
    method: &'static str,
    target: &str,
    body: &'static str,
) -> JoinHandle<Answer> {
    let arrived = Filter::of(Kind::Request).after(server.last_record());
    let (address, target) = (server.agent(agent).addr(), target.to_owned());
    let request = std::thread::spawn(move || ask_at(address, method, &target, body));
    server.wait_for(&arrived, PATIENCE).expect("it arrives");
    server.wait_idle(PATIENCE).expect("it waits");
    request
}

fn contact(answer: &Answer) -> u64 {
    let contact = answer
        .header("X-Consul-LastContact")
        .expect("a read has it");
    contact.parse().expect("it is a number")
}

#[test]
fn all_agents_write_and_read_one_store() {
    let server = cluster();
    for agent in 0..4 {
        let value = agent.to_string();
        assert_eq!(put(&server, agent, "/v1/kv/k", &value).body, "true");
        for reader in 0..4 {
            let read = get(&server, reader, "/v1/kv/k?raw");
            assert_eq!(read.body, value, "written at {agent}, read at {reader}");
            assert_eq!(contact(&read), 0);
            assert_eq!(read.header("X-Consul-KnownLeader"), Some("true"));
        }
    }
}

#[test]
fn a_follower_has_a_write_with_the_next_message() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "old");
    server.advance(SECOND);
    let written = put(&server, 1, "/v1/kv/k", "new");
    assert_eq!(written.body, "true");
    let before = get(&server, 1, "/v1/kv/k?stale&raw");
    assert_eq!(before.body, "old", "even at the agent that was written to");
    assert_eq!(
        get(&server, 0, "/v1/kv/k?stale&raw").body,
        "new",
        "the leader's own"
    );
    assert_eq!(
        get(&server, 3, "/v1/kv/k?stale&raw").body,
        "old",
        "the client agent asks a follower"
    );
    put(&server, 0, "/v1/kv/k", "newest");
    assert_eq!(
        get(&server, 1, "/v1/kv/k?stale&raw").body,
        "new",
        "one behind"
    );
    server.advance(Duration::from_millis(125));
    let after = get(&server, 1, "/v1/kv/k?stale&raw");
    assert_eq!(after.body, "newest");
    assert!(after.index() > before.index());
    assert!(contact(&after) < 100);
}

#[test]
fn a_stale_query_wakes_when_its_server_applies() {
    let server = cluster();
    let made = put(&server, 0, "/v1/kv/k", "1");
    assert_eq!(made.status, 200);
    server.advance(SECOND);
    let index = get(&server, 0, "/v1/kv/k").index();
    let leaders = parked(&server, 1, "GET", &format!("/v1/kv/k?raw&index={index}"));
    let stale = parked(
        &server,
        2,
        "GET",
        &format!("/v1/kv/k?stale&raw&index={index}"),
    );
    put(&server, 0, "/v1/kv/k", "2");
    assert_eq!(join(leaders).body, "2");
    assert_eq!(server.blocked().len(), 1, "the follower has not applied it");
    server.advance(Duration::from_millis(125));
    let woken = join(stale);
    assert_eq!((woken.body.as_str(), contact(&woken)), ("2", 0));
}

#[test]
fn a_lag_is_by_time_or_entries_or_for_good() {
    let server = cluster();
    let stale = |agent| get(&server, agent, "/v1/kv/k?stale&raw").body;
    server.agent(1).lag(Lag::Time(5 * SECOND));
    server.agent(2).lag(Lag::Entries(2));
    for value in ["1", "2", "3"] {
        put(&server, 0, "/v1/kv/k", value);
        server.advance(SECOND);
    }
    assert_eq!((stale(1).as_str(), stale(2).as_str()), ("", "1"));
    server.advance(3 * SECOND);
    assert_eq!((stale(1).as_str(), stale(2).as_str()), ("2", "1"));
    server.agent(1).lag(Lag::Hold);
    server.advance(60 * SECOND);
    let held = get(&server, 1, "/v1/kv/k?stale&raw");
    assert_eq!(held.body, "2");
    assert!(contact(&held) >= 60_000, "{}", held.head);
    for agent in [1, 2] {
        server.agent(agent).lag(Lag::default());
        server.advance(Duration::from_millis(125));
        assert_eq!(stale(agent), "3");
    }
}

#[test]
fn each_agent_has_a_node_and_services_of_its_own() {
    let server = cluster();
    let names = ["proconsul", "proconsul-1", "proconsul-2", "proconsul-3"];
    for (agent, name) in names.iter().enumerate() {
        let own = get(&server, agent, "/v1/agent/self").body;
        assert!(own.contains(&format!(r#""NodeName":"{name}""#)), "{own}");
        assert_eq!(own.contains(r#""leader":"true""#), agent == 0, "{own}");
        assert_eq!(own.contains(r#""known_servers":"3""#), agent == 3, "{own}");
        let session = create_session(&server, agent, "{}");
        let info = get(&server, 0, &format!("/v1/session/info/{session}")).body;
        assert!(info.contains(&format!(r#""Node":"{name}""#)), "{info}");
        let members = get(&server, agent, "/v1/agent/members").body;
        assert_eq!(members.matches(r#""Status":1"#).count(), 4, "{members}");
        assert!(
            members.starts_with(&format!(r#"[{{"Name":"{name}""#)),
            "{members}"
        );
        let leader = get(&server, agent, "/v1/status/leader").body;
        assert_eq!(leader, r#""127.0.0.1:8300""#);
        let peers = get(&server, agent, "/v1/status/peers").body;
        assert_eq!(
            peers,
            r#"["127.0.0.1:8300","127.0.0.1:8310","127.0.0.1:8320"]"#
        );
    }
    let consul = get(&server, 3, "/v1/catalog/service/consul").body;
    assert_eq!(consul.matches(r#""ServicePort":"#).count(), 3, "{consul}");
    put(
        &server,
        3,
        "/v1/agent/service/register",
        r#"{"Name":"web","Check":{"TTL":"10s"}}"#,
    );
    assert_eq!(get(&server, 0, "/v1/agent/services").body, "{}");
    assert!(get(&server, 3, "/v1/agent/services").body.contains("web"));
    let instances = get(&server, 1, "/v1/catalog/service/web").body;
    assert!(instances.contains(r#""Node":"proconsul-3""#), "{instances}");
    let passed = put(&server, 3, "/v1/agent/check/pass/service:web", "");
    assert_eq!(passed.status, 200);
    let elsewhere = put(&server, 0, "/v1/agent/check/pass/service:web", "");
    assert_eq!(elsewhere.status, 500, "{}", elsewhere.body);
    server.advance(11 * SECOND);
    let health = get(&server, 0, "/v1/health/service/web?passing").body;
    assert_eq!(
        health, "[]",
        "the TTL of the client agent's check has expired"
    );
}

#[test]
fn an_error_of_the_leader_says_who_passed_it_on() {
    let server = cluster();
    let refused = |agent| put(&server, agent, "/v1/session/create", r#"{"Node":"none"}"#).body;
    assert_eq!(refused(0), "Missing node registration");
    assert_eq!(
        refused(1),
        "rpc error making call: Missing node registration"
    );
    let stale = put(&server, 1, "/v1/session/create?stale", r#"{"Node":"none"}"#);
    assert_eq!(stale.body, refused(1), "it is no read");
    assert_eq!(
        refused(3),
        "rpc error making call: Missing node registration"
    );
    let own = put(
        &server,
        1,
        "/v1/session/renew/adf4238a-882b-9ddc-4a9d-5b6758e4159e",
        "",
    )
    .body;
    assert!(own.starts_with("Session id"), "{own}");
}

#[test]
fn a_follower_that_is_cut_off_knows_what_it_had() {
    let server = cluster();
    remove_dead_servers(&server, false);
    put(&server, 0, "/v1/kv/k", "1");
    server.advance(SECOND);
    let session = create_session(&server, 2, "{}");
    server.agent(2).cut();
    put(&server, 0, "/v1/kv/k", "2");
    let hangs = parked(&server, 2, "GET", "/v1/kv/k?raw");
    let early = get(&server, 2, "/v1/kv/k?stale&raw");
    assert_eq!(
        (early.body.as_str(), early.header("X-Consul-KnownLeader")),
        ("1", Some("true"))
    );
    server.advance(2 * SECOND);
    let late = get(&server, 2, "/v1/kv/k?stale&raw");
    assert_eq!(
        (late.body.as_str(), late.header("X-Consul-KnownLeader")),
        ("1", Some("false"))
    );
    assert_eq!(contact(&late), 2000);
    assert_eq!(get(&server, 2, "/v1/status/leader").body, r#""""#);
    let refused = parked(&server, 2, "PUT", "/v1/kv/k");
    server.advance(Duration::from_millis(7100));
    let refused = join(refused);
    assert_eq!(
        (refused.status, refused.body.as_str()),
        (500, "No cluster leader")
    );
    let sessions = get(&server, 0, &format!("/v1/session/info/{session}")).body;
    assert_eq!(sessions, "[]", "its node has failed");
    let members = get(&server, 0, "/v1/agent/members").body;
    assert_eq!(members.matches(r#""Status":4"#).count(), 1, "{members}");
    server.agent(2).heal();
    assert_eq!(join(hangs).body, "2", "what hung goes on");
    server.advance(SECOND);
    assert_eq!(get(&server, 2, "/v1/kv/k?stale&raw").body, "2");
    let critical = get(&server, 0, "/v1/health/state/critical").body;
    assert_eq!(critical, "[]");
}

#[test]
fn a_leader_that_is_killed_gives_way_in_phases() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    server.advance(SECOND);
    let index = get(&server, 1, "/v1/kv/k").index();
    let waits = parked(&server, 1, "GET", &format!("/v1/kv/k?index={index}"));
    let session = create_session(&server, 1, r#"{"TTL":"10s"}"#);
    server.kill_agent(0).expect("it closes");
    let died = join(waits);
    assert_eq!(
        (died.status, died.body.as_str()),
        (500, "rpc error making call: EOF")
    );
    let address = server.agent(0).addr();
    assert!(exchange(address, &request("GET", "/v1/status/leader", &[], "")).is_err());
    let refused = put(&server, 1, "/v1/kv/k", "2");
    assert_eq!(
        refused.body,
        "rpc error getting client: failed to get conn: dial tcp 127.0.0.1:0->127.0.0.1:8300: connect: connection refused"
    );
    assert_eq!(
        get(&server, 1, "/v1/status/leader").body,
        r#""127.0.0.1:8300""#
    );
    server.advance(2 * SECOND);
    assert_eq!(get(&server, 1, "/v1/status/leader").body, r#""""#);
    let held = parked(&server, 1, "PUT", "/v1/kv/k");
    server.advance(Duration::from_millis(1160));
    assert_eq!(join(held).body, "true");
    assert!(server.agent(1).leads());
    assert_eq!(
        get(&server, 2, "/v1/status/leader").body,
        r#""127.0.0.1:8310""#
    );
    // The TTL has started anew.
    server.advance(19 * SECOND);
    let info = format!("/v1/session/info/{session}");
    assert_ne!(get(&server, 2, &info).body, "[]");
    server.advance(SECOND);
    assert_eq!(get(&server, 2, &info).body, "[]");
    server.start_agent(0).expect("it opens");
    server.advance(SECOND);
    let back = get(&server, 0, "/v1/kv/k?stale&raw");
    assert_eq!(back.body, "x");
    assert!(!server.agent(0).leads());
}

#[test]
fn without_a_quorum_nothing_expires_and_nothing_is_written() {
    let server = cluster();
    let session = create_session(&server, 0, r#"{"TTL":"10s"}"#);
    server.agent(1).cut();
    server.agent(2).cut();
    server.advance(60 * SECOND);
    let stale = get(&server, 0, &format!("/v1/session/info/{session}?stale"));
    assert_ne!(stale.body, "[]");
    assert_eq!(stale.header("X-Consul-KnownLeader"), Some("false"));
    let held = parked(&server, 0, "PUT", "/v1/kv/k");
    server.agent(1).heal();
    server.advance(Duration::from_millis(740));
    assert_eq!(join(held).body, "true");
    server.advance(20 * SECOND);
    assert_eq!(
        get(&server, 0, &format!("/v1/session/info/{session}")).body,
        "[]"
    );
}

#[test]
fn leadership_moves_without_an_error_and_lock_delays_go_on() {
    let server = cluster();
    let holder = create_session(&server, 1, r#"{"LockDelay":"15s"}"#);
    let next = create_session(&server, 2, "{}");
    let acquire =
        |session: &str| put(&server, 2, &format!("/v1/kv/lock?acquire={session}"), "").body;
    assert_eq!(acquire(&holder), "true");
    put(&server, 0, &format!("/v1/session/destroy/{holder}"), "");
    assert_eq!(acquire(&next), "false");
    server.agent(2).lead();
    assert_eq!(server.leader().map(|leader| leader.number()), Some(2));
    server.advance(14 * SECOND);
    assert_eq!(acquire(&next), "false");
    server.advance(SECOND);
    assert_eq!(acquire(&next), "true");
    server.agent(3).lead();
    assert!(server.agent(2).leads(), "a client agent cannot lead");
}

#[test]
fn clients_of_one_agent_are_cut_off() {
    let server = cluster();
    let told = server.history(&Filter::of(Kind::Request)).len();
    get(&server, 3, "/v1/kv/k");
    let requests = server.history(&Filter::of(Kind::Request));
    let came = requests[told..]
        .iter()
        .map(|record| record.what.to_string());
    let came: Vec<String> = came.collect();
    assert!(came[0].contains("GET /v1/kv/k at agent 3"), "{came:?}");
    server.agent(1).set_link(Link::Cut);
    let address = server.agent(1).addr();
    assert!(exchange(address, &request("GET", "/v1/kv/k", &[], "")).is_err());
    assert_eq!(get(&server, 0, "/v1/kv/k").status, 404);
    server.agent(1).set_link(Link::Silent);
    let waits = parked(&server, 1, "PUT", "/v1/kv/k");
    server.agent(1).set_link(Link::Up);
    assert_eq!(join(waits).body, "true");
}

#[test]
fn what_was_under_way_to_a_follower_that_is_cut_off_does_not_arrive() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    server.advance(SECOND);
    put(&server, 0, "/v1/kv/k", "2");
    server.agent(1).cut();
    server.advance(SECOND);
    assert_eq!(get(&server, 1, "/v1/kv/k?stale&raw").body, "1");
    // To be cut off twice is to be cut off once: the others notice at the same time.
    server.agent(1).cut();
    server.advance(5 * SECOND);
    assert!(server.agent(1).state().has_failed);
}

#[test]
fn dns_is_answered_from_what_the_server_has_applied() {
    let builder = Server::builder().frozen().dns();
    let server = builder.agents(2).start().expect("free ports");
    let question = DnsQuestion::new("n1.node.consul", "A").bytes();
    let records = || {
        let answer = ask_over_udp(server.agent(1).dns_addr(), &question);
        let answer = answer.expect("it answers");
        DnsAnswer::read(&answer).records
    };
    let node = r#"{"Node":"n1","Address":"10.0.0.1"}"#;
    put(&server, 0, "/v1/catalog/register", node);
    assert!(!format!("{:?}", records()).contains("10.0.0.1"));
    server.advance(SECOND);
    assert!(format!("{:?}", records()).contains("10.0.0.1"));
}

#[test]
fn a_paused_agent_answers_when_it_goes_on() {
    let server = cluster();
    put(&server, 0, "/v1/kv/k", "1");
    server.advance(SECOND);
    server.agent(0).pause();
    let stale = parked(&server, 0, "GET", "/v1/kv/k?stale&raw");
    server.advance(6 * SECOND);
    assert!(server.agent(1).leads());
    assert!(server.agent(0).state().has_failed);
    put(&server, 1, "/v1/kv/k", "2");
    server.agent(0).resume();
    assert_eq!(join(stale).body, "1", "it had no time to hear of the rest");
    server.advance(SECOND);
    assert_eq!(get(&server, 0, "/v1/kv/k?stale&raw").body, "2");
    assert!(!server.agent(0).state().has_failed);
}

#[test]
fn every_agent_lists_the_events() {
    let server = cluster();
    put(&server, 1, "/v1/event/fire/deploy", "x");
    for agent in 0..4 {
        let listed = get(&server, agent, "/v1/event/list?stale").body;
        assert!(listed.contains("deploy"), "agent {agent}: {listed}");
    }
}

#[test]
fn consuls_own_call_hands_leadership_over() {
    let builder = Server::builder().version(Version::V1_22_0).frozen();
    let server = builder.agents(2).start().expect("free ports");
    let transfer = |query: &str| {
        let target = format!("/v1/operator/raft/transfer-leader{query}");
        ask_at(server.agent(1).addr(), "POST", &target, "")
    };
    let handed = transfer("");
    assert_eq!(
        (handed.status, handed.body.as_str()),
        (200, r#"{"Success":true}"#)
    );
    assert!(server.agent(1).leads());
    assert_eq!(transfer("?id=none").status, 500);
}

#[test]
fn an_agent_that_leaves_is_gone_until_it_is_started() {
    let server = cluster();
    let web = r#"{"Name":"web","Port":80}"#;
    put(&server, 0, "/v1/agent/service/register", web);
    let instances = || get(&server, 1, "/v1/health/service/web").body;
    assert!(instances().contains("\"web\""));
    let members = || get(&server, 1, "/v1/agent/members").body;
    // It leads: another does at once, and counts only those that are left.
    assert_eq!(put(&server, 0, "/v1/agent/leave", "").status, 200);
    assert!(server.agent(1).leads());
    assert_eq!(put(&server, 1, "/v1/kv/k", "1").body, "true");
    assert_eq!(instances(), "[]");
    assert!(members().contains("\"Status\":3"), "{}", members());
    server.advance(20 * SECOND);
    assert!(
        !get(&server, 1, "/v1/health/state/critical")
            .body
            .contains("alive")
    );
    let peers = || {
        get(&server, 1, "/v1/status/peers")
            .body
            .matches(':')
            .count()
    };
    assert_eq!(peers(), 2);
    server.start_agent(0).expect("its port is kept");
    server.advance(SECOND);
    assert!(instances().contains("\"web\""), "it brings its services");
    assert!(!members().contains("\"Status\":3"));
    assert_eq!(peers(), 3);
}

/// By `force-leave`: as soon as a leader knows that it is away. Until then it counts for the majority (cluster.md 1.38).
#[test]
fn an_agent_that_is_away_can_be_made_to_leave() {
    let server = cluster();
    let force = |agent: usize| {
        let target = format!("/v1/agent/force-leave/{}", server.agent(agent).name());
        assert_eq!(put(&server, 1, &target, "").status, 200);
    };
    let is_known = |agent: usize| {
        let node = format!("/v1/catalog/node/{}", server.agent(agent).name());
        get(&server, 1, &node).body != "null"
    };
    let status_3 = || {
        get(&server, 1, "/v1/agent/members")
            .body
            .matches("\"Status\":3")
            .count()
    };
    force(3);
    server.advance(10 * SECOND);
    assert!(is_known(3), "it is alive");
    server.kill_agent(3).expect("it closes");
    force(3);
    assert!(is_known(3));
    server.advance(6 * SECOND);
    assert!(!is_known(3) && status_3() == 1);
    for agent in [0, 2] {
        server.kill_agent(agent).expect("it closes");
        force(agent);
    }
    server.advance(30 * SECOND);
    assert!(
        server.leader().is_none(),
        "nobody has noticed that they left"
    );
    server.start_agent(2).expect("its port is kept");
    server.advance(10 * SECOND);
    assert!(is_known(2) && !is_known(0) && status_3() == 2);
}

/// Nobody hears it say so, and yet its process ends.
#[test]
fn an_agent_that_is_cut_off_can_leave() {
    let server = cluster();
    server.agent(2).cut();
    assert_eq!(put(&server, 2, "/v1/agent/leave", "").status, 200);
    assert!(!server.agent(2).state().runs);
    server.start_agent(2).expect("its port is kept");
}

#[test]
fn the_last_server_that_has_not_left_leads_alone() {
    let server = cluster();
    for agent in [0, 2] {
        assert_eq!(put(&server, agent, "/v1/agent/leave", "").status, 200);
    }
    assert_eq!(put(&server, 1, "/v1/kv/k", "1").body, "true");
    server.kill_agent(1).expect("it closes");
    server.start_agent(1).expect("its port is kept");
    server.advance(SECOND);
    assert_eq!(put(&server, 1, "/v1/kv/k", "2").body, "true");
    // With all agents of its datacenter the server ends.
    for agent in [3, 1] {
        assert_eq!(put(&server, agent, "/v1/agent/leave", "").status, 200);
    }
    let ended = server.wait_for(&Filter::of(Kind::Released), PATIENCE);
    assert!(ended.is_err_and(|error| error.to_string().contains("stopped")));
}
