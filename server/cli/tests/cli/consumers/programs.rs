//! Test suites, images and continuous integrations that start a Consul, one test each.

use super::Step::{Ask, Get, Lacks, Outage, Put, Session, Shell, Stop};
use super::{Consumer, LEADER, replay};

/// Its CI starts the binary in the background and waits for nothing. ACLs are off here: the tests of the ACL endpoints
/// are not replayed, they are not emulated.
#[test]
fn consuldotnet() {
    replay(
        "consuldotnet",
        &Consumer {
            arguments: &["agent", "-dev", "-config-file", "test_config.json"],
            files: &[(
                "test_config.json",
                r#"{"log_level": "debug", "acl": {"enabled": false, "tokens": {"master": "m"}}, "connect": {"enabled": true},
                    "encrypt": "d8wu8CSUrqgtjVsvcBPmhQ==", "enable_central_service_config": true}"#,
            )],
            steps: &[
                Put("/v1/kv/a", "b", "true"),
                Session(r#"{"Name":"n","TTL":"10s"}"#),
                Put("/v1/session/renew/{session}", "", "{session}"),
                Get("/v1/catalog/datacenters", &[r#"["dc1"]"#]),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It lowers the TTL by its file, and plays outages by stopping the process.
#[test]
fn patroni() {
    replay(
        "patroni",
        &Consumer {
            arguments: &["agent", "-config-file", "patroni.json", "-data-dir", "data"],
            files: &[(
                "patroni.json",
                r#"{"session_ttl_min":"5s","server":true,"bootstrap":true,"advertise_addr":"127.0.0.1"}"#,
            )],
            steps: &[
                LEADER,
                Get("/v1/agent/self", &[r#""SessionTTLMin":"5s""#]),
                Ask("PUT", "/v1/session/create", r#"{"TTL":"1s"}"#, 500, ""),
                Session(
                    r#"{"name":"batman-postgres0","checks":["serfHealth"],"lockdelay":"0.001s","behavior":"delete","ttl":"5s"}"#,
                ),
                Put(
                    "/v1/kv/service/batman/leader?acquire={session}",
                    "postgres0",
                    "true",
                ),
                Get("/v1/kv/service/batman/?recurse&consistent", &["{session}"]),
                Outage("/v1/status/leader"),
                LEADER,
                Put("/v1/kv/service/batman/config?cas=0", "{}", "true"),
                Ask("DELETE", "/v1/kv/service/batman/leader?cas=1", "", 200, ""),
                Stop("TERM", Some(1)),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// The compose file of kvtools/consul, which valkeyrie is tested with: its health check is a line of shell. That sessions
/// of one second really lapse in time is shown elsewhere, on driven time.
#[test]
fn valkeyrie() {
    replay(
        "valkeyrie",
        &Consumer {
            arguments: &["agent", "-server", "-bootstrap", "-client", "0.0.0.0"],
            variables: &[("CONSUL_LOCAL_CONFIG", r#"{"session_ttl_min": "1s"}"#)],
            steps: &[
                Shell(
                    "consul info | awk '/health_score/{if ($3 >=1) exit 1; else exit 0}'",
                    "",
                ),
                Shell("consul info | awk '/health_score/{print $3}'", "0"),
                Session(r#"{"TTL":"1s","Behavior":"delete","LockDelay":"1ms"}"#),
                Put("/v1/kv/testPutTTL?acquire={session}", "foo", "true"),
                Put("/v1/session/renew/{session}", "", "{session}"),
                Put("/v1/kv/dir/", "", "true"),
                Get("/v1/kv/dir/?recurse", &[r#""Key":"dir/""#]),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It lists the keys of the root until there is no error (404 is none), and kills the process in the end.
#[test]
fn vitess() {
    replay(
        "vitess",
        &Consumer {
            arguments: &["agent", "-dev", "-config-file", "consul.json"],
            files: &[(
                "consul.json",
                r#"{"ports": {"dns": -1, "http": 2, "rpc": 3, "serf_lan": 4, "serf_wan": 5}}"#,
            )],
            steps: &[
                Ask("GET", "/v1/kv/?recurse=", "", 404, "X-Consul-Index: "),
                Put("/v1/kv/root/file?cas=0", "contents", "true"),
                Get("/v1/kv/?recurse=", &[r#""Key":"root/file""#]),
                Stop("KILL", None),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It asks for the leader without an error. Not replayed: ACLs, which its test switches on and proconsul refuses.
#[test]
fn vault() {
    replay(
        "vault",
        &Consumer {
            arguments: &["agent", "-dev", "-client", "0.0.0.0"],
            steps: &[LEADER, Put("/v1/kv/vault/core/lock", "v", "true")],
            ..Consumer::IMAGE
        },
    );
}

/// As a store of keys it reads and watches a tree; as a catalog it lists services and their health.
#[test]
fn traefik() {
    replay(
        "traefik-kv",
        &Consumer {
            steps: &[
                Put("/v1/kv/traefik/http/routers/r/rule", "Host(`a`)", "true"),
                Get(
                    "/v1/kv/traefik?recurse=&stale=",
                    &[r#""Key":"traefik/http/routers/r/rule""#],
                ),
                Get(
                    "/v1/kv/traefik?recurse=&index=1&wait=1000ms",
                    &[r#""Value":"#],
                ),
            ],
            ..Consumer::IMAGE
        },
    );
    replay(
        "traefik-catalog",
        &Consumer {
            arguments: &[
                "agent",
                "-server",
                "-bootstrap-expect",
                "1",
                "-client",
                "0.0.0.0",
                "-log-level",
                "debug",
                "-ui",
            ],
            steps: &[
                Put(
                    "/v1/agent/service/register",
                    r#"{"ID":"whoami1","Name":"whoami","Tags":["traefik.enable=true"],"Port":80,"Address":"127.0.0.1"}"#,
                    "",
                ),
                Get(
                    "/v1/catalog/services",
                    &[r#""whoami":["traefik.enable=true"]"#],
                ),
                Get(
                    "/v1/health/service/whoami?passing=1",
                    &[r#""ID":"whoami1""#, r#""Port":80"#],
                ),
                Put("/v1/agent/service/deregister/whoami1", "", ""),
                Lacks("/v1/catalog/services", &["whoami"]),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// Its nodes join each other; one is replayed, which bootstraps. It reads, writes and compares one key.
#[test]
fn jepsen() {
    replay(
        "jepsen",
        &Consumer {
            arguments: &[
                "agent",
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
                "-bootstrap",
            ],
            steps: &[
                Get("/v1/catalog/nodes?index=1", &[r#""Node":"n1""#]),
                Ask("GET", "/v1/kv/register", "", 404, "X-Consul-Index: "),
                Put("/v1/kv/register", "0", "true"),
                Get("/v1/kv/register", &[r#""Value":"MA==""#]),
                Put("/v1/kv/register?cas=1", "1", "false"),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// It waits for ten seconds, which is not replayed, and then keeps a TTL check alive.
#[test]
fn ianitor() {
    replay(
        "ianitor",
        &Consumer {
            arguments: &[
                "agent",
                "-server",
                "-data-dir",
                "data",
                "-bootstrap-expect=1",
            ],
            steps: &[
                Put(
                    "/v1/agent/service/register",
                    r#"{"name":"tail","id":"tail-1","check":{"ttl":"10s"}}"#,
                    "",
                ),
                Get("/v1/agent/services", &[r#""tail-1":{"#]),
                Put("/v1/agent/check/pass/service:tail-1", "", ""),
                Get("/v1/health/service/tail?passing", &[r#""ID":"tail-1""#]),
                Put("/v1/agent/service/deregister/tail-1", "", ""),
                Lacks("/v1/agent/services", &["tail"]),
            ],
            ..Consumer::IMAGE
        },
    );
}

/// The start script of Consul's image turns its variables into these arguments, before those of the user. Not replayed: that
/// it changes owners and the user (`CONSUL_UID`, `CONSUL_GID`), which is the script's doing and not Consul's.
#[test]
fn docker_entrypoint() {
    replay(
        "docker-entrypoint",
        &Consumer {
            arguments: &[
                "agent",
                "-data-dir=data",
                "-config-dir=config",
                "-dev",
                "-client",
                "0.0.0.0",
            ],
            files: &[(
                "config/local.json",
                r#"{"datacenter": "dc-local", "node_name": "from-file"}"#,
            )],
            steps: &[Get(
                "/v1/agent/self",
                &[r#""Datacenter":"dc-local""#, r#""NodeName":"from-file""#],
            )],
            ..Consumer::IMAGE
        },
    );
}

/// `consul agent -dev` by hand, as consul-rust and rs-consul have it in their CI: one of them asserts the leader.
#[test]
fn consul_rust_and_rs_consul() {
    replay(
        "consul-rust",
        &Consumer {
            arguments: &["agent", "-dev"],
            steps: &[
                Get("/v1/status/leader", &[r#""127.0.0.1:8300""#]),
                Get("/v1/status/peers", &[r#"["127.0.0.1:8300"]"#]),
                Get("/v1/agent/self", &[r#""leader_addr":"127.0.0.1:8300""#]),
                Stop("INT", Some(1)),
            ],
            ..Consumer::IMAGE
        },
    );
}
