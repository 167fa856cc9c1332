//! How an agent ends, and by what it does not.

use std::io::Write;
use std::net::TcpStream;

use crate::agent::Run;

#[test]
fn interrupt_and_terminate_end_a_server_with_exit_code_1() {
    for (signal, name) in [("INT", "interrupt"), ("TERM", "terminated")] {
        let run = Run::agent(&format!("end-{signal}"), &["-dev", "-dns-port=-1"]);
        let mut agent = run.at_a_free_port().start().ready();
        let address = agent.address();
        agent.signal(signal);
        let (code, log) = agent.end();
        assert_eq!(code, Some(1), "{signal}");
        let expected = [
            format!("[INFO]  agent: Caught: signal={name}"),
            "[INFO]  agent: Graceful shutdown disabled. Exiting".to_owned(),
            "[INFO]  agent: Requesting shutdown".to_owned(),
            "[INFO]  agent.server: shutting down server".to_owned(),
            "[INFO]  agent: consul server down".to_owned(),
            "[INFO]  agent: shutdown complete".to_owned(),
            format!("[INFO]  agent: Stopping server: address={address} network=tcp protocol=http"),
            "[INFO]  agent: Waiting for endpoints to shut down".to_owned(),
            "[INFO]  agent: Endpoints down".to_owned(),
            "[INFO]  agent: Exit code: code=1".to_owned(),
        ];
        let lines: Vec<&str> = log.lines().collect();
        for (line, expected) in lines[lines.len() - expected.len()..].iter().zip(&expected) {
            assert!(line.ends_with(expected), "{line:?} is {expected:?}");
        }
        assert!(TcpStream::connect(address).is_err(), "the port is free");
    }
}

/// F2: SIGTERM waited for calls of the control plane, which may wait for a day.
#[test]
fn nothing_that_waits_holds_up_the_end() {
    for signal in ["INT", "TERM"] {
        let run = Run::agent(&format!("end-waiting-{signal}"), &["-dev", "--control"]);
        let mut agent = run.at_a_free_port().start().ready();
        agent.put(
            "/v1/agent/check/register",
            r#"{"Name": "often", "TCP": "127.0.0.1:1", "Interval": "1s", "Timeout": "1s"}"#,
        );
        let child = agent.exchange("POST", "/proconsul/v1/servers", "").1;
        assert!(child.contains("url"), "{child}");
        let waits = [
            ("GET", "/v1/kv/none?index=100&wait=10m", ""),
            (
                "POST",
                "/proconsul/v1/wait/blocked",
                r#"{"prefix": "nobody/", "count": 9, "timeout": "10h"}"#,
            ),
            ("POST", "/proconsul/v1/wait/idle", r#"{"timeout": "10h"}"#),
            (
                "POST",
                "/proconsul/v1/clock/advance",
                r#"{"by": "1000000h"}"#,
            ),
        ];
        let open = waits.map(|(method, path, body)| {
            let mut connection = TcpStream::connect(agent.address()).expect("the agent listens");
            let length = body.len();
            let head =
                format!("{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
            let sent = connection.write_all((head + body).as_bytes());
            sent.expect("the agent reads");
            connection
        });
        // What was sent before has been taken up, or will be.
        while !agent
            .exchange("GET", "/proconsul/v1/blocked", "")
            .1
            .contains("none")
        {}
        agent.signal(signal);
        let (code, log) = agent.end();
        assert_eq!(code, Some(1), "{signal}: {log}");
        assert!(log.contains("agent: Exit code: code=1"), "{log}");
        drop(open);
    }
}

#[test]
fn a_client_agent_leaves_with_exit_code_0() {
    for signal in ["INT", "TERM"] {
        let agent = Run::agent(&format!("leave-{signal}"), &["-data-dir", "d"])
            .at_a_free_port()
            .start()
            .ready();
        agent.signal(signal);
        let (code, log) = agent.end();
        assert_eq!(code, Some(0), "{log}");
        assert!(
            log.contains("agent: Gracefully shutting down agent...")
                && log.contains("Exit code: code=0"),
            "{log}"
        );
    }
}

#[test]
fn the_keys_about_leaving_are_honoured() {
    let hcl = "skip_leave_on_interrupt = false";
    let agent = Run::agent("leave-on-interrupt", &["-dev", "-hcl", hcl])
        .at_a_free_port()
        .start()
        .ready();
    agent.signal("INT");
    assert_eq!(agent.end().0, Some(0));
}

#[test]
fn a_hangup_takes_the_services_of_the_files_and_keeps_running() {
    let run = Run::agent("hangup", &["-dev", "-config-file", "c.json"])
        .file("c.json", r#"{"service": {"name": "a"}}"#);
    let file = run.folder().join("c.json");
    let mut agent = run.at_a_free_port().start().ready();
    agent.put("/v1/kv/key", "kept");
    let write = |text: &str| std::fs::write(&file, text).expect("the file can be written");

    write(r#"{"service": {"name": "b"}}"#);
    agent.signal("HUP");
    agent.wait_for("agent: Caught: signal=hangup");
    let taken = (0..1000).any(|_| agent.get("/v1/catalog/service/b").trim() != "[]");
    assert!(taken, "the service of the file is registered");
    assert_eq!(agent.get("/v1/catalog/service/a").trim(), "[]");
    write(r#"{"node_name": 5}"#);
    agent.signal("HUP");
    agent.wait_for(
        "[ERROR] agent: Reload config failed: error=\"failed to parse c.json: 1 error(s) decoding:",
    );
    assert_eq!(agent.get("/v1/kv/key?raw"), "kept");
}

#[test]
fn files_of_the_agent_go_away_with_it() {
    let arguments = ["-dev", "-pid-file", "pid", "--port-file", "port"];
    let mut agent = Run::agent("files", &arguments)
        .file("port", "left by another")
        .start()
        .ready();
    let line = std::fs::read_to_string(agent.folder().join("port"))
        .expect("the file is written before the line");
    let address = crate::agent::address_of(line.trim_end());
    assert!(
        agent
            .wait_for("Starting server")
            .contains(&format!("address={address} "))
    );
    let folder = agent.folder().to_owned();
    agent.signal("TERM");
    assert_eq!(agent.end().0, Some(1));
    let left: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn in_json_signals_are_numbers() {
    let mut agent = Run::agent("json", &["-dev", "-log-json"])
        .at_a_free_port()
        .start();
    let running = agent.wait_for("\"@message\":\"Consul agent running!\"");
    assert!(
        running.starts_with("{\"@level\":\"info\",") && running.contains("\"@module\":\"agent\""),
        "{running}"
    );
    agent.signal("INT");
    assert!(
        agent
            .wait_for("\"@message\":\"Caught\"")
            .ends_with("Z\",\"signal\":2}")
    );
}

/// The ids of the agent's services.
fn services(agent: &mut crate::agent::Agent) -> Vec<String> {
    let services = agent.get("/v1/agent/services");
    let services: serde_json::Value = serde_json::from_str(&services).expect("an answer is JSON");
    let services = services.as_object().expect("services have names");
    services.keys().cloned().collect()
}

#[test]
fn a_reload_takes_what_the_files_say_then() {
    let run = Run::agent("reload", &["-dev", "-config-file", "c.json"]).file(
        "c.json",
        r#"{"services": [{"name": "a", "port": 1, "check": {"ttl": "1h"}}, {"name": "b"}]}"#,
    );
    let file = run.folder().join("c.json");
    let mut agent = run.at_a_free_port().start().ready();
    let write = |text: &str| std::fs::write(&file, text).expect("the file can be written");

    agent.put("/v1/agent/check/pass/service:a?note=well", "");
    write(
        r#"{"services": [{"name": "a", "port": 2, "check": {"ttl": "1h"}}, {"name": "c", "connect": {"sidecar_service": {}}}]}"#,
    );
    agent.put("/v1/agent/reload", "");
    assert_eq!(services(&mut agent), ["a", "c", "c-sidecar-proxy"]);
    let checks = agent.get("/v1/agent/checks");
    assert!(checks.contains("\"Output\": \"well\""), "{checks}");

    write(r#"{"services": [{"name""#);
    let refused = agent.put_in_vain("/v1/agent/reload");
    assert!(refused.starts_with("failed to parse c.json: "), "{refused}");
    assert_eq!(services(&mut agent), ["a", "c", "c-sidecar-proxy"]);

    write(r#"{"services": [{"name": "d"}, {"name": "e", "check": {"interval": "1s"}}]}"#);
    let refused = "Failed reloading services: Failed to validate checks for service \"e\": TTL must be > 0 for TTL checks";
    assert_eq!(agent.put_in_vain("/v1/agent/reload"), refused);
    assert_eq!(services(&mut agent), ["d"]);
}
