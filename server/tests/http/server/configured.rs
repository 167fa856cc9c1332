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

const ENDS: [Version; 2] = [Version::V1_8_7, Version::V1_22_0];

#[test]
fn endpoints_can_be_blocked_by_the_start_of_their_path() {
    for version in ENDS {
        let consul = of(version, |config| {
            config.block_endpoints = vec!["/v1/kv/blocked".into(), "/v1/session".into()];
        });
        let text = "Endpoint is blocked by agent configuration";
        for (method, target) in [
            ("GET", "/v1/kv/blocked"),
            ("GET", "/v1/kv/blockedzz"),
            ("PUT", "/v1/kv/blocked/x"),
            ("OPTIONS", "/v1/kv/blocked"),
            ("POST", "/v1/kv/blocked"),
            ("GET", "/v1/session/list"),
        ] {
            let answer = consul.ask(method, target);
            answer.is(403, text);
            assert_eq!(answer.header("Vary"), Some("Accept-Encoding"));
        }
        consul.get("/v1/kv/block").is(404, "");
        // A query that cannot be read comes before it.
        consul.get("/v1/kv/blocked?a=%zz").is(500, "");
    }
}

#[test]
fn writing_can_be_left_to_some_networks() {
    for version in ENDS {
        let writing_from = |address: [u8; 4]| {
            let address = IpAddr::V4(Ipv4Addr::from(address));
            let network = Network::new(address, 8).expect("8 bits fit");
            of(version, |config| {
                config.allow_write_http_from = vec![network];
            })
        };
        let consul = writing_from([10, 0, 0, 0]);
        let text = "Access is restricted";
        consul.put("/v1/kv/a", "x").is(403, text);
        consul.delete("/v1/kv/a").is(403, text);
        consul.put("/v1/session/create", "").is(403, text);
        consul.get("/v1/kv/a").is(404, "");
        assert_eq!(consul.ask("OPTIONS", "/v1/kv/a").code(), 200);
        consul
            .ask("POST", "/v1/kv/a")
            .is(405, "method POST not allowed");
        writing_from([127, 0, 0, 0])
            .put("/v1/kv/a", "x")
            .is(200, "true");
    }
}

#[test]
fn headers_can_be_added_to_every_answer() {
    for version in ENDS {
        let consul = of(version, |config| {
            config.response_headers = vec![
                ("Access-Control-Allow-Origin".into(), "*".into()),
                ("X-Own".into(), "a b".into()),
            ];
        });
        for (method, target) in [
            ("GET", "/v1/kv/a"),
            ("PUT", "/v1/kv/a"),
            ("POST", "/v1/kv/a"),
            ("OPTIONS", "/v1/kv/a"),
            ("GET", "/v1/kv/a?a=%zz"),
        ] {
            let answer = consul.ask(method, target);
            assert_eq!(answer.header("Access-Control-Allow-Origin"), Some("*"));
            assert_eq!(answer.header("X-Own"), Some("a b"), "{target}");
        }
        // Unknown paths only since 1.11, which gave them a text.
        let unknown = consul.get("/v1/nope");
        let since = version >= Version::new(1, 11, 0);
        assert_eq!(unknown.header("X-Own").is_some(), since);
        assert_eq!(consul.get("/v1/kv/a//b").header("X-Own"), None);
        assert_eq!(consul.get("/v1/kv/%00").header("X-Own"), None);
    }
}

#[test]
fn translated_addresses_are_announced() {
    for version in ENDS {
        let consul = of(version, |config| config.translate_wan_addrs = true);
        for (method, target) in [
            ("GET", "/v1/kv/a"),
            ("PUT", "/v1/kv/a"),
            ("POST", "/v1/kv/a"),
            ("GET", "/v1/kv/"),
        ] {
            let answer = consul.ask(method, target);
            assert_eq!(answer.header("X-Consul-Translate-Addresses"), Some("true"));
        }
    }
    let answer = Consul::v1_22().get("/v1/kv/a");
    assert_eq!(answer.header("X-Consul-Translate-Addresses"), None);
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
    for without in ["/v1/kv/a//b", "/nope", "/v1/kv/%00"] {
        assert_eq!(policy(Version::V1_22_0, without), None);
    }
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
