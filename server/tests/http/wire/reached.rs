//! Where services are reached, in the reads that the contract does not ask about: several ports, sockets, places, virtual
//! addresses (1.22.md B4.2p, B4.5).

use std::time::Duration;

use proconsul::Version;
use serde_json::{Value, json};

use crate::support::Consul;

const PORTS: &str = r#"[{"Name":"http","Port":80,"Default":true},{"Name":"admin","Port":81}]"#;

/// Registers service `s` of node `n` with several ports.
fn register(consul: &Consul, name: &str) {
    let service = format!(r#"{{"ID":"s","Service":"{name}","Ports":{PORTS},"SocketPath":"/s"}}"#);
    let body = format!(r#"{{"Node":"n","Address":"10.0.0.1","Service":{service}}}"#);
    consul.put("/v1/catalog/register", body).is(200, "true");
}

/// The port and the names of the ports of a service in an answer.
fn shown(service: &Value) -> (&Value, Vec<&str>) {
    let ports = service["Ports"].as_array().expect("it has several");
    let names = ports.iter().filter_map(|port| port["Name"].as_str());
    (&service["Port"], names.collect())
}

#[test]
fn all_reads_show_all_ports() {
    let consul = Consul::v1_22();
    register(&consul, "web");
    let body = format!(r#"{{"Name":"own","Ports":{PORTS}}}"#);
    consul.put("/v1/agent/service/register", body).is(200, "");
    let get = r#"[{"Service":{"Verb":"get","Node":"n","Service":{"ID":"s"}}}]"#;
    let txn = consul.put("/v1/txn", get).json();
    let body = br#"{"Name":"q","Service":{"Service":"web"}}"#;
    let query = consul.ask_with("POST", "/v1/query", &[], body);
    assert_eq!(query.code(), 200);
    let found = consul.get("/v1/query/q/execute").json();
    let of_node = consul.get("/v1/catalog/node-services/n").json();
    let health = consul.get("/v1/agent/health/service/id/own").json();
    let (default, none) = (json!(80), Value::Null);
    for (service, port) in [
        (&txn["Results"][0]["Service"], &none),
        (&found["Nodes"][0]["Service"], &default),
        (&of_node["Services"][0], &none),
        (&health["Service"], &default),
    ] {
        assert_eq!(shown(service), (port, vec!["http", "admin"]), "{service}");
    }
}

#[test]
fn filters_know_ports_and_sockets_since_their_release() {
    let later = [
        ("/v1/catalog/service/web", "ServicePorts.Name == admin"),
        ("/v1/catalog/service/web", "ServicePorts is not empty"),
        ("/v1/catalog/service/web", "ServicePort == 80"),
        ("/v1/catalog/service/web", r#"ServiceSocketPath == "/s""#),
        ("/v1/health/service/web", "Service.Ports.Port == 81"),
        ("/v1/health/service/web", "Service.Ports.Default == true"),
        ("/v1/health/service/web", r#"Service.SocketPath != "x""#),
    ];
    let (old, new) = (Consul::v1_8(), Consul::v1_22());
    register(&new, "web");
    for (path, filter) in later {
        let target = format!("{path}?filter={}", filter.replace(' ', "+"));
        let rows = new.get(&target).json();
        assert_eq!(rows.as_array().map(Vec::len), Some(1), "{filter}");
        let selector = filter.split(['=', '!', ' ']).next().unwrap_or_default();
        let first = selector.strip_suffix(".Name").unwrap_or(selector);
        let first = first.strip_suffix(".Port").unwrap_or(first);
        let first = first.strip_suffix(".Default").unwrap_or(first);
        if first == "ServicePort" {
            assert_eq!(old.get(&target).code(), 200);
            continue;
        }
        let text = format!(
            "Failed to create boolean expression evaluator: Selector \"{first}\" is not valid"
        );
        old.get(&target).is(500, &text);
    }
    let nobody = "/v1/catalog/service/web?filter=ServicePorts.Name+==+other";
    new.get(nobody).is(200, "[]");
}

#[test]
fn other_ports_are_another_content() {
    let consul = Consul::v1_22();
    let hash = |ports: &str| {
        let body = format!(r#"{{"Name":"own","Ports":{ports}}}"#);
        consul.put("/v1/agent/service/register", body).is(200, "");
        consul.get("/v1/agent/service/own").json()["ContentHash"].clone()
    };
    let first = hash(PORTS);
    assert_eq!(hash(PORTS), first);
    assert_ne!(hash(&PORTS.replace("81", "82")), first);
}

#[test]
fn ports_are_decoded_as_go_decodes_them() {
    let consul = Consul::v1_22();
    for (ports, error) in [
        (
            r#"{}"#,
            "object into Go struct field .Alias.Ports of type structs.ServicePorts",
        ),
        (
            r#"[{"Port":"x"}]"#,
            "string into Go struct field ServicePort.Alias.Ports.Port of type int",
        ),
    ] {
        let body = format!(r#"{{"Name":"own","Ports":{ports}}}"#);
        let text = format!("Request decode failed: json: cannot unmarshal {error}");
        consul
            .put("/v1/agent/service/register", body)
            .is(400, &text);
    }
}

/// The catalog adds the virtual address to what the agent says. That is no difference to mend.
#[test]
fn virtual_addresses_do_not_disturb_the_comparison_of_agent_and_catalog() {
    let consul = Consul::frozen(Version::V1_22_0);
    let body = r#"{"Name":"own","Port":1,"Connect":{"Native":true},"Locality":{"Region":"r"}}"#;
    consul.put("/v1/agent/service/register", body).is(200, "");
    let row = consul.get("/v1/catalog/service/own").json();
    let addresses = &row[0]["ServiceTaggedAddresses"];
    assert_eq!(
        *addresses,
        json!({"consul-virtual": {"Address": "240.0.0.1", "Port": 1}})
    );
    consul.server().advance(Duration::from_secs(600));
    assert_eq!(consul.get("/v1/catalog/service/own").json(), row);
}
