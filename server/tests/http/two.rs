//! What Consul 2 answers otherwise, as far as its public texts say (2.1.md): no real server of it was asked.

use proconsul::Version;
use serde_json::json;

use crate::support::{Consul, request};

const V2_0_0: Version = Version::new(2, 0, 0);
const V2_0_3: Version = Version::new(2, 0, 3);

/// The longest body that the agent takes in bytes.
const LIMIT: usize = 512 * 1024;

/// Returns the definition of a service with a length in bytes.
fn service(length: usize) -> String {
    let empty = r#"{"Name":"web","Meta":{"a":""}}"#;
    let spaces = " ".repeat(length - empty.len());
    format!("{empty}{spaces}")
}

#[test]
fn bodies_for_the_agent_have_a_limit_since_2_0_3() {
    let register = "/v1/agent/service/register";
    let before = Consul::of(Version::new(2, 0, 2));
    before.put(register, service(LIMIT + 1)).is(200, "");
    let consul = Consul::of(V2_0_3);
    consul.put(register, service(LIMIT)).is(200, "");
    for target in [
        register,
        "/v1/agent/check/register",
        "/v1/agent/check/update/nope",
    ] {
        // Not decoded: it is no JSON.
        let answer = consul.put(target, vec![b'x'; LIMIT + 1]);
        let text = "Request body(524289 bytes) too large, max size: 524288 bytes.";
        assert_eq!(answer.code(), 413, "{target}");
        assert!(answer.text().starts_with(text), "{}", answer.text());
    }
    let mut chunked = request("PUT", register, &["Transfer-Encoding: chunked"], b"");
    let chunk = format!("{LIMIT:x}\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", service(LIMIT));
    chunked.extend_from_slice(chunk.as_bytes());
    let mut wire = consul.connect();
    wire.send(&chunked);
    assert_eq!(wire.answer().code(), 413);
}

#[test]
fn a_root_of_connect_has_its_days_since_2_0() {
    let days = |version| {
        let roots = Consul::of(version).get("/v1/connect/ca/roots").json();
        roots["Roots"][0]["DaysRemaining"].as_i64()
    };
    assert_eq!(days(Version::V1_22_0), None);
    // Its end is the year 2120.
    let left = days(V2_0_0).expect("a whole number");
    assert!((80 * 365..95 * 366).contains(&left), "{left}");
}

#[test]
fn no_peer_exports_services_to_this_cluster() {
    let imported = |version| Consul::of(version).get("/v1/imported-services");
    assert_eq!(imported(Version::new(1, 22, 2)).code(), 404);
    let listed = imported(Version::new(1, 22, 3));
    listed.is(200, "[]");
    assert!(listed.index() > 0);
}

#[test]
fn the_community_edition_has_no_inference_gateways() {
    let entry =
        json!({"Kind": "inference-gateway", "Name": "g", "PII": {"Scope": "s"}}).to_string();
    let refused = |version| {
        let answer = Consul::of(version).put("/v1/config", &entry);
        assert!(answer.code() >= 400, "{version}");
        answer.text().to_owned()
    };
    assert!(refused(V2_0_0).contains("invalid config entry kind: inference-gateway"));
    assert!(refused(Version::V2_1_0).ends_with("inference-gateway is a consul enterprise feature"));
}
