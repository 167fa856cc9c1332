//! The catalog that is asked: whatever decides which records a name has.

use proconsul_conformance::wire::{self, Address, Outcome, Request};
use serde_json::{Value, json};

/// How many instances the services have that are cut.
pub(crate) const MANY: [(&str, usize); 2] = [("many", 12), ("big", 120)];

/// Registers the catalog at a server.
pub(crate) fn register(server: &Address) {
    for node in nodes().into_iter().chain(hosts()).chain(instances()) {
        send(server, "PUT", "/v1/catalog/register", &node);
    }
    for query in queries() {
        send(server, "POST", "/v1/query", &query);
    }
}

fn send(server: &Address, method: &str, path: &str, body: &Value) {
    let request = Request::new(method, path).body(body.to_string());
    // Where there are ACLs, that is the token of who sets them up.
    let request = request.header("X-Consul-Token", "root");
    match wire::exchange(server, &request) {
        Outcome::Reply(reply) if reply.status == 200 => {}
        other => panic!("{method} {path} {body}: {other:?}"),
    }
}

/// Nodes with metadata, tagged addresses and checks, and their services.
fn nodes() -> Vec<Value> {
    vec![
        json!({"Node": "w1", "ID": "beef0001-0000-4000-8000-000000000001", "Address": "10.1.0.1",
            "Service": {"Service": "web", "Port": 80, "Tags": ["primary", "Tag"], "Weights": {"Passing": 5, "Warning": 2}}}),
        json!({"Node": "w2", "Address": "10.1.0.2", "NodeMeta": {"b": "2", "rfc1035-x": "raw", "e": ""},
            "Service": {"Service": "web", "Port": 81, "Address": "10.9.9.9", "Tags": ["x"]},
            "Check": {"Name": "c", "Status": "warning", "ServiceID": "web"}}),
        json!({"Node": "w3", "Address": "10.1.0.3", "Service": {"Service": "web", "Port": 82, "Address": "svc.example.com"}}),
        json!({"Node": "w4", "Address": "fe80::1", "Service": {"Service": "web", "Port": 83}}),
        json!({"Node": "w5", "Address": "10.1.0.5", "Service": {"Service": "web", "Port": 84},
            "Check": {"Name": "c", "Status": "critical", "ServiceID": "web"}}),
        json!({"Node": "nc", "Address": "10.1.0.18", "Service": {"Service": "ncs", "Port": 3},
            "Check": {"Name": "c", "Status": "critical"}}),
        json!({"Node": "wt", "Address": "10.8.0.11", "Service": {"Service": "wts", "Port": 1,
            "Weights": {"Passing": 10, "Warning": 3}}, "Check": {"Name": "n", "Status": "warning"}}),
        json!({"Node": "t1", "Address": "10.1.0.7", "TaggedAddresses": {"lan_ipv4": "10.2.0.7", "lan_ipv6": "fe80::7",
            "wan": "1.2.3.4"}, "Service": {"Service": "tg", "Port": 85}}),
        json!({"Node": "t2", "Address": "10.1.0.8", "Service": {"Service": "tgs", "Port": 86, "Address": "10.5.5.5",
            "TaggedAddresses": {"lan_ipv4": {"Address": "10.6.0.1", "Port": 11},
            "lan_ipv6": {"Address": "fe80::66", "Port": 12}}}}),
        json!({"Node": "t5", "Address": "10.1.0.12", "TaggedAddresses": {"lan_ipv6": "host6.example.com"}}),
        json!({"Node": "dt", "Address": "10.12.0.5", "Service": {"Service": "dotty", "Port": 1, "Tags": ["x.y", "y"]}}),
        json!({"Node": "web.dot", "Address": "10.1.0.15", "Service": {"Service": "a.b", "Port": 3, "Tags": ["x.y"]}}),
        json!({"Node": "under_n", "Address": "10.1.0.16", "Service": {"Service": "under_s", "Port": 3,
            "Tags": ["under_score", "_tcp", "tcp"]}}),
        json!({"Node": "meta", "Address": "10.12.0.6", "NodeMeta": {"a": "v".repeat(200), "b": "w".repeat(200),
            "c": "x".repeat(200)}, "Service": {"Service": "metas", "Port": 1}}),
        json!({"Node": "long", "Address": "10.12.0.7", "NodeMeta": {"a": "v".repeat(254)},
            "Service": {"Service": "long", "Port": 1}}),
        json!({"Node": "px", "Address": "10.1.0.19", "Service": {"Service": "web-proxy", "Kind": "connect-proxy",
            "Port": 2100, "Proxy": {"DestinationServiceName": "web"}}}),
    ]
}

/// Nodes and services whose address is the name of a host, in chains and in a circle.
fn hosts() -> Vec<Value> {
    let node = |node: &str, address: &str, service: &str| json!({"Node": node, "Address": address, "Service": {"Service": service, "Port": 1}});
    vec![
        node("h1", "host.example.com", "hst"),
        node("hh1", "a.example.com", "hs"),
        node("hh2", "b.example.com", "hs"),
        node("cn", "w2.node.consul", "cns"),
        node("cx", "zz.dc9.consul", "cxs"),
        node("cdom", "consul", "cdoms"),
        node("ch1", "ch2.node.consul", "chs"),
        node("ch2", "ch3.node.dc1.consul", "chs2"),
        node("ch3", "ch4.node.consul", "chs3"),
        node("ch4", "w2.node.consul", "chs4"),
        node("lp1", "lp2.node.consul", "lps"),
        node("lp2", "LP1.node.consul", "lps2"),
        json!({"Node": "cn2", "Address": "10.1.0.20", "Service": {"Service": "cns2", "Port": 3, "Address": "web.service.consul"}}),
        json!({"Node": "cn3", "Address": "10.1.0.20", "Service": {"Service": "cns3", "Port": 3, "Address": "nope.service.consul"}}),
        json!({"Node": "mx1", "Address": "10.12.0.1", "NodeMeta": {"z": "1"}, "Service": {"Service": "mix", "Port": 1}}),
        json!({"Node": "mx2", "Address": "10.12.0.2", "Service": {"Service": "mix", "Port": 1, "Address": "w2.node.consul"}}),
    ]
}

/// Several instances at one address, on one node, and many.
fn instances() -> Vec<Value> {
    let mut rows = vec![
        json!({"Node": "eq", "Address": "10.1.0.9", "Service": {"Service": "eqs", "Port": 3, "Address": "10.1.0.9"}}),
        json!({"Node": "sa1", "Address": "10.1.0.13", "Service": {"Service": "only", "Port": 3, "Address": "10.200.0.1"}}),
        json!({"Node": "sa2", "Address": "10.1.0.13", "Service": {"Service": "dup", "Port": 3}}),
        json!({"Node": "sa3", "Address": "10.1.0.14", "Service": {"Service": "only2", "Port": 3, "Address": "10.200.0.1"}}),
    ];
    rows.extend((0..5).map(|i| {
        json!({"Node": "same", "Address": "10.8.0.1", "NodeMeta": {"s": "1"},
            "Service": {"ID": format!("s{i}"), "Service": "same", "Port": 4000 + i}})
    }));
    rows.extend((0..3).map(|i| {
        json!({"Node": format!("th{i}"), "Address": format!("10.8.1.{i}"), "NodeMeta": {"s": "1"},
            "Service": {"Service": "three", "Port": 4000 + i}})
    }));
    for (name, count) in MANY {
        rows.extend((0..count).map(|i| {
            json!({"Node": format!("{name}{i:03}"), "Address": format!("10.9.{}.{}", name.len(), 100 + i),
                "NodeMeta": {"i": format!("{i:03}")}, "Service": {"Service": name, "Port": 4000 + i}})
        }));
    }
    rows
}

fn queries() -> [Value; 5] {
    [
        json!({"Name": "q1", "Service": {"Service": "web"}, "DNS": {"TTL": "17s"}}),
        json!({"Name": "q2", "Service": {"Service": "nope"}}),
        json!({"Name": "q3", "Service": {"Service": "web", "OnlyPassing": true, "Tags": ["primary"]}}),
        json!({"Name": "q.dot", "Service": {"Service": "three"}}),
        json!({"Name": "tpl-", "Template": {"Type": "name_prefix_match"}, "Service": {"Service": "${name.suffix}"}}),
    ]
}
