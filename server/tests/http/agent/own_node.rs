//! What tools ask for when they start: the agent, its node, the leader (session.md 4.1, 4.5; 1.22.md B4).

use proconsul::Version;

use crate::support::Consul;

#[test]
fn the_leader_and_its_peers() {
    for consul in Consul::both() {
        consul
            .get("/v1/status/leader")
            .is(200, "\"127.0.0.1:8300\"");
        consul
            .get("/v1/status/peers")
            .is(200, "[\"127.0.0.1:8300\"]");
        consul.get("/v1/catalog/datacenters").is(200, "[\"dc1\"]");
    }
    Consul::v1_8().get("/v1/status/leader").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 16",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
    ]);
}

#[test]
fn the_members_of_agent_self_and_their_order() {
    let order = |version, members: &[&str]| {
        let answer = Consul::of(version).get("/v1/agent/self");
        let text = answer.text();
        let at = |name: &&str| {
            text.find(&format!("\"{name}\":"))
                .unwrap_or_else(|| panic!("{name}"))
        };
        let places: Vec<usize> = members.iter().map(at).collect();
        assert!(places.is_sorted(), "{places:?} of {members:?}");
    };
    let top = ["Config", "DebugConfig", "Coord", "Member", "Stats", "Meta"];
    order(Version::V1_8_7, &top);
    order(
        Version::V1_8_7,
        &[
            "Datacenter",
            "NodeName",
            "NodeID",
            "Revision",
            "Server",
            "Version",
        ],
    );
    order(
        Version::V1_22_0,
        &[
            "Datacenter",
            "PrimaryDatacenter",
            "NodeName",
            "NodeID",
            "Revision",
            "Server",
            "Version",
            "BuildDate",
            "BindAddr",
        ],
    );
    let old = Consul::v1_8().get("/v1/agent/self");
    let config = old
        .text()
        .split("DebugConfig")
        .next()
        .expect("a text has a start")
        .to_owned();
    for newer in ["PrimaryDatacenter", "BuildDate", "BindAddr"] {
        assert!(!config.contains(newer), "{newer}");
    }
    assert!(config.contains(r#""Version":"1.8.7""#));
}

#[test]
fn the_one_member() {
    for consul in Consul::both() {
        let answer = consul.get("/v1/agent/members");
        let members: serde_json::Value =
            serde_json::from_slice(&answer.body).expect("the body is JSON");
        let start = r#"[{"Name":"proconsul","Addr":"127.0.0.1","Port":8301,"Tags":{"acls":"0","#;
        assert!(answer.text().starts_with(start), "{}", answer.text());
        assert_eq!(members[0]["Status"], 1);
        assert_eq!(members[0]["Tags"]["role"], "consul");
        assert_eq!(members[1], serde_json::Value::Null);
        assert!(answer.header("X-Consul-Index").is_none());
        let refused = consul.get("/v1/agent/members?wan=1&segment=x");
        refused.is(400, "Cannot provide a segment with wan=true");
        assert_eq!(consul.get("/v1/agent/members?wan=1").code(), 200);
    }
}

#[test]
fn the_own_node_in_the_catalog() {
    let consul = Consul::with(|config| {
        config.version = Version::V1_8_7;
        config.seed = Some(0);
    });
    let id = "e220a839-7b1d-4daf-a4d9-71771b652c20";
    let node = format!(
        r#"{{"ID":"{id}","Node":"proconsul","Address":"127.0.0.1","Datacenter":"dc1","TaggedAddresses":{{"lan":"127.0.0.1","lan_ipv4":"127.0.0.1","wan":"127.0.0.1","wan_ipv4":"127.0.0.1"}},"Meta":{{"consul-network-segment":""}},"CreateIndex":6,"ModifyIndex":7}}"#
    );
    consul
        .get("/v1/catalog/nodes")
        .is(200, &format!("[{node}]"));
    let service = r#"{"ID":"consul","Service":"consul","Tags":[],"Address":"","Meta":{"non_voter":"false","raft_version":"3","serf_protocol_current":"2","serf_protocol_max":"5","serf_protocol_min":"1","version":"1.8.7"},"Port":8300,"Weights":{"Passing":1,"Warning":1},"EnableTagOverride":false,"Proxy":{"MeshGateway":{},"Expose":{}},"Connect":{},"CreateIndex":6,"ModifyIndex":6}"#;
    let whole = format!(r#"{{"Node":{node},"Services":{{"consul":{service}}}}}"#);
    consul.get("/v1/catalog/node/proconsul").is(200, &whole);
    consul.get("/v1/catalog/node/PROCONSUL").is(200, &whole);
    let answer = consul.get("/v1/catalog/node/nope");
    answer.is(200, "null");
    assert_eq!(answer.index(), 1);
    consul
        .get("/v1/catalog/services")
        .is(200, r#"{"consul":[]}"#);
}

#[test]
fn the_own_node_in_the_catalog_of_1_22() {
    let consul = Consul::v1_22();
    let nodes = consul.get("/v1/catalog/nodes");
    let meta = r#""Meta":{"consul-network-segment":"","consul-version":"1.22.0"}"#;
    assert!(nodes.text().contains(meta), "{}", nodes.text());
    let node = consul.get("/v1/catalog/node/proconsul");
    let tail = r#""Proxy":{"Mode":"","MeshGateway":{},"Expose":{}},"Connect":{},"PeerName":"","#;
    assert!(node.text().contains(tail), "{}", node.text());
}

#[test]
fn the_health_of_the_own_node() {
    let consul = Consul::v1_8();
    let check = r#"[{"Node":"proconsul","CheckID":"serfHealth","Name":"Serf Health Status","Status":"passing","Notes":"","Output":"Agent alive and reachable","ServiceID":"","ServiceName":"","ServiceTags":[],"Type":"","Definition":{},"CreateIndex":6,"ModifyIndex":6}]"#;
    for target in [
        "/v1/health/node/proconsul",
        "/v1/health/node/ProConsul",
        "/v1/health/state/any",
        "/v1/health/state/passing",
    ] {
        consul.get(target).is(200, check);
    }
    for target in [
        "/v1/health/node/nope",
        "/v1/health/state/critical",
        "/v1/health/state/odd",
    ] {
        consul.get(target).is(200, "[]");
    }
    let check = r#""Type":"","Interval":"","Timeout":"","ExposedPort":0,"Definition":{},"#;
    let answer = Consul::v1_22().get("/v1/health/node/proconsul");
    assert!(answer.text().contains(check), "{}", answer.text());
}

#[test]
fn the_head_of_a_catalog_read() {
    Consul::v1_8().get("/v1/catalog/services").has_head(&[
        "HTTP/1.1 200 OK",
        "Content-Length: 13",
        "Content-Type: application/json",
        "Vary: Accept-Encoding",
        "X-Consul-Effective-Consistency: leader",
        "X-Consul-Index: 6",
        "X-Consul-Knownleader: true",
        "X-Consul-Lastcontact: 0",
    ]);
}

#[test]
fn paths_without_a_name() {
    for consul in Consul::both() {
        consul.get("/v1/catalog/node/").is(400, "Missing node name");
        consul.get("/v1/health/node/").is(400, "Missing node name");
        consul
            .get("/v1/health/state/")
            .is(400, "Missing check state");
        // Found before the datacenter is looked for.
        consul
            .get("/v1/catalog/node/?dc=nope")
            .is(400, "Missing node name");
    }
}

#[test]
fn the_list_of_services_takes_a_filter_since_1_14() {
    let body = r#"{"Node":"n","Address":"1.1.1.1","Service":{"Service":"web","Tags":["a"]}}"#;
    let target = "/v1/catalog/services?filter=ServiceName==web";
    for (consul, shown) in [
        (Consul::v1_8(), r#"{"consul":[],"web":["a"]}"#),
        (Consul::v1_22(), r#"{"web":["a"]}"#),
    ] {
        consul.put("/v1/catalog/register", body).is(200, "true");
        consul.get(target).is(200, shown);
    }
    let wrong = "/v1/catalog/services?filter=Nothing==web";
    assert_eq!(Consul::v1_22().get(wrong).code(), 500);
}
