//! What an agent's configuration does to its answers (kv.md 0, 6.6).

use std::net::{IpAddr, Ipv4Addr};

use proconsul::Version;
use proconsul::config::{Config, Network};

use crate::support::Consul;

fn of(version: Version, change: impl FnOnce(&mut Config)) -> Consul {
    Consul::with(|config| {
        config.version = version;
        change(config);
    })
}

#[test]
fn writing_can_be_left_to_the_own_network() {
    let consul = Consul::with(|config| {
        let network = Network::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8);
        config.allow_write_http_from = vec![network.expect("8 bits fit")];
    });
    consul.put("/v1/kv/a", "x").is(200, "true");
}

#[test]
fn the_policy_of_acls_is_named_since_1_9() {
    let policy = |version, target: &str| {
        let consul = of(version, |config| config.acl.default_policy = "deny".into());
        let answer = consul.get(target);
        answer
            .header("X-Consul-Default-Acl-Policy")
            .map(str::to_owned)
    };
    assert_eq!(policy(Version::new(1, 8, 19), "/v1/kv/a"), None);
    assert_eq!(
        policy(Version::new(1, 9, 0), "/v1/kv/a").as_deref(),
        Some("deny")
    );
}

/// 1.22.md B4.5.
#[test]
fn waiting_for_the_health_of_a_service_is_streamed_since_1_10_1() {
    let backend = |version, streaming, target: &str| {
        let consul = of(version, |config| config.use_streaming_backend = streaming);
        let answer = consul.get(target);
        let backend = answer.header("X-Consul-Query-Backend");
        backend.unwrap_or_default().to_owned()
    };
    let (newest, waits) = (
        Version::V1_22_0,
        "/v1/health/service/consul?index=1&wait=1ms",
    );
    assert_eq!(backend(newest, true, waits), "streaming");
    assert_eq!(backend(Version::new(1, 10, 1), true, waits), "streaming");
    assert_eq!(backend(Version::new(1, 10, 0), true, waits), "");
    let connect = "/v1/health/connect/none?index=1&wait=1ms";
    assert_eq!(backend(newest, true, connect), "streaming");
    assert_eq!(backend(newest, false, waits), "blocking-query");
    for target in [
        "/v1/health/service/consul",
        "/v1/health/service/consul?index=0",
        "/v1/health/service/consul?index=1&near=_agent",
        "/v1/health/service/consul?index=1&merge-central-config",
        "/v1/health/ingress/consul?index=1&wait=1ms",
        "/v1/health/checks/consul?index=1",
        "/v1/catalog/service/consul?index=1",
    ] {
        assert_eq!(backend(newest, true, target), "blocking-query", "{target}");
    }
}

#[test]
fn the_backend_is_named_since_1_10_1() {
    let backend = |version, target: &str| {
        let answer = Consul::of(version).get(target);
        answer.header("X-Consul-Query-Backend").map(str::to_owned)
    };
    assert_eq!(backend(Version::new(1, 10, 0), "/v1/kv/a"), None);
    let named = Some("blocking-query".to_owned());
    for target in ["/v1/kv/a", "/v1/session/list", "/v1/catalog/nodes"] {
        assert_eq!(backend(Version::new(1, 10, 1), target), named);
    }
    for target in ["/v1/kv/", "/v1/status/leader", "/v1/agent/self"] {
        assert_eq!(backend(Version::V1_22_0, target), None);
    }
}
