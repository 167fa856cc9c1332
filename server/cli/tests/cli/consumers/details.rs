//! What some of the harnesses are about beside their way to readiness: files, variables, warnings.

use super::libraries::NODE_CONSUL;
use crate::agent::Run;

#[test]
fn a_developer_agent_serves_the_page() {
    // dockertest-server asks for `/`, which leads there.
    let mut agent = Run::agent("page", &["-dev"])
        .at_a_free_port()
        .start()
        .ready();
    assert!(agent.get("/ui/").contains("<html"));
}

/// What HashiCorp's own helper does: its configuration file, its polling, its way to stop.
#[test]
fn sdk_testutil_starts_waits_and_stops() {
    let config = r#"{
        "node_name": "node-1", "node_id": "adf4238a-882b-9ddc-4a9d-5b6758e4159e", "node_meta": {"k": "v"},
        "performance": {"raft_multiplier": 1}, "bootstrap": true, "server": true, "data_dir": "data",
        "segments": null, "disable_update_check": true, "log_level": "debug", "bind_addr": "127.0.0.1",
        "addresses": {}, "ports": {"dns": -1, "http": 2, "https": 0, "serf_lan": 4, "serf_wan": 5, "server": 6,
        "grpc": 7, "grpc_tls": 8, "proxy_min_port": 9, "proxy_max_port": 10}, "raft_protocol": 3, "partition": "",
        "retry_join": ["a"], "acl": {"enabled": false, "tokens": {"master": "", "agent_master": ""}},
        "encrypt": "", "verify_incoming": false, "enable_script_checks": true, "enable_debug": true,
        "connect": {"enabled": true, "ca_config": {"cluster_id": "11111111-2222-3333-4444-555555555555"}},
        "skip_leave_on_interrupt": true, "peering": {"enabled": true}, "version": ""
    }"#;
    let run = Run::as_consul("sdk-testutil", &["agent", "-config-file", "config.json"]);
    let run = run.file("config.json", config).at_a_free_port();
    let mut agent = run.start_with_errors();
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
    agent.signal("INT");
    assert_eq!(
        agent.errors(),
        "proconsul: without effect here: connect.ca_config disable_update_check peering performance \
         ports.grpc ports.grpc_tls ports.proxy_max_port ports.proxy_min_port raft_protocol retry_join; \
         not emulated, and refused by --strict: connect.ca_config peering ports.grpc ports.grpc_tls\n"
    );
}

/// node-consul's tests run several agents, each with a file for its process id, and kill them.
#[test]
fn node_consul_finds_the_process_by_its_file() {
    let agent = NODE_CONSUL.run("node-consul-pid").start().ready();
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
