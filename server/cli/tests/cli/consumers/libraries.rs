//! Libraries that start a Consul for tests, one test each.

use super::Step::{Ask, Get, Index, Lacks, Put, Session, Shell, Stop};
use super::{Consumer, LEADER, replay};

/// HashiCorp's own helper for Go, which consul-template, Nomad and others use. Its files may also serve a unix socket
/// (`addresses.http`), which is not replayed here: `configuration.rs` does. Not replayed: `agent/join`, which needs a second
/// server, and the last resort SIGABRT, which is only sent to a process that ignores SIGINT.
#[test]
fn sdk_testutil() {
    replay(
        "sdk-testutil",
        &Consumer {
            arguments: &["agent", "-config-file", "config.json"],
            files: &[(
                "config.json",
                r#"{
                    "node_name": "node-1", "node_id": "adf4238a-882b-9ddc-4a9d-5b6758e4159e", "node_meta": {"k": "v"},
                    "performance": {"raft_multiplier": 1}, "bootstrap": true, "server": true, "data_dir": "data",
                    "segments": null, "disable_update_check": true, "log_level": "debug", "bind_addr": "127.0.0.1",
                    "addresses": {}, "ports": {"dns": -1, "http": 2, "https": 0, "serf_lan": 4, "serf_wan": 5,
                    "server": 8300, "grpc": 7, "grpc_tls": 8, "proxy_min_port": 9, "proxy_max_port": 10},
                    "raft_protocol": 3, "partition": "", "retry_join": ["a"], "acl": {"enabled": false, "tokens":
                    {"master": "", "agent_master": ""}}, "encrypt": "", "verify_incoming": false,
                    "enable_script_checks": true, "enable_debug": true, "connect": {"enabled": true, "ca_config":
                    {"cluster_id": "11111111-2222-3333-4444-555555555555"}}, "skip_leave_on_interrupt": true,
                    "peering": {"enabled": true}, "version": ""
                }"#,
            )],
            steps: &[
                LEADER,
                // WaitForLeader.
                Ask(
                    "GET",
                    "/v1/catalog/nodes",
                    "",
                    200,
                    "X-Consul-Knownleader: true",
                ),
                Index("/v1/catalog/nodes", 2),
                // WaitForSerfCheck.
                Get(
                    "/v1/catalog/nodes?index=0",
                    &[r#""Node":"node-1""#, r#""k":"v""#],
                ),
                Get(
                    "/v1/health/node/node-1",
                    &[r#""CheckID":"serfHealth""#, r#""Status":"passing""#],
                ),
                // Its helpers.
                Put(
                    "/v1/agent/service/register",
                    r#"{"Name":"redis","Tags":["master"]}"#,
                    "",
                ),
                Put(
                    "/v1/agent/check/register",
                    r#"{"Name":"alive","TTL":"10m"}"#,
                    "",
                ),
                Put("/v1/agent/check/pass/alive", "", ""),
                Get("/v1/health/state/passing", &[r#""CheckID":"alive""#]),
                Put("/v1/agent/check/warn/alive", "", ""),
                Put("/v1/agent/check/fail/alive", "", ""),
                Get("/v1/health/state/critical", &[r#""CheckID":"alive""#]),
                Get("/v1/agent/connect/ca/roots", &[r#""Roots":[{"#]),
                Ask("DELETE", "/v1/config/service-intentions/redis", "", 200, ""),
                Put("/v1/kv/foo?flags=0", "bar", "true"),
                Get("/v1/kv/foo?raw", &["bar"]),
                Stop("INT", Some(1)),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// Its strategy is HTTP 200; `withConsulCommand` runs a line of shell in the container.
#[test]
fn testcontainers_java() {
    replay(
        "testcontainers-java",
        &Consumer {
            steps: &[
                LEADER,
                Shell(
                    "consul kv put config/testing1 value123",
                    "Success! Data written to: config/testing1",
                ),
                Shell(
                    "consul kv put a 1 && consul kv get a && consul kv get config/testing1",
                    "1\nvalue123",
                ),
                Get("/v1/kv/config/testing1?raw", &["value123"]),
                Stop("TERM", Some(1)),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It waits for the line, and for the port.
#[test]
fn testcontainers_go() {
    replay(
        "testcontainers-go",
        &Consumer {
            variables: &[(
                "CONSUL_LOCAL_CONFIG",
                r#"{"server":true,"node_name":"configured"}"#,
            )],
            lines: &["Consul agent running!"],
            steps: &[
                Get("/v1/agent/self", &[r#""NodeName":"configured""#]),
                LEADER,
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It waits for the line of 1.16 on standard output, and its own test reads the datacenter back.
#[test]
fn testcontainers_rs() {
    replay(
        "testcontainers-rs",
        &Consumer {
            variables: &[("CONSUL_LOCAL_CONFIG", r#"{"datacenter":"dc-rust"}"#)],
            lines: &["agent: Consul agent running!"],
            steps: &[Get(
                "/v1/agent/self",
                &[r#""Config":{"Datacenter":"dc-rust""#],
            )],
            ..Consumer::IMAGE
        },
    );
}

/// It runs `curl` in the container; that the exit code is 0 is enough, and the service `consul` is listed.
#[test]
fn testcontainers_dotnet() {
    replay(
        "testcontainers-dotnet",
        &Consumer {
            steps: &[
                Shell(
                    "curl --silent --fail http://$CONSUL_HTTP_ADDR/v1/health/service/consul?pretty",
                    r#""Service":"consul""#,
                ),
                Get("/v1/catalog/services", &[r#""consul":[]"#]),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// The crate that consulrs is tested with: it waits for another line, then asks for the page.
#[test]
fn dockertest_server() {
    replay(
        "dockertest-server",
        &Consumer {
            lines: &["Synced node info"],
            steps: &[
                Ask("GET", "/", "", 301, "Location: /ui/"),
                Ask("GET", "/ui/", "", 200, "text/html"),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It polls for a leader and for tagged addresses; between two tests it takes back what they registered. Not replayed:
/// `-join`, which needs a second server.
#[test]
fn embedded_consul() {
    replay(
        "embedded-consul",
        &Consumer {
            arguments: &[
                "agent",
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
                    r#"{"ports": {"dns": -1, "serf_lan": 2, "serf_wan": 3, "server": 8300},
                        "disable_update_check": true, "performance": {"raft_multiplier": 1}}"#,
                ),
                ("config/extra_config.json", "{}"),
            ],
            steps: &[
                LEADER,
                Get("/v1/catalog/nodes", &[r#""TaggedAddresses":{"lan":"#]),
                // A test, and its reset.
                Put(
                    "/v1/agent/service/register",
                    r#"{"Name":"web","Check":{"TTL":"10m"}}"#,
                    "",
                ),
                Put(
                    "/v1/agent/check/register",
                    r#"{"Name":"alone","TTL":"10m"}"#,
                    "",
                ),
                Put("/v1/kv/some/key", "value", "true"),
                Session("{}"),
                Get("/v1/agent/services", &[r#""web":{"#]),
                Put("/v1/agent/service/deregister/web", "", ""),
                Ask("DELETE", "/v1/kv/?recurse", "", 200, ""),
                Get("/v1/session/list", &["{session}"]),
                Put("/v1/session/destroy/{session}", "", "true"),
                Get("/v1/agent/checks", &[r#""alone":{"#]),
                Put("/v1/agent/check/deregister/alone", "", ""),
                Lacks("/v1/agent/checks", &["alone", "web"]),
                Lacks("/v1/catalog/services", &["web"]),
                Lacks("/v1/session/list", &["ID"]),
                Ask("GET", "/v1/kv/?recurse", "", 404, ""),
                Stop("TERM", Some(1)),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// Its conftest waits until a service that it registers is healthy. ACLs are off here: with them on it creates tokens.
#[test]
fn py_consul() {
    replay(
        "py-consul",
        &Consumer {
            arguments: &["agent", "-dev", "-client=0.0.0.0", "-log-level", "trace"],
            variables: &[(
                "CONSUL_LOCAL_CONFIG",
                r#"{"ports": {"https": -1, "dns": -1, "grpc_tls": -1}, "performance": {"raft_multiplier": 1},
                    "enable_script_checks": true, "acl": {"enabled": false, "tokens": {"initial_management": "t"}}}"#,
            )],
            steps: &[
                LEADER,
                Put(
                    "/v1/agent/service/register",
                    r#"{"name":"test-service"}"#,
                    "",
                ),
                Get(
                    "/v1/health/service/test-service",
                    &[r#""Service":"test-service""#],
                ),
                Put("/v1/agent/service/deregister/test-service", "", ""),
                Get(
                    "/v1/agent/self",
                    &[r#""Version":""#, r#""leader_addr":"127.0.0.1:8300""#],
                ),
                Get("/v1/status/peers", &[r#"["127.0.0.1:8300"]"#]),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It starts three agents on loopback aliases and kills them. One is replayed: there is no cluster here.
pub(super) const NODE_CONSUL: Consumer = Consumer {
    arguments: &[
        "agent",
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
    ],
    files: &[(
        "config.json",
        r#"{"primary_datacenter": "dc1", "acl": {"enabled": false}, "enable_script_checks": true}"#,
    )],
    steps: &[
        Put("/v1/kv/check", "ok", "true"),
        Get(
            "/v1/agent/self",
            &[r#""NodeName":"node1""#, r#""Server":true"#],
        ),
        Stop("KILL", None),
    ],
    ..Consumer::IMAGE
};

#[test]
fn node_consul() {
    replay("node-consul", &NODE_CONSUL);
}
