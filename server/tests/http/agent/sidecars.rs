//! Sidecars, proxies and Connect: registered, kept, shown, found (seen on 1.8.7).

use std::net::TcpListener;

use proconsul::Version;

use crate::agent::probes::run_checks_of;
use crate::agent::{REGISTER, register};
use crate::support::Consul;

#[track_caller]
fn shows(consul: &Consul, target: &str, part: &str) {
    let answer = consul.get(target);
    assert!(answer.text().contains(part), "{}", answer.text());
}

#[test]
fn a_sidecar_comes_with_its_service_and_goes_with_it() {
    let consul = Consul::v1_8();
    let body = r#"{"Name":"web","Port":8080,"Tags":["a"],"Meta":{"k":"v"},"Connect":{"SidecarService":{}}}"#;
    register(&consul, body);
    let sidecar = r#""web-sidecar-proxy":{"Kind":"connect-proxy","ID":"web-sidecar-proxy","Service":"web-sidecar-proxy","Tags":["a"],"Meta":{"k":"v"},"Port":21000,"Address":"","Weights":{"Passing":1,"Warning":1},"EnableTagOverride":false,"Proxy":{"DestinationServiceName":"web","DestinationServiceID":"web","LocalServiceAddress":"127.0.0.1","LocalServicePort":8080,"MeshGateway":{},"Expose":{}}}"#;
    shows(&consul, "/v1/agent/services", sidecar);
    let checks = "/v1/agent/checks";
    shows(
        &consul,
        checks,
        r#""CheckID":"service:web-sidecar-proxy:1","Name":"Connect Sidecar Listening","Status":"critical""#,
    );
    shows(
        &consul,
        checks,
        r#""CheckID":"service:web-sidecar-proxy:2","Name":"Connect Sidecar Aliasing web","Status":"passing","Notes":"","Output":"No checks found.""#,
    );
    register(&consul, r#"{"Name":"api","Connect":{"SidecarService":{}}}"#);
    shows(
        &consul,
        "/v1/agent/service/api-sidecar-proxy",
        r#""Port":21001"#,
    );
    // Without one, the service keeps the sidecar that it had.
    register(&consul, r#"{"Name":"web","Port":8081}"#);
    shows(&consul, "/v1/agent/services", r#""Port":21000"#);
    let deregister = "/v1/agent/service/deregister/web";
    consul.put(deregister, "").is(200, "");
    for target in ["/v1/agent/services", checks] {
        let left = consul.get(target);
        assert!(!left.text().contains("web-sidecar"), "{}", left.text());
    }
    consul
        .get("/v1/catalog/service/web-sidecar-proxy")
        .is(200, "[]");
    consul.get("/v1/catalog/connect/web").is(200, "[]");
}

#[test]
fn what_a_sidecar_says_of_itself_counts() {
    let consul = Consul::v1_8();
    let body = r#"{"Name":"web","Port":1,"Connect":{"SidecarService":{"Name":"own","Port":77,"Address":"127.0.0.9","Tags":["t"],"Check":{"TTL":"1h"}}}}"#;
    register(&consul, body);
    let shown = r#""ID":"web-sidecar-proxy","Service":"own","Tags":["t"],"Meta":{},"Port":77,"Address":"127.0.0.9","TaggedAddresses":{"lan_ipv4":{"Address":"127.0.0.9","Port":77}"#;
    shows(&consul, "/v1/agent/services", shown);
    shows(
        &consul,
        "/v1/agent/checks",
        r#""Name":"Service 'own' check""#,
    );
}

#[test]
fn ports_of_sidecars_run_out() {
    let body =
        |number: usize| format!(r#"{{"Name":"m{number}","Connect":{{"SidecarService":{{}}}}}}"#);
    let text = "Invalid SidecarService: no port provided for sidecar_service and none left in the configured range [21000, 21255]";
    for (version, code, text) in [
        (Version::V1_8_7, 500, format!("Bad request: {text}")),
        (Version::V1_22_0, 400, text.to_owned()),
    ] {
        let consul = Consul::of(version);
        for number in 0..256 {
            register(&consul, &body(number));
        }
        consul.put(REGISTER, body(256)).is(code, &text);
        consul.get("/v1/catalog/service/m256").is(200, "[]");
    }
}

/// All that a proxy can say, and how the two views show it.
const PROXY: &str = r#"{"DestinationServiceName":"db","DestinationServiceID":"db1","LocalServiceAddress":"127.0.0.1","LocalServicePort":5,"Config":{"b":"x","a":1,"big":12345678901234567890},"Upstreams":[{"DestinationType":"prepared_query","DestinationNamespace":"default","DestinationName":"u","Datacenter":"dc1","LocalBindAddress":"1.2.3.4","LocalBindPort":1234,"Config":{"z":1,"a":2},"MeshGateway":{"Mode":"remote"}},{"DestinationName":"q","LocalBindPort":7}],"MeshGateway":{"Mode":"local"},"Expose":{"Paths":[{"Path":"/p","ListenerPort":4,"LocalPathPort":5}]}}"#;
const SHOWN_BEFORE: &str = r#"{"DestinationServiceName":"db","DestinationServiceID":"db1","LocalServiceAddress":"127.0.0.1","LocalServicePort":5,"Config":{"a":1,"b":"x","big":12345678901234567000},"Upstreams":[{"DestinationType":"prepared_query","DestinationNamespace":"default","DestinationName":"u","Datacenter":"dc1","LocalBindAddress":"1.2.3.4","LocalBindPort":1234,"Config":{"a":2,"z":1},"MeshGateway":{"Mode":"remote"}},{"DestinationType":"service","DestinationName":"q","#;
const SHOWN_BEHIND: &str = r#","MeshGateway":{}}],"MeshGateway":{"Mode":"local"},"Expose":{"Paths":[{"ListenerPort":4,"Path":"/p","LocalPathPort":5,"ParsedFromCheck":false}]}}"#;

#[test]
fn the_settings_of_a_proxy_are_kept_and_shown() {
    let consul = Consul::v1_8();
    let body = format!(r#"{{"Name":"px","Kind":"connect-proxy","Port":9,"Proxy":{PROXY}}}"#);
    register(&consul, &body);
    let by_agent = format!(r#""Proxy":{SHOWN_BEFORE}"LocalBindPort":7{SHOWN_BEHIND}"#);
    shows(&consul, "/v1/agent/service/px", &by_agent);
    let in_catalog = format!(
        r#"Proxy":{SHOWN_BEFORE}"Datacenter":"","LocalBindPort":7,"Config":null{SHOWN_BEHIND}"#
    );
    for target in [
        "/v1/catalog/service/px",
        "/v1/health/service/px",
        "/v1/catalog/connect/db",
    ] {
        shows(&consul, target, &in_catalog);
    }
    let filter = "/v1/agent/services?filter=Proxy.DestinationServiceName==db";
    shows(&consul, filter, r#""px":{"#);
    consul
        .get("/v1/agent/services?filter=Proxy.DestinationServiceName!=db")
        .is(200, "{}");
}

#[test]
fn connect_is_answered_with_proxies_and_with_those_who_need_none() {
    let consul = Consul::v1_8();
    register(&consul, r#"{"Name":"nat","Connect":{"Native":true}}"#);
    shows(
        &consul,
        "/v1/agent/service/nat",
        r#""Connect":{"Native":true}"#,
    );
    shows(
        &consul,
        "/v1/health/connect/nat",
        r#""Connect":{"Native":true}"#,
    );
    let proxy = r#"{"Node":"n","Address":"1.1.1.1","Service":{"Service":"an","Kind":"connect-proxy","Port":2,"Proxy":{"DestinationServiceName":"nat"}}}"#;
    consul.put("/v1/catalog/register", proxy).is(200, "true");
    let both = consul.get("/v1/catalog/connect/nat");
    assert_eq!(
        both.text().matches("ServiceID").count(),
        2,
        "{}",
        both.text()
    );
    consul.get("/v1/health/connect/an").is(200, "[]");
}

#[test]
fn what_is_wrong_with_proxies_is_said_together() {
    let rows = [
        (
            r#""Kind":"connect-proxy","Port":1,"Proxy":{"DestinationServiceName":"x","Upstreams":[{}]},"Connect":{"Native":true}"#,
            "2 errors occurred:\n\t* A Proxy cannot also be Connect Native, only typical services\n\t* upstream destination name cannot be empty\n\n",
        ),
        (
            r#""Kind":"mesh-gateway","Port":1,"Proxy":{"DestinationServiceName":"x","DestinationServiceID":"x","LocalServiceAddress":"a","LocalServicePort":5,"Upstreams":[{"DestinationName":"u","LocalBindPort":1}]}"#,
            "5 errors occurred:\n\t* The Proxy.DestinationServiceName configuration is invalid for a mesh-gateway\n\t* The Proxy.DestinationServiceID configuration is invalid for a mesh-gateway\n\t* The Proxy.LocalServiceAddress configuration is invalid for a mesh-gateway\n\t* The Proxy.LocalServicePort configuration is invalid for a mesh-gateway\n\t* The Proxy.Upstreams configuration is invalid for a mesh-gateway\n\n",
        ),
    ];
    let consul = Consul::v1_8();
    for (fields, text) in rows {
        let body = format!(r#"{{"Name":"e",{fields}}}"#);
        consul.put(REGISTER, body).is(400, text);
    }
    let body = r#"{"Name":"e","Connect":{"SidecarService":{"Check":{"HTTP":"x"}}}}"#;
    consul.put(REGISTER, body).is(500, "Bad request: Invalid check in sidecar_service: Interval must be > 0 for Script, HTTP, or TCP checks");
    let body = r#"{"Node":"n","Address":"1.1.1.1","Service":{"Service":"c","Kind":"connect-proxy","Port":1}}"#;
    consul.put("/v1/catalog/register", body).is(500, "1 error occurred:\n\t* Proxy.DestinationServiceName must be non-empty for Connect proxy services\n\n");
}

#[test]
fn a_transaction_keeps_nothing_of_proxies() {
    let consul = Consul::v1_8();
    let node = r#"{"Node":"n","Address":"1.1.1.1"}"#;
    consul.put("/v1/catalog/register", node).is(200, "true");
    let body = r#"[{"Service":{"Verb":"set","Node":"n","Service":{"Service":"t","Kind":"connect-proxy","Port":1,"Connect":{"Native":true},"Proxy":{"DestinationServiceName":"x"}}}}]"#;
    let answer = consul.put("/v1/txn", body);
    let shown = r#""Proxy":{"MeshGateway":{},"Expose":{}},"Connect":{}"#;
    assert!(answer.text().contains(shown), "{}", answer.text());
    assert!(!answer.text().contains("Kind"), "{}", answer.text());
}

#[test]
fn a_sidecar_is_checked_where_its_release_dials_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let own = r#""Address":"localhost""#;
    let of_service = r#""Proxy":{"LocalServiceAddress":"localhost"}"#;
    for (version, address, dialed) in [
        ("1.8.7", own, "127.0.0.1"),
        ("1.8.7", of_service, "localhost"),
        ("1.13.1", own, "127.0.0.1"),
        ("1.13.2", own, "localhost"),
        ("1.13.2", of_service, "localhost"),
    ] {
        let sidecar = format!(r#"{{"Port":{port},{address}}}"#);
        let body = format!(r#"{{"Name":"web","Connect":{{"SidecarService":{sidecar}}}}}"#);
        let consul = Consul::frozen(version.parse().expect("it is a version"));
        register(&consul, &body);
        let said = run_checks_of(&consul, "web-sidecar-proxy");
        let expected = format!("TCP connect {dialed}:{port}: Success");
        assert_eq!(
            said,
            ("passing".to_owned(), expected),
            "{version} {address}"
        );
    }
}
