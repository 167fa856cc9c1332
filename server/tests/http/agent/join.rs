//! `/v1/agent/join/`: the agent's own address can be joined, no other (texts seen on 1.8.7).

use crate::support::Consul;

/// The agent's ports are those of a default configuration: 8301, and 8302 between datacenters.
const REFUSED: [(&str, &str); 16] = [
    (
        "127.0.0.1:1",
        "Failed to join 127.0.0.1: dial tcp 127.0.0.1:1: connect: connection refused",
    ),
    (
        "127.0.0.1:0",
        "Failed to join 127.0.0.1: dial tcp 127.0.0.1:0: connect: connection refused",
    ),
    (
        "localhost:1",
        "Failed to join 127.0.0.1: dial tcp 127.0.0.1:1: connect: connection refused",
    ),
    (
        "127.0.0.2",
        "Failed to join 127.0.0.2: dial tcp 127.0.0.2:8301: connect: connection refused",
    ),
    (
        "127.0.0.2?wan=1",
        "Failed to join 127.0.0.2: dial tcp 127.0.0.2:8302: connect: connection refused",
    ),
    (
        "127.0.0.1:8301?wan=1",
        "Failed to join 127.0.0.1: dial tcp 127.0.0.1:8301: connect: connection refused",
    ),
    (
        "[::1]:1",
        "Failed to join ::1: dial tcp [::1]:1: connect: connection refused",
    ),
    (
        "[::1]",
        "Failed to join ::1: dial tcp [::1]:8301: connect: connection refused",
    ),
    (
        "::1",
        "Failed to join ::1: dial tcp [::1]:8301: connect: connection refused",
    ),
    (
        "other/127.0.0.1:1",
        "Failed to join 127.0.0.1: dial tcp 127.0.0.1:1: connect: connection refused",
    ),
    (
        "127.0.0.1:abc",
        "Failed to resolve 127.0.0.1:abc: strconv.ParseUint: parsing \"abc\": invalid syntax",
    ),
    (
        "127.0.0.1:",
        "Failed to resolve 127.0.0.1:: strconv.ParseUint: parsing \"\": invalid syntax",
    ),
    (
        "127.0.0.1:65536",
        "Failed to resolve 127.0.0.1:65536: strconv.ParseUint: parsing \"65536\": value out of range",
    ),
    (
        "1.2.3",
        "Failed to resolve 1.2.3: lookup 1.2.3: no such host",
    ),
    ("1:2", "Failed to resolve 1:2: lookup 1: no such host"),
    (
        "a:b:c",
        "Failed to resolve a:b:c: lookup a:b:c: no such host",
    ),
];

#[test]
fn another_address_is_refused() {
    let consul = Consul::v1_8();
    for (address, words) in REFUSED {
        let answer = consul.put(&format!("/v1/agent/join/{address}"), "");
        answer.is(500, &format!("1 error occurred:\n\t* {words}\n\n"));
    }
}

#[test]
fn the_agents_own_is_joined() {
    let consul = Consul::v1_8();
    for address in [
        "127.0.0.1",
        "127.0.0.1:8301",
        "127.0.0.1:08301",
        "localhost",
        "proconsul/127.0.0.1:8301",
        "127.0.0.1?wan=1",
        "127.0.0.1:8302?wan=1",
    ] {
        consul
            .put(&format!("/v1/agent/join/{address}"), "")
            .is(200, "");
    }
    let elsewhere = Consul::with(|config| config.serf_lan_port = 9301);
    elsewhere
        .put("/v1/agent/join/127.0.0.1:9301", "")
        .is(200, "");
    assert_eq!(
        elsewhere.put("/v1/agent/join/127.0.0.1:8301", "").code(),
        500
    );
}
