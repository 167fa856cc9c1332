//! Servers on demand, over HTTP.

use proconsul::Server;
use proconsul::config::Config;
use serde_json::{Value, json};

use crate::over_http::face::{call, parsed};
use crate::support::ask_at;

fn address(url: &Value) -> std::net::SocketAddr {
    let rest = url.as_str().and_then(|url| url.strip_prefix("http://"));
    let address = rest.and_then(|rest| rest.split('/').next());
    address
        .expect("it is a URL")
        .parse()
        .expect("it has an address")
}

#[test]
fn settings_are_given_as_a_file_has_them() {
    let parent = Server::builder()
        .seed(7)
        .node_name("parent")
        .frozen()
        .start();
    let parent = parent.expect("a free port");
    let new = json!({
        "settings": { "limits": { "kv_max_value_size": 10 }, "node_meta": { "rack": "r1" } },
        "address": "127.0.0.1",
        "http_port": 0,
        "control_port": 0,
        "seed": 11,
    });
    let started = parsed(&call(&parent, "POST", "/servers", &new.to_string()));
    let (http, control) = (address(&started["url"]), address(&started["control"]));
    assert_ne!(http, control, "its control plane has a port of its own");
    assert_eq!(started["seed"], 11);
    assert_eq!(ask_at(http, "PUT", "/v1/kv/k", "0123456789").body, "true");
    assert_eq!(ask_at(http, "PUT", "/v1/kv/k", "0123456789a").status, 413);
    let own = ask_at(http, "GET", "/v1/agent/self", "").body;
    assert!(
        own.contains("\"parent\"") && own.contains("\"r1\""),
        "{own}"
    );
    let about = ask_at(control, "GET", "/proconsul/v1/server", "");
    let about: Value = serde_json::from_str(&about.body).expect("JSON");
    assert_eq!(
        (&about["seed"], &about["node"]),
        (&json!(11), &json!("parent"))
    );
    let listed = parsed(&call(&parent, "GET", "/servers", ""));
    assert_eq!(listed["servers"], json!([started]));
}

#[test]
fn wrong_settings_start_nothing() {
    let parent = Server::start();
    for (new, sentence) in [
        (
            json!({ "settings": { "limits": { "kv_max_value_size": "x" } } }),
            "kv_max_value_size",
        ),
        (
            json!({ "settings": { "pid_file": "agent.pid" } }),
            "concerns the whole process",
        ),
        (
            json!({ "settings": [] }),
            "invalid type: sequence, expected a map",
        ),
        (json!({ "http_port": 70000 }), "expected u16"),
        (json!({ "address": "nowhere" }), "invalid IP address"),
        (json!({ "version": "0.1" }), "version: "),
        (
            json!({ "node": "a", "settings": { "datacenter": "not one" } }),
            "datacenter",
        ),
    ] {
        let refused = call(&parent, "POST", "/servers", &new.to_string());
        assert_eq!(refused.status, 400, "{new}: {}", refused.body);
        assert!(refused.body.contains(sentence), "{new}: {}", refused.body);
    }
    let taken = json!({ "http_port": parent.addr().port() }).to_string();
    let refused = call(&parent, "POST", "/servers", &taken);
    assert_eq!(refused.status, 500);
    assert!(
        refused.body.contains("address already in use"),
        "{}",
        refused.body
    );
    let listed = parsed(&call(&parent, "GET", "/servers", ""));
    assert_eq!(listed["servers"], json!([]));
}

/// Hosts that the parent lets in are let in by its servers on demand.
#[test]
fn allowed_hosts_are_inherited() {
    let config = Config {
        allow_hosts: vec!["consul.example".to_owned()],
        ..Config::default()
    };
    let parent = Server::builder()
        .config(config)
        .start()
        .expect("a free port");
    let started = parsed(&call(&parent, "POST", "/servers", ""));
    let request =
        "GET /proconsul/v1/clock HTTP/1.1\r\nHost: consul.example\r\nConnection: close\r\n\r\n";
    let answer = crate::support::exchange(address(&started["url"]), request);
    assert!(
        answer
            .expect("an answer comes")
            .starts_with(b"HTTP/1.1 200 ")
    );
}

#[test]
fn datacenters_are_shown_cut_and_lost() {
    let config = Config {
        control_port: Some(0),
        ..Config::default()
    };
    let builder = Server::builder().config(config).frozen();
    let server = builder.datacenters(["dc1", "dc2"]).start();
    let server = server.expect("free ports");
    let view = || parsed(&call(&server, "GET", "/datacenters", ""))["datacenters"].clone();
    let post = |path: &str, body: Value| call(&server, "POST", path, &body.to_string()).status;
    assert_eq!(view()[1]["datacenter"], "dc2");
    let shown = view()[1]["agents"][0]["address"].clone();
    assert_eq!(shown, server.datacenter("dc2").addr().to_string());
    assert_eq!(
        post("/datacenters/cut", json!({ "datacenter": "dc2" })),
        200
    );
    assert_eq!(
        (&view()[0]["cut"], &view()[1]["cut"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(
        post("/datacenters/heal", json!({ "datacenter": "dc2" })),
        200
    );
    assert_eq!(view()[1]["cut"], false);
    let agent = json!({ "agent": 0, "datacenter": "dc2" });
    assert_eq!(post("/agents/kill", agent.clone()), 200);
    assert_eq!(view()[1]["agents"][0]["runs"], false);
    assert_eq!(view()[0]["agents"][0]["runs"], true);
    assert_eq!(post("/agents/start", agent), 200);
    let unknown = call(
        &server,
        "POST",
        "/datacenters/cut",
        r#"{"datacenter":"dc9"}"#,
    );
    assert_eq!(unknown.status, 404);
    assert!(
        unknown
            .body
            .contains(r#"there is no datacenter "dc9", only dc1, dc2"#),
        "{}",
        unknown.body
    );
    let new = json!({ "datacenters": "east,west", "agents": "1:1", "control_port": 0 });
    let started = parsed(&call(&server, "POST", "/servers", &new.to_string()));
    assert_eq!(started["agents"].as_array().map(Vec::len), Some(2));
    let listed = ask_at(
        address(&started["url"]),
        "GET",
        "/v1/catalog/datacenters",
        "",
    );
    assert_eq!(listed.body, r#"["east","west"]"#);
    let wrong = call(&server, "POST", "/servers", r#"{"datacenters":"dc1"}"#);
    assert_eq!(wrong.status, 400);
}
