//! Each harness that is known to start a Consul, with its own arguments, configuration and way of waiting
//! (anchors/features.md section 2). The port is a free one, which a variable asks for: the arguments are the harness's.

use crate::agent::{Agent, Run};

/// How one harness starts its Consul.
struct Consumer {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Files and their texts.
    files: &'static [(&'static str, &'static str)],
    variables: &'static [(&'static str, &'static str)],
    /// The line of the log that it waits for.
    line: &'static str,
}

impl Consumer {
    const NONE: Consumer = Consumer {
        name: "",
        arguments: &[],
        files: &[],
        variables: &[],
        line: "agent: Consul agent running!",
    };

    fn start(&self) -> Agent {
        let mut run =
            Run::agent(&format!("consumer-{}", self.name), self.arguments).at_a_free_port();
        for (name, text) in self.files {
            run = run.file(name, text);
        }
        for (name, value) in self.variables {
            run = run.variable(name, value);
        }
        let mut agent = run.start();
        agent.wait_for(self.line);
        agent
    }
}

const CONSUMERS: &[Consumer] = &[
    Consumer {
        name: "testcontainers-java",
        arguments: &["-dev", "-client", "0.0.0.0"],
        ..Consumer::NONE
    },
    Consumer {
        name: "testcontainers-go",
        arguments: &["-dev", "-client", "0.0.0.0"],
        variables: &[(
            "CONSUL_LOCAL_CONFIG",
            r#"{"server": true, "node_name": "n"}"#,
        )],
        line: "Consul agent running!",
        ..Consumer::NONE
    },
    Consumer {
        name: "dockertest-server",
        arguments: &["-dev", "-client", "0.0.0.0"],
        line: "Synced node info",
        ..Consumer::NONE
    },
    Consumer {
        name: "embedded-consul",
        arguments: &[
            "-data-dir=data",
            "-dev",
            "-config-dir=config",
            "-advertise=127.0.0.1",
            "-client=127.0.0.1",
            "-log-level=warn",
            "-http-port=18500",
            "-grpc-port=18502",
            "-bind=127.0.0.1",
            "-node-id=adf4238a-882b-9ddc-4a9d-5b6758e4159e",
            "-node=node-1",
        ],
        files: &[
            (
                "config/basic_config.json",
                r#"{"ports": {"dns": 1, "serf_lan": 2, "serf_wan": 3, "server": 4}, "disable_update_check": true,
                    "performance": {"raft_multiplier": 1}}"#,
            ),
            ("config/extra_config.json", "{}"),
        ],
        // It polls; at this level the log does not say that the agent runs.
        line: "{\"http\":",
        ..Consumer::NONE
    },
    Consumer {
        name: "py-consul",
        arguments: &["-dev", "-client=0.0.0.0", "-log-level", "trace"],
        variables: &[(
            "CONSUL_LOCAL_CONFIG",
            r#"{"ports": {"https": -1, "dns": -1, "grpc_tls": -1}, "performance": {"raft_multiplier": 1},
                "enable_script_checks": true, "acl": {"enabled": false, "tokens": {"initial_management": "t"}}}"#,
        )],
        ..Consumer::NONE
    },
    Consumer {
        name: "consuldotnet",
        arguments: &["-dev", "-config-file", "test_config.json"],
        files: &[(
            "test_config.json",
            r#"{"log_level": "debug", "acl": {"enabled": false, "tokens": {"master": "m"}}, "connect": {"enabled": true},
                "encrypt": "d8wu8CSUrqgtjVsvcBPmhQ==", "enable_central_service_config": true}"#,
        )],
        ..Consumer::NONE
    },
    Consumer {
        name: "kvtools",
        arguments: &["-server", "-bootstrap", "-client", "0.0.0.0"],
        variables: &[("CONSUL_LOCAL_CONFIG", r#"{"session_ttl_min": "1s"}"#)],
        ..Consumer::NONE
    },
    Consumer {
        name: "vitess",
        arguments: &["-dev", "-config-file", "consul.json"],
        files: &[(
            "consul.json",
            r#"{"ports": {"dns": 1, "http": 2, "rpc": 3, "serf_lan": 4, "serf_wan": 5}}"#,
        )],
        ..Consumer::NONE
    },
    Consumer {
        name: "vault",
        arguments: &[
            "-dev",
            "-client",
            "0.0.0.0",
            "-hcl",
            "acl { enabled = true default_policy = \"deny\" }",
        ],
        ..Consumer::NONE
    },
    Consumer {
        name: "traefik",
        arguments: &[
            "-server",
            "-bootstrap-expect",
            "1",
            "-client",
            "0.0.0.0",
            "-log-level",
            "debug",
            "-ui",
        ],
        ..Consumer::NONE
    },
    Consumer {
        name: "jepsen",
        arguments: &[
            "-server",
            "-log-level",
            "debug",
            "-client",
            "0.0.0.0",
            "-bind",
            "127.0.0.1",
            "-data-dir",
            "data",
            "-node",
            "n1",
            "-retry-interval",
            "5s",
            "-retry-join",
            "127.0.0.1",
        ],
        ..Consumer::NONE
    },
    Consumer {
        name: "ianitor",
        arguments: &["-server", "-data-dir", "data", "-bootstrap-expect=1"],
        ..Consumer::NONE
    },
];

/// Every readiness check of section 2 holds at once: nobody has to wait after the line.
#[test]
fn each_harness_finds_what_it_waits_for() {
    for consumer in CONSUMERS {
        let mut agent = consumer.start();
        let name = consumer.name;
        assert!(
            agent.get("/v1/status/leader").contains(':'),
            "{name}: there is a leader"
        );
        let nodes = agent.get("/v1/catalog/nodes?index=0");
        assert!(
            nodes.contains("\"TaggedAddresses\""),
            "{name}: the node is registered: {nodes}"
        );
        assert_eq!(
            agent.put("/v1/kv/key", "value").trim(),
            "true",
            "{name}: a key can be written"
        );
        let session = agent.put("/v1/session/create", "");
        assert!(
            session.contains("\"ID\""),
            "{name}: a session can be created: {session}"
        );
    }
}

#[test]
fn a_developer_agent_has_consuls_addresses() {
    let mut agent = Run::agent("by-hand", &["-dev"])
        .at_a_free_port()
        .start()
        .ready();
    assert_eq!(agent.get("/v1/status/leader").trim(), "\"127.0.0.1:8300\"");
    assert_eq!(
        agent
            .get("/v1/status/peers")
            .split_whitespace()
            .collect::<String>(),
        "[\"127.0.0.1:8300\"]"
    );
    assert!(
        agent
            .get("/v1/agent/self")
            .contains("\"leader_addr\": \"127.0.0.1:8300\"")
    );
}

#[test]
fn a_developer_agent_serves_the_page() {
    // dockertest-server asks for `/`, which leads there.
    let mut agent = Run::agent("page", &["-dev"])
        .at_a_free_port()
        .start()
        .ready();
    assert!(agent.get("/ui/").contains("<html"));
}

#[test]
fn testcontainers_for_rust_reads_its_datacenter_back() {
    let mut agent = Run::agent("testcontainers-rs", &["-dev", "-client", "0.0.0.0"])
        .variable("CONSUL_LOCAL_CONFIG", r#"{"datacenter": "dc-rust"}"#)
        .at_a_free_port()
        .start();
    agent.wait_for("agent: Consul agent running!");
    assert!(
        agent
            .get("/v1/agent/self")
            .contains("\"Datacenter\": \"dc-rust\"")
    );
}

/// What HashiCorp's own helper does: its configuration file, its polling, its way to stop.
#[test]
fn sdk_testutil_starts_waits_and_stops() {
    let config = r#"{
        "node_name": "node-1", "node_id": "adf4238a-882b-9ddc-4a9d-5b6758e4159e", "node_meta": {"k": "v"},
        "performance": {"raft_multiplier": 1}, "bootstrap": true, "server": true, "data_dir": "data",
        "segments": null, "disable_update_check": true, "log_level": "debug", "bind_addr": "127.0.0.1",
        "addresses": {}, "ports": {"dns": 1, "http": 2, "https": 3, "serf_lan": 4, "serf_wan": 5, "server": 6,
        "grpc": 7, "grpc_tls": 8, "proxy_min_port": 9, "proxy_max_port": 10}, "raft_protocol": 3, "partition": "",
        "retry_join": ["a"], "acl": {"enabled": false, "tokens": {"master": "", "agent_master": ""}},
        "encrypt": "", "verify_incoming": false, "enable_script_checks": true, "enable_debug": true,
        "connect": {"enabled": true, "ca_config": {"cluster_id": "11111111-2222-3333-4444-555555555555"}},
        "skip_leave_on_interrupt": true, "peering": {"enabled": true}, "version": ""
    }"#;
    let run = Run::as_consul("sdk-testutil", &["agent", "-config-file", "config.json"]);
    let mut agent = run.file("config.json", config).at_a_free_port().start();
    agent.wait_for("agent: Consul agent running!");
    // A server of a file answers without indentation; -dev has it.
    assert_eq!(agent.get("/v1/status/leader"), "\"127.0.0.1:6\"");
    let node = agent.get("/v1/health/node/node-1");
    assert!(
        node.contains("\"CheckID\":\"serfHealth\"") && node.contains("\"Status\":\"passing\""),
        "{node}"
    );
    let nodes = agent.get("/v1/catalog/nodes");
    assert!(
        nodes.contains("\"k\":\"v\"") && nodes.contains("adf4238a-882b-9ddc-4a9d-5b6758e4159e"),
        "{nodes}"
    );
    let warning = agent.wait_for("Accepted and ignored");
    assert!(
        warning.contains("encrypt") && !warning.contains("node_meta"),
        "{warning}"
    );
    assert!(
        !agent.log().contains("Unknown configuration keys"),
        "the table has all keys: {}",
        agent.log()
    );
    agent.signal("INT");
    assert_eq!(agent.end().0, Some(1));
}

/// Patroni lowers the TTL by its file, and plays outages by stopping the process.
#[test]
fn patroni_creates_short_sessions_and_survives_an_outage() {
    let config = r#"{"session_ttl_min": "5s", "server": true, "bootstrap": true, "advertise_addr": "127.0.0.1"}"#;
    let mut agent = Run::agent(
        "patroni",
        &["-config-file", "patroni.json", "-data-dir", "data"],
    )
    .file("patroni.json", config)
    .at_a_free_port()
    .start()
    .ready();
    assert_eq!(agent.get("/v1/status/leader"), "\"127.0.0.1:8300\"");
    assert!(
        agent
            .put("/v1/session/create", r#"{"TTL": "5s"}"#)
            .contains("ID")
    );

    agent.stand_still();
    let mut connection =
        std::net::TcpStream::connect(agent.address()).expect("the kernel still accepts");
    let unanswered = std::time::Duration::from_millis(200);
    connection
        .set_read_timeout(Some(unanswered))
        .expect("a timeout can be set");
    std::io::Write::write_all(
        &mut connection,
        b"GET /v1/status/leader HTTP/1.0\r\nHost: a\r\n\r\n",
    )
    .expect("the kernel takes the request");
    let mut answer = [0; 512];
    assert!(
        std::io::Read::read(&mut connection, &mut answer).is_err(),
        "a stopped process answers nothing"
    );
    agent.signal("CONT");
    connection
        .set_read_timeout(None)
        .expect("a timeout can be taken away");
    let length = std::io::Read::read(&mut connection, &mut answer).expect("it answers now");
    assert!(
        answer[..length].starts_with(b"HTTP/1.0 200 OK\r\n"),
        "the request was not lost"
    );
    assert_eq!(agent.get("/v1/status/leader"), "\"127.0.0.1:8300\"");
}

/// node-consul's tests run several agents, each with a file for its process id, and kill them.
#[test]
fn node_consul_finds_the_process_by_its_file() {
    let arguments = [
        "-node",
        "node1",
        "-datacenter",
        "dc1",
        "-bind",
        "127.0.0.1",
        "-client",
        "127.0.0.1",
        "-bootstrap",
        "-server",
        "-config-file",
        "config.json",
        "-data-dir",
        "data",
        "-pid-file",
        "pid",
    ];
    let config =
        r#"{"primary_datacenter": "dc1", "acl": {"enabled": false}, "enable_script_checks": true}"#;
    let run = Run::agent("node-consul", &arguments)
        .file("config.json", config)
        .at_a_free_port();
    let mut agent = run.start().ready();
    assert!(
        agent
            .get("/v1/agent/self")
            .contains("\"NodeName\":\"node1\"")
    );
    let pid = std::fs::read_to_string(agent.folder().join("pid"))
        .expect("the file exists while the agent runs");
    assert_eq!(pid, agent.id().to_string());
    agent.signal("KILL");
    assert_eq!(agent.end().0, None, "a killed process has no exit code");
}

/// The start script of Consul's image turns variables into arguments, which come before those of the user.
#[test]
fn the_variables_of_the_image_are_honoured() {
    let run = Run::agent(
        "image",
        &[
            "-server",
            "-bootstrap",
            "-node=by-argument",
            "-bind=127.0.0.9",
        ],
    );
    let directory = run.folder().join("config").display().to_string();
    let mut agent = run
        .file(
            "config/a.json",
            r#"{"datacenter": "dc-a", "node_name": "a"}"#,
        )
        .file("config/local.json", r#"{"datacenter": "not-this"}"#)
        .file("config/z.hcl", "node_meta { from = \"z\" }\n")
        .variable("CONSUL_CONFIG_DIR", &directory)
        .variable("CONSUL_DATA_DIR", "data")
        .variable("CONSUL_BIND_INTERFACE", "lo")
        .variable("CONSUL_CLIENT_INTERFACE", "lo")
        .variable(
            "CONSUL_LOCAL_CONFIG",
            r#"{"datacenter": "dc-local", "node_meta": {"from": "local"}}"#,
        )
        .at_a_free_port()
        .start()
        .ready();
    let address = agent.wait_for("Starting server");
    assert!(address.contains("address=127.0.0.1:"), "{address}");
    assert!(
        agent.log().contains("Cluster Addr: 127.0.0.9 "),
        "{}",
        agent.log()
    );
    let own = agent.get("/v1/agent/self");
    assert!(
        own.contains("\"Datacenter\":\"dc-local\""),
        "the variable takes the place of the file: {own}"
    );
    assert!(own.contains("\"NodeName\":\"by-argument\""), "{own}");
    assert!(
        own.contains("\"from\":\"z\""),
        "local.json is read before z.hcl: {own}"
    );
}

#[test]
fn an_interface_without_address_is_refused() {
    let text = Run::agent("interface", &["-dev"])
        .variable("CONSUL_BIND_INTERFACE", "none0")
        .refusal();
    assert_eq!(
        text,
        "==> CONSUL_BIND_INTERFACE: no address found for the interface \"none0\"\n"
    );
}

/// What embedded-consul does between two tests, and the round trip that py-consul begins with.
#[test]
fn harnesses_take_back_what_they_registered() {
    let run = Run::agent("embedded-consul-reset", &["-dev"]);
    let mut agent = run.at_a_free_port().start().ready();
    agent.put(
        "/v1/agent/service/register",
        r#"{"Name":"web","Check":{"TTL":"10m"}}"#,
    );
    agent.put(
        "/v1/agent/check/register",
        r#"{"Name":"alone","TTL":"10m"}"#,
    );
    assert!(agent.get("/v1/health/service/web").contains("\"web\""));
    agent.put("/v1/agent/check/pass/service:web", "");
    assert!(agent.get("/v1/health/service/web?passing").trim() == "[]");
    agent.put("/v1/agent/check/pass/alone", "");
    assert!(
        agent
            .get("/v1/health/service/web?passing")
            .contains("\"web\"")
    );
    assert!(agent.get("/v1/agent/services").contains("\"web\""));
    agent.put("/v1/agent/service/deregister/web", "");
    assert!(agent.get("/v1/agent/checks").contains("\"alone\""));
    agent.put("/v1/agent/check/deregister/alone", "");
    for path in ["/v1/agent/services", "/v1/agent/checks"] {
        assert_eq!(agent.get(path).trim(), "{}", "{path}");
    }
    assert_eq!(agent.get("/v1/catalog/service/web").trim(), "[]");
}
