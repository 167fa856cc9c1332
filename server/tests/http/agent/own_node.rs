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
        // Found before the datacenter is looked for.
        consul
            .get("/v1/catalog/node/?dc=nope")
            .is(400, "Missing node name");
    }
}

#[test]
fn the_members_of_agent_self_are_in_order() {
    let answer = Consul::v1_8().get("/v1/agent/self");
    let text = answer.text();
    let places: Vec<usize> = ["Config", "DebugConfig", "Coord", "Member", "Stats", "Meta"]
        .iter()
        .map(|name| text.find(&format!("\"{name}\":")).expect("it is there"))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_one_member() {
    for consul in Consul::both() {
        let answer = consul.get("/v1/agent/members");
        let start = r#"[{"Name":"proconsul","Addr":"127.0.0.1","Port":8301,"Tags":{"acls":"0","#;
        assert!(answer.text().starts_with(start), "{}", answer.text());
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
