//! What the conformance suite does not say of datacenters, namespaces and partitions (kv.md 6.2; 1.22.md A6; session.md 0.8).

use proconsul::Version;

use crate::support::Consul;

#[test]
fn the_own_datacenter_is_known_by_its_spelling() {
    for consul in Consul::both() {
        for target in ["/v1/kv/a?dc=DC1", "/v1/session/list?dc=DC1"] {
            consul.get(target).is(500, "No path to datacenter");
        }
    }
}

#[test]
fn datacenter_is_an_alias_since_1_16() {
    let answer = |version, parameters: &str| {
        let consul = Consul::of(version);
        consul.put(&format!("/v1/kv/a?{parameters}"), "x").code()
    };
    assert_eq!(answer(Version::new(1, 15, 0), "datacenter=nope"), 200);
    assert_eq!(answer(Version::new(1, 16, 0), "datacenter=nope"), 500);
    assert_eq!(answer(Version::V1_22_0, "datacenter=&dc=nope"), 500);
}

#[test]
fn the_prefix_of_refusals_came_and_went() {
    let text = |version, target: &str| Consul::of(version).get(target).text().to_owned();
    let prefixed = |version, target| text(version, target).starts_with("Bad request: ");
    let namespace = "/v1/kv/a?ns=x";
    assert!(prefixed(Version::new(1, 12, 9), namespace));
    assert!(!prefixed(Version::new(1, 13, 0), namespace));
    // In 1.12 all handlers had it, for whatever they did not write themselves.
    for target in ["/v1/kv/", "/v1/session/info/"] {
        assert!(!prefixed(Version::new(1, 11, 0), target), "{target}");
        assert!(prefixed(Version::new(1, 12, 0), target), "{target}");
        assert!(!prefixed(Version::new(1, 13, 0), target), "{target}");
    }
    assert!(!prefixed(Version::new(1, 12, 0), "/v1/kv/a?index=abc"));
    let decode = Consul::of(Version::new(1, 12, 0)).put("/v1/session/create", "{");
    decode.is(400, "Bad request: Request decode failed: unexpected EOF");
}

/// What has no name, which is told only behind the namespace.
const WITHOUT_A_NAME: [(&str, &str); 9] = [
    ("PUT", "/v1/kv/"),
    ("DELETE", "/v1/kv/"),
    ("PUT", "/v1/session/destroy/"),
    ("GET", "/v1/session/info/"),
    ("GET", "/v1/session/node/"),
    ("PUT", "/v1/session/renew/"),
    ("GET", "/v1/catalog/node/"),
    ("GET", "/v1/health/node/"),
    ("GET", "/v1/health/state/"),
];

#[test]
fn namespaces_and_partitions_come_before_names_that_are_missing() {
    for (consul, prefix) in [(Consul::v1_8(), "Bad request: "), (Consul::v1_22(), "")] {
        for (method, target) in WITHOUT_A_NAME {
            let answer = consul.ask(method, &format!("{target}?ns=foo"));
            let text =
                r#"Invalid query parameter: "ns" - Namespaces are a Consul Enterprise feature"#;
            answer.is(400, &format!("{prefix}{text}"));
            assert!(answer.header("X-Consul-Index").is_none(), "{target}");
            if prefix.is_empty() {
                let answer = consul.ask(method, &format!("{target}?partition=x"));
                let text = r#"Invalid query parameter: "partition" - Partitions are a Consul Enterprise feature"#;
                answer.is(400, text);
            }
        }
    }
    let between = Consul::of(Version::new(1, 11, 0));
    assert_eq!(between.get("/v1/kv/a?partition=x").code(), 400);
}

#[test]
fn some_endpoints_know_of_no_namespaces_in_1_22_either() {
    let consul = Consul::v1_22();
    for target in ["/v1/status/leader", "/v1/status/peers", "/v1/catalog/nodes"] {
        assert_eq!(consul.get(&format!("{target}?ns=x")).code(), 200);
    }
}
