//! Two datacenters (cluster.md 5).

use std::time::Duration;

use proconsul_conformance::time::Stopwatch;
use proconsul_conformance::wire::{Reply, Request};
use serde_json::Value;

use crate::agents::{Cluster, HOP, header, text};
use crate::held;
use crate::together::{complaints, keyring_is_refused};

/// The server of dc1, its client agent, and the server of dc2.
pub(crate) const HERE: usize = 0;
pub(crate) const CLIENT: usize = 1;
pub(crate) const THERE: usize = 2;

held! {
    the_datacenters_are_listed
    requests_are_handled_where_they_say
    sessions_are_of_one_datacenter
    errors_have_a_prefix_for_each_hop
    registrations_and_events_go_there
    names_are_of_a_datacenter
    the_keyring_is_of_all_datacenters
    a_blocking_query_wakes
    queries_fall_back
    coordinates_are_of_all_datacenters
    a_server_that_is_killed_refuses
    a_killed_datacenter_is_not_forgotten
    a_datacenter_comes_back
    a_server_that_is_stopped_holds_requests
}

fn the_datacenters_are_listed(cluster: &Cluster) {
    for (agent, list) in [
        (HERE, r#"["dc1","dc2"]"#),
        (CLIENT, r#"["dc1","dc2"]"#),
        (THERE, r#"["dc2","dc1"]"#),
    ] {
        let listed = cluster.get(agent, "/v1/catalog/datacenters?dc=dc9");
        cluster.is(&listed, 200, list);
        assert_eq!(header(&listed, "X-Consul-Index"), None);
        let nodes = text(&cluster.get(agent, "/v1/catalog/nodes?dc=dc2"));
        let of_other = nodes.contains(r#""Datacenter":"dc2""#);
        assert!(
            of_other && !nodes.contains(r#""Datacenter":"dc1""#),
            "{nodes}"
        );
    }
    let own = text(&cluster.get(HERE, "/v1/agent/self?dc=dc2"));
    assert!(own.contains(r#""Datacenter":"dc1""#) && own.contains(r#""known_datacenters":"2""#));
    for agent in [HERE, THERE] {
        let members = text(&cluster.get(agent, "/v1/agent/members?wan=1"));
        for (of, datacenter) in [(HERE, "dc1"), (THERE, "dc2")] {
            let name = format!(r#""Name":"{}.{datacenter}""#, cluster.node(of));
            assert!(members.contains(&name), "{}: {members}", cluster.name);
        }
    }
    cluster.is(&cluster.get(CLIENT, "/v1/agent/members?wan=1"), 200, "null");
    let of = |agent, target| text(&cluster.get(agent, target));
    let leader = of(THERE, "/v1/status/leader");
    let peers = of(THERE, "/v1/status/peers");
    for agent in [HERE, CLIENT] {
        assert_eq!(of(agent, "/v1/status/leader?dc=dc2"), leader);
        assert_eq!(of(agent, "/v1/status/peers?dc=dc2"), peers);
        let raft = of(agent, "/v1/operator/raft/configuration?dc=dc2");
        assert!(
            raft.contains(leader.trim().trim_matches('"')),
            "{}: {raft}",
            cluster.name
        );
    }
    let coordinates = of(THERE, "/v1/coordinate/datacenters?dc=dc9");
    assert!(
        coordinates.starts_with(r#"[{"Datacenter":"dc2","AreaID":"wan""#),
        "{coordinates}"
    );
}

fn the_keyring_is_of_all_datacenters(cluster: &Cluster) {
    let [here, client, there] = [HERE, CLIENT, THERE].map(|agent| cluster.node(agent));
    let wan = [format!("{here}.dc1"), format!("{there}.dc2")];
    let of_here = complaints("dc1 (LAN)", &[here, client]);
    let members = text(&cluster.get(THERE, "/v1/agent/members"));
    let members: Value = serde_json::from_str(&members).expect("JSON");
    let members = members.as_array().expect("a list").iter();
    let names = members.map(|member| member["Name"].as_str().expect("a name").to_owned());
    let of_there = complaints("dc2 (LAN)", &names.collect::<Vec<_>>());
    let all = [complaints("WAN", &wan), of_here.clone(), of_there].concat();
    for (query, expected) in [
        ("", &all),
        ("dc=dc2", &all),
        ("dc=dc9", &all),
        ("local-only=1", &of_here),
    ] {
        keyring_is_refused(cluster, HERE, query, expected);
    }
    let malformed = cluster.put(HERE, "/v1/operator/keyring", r#"{"Key":"x"}"#);
    let said = text(&malformed);
    let lines: Vec<_> = said.lines().filter(|line| !line.is_empty()).collect();
    let wrong = ["WAN", "dc1 (LAN)", "dc2 (LAN)"]
        .map(|pool| format!("\t* {pool} error: illegal base64 data at input byte 0"));
    let expected = [&["3 errors occurred:".to_owned()][..], &wrong].concat();
    assert_eq!(
        (malformed.status, lines),
        (500, expected.iter().map(String::as_str).collect())
    );
}

fn requests_are_handled_where_they_say(cluster: &Cluster) {
    for agent in [HERE, CLIENT] {
        let key = format!("by-{agent}");
        let put = cluster.put(agent, &format!("/v1/kv/{key}?dc=dc2"), "there");
        cluster.is(&put, 200, "true");
        assert_eq!(cluster.get(HERE, &format!("/v1/kv/{key}")).status, 404);
        for other in ["?dc=dc2", "?dc=dc2&stale", "?dc=dc2&consistent"] {
            let read = cluster.get(agent, &format!("/v1/kv/{key}{other}"));
            let index = header(
                &cluster.get(THERE, &format!("/v1/kv/{key}")),
                "X-Consul-Index",
            );
            assert_eq!(
                header(&read, "X-Consul-Index"),
                index,
                "{}: {other}",
                cluster.name
            );
            assert_eq!(header(&read, "X-Consul-LastContact").as_deref(), Some("0"));
            assert_eq!(
                header(&read, "X-Consul-KnownLeader").as_deref(),
                Some("true")
            );
        }
        for own in ["", "?dc=", "?dc=dc2"] {
            assert_eq!(
                cluster.get(THERE, &format!("/v1/kv/{key}{own}")).status,
                200
            );
        }
        let txn = format!(r#"[{{"KV":{{"Verb":"set","Key":"txn-{agent}","Value":"eA=="}}}}]"#);
        assert_eq!(cluster.put(agent, "/v1/txn?dc=dc2", &txn).status, 200);
        assert_eq!(
            cluster.get(THERE, &format!("/v1/kv/txn-{agent}")).status,
            200
        );
        let gone = cluster.ask(
            agent,
            &Request::new("DELETE", &format!("/v1/kv/{key}?dc=dc2")),
        );
        cluster.is(&gone, 200, "true");
        assert_eq!(cluster.get(THERE, &format!("/v1/kv/{key}")).status, 404);
    }
}

fn sessions_are_of_one_datacenter(cluster: &Cluster) {
    let node = format!(r#"{{"Node":"{}"}}"#, cluster.node(THERE));
    let made = text(&cluster.put(CLIENT, "/v1/session/create?dc=dc2", &node));
    let id = made.split('"').nth(3).unwrap_or_else(|| panic!("{made}"));
    let info = |dc: &str| text(&cluster.get(HERE, &format!("/v1/session/info/{id}{dc}")));
    assert!(info("?dc=dc2").contains(id));
    assert_eq!(info("").trim(), "[]");
    let renewed = cluster.put(HERE, &format!("/v1/session/renew/{id}"), "");
    cluster.is(&renewed, 404, &format!("Session id '{id}' not found"));
    let destroyed = cluster.put(HERE, &format!("/v1/session/destroy/{id}"), "");
    cluster.is(&destroyed, 200, "true");
    assert!(
        info("?dc=dc2").contains(id),
        "{}: nothing was done",
        cluster.name
    );
    let acquired = cluster.put(HERE, &format!("/v1/kv/lock?acquire={id}"), "");
    cluster.is(&acquired, 500, &format!("invalid session \"{id}\""));
    let acquired = cluster.put(HERE, &format!("/v1/kv/lock?acquire={id}&dc=dc2"), "");
    cluster.is(&acquired, 200, "true");
    cluster.is(
        &cluster.put(HERE, "/v1/session/create", &node),
        500,
        "Missing node registration",
    );
    let destroyed = cluster.put(HERE, &format!("/v1/session/destroy/{id}?dc=dc2"), "");
    cluster.is(&destroyed, 200, "true");
    assert_eq!(info("?dc=dc2").trim(), "[]");
}

fn errors_have_a_prefix_for_each_hop(cluster: &Cluster) {
    for (agent, to_server, to_other) in [(HERE, "", HOP), (CLIENT, HOP, &*format!("{HOP}{HOP}"))] {
        let created = cluster.put(agent, "/v1/session/create?dc=dc2", "{}");
        cluster.is(
            &created,
            500,
            &format!("{to_other}Missing node registration"),
        );
        let query = cluster.get(agent, "/v1/query/none/execute?dc=dc2");
        cluster.is(&query, 404, &format!("{to_other}Query not found"));
        let query = cluster.get(agent, "/v1/query/none/execute");
        cluster.is(&query, 404, &format!("{to_server}Query not found"));
        let unknown = format!("{to_server}No path to datacenter");
        for target in [
            "/v1/kv/k?dc=dc9",
            "/v1/kv/k?dc=DC2",
            "/v1/session/list?dc=dc9",
            "/v1/catalog/nodes?dc=dc9",
            "/v1/health/state/any?dc=dc9",
            "/v1/status/leader?dc=dc9",
            "/v1/operator/raft/configuration?dc=dc9",
        ] {
            cluster.is(&cluster.get(agent, target), 500, &unknown);
        }
        let node = r#"{"Datacenter":"dc9","Node":"n","Address":"10.0.0.9"}"#;
        let registered = cluster.put(agent, "/v1/catalog/register", node);
        cluster.is(&registered, 500, &unknown);
        let registered = cluster.put(
            agent,
            "/v1/catalog/register",
            r#"{"Datacenter":"dc2","Node":"n"}"#,
        );
        let text = "Must provide address if SkipNodeUpdate is not set";
        cluster.is(&registered, 500, &format!("{to_other}{text}"));
        cluster.is(
            &cluster.get(agent, "/v1/kv/k?dc=dc2&index=x"),
            400,
            "Invalid index",
        );
    }
}

fn registrations_and_events_go_there(cluster: &Cluster) {
    let nodes = |agent| text(&cluster.get(agent, "/v1/catalog/nodes"));
    let node = r#"{"Datacenter":"dc2","Node":"of-body","Address":"10.0.0.9"}"#;
    cluster.is(
        &cluster.put(CLIENT, "/v1/catalog/register", node),
        200,
        "true",
    );
    assert!(nodes(THERE).contains("of-body") && !nodes(HERE).contains("of-body"));
    let node = r#"{"Node":"of-query","Address":"10.0.0.8"}"#;
    cluster.is(
        &cluster.put(HERE, "/v1/catalog/register?dc=dc2", node),
        200,
        "true",
    );
    assert!(nodes(HERE).contains("of-query") && !nodes(THERE).contains("of-query"));
    assert_eq!(
        cluster.put(HERE, "/v1/event/fire/deploy?dc=dc2", "").status,
        200
    );
    let events = |agent| text(&cluster.get(agent, "/v1/event/list?dc=dc2"));
    cluster.until("the event is there", || events(THERE).contains("deploy"));
    assert_eq!(events(HERE).trim(), "[]", "{}", cluster.name);
}

/// Each agent answers about both.
fn names_are_of_a_datacenter(cluster: &Cluster) {
    let there = cluster.node(THERE);
    for agent in [HERE, CLIENT, THERE] {
        let asked = |name: &str, kind| cluster.resolve(agent, name, kind);
        let found = |owner: &str, address: &str| {
            (
                "NOERROR".to_owned(),
                vec![format!("answer {owner}. 0 A {address}")],
            )
        };
        let name = "of-body.node.dc2.consul";
        assert_eq!(
            asked(name, "A"),
            found(name, "10.0.0.9"),
            "{}",
            cluster.name
        );
        let own = asked("of-body.node.consul", "A").0;
        let expected = if agent == THERE {
            "NOERROR"
        } else {
            "NXDOMAIN"
        };
        assert_eq!(own, expected, "{}", cluster.name);
        let (outcome, records) = asked("consul.service.dc2.consul", "SRV");
        assert_eq!(outcome, "NOERROR", "{}", cluster.name);
        let target = format!(" {there}.node.dc2.consul.");
        let servers = records
            .iter()
            .filter(|record| record.starts_with("answer "));
        assert!(servers.clone().count() == 1 && servers.clone().all(|one| one.ends_with(&target)));
    }
}

fn a_blocking_query_wakes(cluster: &Cluster) {
    for agent in [HERE, CLIENT] {
        cluster.put(THERE, "/v1/kv/watched", "1");
        let index = header(&cluster.get(THERE, "/v1/kv/watched"), "X-Consul-Index");
        let index = index.expect("a read has it");
        let target = format!("/v1/kv/watched?dc=dc2&index={index}&wait=20s&raw");
        let blocked = cluster.asked(agent, &target);
        cluster.put(THERE, "/v1/kv/watched", "2");
        let woken = blocked.join().expect("it does not panic");
        assert_eq!(text(&woken.expect("it answers")), "2", "{}", cluster.name);
    }
}

fn queries_fall_back(cluster: &Cluster) {
    let service = r#"{"Node":"w","Address":"10.0.0.7","Service":{"Service":"web"}}"#;
    let executed = |name: &str, part: &str| {
        for agent in [HERE, CLIENT] {
            let found = text(&cluster.get(agent, &format!("/v1/query/{name}/execute")));
            assert!(found.contains(part), "{}: {found}", cluster.name);
        }
    };
    let made = |name: &str, failover: &str| {
        let query =
            format!(r#"{{"Name":"{name}","Service":{{"Service":"web","Failover":{failover}}}}}"#);
        let made = cluster.ask(HERE, &Request::new("POST", "/v1/query").body(query));
        assert_eq!(made.status, 200, "{}: {}", cluster.name, text(&made));
    };
    made("unknown-first", r#"{"Datacenters":["dc9","dc1","dc2"]}"#);
    made("nearest", r#"{"NearestN":3,"Datacenters":["dc2"]}"#);
    made("nobody", r#"{"Datacenters":["dc9"]}"#);
    executed("unknown-first", r#""Datacenter":"dc2","Failovers":1"#);
    assert_eq!(
        cluster.put(THERE, "/v1/catalog/register", service).status,
        200
    );
    executed("unknown-first", "10.0.0.7");
    executed("nearest", r#""Datacenter":"dc2","Failovers":1"#);
    executed("nobody", r#""Nodes":[]"#);
    executed("nobody", r#""Datacenter":"dc1","Failovers":0"#);
    assert_eq!(
        cluster.put(HERE, "/v1/catalog/register", service).status,
        200
    );
    executed("nearest", r#""Datacenter":"dc1","Failovers":0"#);
    let gone = r#"{"Node":"w"}"#;
    assert_eq!(
        cluster.put(HERE, "/v1/catalog/deregister", gone).status,
        200
    );
}

fn coordinates_are_of_all_datacenters(cluster: &Cluster) {
    for agent in [HERE, CLIENT, THERE] {
        let areas = || -> Vec<Value> {
            let areas = text(&cluster.get(agent, "/v1/coordinate/datacenters"));
            serde_json::from_str(&areas).expect("it is a list")
        };
        cluster.until("both are there", || areas().len() == 2);
        let areas = areas();
        let mut names: Vec<&str> = areas
            .iter()
            .filter_map(|area| area["Datacenter"].as_str())
            .collect();
        // A real server has them in any order.
        names.sort_unstable();
        assert_eq!(names, ["dc1", "dc2"], "{}", cluster.name);
        let nodes = areas
            .iter()
            .flat_map(|area| area["Coordinates"].as_array().expect("it is a list"));
        for node in nodes.map(|one| one["Node"].as_str().expect("it has a name")) {
            assert!(!node.ends_with(".dc1") && !node.ends_with(".dc2"), "{node}");
        }
    }
}

/// Nothing comes back, until 40 s are over or the server goes on.
fn a_server_that_is_stopped_holds_requests(cluster: &Cluster) {
    cluster.pause(THERE, true);
    let begun = Stopwatch::start();
    let fails = [HERE, CLIENT].map(|agent| cluster.asked(agent, "/v1/kv/watched?dc=dc2"));
    let query = cluster.asked(HERE, "/v1/query/nearest/execute");
    cluster.is(
        &cluster.get(HERE, "/v1/catalog/datacenters"),
        200,
        r#"["dc1","dc2"]"#,
    );
    assert_eq!(cluster.get(HERE, "/v1/kv/none").status, 404);
    let join = |asked: std::thread::JoinHandle<Option<Reply>>| {
        asked
            .join()
            .expect("it does not panic")
            .expect("it answers")
    };
    let [here, client] = fails.map(join);
    cluster.is(&here, 500, &format!("{HOP}EOF"));
    cluster.is(&client, 500, &format!("{HOP}{HOP}EOF"));
    let bounds = Duration::from_secs(29)..Duration::from_secs(45);
    cluster.took(
        "a request about a silent datacenter",
        begun.elapsed(),
        bounds,
    );
    let found = text(&join(query));
    assert!(
        found.contains(r#""Datacenter":"dc1","Failovers":1"#),
        "{}: {found}",
        cluster.name
    );
    let held = [HERE, CLIENT].map(|agent| cluster.asked(agent, "/v1/kv/watched?dc=dc2&raw"));
    cluster.pause(THERE, false);
    for held in held.map(join) {
        cluster.is(&held, 200, "2");
    }
}

fn a_server_that_is_killed_refuses(cluster: &mut Cluster) {
    let address = text(&cluster.get(THERE, "/v1/status/leader"));
    let address = address.trim().trim_matches('"').to_owned();
    let index = header(&cluster.get(THERE, "/v1/kv/watched"), "X-Consul-Index");
    let target = format!(
        "/v1/kv/watched?dc=dc2&index={}&wait=60s",
        index.expect("a read has it")
    );
    let blocked = [HERE, CLIENT].map(|agent| cluster.asked(agent, &target));
    // The queries have to be there: a request that comes after them is answered.
    for agent in [HERE, CLIENT] {
        assert_eq!(cluster.get(agent, "/v1/kv/watched?dc=dc2").status, 200);
    }
    cluster.kill(THERE);
    let [here, client] = blocked.map(|asked| asked.join().expect("no panic").expect("an answer"));
    cluster.is(&here, 500, &format!("{HOP}EOF"));
    cluster.is(&client, 500, &format!("{HOP}{HOP}EOF"));
    let refused = format!("->{address}: connect: connection refused");
    for (agent, hop) in [(HERE, ""), (CLIENT, HOP)] {
        let reply = cluster.get(agent, "/v1/kv/watched?dc=dc2");
        let text = text(&reply);
        let dial =
            format!("{hop}rpc error getting client: failed to get conn: dial tcp 127.0.0.1:0->");
        assert!(
            text.starts_with(&dial) && text.ends_with(&refused),
            "{}: {text}",
            cluster.name
        );
    }
    is_known_without_instances(cluster);
    for (name, datacenter, outcome) in [
        ("of-body.node", "dc2", "SERVFAIL"),
        ("consul.service", "dc2", "SERVFAIL"),
        ("nearest.query", "dc2", "SERVFAIL"),
        ("_consul._tcp.service", "dc2", "SERVFAIL"),
        ("of-body.node", "dc9", "NXDOMAIN"),
    ] {
        let asked = format!("{name}.{datacenter}.consul");
        let (found, records) = cluster.resolve(HERE, &asked, "A");
        assert_eq!(found, outcome, "{}: {asked}", cluster.name);
        assert_eq!(
            records.is_empty(),
            datacenter == "dc2",
            "{}: {records:?}",
            cluster.name
        );
    }
}

/// The servers mark it as failed, and it stays a datacenter. A real one may refuse as before for another minute.
fn a_killed_datacenter_is_not_forgotten(cluster: &Cluster) {
    cluster.until("it is marked as failed", || {
        let members = text(&cluster.get(HERE, "/v1/agent/members?wan=1"));
        members.contains(r#""Status":4"#)
    });
    let bounds = Duration::from_secs(20)..Duration::from_secs(80);
    let what = "marking a killed datacenter as failed";
    cluster.took(what, cluster.since_kill(), bounds);
    is_known_without_instances(cluster);
    let own = text(&cluster.get(HERE, "/v1/agent/self"));
    assert!(
        own.contains(r#""known_datacenters":"2""#),
        "{}: {own}",
        cluster.name
    );
    for (agent, hop) in [(HERE, ""), (CLIENT, HOP)] {
        let read = cluster.get(agent, "/v1/kv/watched?dc=dc2");
        let told = text(&read);
        let told = told.strip_prefix(hop).unwrap_or_default();
        let texts = [
            "rpc error getting client: failed to get conn: ",
            "Remote DC has no server currently reachable",
        ];
        let is_one = texts.iter().any(|one| told.starts_with(one));
        assert!(read.status == 500 && is_one, "{}: {read:?}", cluster.name);
    }
}

/// What the other datacenter still knows of one that was killed.
fn is_known_without_instances(cluster: &Cluster) {
    let found = text(&cluster.get(HERE, "/v1/query/nearest/execute"));
    assert!(
        found.contains(r#""Nodes":[]"#) && found.contains(r#""Failovers":1"#),
        "{}: {found}",
        cluster.name
    );
    cluster.is(
        &cluster.get(HERE, "/v1/catalog/datacenters"),
        200,
        r#"["dc1","dc2"]"#,
    );
}

fn a_datacenter_comes_back(cluster: &mut Cluster) {
    cluster.start(THERE);
    let took = cluster.until("the datacenter is back", || {
        let read = cluster.asks(HERE, &Request::get("/v1/kv/watched?dc=dc2"));
        read.is_some_and(|read| read.status == 200)
    });
    cluster.took(
        "the return of a datacenter",
        took,
        Duration::from_millis(500)..Duration::from_secs(30),
    );
    cluster.until("it is a member", || {
        let members = text(&cluster.get(HERE, "/v1/agent/members?wan=1"));
        members.matches(r#""Status":1"#).count() == 2
    });
}
