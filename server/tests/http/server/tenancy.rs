//! Datacenters, namespaces and partitions (kv.md 6.2; 1.22.md A6; session.md 0.8, 0.9).

use proconsul::Version;

use crate::support::Consul;

const NO_PATH: &str = "No path to datacenter";
const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

/// What fails for another datacenter and says nothing of an index.
fn bare() -> Vec<(&'static str, String)> {
    let own = |(method, target): (&'static str, &str)| (method, target.to_owned());
    [
        ("GET", "/v1/kv/a?"),
        ("GET", "/v1/kv/?keys&"),
        ("GET", "/v1/kv/a?recurse&"),
        ("PUT", "/v1/kv/a?"),
        ("DELETE", "/v1/kv/a?"),
        ("PUT", "/v1/session/create?"),
        ("PUT", &format!("/v1/session/destroy/{UNKNOWN}?")),
        ("PUT", &format!("/v1/session/renew/{UNKNOWN}?")),
        ("GET", "/v1/status/leader?"),
        ("GET", "/v1/status/peers?"),
    ]
    .map(own)
    .into()
}

/// What fails for another datacenter inside of its read, which still carries the headers of one.
fn reads() -> Vec<(&'static str, String)> {
    let get = |target: &str| ("GET", target.to_owned());
    [
        &format!("/v1/session/info/{UNKNOWN}?"),
        "/v1/session/node/proconsul?",
        "/v1/session/list?",
        "/v1/catalog/nodes?",
        "/v1/catalog/services?",
        "/v1/catalog/node/proconsul?",
        "/v1/health/node/proconsul?",
        "/v1/health/state/any?",
    ]
    .map(get)
    .into()
}

#[test]
fn another_datacenter_cannot_be_reached() {
    for consul in Consul::both() {
        for (method, target) in bare() {
            for datacenter in ["nope", "DC1"] {
                let answer = consul.ask(method, &format!("{target}dc={datacenter}"));
                answer.is(500, NO_PATH);
                assert!(answer.header("X-Consul-Index").is_none(), "{target}");
            }
        }
        let set = r#"[{"KV":{"Verb":"set","Key":"a"}}]"#;
        consul.put("/v1/txn?dc=nope", set).is(500, NO_PATH);
        let get = r#"[{"KV":{"Verb":"get-tree","Key":"a"}}]"#;
        consul.put("/v1/txn?dc=nope", get).is(500, NO_PATH);
        consul.get("/v1/kv/a").is(404, "");
        consul.get("/v1/session/list").is(200, "[]");
    }
}

#[test]
fn reads_that_fail_inside_carry_the_headers_of_a_read() {
    let consul = Consul::v1_8();
    for (method, target) in reads() {
        let answer = consul.ask(method, &format!("{target}dc=nope"));
        answer.is(500, NO_PATH).has_head(&[
            "HTTP/1.1 500 Internal Server Error",
            "Content-Length: 21",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Index: 1",
            "X-Consul-Knownleader: false",
            "X-Consul-Lastcontact: 0",
        ]);
    }
    let consul = Consul::v1_22();
    for (method, target) in reads() {
        let answer = consul.ask(method, &format!("{target}dc=nope"));
        answer.is(500, NO_PATH).has_head(&[
            "HTTP/1.1 500 Internal Server Error",
            "Content-Length: 21",
            "Content-Type: text/plain; charset=utf-8",
            "Vary: Accept-Encoding",
            "X-Consul-Default-Acl-Policy: allow",
            "X-Consul-Index: 1",
            "X-Consul-Knownleader: false",
            "X-Consul-Lastcontact: 0",
            "X-Consul-Query-Backend: blocking-query",
        ]);
    }
}

#[test]
fn the_own_datacenter_may_be_named() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?dc=dc1", "x").is(200, "true");
        consul.get("/v1/kv/a?dc=&raw").is(200, "x");
        consul.get("/v1/session/list?dc=dc1").is(200, "[]");
        consul
            .get("/v1/status/leader?dc=dc1")
            .is(200, "\"127.0.0.1:8300\"");
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
    assert_eq!(answer(Version::V1_22_0, "datacenter=dc1&dc=nope"), 200);
    assert_eq!(answer(Version::V1_22_0, "datacenter=&dc=nope"), 500);
}

/// What knows of namespaces.
fn with_namespaces() -> Vec<(&'static str, String)> {
    let mut all = bare();
    all.retain(|(_, target)| !target.starts_with("/v1/status"));
    all.extend(reads());
    all.retain(|(_, target)| target != "/v1/catalog/nodes?");
    let more = [
        ("PUT", "/v1/kv/?"),
        ("DELETE", "/v1/kv/?"),
        ("PUT", "/v1/session/destroy/?"),
        ("GET", "/v1/session/info/?"),
        ("GET", "/v1/session/node/?"),
        ("PUT", "/v1/session/renew/?"),
        ("GET", "/v1/catalog/node/?"),
        ("GET", "/v1/health/node/?"),
        ("GET", "/v1/health/state/?"),
    ];
    all.extend(more.map(|(method, target)| (method, target.to_owned())));
    all
}

#[test]
fn namespaces_are_refused() {
    let old = (Consul::v1_8(), "Bad request: ");
    let new = (Consul::v1_22(), "");
    for (consul, prefix) in [old, new] {
        let text =
            |place| format!("{prefix}Invalid {place} - Namespaces are a Consul Enterprise feature");
        for (method, target) in with_namespaces() {
            for parameters in ["ns=foo", "ns=default", "ns=*", "ns=foo&dc=nope"] {
                let answer = consul.ask(method, &format!("{target}{parameters}"));
                let text = text("query parameter: \"ns\"");
                assert_eq!((answer.code(), answer.text()), (400, &*text), "{target}");
                assert!(answer.header("X-Consul-Index").is_none(), "{target}");
            }
            let header = ["X-Consul-Namespace: foo"];
            let answer = consul.ask_with(method, &target, &header, b"");
            answer.is(400, &text("header: \"X-Consul-Namespace\""));
        }
    }
}

#[test]
fn empty_namespaces_are_none_and_some_endpoints_know_of_none() {
    for consul in Consul::both() {
        consul.put("/v1/kv/a?ns=", "x").is(200, "true");
        let header = ["X-Consul-Namespace:"];
        let answer = consul.ask_with("GET", "/v1/kv/a?raw", &header, b"");
        answer.is(200, "x");
        for target in ["/v1/status/leader", "/v1/status/peers", "/v1/catalog/nodes"] {
            assert_eq!(
                consul.get(&format!("{target}?ns=x")).code(),
                200,
                "{target}"
            );
        }
        assert_eq!(consul.put("/v1/txn?ns=foo", "[]").code(), 200);
        let header = ["X-Consul-Namespace: foo"];
        assert_eq!(
            consul.ask_with("PUT", "/v1/txn", &header, b"[]").code(),
            200
        );
        let set = r#"[{"KV":{"Verb":"set","Key":"b","Namespace":"foo"}}]"#;
        assert_eq!(consul.put("/v1/txn", set).code(), 200);
        consul.get("/v1/kv/?keys").is(200, r#"["a","b"]"#);
        // These names are looked at by nobody.
        consul.get("/v1/kv/zz?namespace=x&ap=y").is(404, "");
    }
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

#[test]
fn partitions_are_refused_since_1_11() {
    let consul = Consul::v1_8();
    consul.put("/v1/kv/a?partition=x", "x").is(200, "true");
    let header = ["X-Consul-Partition: x"];
    let answer = consul.ask_with("GET", "/v1/kv/a?raw", &header, b"");
    answer.is(200, "x");
    let consul = Consul::v1_22();
    let parameter =
        r#"Invalid query parameter: "partition" - Partitions are a Consul Enterprise feature"#;
    let in_header =
        r#"Invalid header: "X-Consul-Partition" - Partitions are a Consul Enterprise feature"#;
    for (method, target) in with_namespaces() {
        let answer = consul.ask(method, &format!("{target}partition=x"));
        answer.is(400, parameter);
        let answer = consul.ask_with(method, &target, &header, b"");
        answer.is(400, in_header);
        // Namespaces come first.
        let answer = consul.ask(method, &format!("{target}partition=x&ns=x"));
        assert!(answer.text().contains("Namespaces"), "{target}");
    }
    assert_eq!(
        Consul::of(Version::new(1, 11, 0))
            .get("/v1/kv/a?partition=x")
            .code(),
        400
    );
}

#[test]
fn other_parameters_are_ignored() {
    for consul in Consul::both() {
        let parameters = "filter=nonsense&near=x&node-meta=y&unknown&token=t&hash=h";
        consul
            .put(&format!("/v1/kv/a?{parameters}"), "x")
            .is(200, "true");
        consul
            .get(&format!("/v1/kv/a?raw&{parameters}"))
            .is(200, "x");
        let list = consul.get(&format!("/v1/session/list?{parameters}"));
        list.is(200, "[]");
    }
}

#[test]
fn without_acls_any_token_will_do() {
    for consul in Consul::both() {
        for header in [
            "X-Consul-Token: x",
            "Authorization: Bearer x",
            "Authorization: Basic x",
        ] {
            consul.get_with("/v1/kv/zz", header).is(404, "");
        }
    }
}
