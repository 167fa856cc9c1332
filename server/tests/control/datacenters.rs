//! Datacenters that are joined: what each answers about the other, and what happens between them (cluster.md 5).

use std::io::Read;
use std::thread::JoinHandle;
use std::time::Duration;

use proconsul::control::{BlockedOn, Timestamp};
use proconsul::history::{Filter, Kind};
use proconsul::{Server, Version};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_udp};

use crate::support::{Answer, PATIENCE, SECOND, ask_at, get, join, put};

/// Two datacenters, each with a server and a client agent, whose clock stands still.
fn two() -> (Server, Server) {
    let builder = Server::builder().version(Version::V1_8_7).seed(7).frozen();
    let builder = builder.datacenters(["dc1", "dc2"]).dns();
    let server = builder
        .agents_and_clients(1, 1)
        .start()
        .expect("free ports");
    let other = server.datacenter("dc2");
    (server, other)
}

/// Sends a request to the client agent of a datacenter.
fn by_client(server: &Server, method: &str, target: &str, body: &str) -> Answer {
    ask_at(server.agent(1).addr(), method, target, body)
}

fn background(server: &Server, target: &str) -> JoinHandle<Answer> {
    let (address, target) = (server.addr(), target.to_owned());
    std::thread::spawn(move || ask_at(address, "GET", &target, ""))
}

/// Sends a request to the first datacenter that waits there, and returns when it does.
fn waiting(server: &Server, target: &str) -> JoinHandle<Answer> {
    let arrived = Filter::of(Kind::Request).after(server.last_record());
    let request = background(server, target);
    server.wait_for(&arrived, PATIENCE).expect("it arrives");
    server.wait_idle(PATIENCE).expect("it waits");
    request
}

/// A query in the first datacenter whose service is in the second.
fn query_that_fails_over(server: &Server, other: &Server) {
    let query = r#"{"Name":"q","Service":{"Service":"web","Failover":{"Datacenters":["dc9","dc1","dc2"]}}}"#;
    let made = ask_at(server.addr(), "POST", "/v1/query", query);
    assert_eq!(made.status, 200, "{}", made.body);
    let service = r#"{"Node":"n","Address":"10.0.0.9","Service":{"Service":"web"}}"#;
    assert_eq!(put(other, "/v1/catalog/register", service).body, "true");
}

#[test]
fn each_datacenter_has_keys_and_sessions_of_its_own() {
    let (server, other) = two();
    assert_eq!(put(&server, "/v1/kv/k?dc=dc2", "there").body, "true");
    assert_eq!(get(&server, "/v1/kv/k").status, 404);
    for own in ["", "?dc=", "?dc=dc2", "?datacenter=dc2"] {
        assert_eq!(get(&other, &format!("/v1/kv/k{own}")).status, 200, "{own}");
    }
    let across = by_client(&server, "GET", "/v1/kv/k?dc=dc2&stale", "");
    assert_eq!(across.index(), get(&other, "/v1/kv/k").index());
    assert_eq!(across.header("X-Consul-KnownLeader"), Some("true"));
    let node = r#"{"Node":"dc2-proconsul"}"#;
    let made = put(&server, "/v1/session/create?dc=dc2", node);
    let id = made
        .body
        .split('"')
        .nth(3)
        .expect("it has an id")
        .to_owned();
    assert_eq!(get(&server, &format!("/v1/session/info/{id}")).body, "[]");
    assert!(
        get(&server, &format!("/v1/session/info/{id}?dc=dc2"))
            .body
            .contains(&id)
    );
    let acquired = put(&server, &format!("/v1/kv/lock?acquire={id}&dc=dc2"), "");
    assert_eq!(acquired.body, "true");
    assert_eq!(
        other.kv().get("lock").expect("it is there").session(),
        Some(&*id)
    );
    let txn = r#"[{"KV":{"Verb":"set","Key":"t","Value":"eA=="}}]"#;
    assert_eq!(put(&server, "/v1/txn?dc=dc2", txn).status, 200);
    assert!(other.kv().get("t").is_some() && server.kv().get("t").is_none());
}

#[test]
fn a_failure_has_a_prefix_for_each_hop() {
    let (server, _) = two();
    let missing = "Missing node registration";
    let hop = "rpc error making call: ";
    let create = "/v1/session/create?dc=dc2";
    assert_eq!(put(&server, create, "{}").body, format!("{hop}{missing}"));
    let by_c = by_client(&server, "PUT", create, "{}");
    assert_eq!(by_c.body, format!("{hop}{hop}{missing}"));
    for target in [
        "/v1/kv/k?dc=dc9",
        "/v1/session/list?dc=DC2",
        "/v1/status/leader?dc=dc9",
    ] {
        let unknown = get(&server, target);
        assert_eq!(
            (unknown.status, &*unknown.body),
            (500, "No path to datacenter")
        );
        let by_c = by_client(&server, "GET", target, "");
        assert_eq!(by_c.body, format!("{hop}No path to datacenter"), "{target}");
    }
    let query = get(&server, "/v1/query/none/execute?dc=dc2");
    assert_eq!(
        (query.status, query.body),
        (404, format!("{hop}Query not found"))
    );
    let here = by_client(&server, "GET", "/v1/query/none/execute", "");
    assert_eq!(
        (here.status, here.body),
        (404, format!("{hop}Query not found"))
    );
    let wrong = get(&server, "/v1/kv/k?dc=dc2&index=x");
    assert_eq!((wrong.status, &*wrong.body), (400, "Invalid index"));
}

/// A follower passes on to another datacenter what it is asked, and not by its leader.
#[test]
fn a_follower_adds_no_hop() {
    let builder = Server::builder().version(Version::V1_8_7).frozen();
    let server = builder.datacenters(["dc1", "dc2"]).agents(3).start();
    let server = server.expect("free ports");
    let asked = |target: &str, body: &str| {
        let answer = ask_at(server.agent(1).addr(), "PUT", target, body);
        assert_eq!(answer.status, 500);
        answer.body
    };
    let created = asked("/v1/session/create?dc=dc2", "{}");
    assert_eq!(created, "rpc error making call: Missing node registration");
    let register = |datacenter: &str| {
        let node = format!(r#"{{"Datacenter":"{datacenter}","Node":"n"}}"#);
        asked("/v1/catalog/register", &node)
    };
    let text = "Must provide address if SkipNodeUpdate is not set";
    assert_eq!(register("dc2"), format!("rpc error making call: {text}"));
    assert_eq!(register("dc1"), format!("rpc error making call: {text}"));
    assert_eq!(register("dc9"), "No path to datacenter");
}

#[test]
fn the_clock_jumps_when_all_clients_of_all_datacenters_are_blocked() {
    let (server, other) = two();
    server.auto_advance(2);
    let here = background(&server, "/v1/kv/k?index=1000&wait=1m");
    let (address, target) = (other.addr(), "/v1/kv/k?dc=dc1&index=1000&wait=5m");
    let there = std::thread::spawn(move || ask_at(address, "GET", target, ""));
    assert_eq!(join(here).status, 404);
    server.auto_advance(1);
    assert_eq!(join(there).status, 404);
    assert!(server.now() > Timestamp::ZERO.plus(300 * SECOND));
}

#[test]
fn the_datacenters_are_listed() {
    let (server, other) = two();
    assert_eq!(server.datacenters(), ["dc1", "dc2"]);
    assert_eq!(
        get(&server, "/v1/catalog/datacenters").body,
        r#"["dc1","dc2"]"#
    );
    assert_eq!(
        get(&other, "/v1/catalog/datacenters?dc=dc1").body,
        r#"["dc2","dc1"]"#
    );
    let members = get(&server, "/v1/agent/members?wan=1").body;
    let names = |text: &str| -> Vec<String> {
        let names = text.split(r#""Name":""#).skip(1);
        names
            .map(|rest| rest.split('"').next().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&members), ["proconsul.dc1", "dc2-proconsul.dc2"]);
    let of_other = get(&other, "/v1/agent/members?wan=1").body;
    assert_eq!(names(&of_other), ["dc2-proconsul.dc2", "proconsul.dc1"]);
    assert_eq!(
        by_client(&server, "GET", "/v1/agent/members?wan=1", "").body,
        "null"
    );
    let own = get(&server, "/v1/agent/self").body;
    assert!(own.contains(r#""known_datacenters":"2""#), "{own}");
    let coordinates = get(&other, "/v1/coordinate/datacenters").body;
    let first = r#"[{"Datacenter":"dc2","AreaID":"wan","Coordinates":[{"Node":"dc2-proconsul""#;
    assert!(coordinates.starts_with(first), "{coordinates}");
    let nodes = get(&server, "/v1/catalog/nodes?dc=dc2").body;
    assert!(nodes.contains(r#""Datacenter":"dc2""#), "{nodes}");
    let leader = |server: &Server, target| get(server, target).body;
    let there = leader(&server, "/v1/status/leader?dc=dc2");
    assert_eq!(there, leader(&other, "/v1/status/leader"));
    assert_ne!(there, leader(&server, "/v1/status/leader"));
}

#[test]
fn a_registration_goes_where_its_body_says() {
    let (server, other) = two();
    let node = r#"{"Datacenter":"dc2","Node":"n","Address":"10.0.0.9"}"#;
    assert_eq!(put(&server, "/v1/catalog/register", node).body, "true");
    assert!(get(&other, "/v1/catalog/nodes").body.contains("10.0.0.9"));
    let without = put(
        &server,
        "/v1/catalog/register",
        r#"{"Datacenter":"dc2","Node":"n"}"#,
    );
    let text = "rpc error making call: Must provide address if SkipNodeUpdate is not set";
    assert_eq!((without.status, &*without.body), (500, text));
    let ignored = r#"{"Node":"here","Address":"10.0.0.8"}"#;
    assert_eq!(
        put(&server, "/v1/catalog/register?dc=dc2", ignored).body,
        "true"
    );
    assert!(get(&server, "/v1/catalog/nodes").body.contains("10.0.0.8"));
    let gone = put(
        &server,
        "/v1/catalog/deregister",
        r#"{"Datacenter":"dc2","Node":"n"}"#,
    );
    assert_eq!(gone.body, "true");
    assert!(!get(&other, "/v1/catalog/nodes").body.contains("10.0.0.9"));
}

#[test]
fn events_are_those_of_the_datacenter_where_they_are_fired() {
    let (server, other) = two();
    assert_eq!(put(&server, "/v1/event/fire/deploy?dc=dc2", "").status, 200);
    assert!(get(&other, "/v1/event/list").body.contains("deploy"));
    assert_eq!(get(&server, "/v1/event/list?dc=dc2").body, "[]");
}

#[test]
fn a_blocking_query_wakes_with_a_write_in_the_other_datacenter() {
    let (server, other) = two();
    other.kv().put("k", "1");
    let index = get(&server, "/v1/kv/k?dc=dc2").index();
    let blocked = background(&server, &format!("/v1/kv/k?dc=dc2&index={index}&wait=1m"));
    let on = BlockedOn::prefix("k");
    let there = other
        .wait_blocked(&on, 1, PATIENCE)
        .expect("it blocks there");
    assert_eq!(
        there[0].target,
        format!("/v1/kv/k?dc=dc2&index={index}&wait=1m")
    );
    other.kv().put("k", "2");
    assert!(join(blocked).index() > index);
    assert_eq!((server.blocked().len(), other.blocked().len()), (0, 0));
    let timed_out = background(
        &server,
        &format!("/v1/kv/none?dc=dc2&index={}&wait=1m", index + 9),
    );
    other
        .wait_blocked(&BlockedOn::prefix("none"), 1, PATIENCE)
        .expect("it blocks there");
    server.advance(Duration::from_secs(70));
    assert_eq!(join(timed_out).status, 404);
}

#[test]
fn time_is_one_whichever_datacenter_moves_it() {
    let (server, other) = two();
    let lives = |of: &Server| of.sessions().list().len();
    for mover in [&server, &other] {
        for of in [&server, &other] {
            let node = format!(r#"{{"Node":"{}","TTL":"10s"}}"#, of.node_name());
            assert_eq!(put(of, "/v1/session/create", &node).status, 200);
        }
        mover.advance(19 * SECOND);
        assert_eq!((lives(&server), lives(&other)), (1, 1));
        mover.advance(2 * SECOND);
        assert_eq!((lives(&server), lives(&other)), (0, 0));
    }
}

#[test]
fn a_query_falls_back_on_the_other_datacenter() {
    let (server, other) = two();
    query_that_fails_over(&server, &other);
    let found = get(&server, "/v1/query/q/execute").body;
    assert!(
        found.contains(r#""Datacenter":"dc2","Failovers":1"#),
        "{found}"
    );
    assert!(found.contains("10.0.0.9"), "{found}");
    let own = r#"{"Node":"n","Address":"10.0.0.1","Service":{"Service":"web"}}"#;
    put(&server, "/v1/catalog/register", own);
    let found = get(&server, "/v1/query/q/execute").body;
    assert!(
        found.contains(r#""Datacenter":"dc1","Failovers":0"#),
        "{found}"
    );
}

#[test]
fn a_datacenter_whose_servers_are_killed_is_lost_and_comes_back() {
    let (server, other) = two();
    query_that_fails_over(&server, &other);
    let blocked = background(&server, "/v1/kv/k?dc=dc2&index=1000&wait=5m");
    other
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks there");
    let address = get(&server, "/v1/status/leader?dc=dc2")
        .body
        .replace('"', "");
    other.kill_agent(0).expect("it listens");
    assert_eq!(join(blocked).body, "rpc error making call: EOF");
    let refused = format!(
        "rpc error getting client: failed to get conn: dial tcp 127.0.0.1:0->{address}: connect: connection refused"
    );
    let hop = "rpc error making call: ";
    assert_eq!(get(&server, "/v1/kv/k?dc=dc2").body, refused);
    assert_eq!(
        by_client(&server, "GET", "/v1/kv/k?dc=dc2", "").body,
        format!("{hop}{refused}")
    );
    let found = get(&server, "/v1/query/q/execute").body;
    assert!(
        found.contains(r#""Nodes":[]"#) && found.contains(r#""Datacenter":"dc1","Failovers":1"#),
        "{found}"
    );
    let status = |server: &Server| {
        let members = get(server, "/v1/agent/members?wan=1").body;
        members
            .split(r#""Status":"#)
            .skip(1)
            .map(|rest| rest[..1].to_owned())
            .collect::<String>()
    };
    server.advance(35 * SECOND);
    assert_eq!(status(&server), "11");
    server.advance(5 * SECOND);
    assert_eq!(status(&server), "14");
    let lost = "Remote DC has no server currently reachable";
    assert_eq!(get(&server, "/v1/kv/k?dc=dc2").body, lost);
    assert_eq!(
        by_client(&server, "GET", "/v1/kv/k?dc=dc2", "").body,
        format!("{hop}{lost}")
    );
    assert_eq!(
        get(&server, "/v1/catalog/datacenters").body,
        r#"["dc1","dc2"]"#
    );
    assert_eq!(
        get(&server, "/v1/kv/k").status,
        404,
        "its own keys are there"
    );
    other.start_agent(0).expect("its port is free");
    server.advance(SECOND);
    assert_eq!(get(&server, "/v1/kv/k?dc=dc2").status, 404);
    assert_eq!(status(&server), "11");
}

#[test]
fn requests_wait_for_a_datacenter_that_is_cut_off() {
    let (server, other) = two();
    other.kv().put("k", "1");
    let index = get(&other, "/v1/kv/k").index();
    let blocked = background(&server, &format!("/v1/kv/k?dc=dc2&index={index}&wait=5m"));
    other
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks there");
    other.cut_datacenter();
    let new = waiting(&server, "/v1/kv/k?dc=dc2");
    let held = server.held();
    assert!(
        held.iter().all(|held| held.fault == "dc2 does not respond"),
        "{held:?}"
    );
    other.kv().put("k", "2");
    assert_eq!(get(&other, "/v1/kv/k").status, 200, "within it all goes on");
    server.advance(39 * SECOND);
    other.heal_datacenter();
    assert_eq!(join(new).status, 200);
    assert!(join(blocked).index() > index);
    server.cut_datacenter();
    let fails = waiting(&server, "/v1/kv/k?dc=dc2");
    server.advance(40 * SECOND);
    assert_eq!(join(fails).body, "rpc error making call: EOF");
    let back = waiting(&other, "/v1/kv/k?dc=dc1");
    other.advance(40 * SECOND);
    assert_eq!(join(back).body, "rpc error making call: EOF");
    server.heal_datacenter();
    assert_eq!(get(&server, "/v1/kv/k?dc=dc2").status, 200);
}

#[test]
fn other_datacenters_are_there_without_a_leader_here() {
    let (server, other) = two();
    other.kv().put("k", "1");
    server.kill_agent(0).expect("it listens");
    // The client agent has nobody to ask.
    let arrived = Filter::of(Kind::Request).after(server.last_record());
    let address = server.agent(1).addr();
    let stuck = std::thread::spawn(move || ask_at(address, "GET", "/v1/kv/k?dc=dc2", ""));
    server.wait_for(&arrived, PATIENCE).expect("it arrives");
    server.wait_idle(PATIENCE).expect("it waits");
    server.advance(10 * SECOND);
    assert_eq!(join(stuck).status, 500);
    server.start_agent(0).expect("its port is free");
    server.advance(SECOND);
    assert_eq!(by_client(&server, "GET", "/v1/kv/k?dc=dc2", "").status, 200);
}

#[test]
fn names_of_the_other_datacenter_are_resolved() {
    let (server, other) = two();
    query_that_fails_over(&server, &other);
    let records = |name: &str| {
        let question = DnsQuestion::new(name, "A").bytes();
        let answer = ask_over_udp(server.dns_addr(), &question).expect("it answers");
        format!("{:?}", DnsAnswer::read(&answer).records)
    };
    for name in [
        "web.service.dc2.consul",
        "n.node.dc2.consul",
        "q.query.consul",
    ] {
        assert!(records(name).contains("10.0.0.9"), "{name}");
    }
    for name in [
        "web.service.consul",
        "n.node.consul",
        "web.service.dc9.consul",
    ] {
        assert!(!records(name).contains("10.0.0.9"), "{name}");
    }
    let code = |name: &str| {
        let question = DnsQuestion::new(name, "A").bytes();
        let answer = ask_over_udp(server.dns_addr(), &question).expect("it answers");
        answer[3] & 15
    };
    const SERVFAIL: u8 = 2;
    const NXDOMAIN: u8 = 3;
    other.kill_agent(0).expect("it listens");
    for name in ["web.service.dc2.consul", "n.node.dc2.consul"] {
        assert_eq!(code(name), SERVFAIL, "{name}");
    }
    assert_eq!(code("web.service.dc9.consul"), NXDOMAIN);
}

#[test]
fn tokens_are_those_of_one_datacenter_but_for_the_configured_ones() {
    let builder = Server::builder().frozen().acl("root");
    let server = builder
        .datacenters(["dc1", "dc2"])
        .start()
        .expect("free ports");
    server.datacenter("dc2").kv().put("k", "1");
    let token = server.acl().token(r#"key "k" { policy = "read" }"#);
    let secret = token.expect("there are ACLs").secret;
    server.kv().put("k", "1");
    let read = |token: &str, dc: &str| get(&server, &format!("/v1/kv/k?token={token}&dc={dc}"));
    for (token, dc, status) in [
        ("root", "dc1", 200),
        ("root", "dc2", 200),
        (&*secret, "dc1", 200),
        (&*secret, "dc2", 403),
        ("", "dc2", 403),
    ] {
        assert_eq!(read(token, dc).status, status, "{token:?} in {dc}");
    }
}

/// The last agent of a datacenter that leaves ends the whole server.
#[test]
fn an_agent_of_another_datacenter_leaves() {
    let (server, other) = two();
    let mut idle = std::net::TcpStream::connect(server.addr()).expect("it listens");
    idle.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    for agent in other.agents() {
        let left = ask_at(agent.addr(), "PUT", "/v1/agent/leave", "");
        assert_eq!(left.status, 200);
    }
    let read = idle.read(&mut [0]).expect("its connections are closed");
    assert_eq!(read, 0);
}
