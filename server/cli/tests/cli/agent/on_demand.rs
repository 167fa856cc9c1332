//! Servers on demand, and the control port: what they have of the agent that was started.

use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::agent::{Agent, Run, request};

/// Asks at an address, and returns the status and the body.
fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> (String, String) {
    let mut connection = TcpStream::connect(address).expect("a server listens");
    request(&mut connection, method, path, body)
}

/// The address in a URL.
fn address_in(url: &Value) -> SocketAddr {
    let text = url.as_str().and_then(|url| url.strip_prefix("http://"));
    let address = text.and_then(|rest| rest.split('/').next());
    let address = address.and_then(|address| address.parse().ok());
    address.expect("a URL with an address")
}

/// The line of JSON with the addresses of an agent.
fn addresses(agent: &mut Agent) -> Value {
    let line = agent.wait_for("\"http\":");
    let mut ports: Value =
        serde_json::from_str(&line.replace("\":\"", "\":\"http://")).expect("it is JSON");
    ports.take()
}

/// A server on demand of the agent that is controlled at `control`.
fn start_server(control: SocketAddr, body: &str) -> Value {
    let (status, answer) = ask(control, "POST", "/proconsul/v1/servers", body);
    assert!(status.ends_with("200 OK"), "{status} {answer}");
    serde_json::from_str(&answer).expect("an answer is JSON")
}

/// F12: the version, the datacenter, limits, files and strictness were the defaults.
#[test]
fn a_server_on_demand_inherits_what_its_parent_was_started_with() {
    let arguments = [
        "-dev",
        "-as-version=1.8.7",
        "-datacenter=dcx",
        "-node=n",
        "-hcl=session_ttl_min = \"1s\"",
        "-config-file=c.json",
        "--strict",
        "--control",
    ];
    let run = Run::agent("inherits", &arguments).file(
        "c.json",
        r#"{"service": {"name": "web"}, "limits": {"kv_max_value_size": 3}}"#,
    );
    let mut agent = run.at_a_free_port().start().ready();
    let parent = agent.address();
    let started = start_server(parent, "");
    let child = address_in(&started["url"]);
    assert_ne!(parent, child);
    let of_both = |path: &str| [parent, child].map(|address| ask(address, "GET", path, ""));
    let [own, inherited] = of_both("/v1/agent/self").map(|(_, body)| {
        let mut body: Value = serde_json::from_str(&body).expect("an answer is JSON");
        body["Config"].take()
    });
    for key in ["Version", "Datacenter", "NodeName", "Server"] {
        assert_eq!(own[key], inherited[key], "{key}");
    }
    assert_eq!(inherited["Datacenter"], "dcx");
    assert_ne!(
        own["NodeID"], inherited["NodeID"],
        "F11: they have other seeds"
    );
    let [own, inherited] = of_both("/v1/catalog/services");
    assert_eq!(own, inherited);
    assert!(inherited.1.contains("\"web\""), "{}", inherited.1);
    let [own, inherited] = of_both("/v1/agent/connect/ca/leaf/web");
    assert_eq!(own, inherited);
    assert!(
        inherited.0.contains(" 404 "),
        "as --strict says: {inherited:?}"
    );
    for address in [parent, child] {
        let (status, _) = ask(address, "PUT", "/v1/session/create", r#"{"TTL": "1s"}"#);
        assert!(status.ends_with("200 OK"), "{status}");
        let (status, _) = ask(address, "PUT", "/v1/kv/k", "long");
        assert!(status.contains(" 413 "), "{status}");
    }
}

/// F13: the control port, and servers on demand, were at 127.0.0.1 whatever `-client` said.
#[test]
fn the_control_port_and_servers_on_demand_are_where_the_clients_are() {
    let arguments = ["-dev", "-client=127.0.0.2 127.0.0.3", "--control-port=0"];
    let mut agent = Run::agent("client-addresses", &arguments)
        .at_a_free_port()
        .start()
        .ready();
    let ports = addresses(&mut agent);
    let [http, control] = ["http", "control"].map(|name| address_in(&ports[name]));
    for ip in [[127, 0, 0, 2], [127, 0, 0, 3]] {
        for (port, path) in [
            (http.port(), "/v1/status/leader"),
            (control.port(), "/proconsul/v1/clock"),
        ] {
            let (status, _) = ask((ip, port).into(), "GET", path, "");
            assert!(status.ends_with("200 OK"), "{ip:?} {path}: {status}");
        }
    }
    TcpStream::connect(("127.0.0.1", control.port())).expect_err("only there");
    let started = start_server(control, "");
    for name in ["url", "control"] {
        let address = address_in(&started[name]);
        assert_eq!(address.ip().to_string(), "127.0.0.2", "{started}");
        TcpStream::connect(("127.0.0.3", address.port())).expect("at the other one too");
    }
    assert_ne!(address_in(&started["url"]), address_in(&started["control"]));
}

#[test]
fn the_control_port_can_have_addresses_of_its_own() {
    let mut agent = Run::agent("control-addr", &["-dev", "-client=127.0.0.2"])
        .variable("PROCONSUL_CONTROL_ADDR", "127.0.0.3")
        .at_a_free_port()
        .start()
        .ready();
    let control = address_in(&addresses(&mut agent)["control"]);
    assert_eq!(control.ip().to_string(), "127.0.0.3");
    let (status, _) = ask(control, "GET", "/proconsul/v1/clock", "");
    assert!(status.ends_with("200 OK"), "{status}");
}

#[test]
fn a_control_address_that_is_none_is_refused() {
    let rows: [(&[&str], &str); 4] = [
        (
            &["--control-addr=localhost"],
            "-control-addr: invalid ip address: localhost; the port is given by -control-port",
        ),
        (
            &["--control-addr=127.0.0.1:9000"],
            "-control-addr: invalid ip address: 127.0.0.1:9000; the port is given by -control-port",
        ),
        (
            &["--control-port=70000"],
            "-control-port: invalid port: 70000, expected 0 to 65535",
        ),
        (
            &["--control=false", "--control-port=0"],
            "-control is false, and -control-port asks for the control plane: leave one of them out",
        ),
    ];
    for (index, (arguments, expected)) in rows.into_iter().enumerate() {
        let run = Run::agent(
            &format!("control-addr-{index}"),
            &[&["-dev"], arguments].concat(),
        );
        assert_eq!(run.refusal(), format!("==> {expected}\n"));
    }
}

#[test]
fn a_server_on_demand_starts_with_the_same_data() {
    let arguments = ["-dev", "--control", "--kv-file=k.json", "--services=s.hcl"];
    let run = Run::agent("on-demand-data", &arguments)
        .file(
            "k.json",
            r#"[{"key": "color", "flags": 0, "value": "cmVk"}]"#,
        )
        .file("s.hcl", "service { name = \"web\" }");
    let mut agent = run.at_a_free_port().start().ready();
    agent.put("/v1/kv/color", "blue");
    let child = start_server(agent.address(), "");
    let child = address_in(&child["url"]);
    assert_eq!(ask(child, "GET", "/v1/kv/color?raw", "").1, "red");
    let (_, services) = ask(child, "GET", "/v1/agent/services", "");
    assert!(services.contains("\"web\""), "{services}");
}
