//! A server whose clock stands still from its start on, and whose time of day is set.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::agent::Run;

/// What is asked of each run: method, path and body.
const REQUESTS: &[(&str, &str, &str)] = &[
    ("PUT", "/v1/session/create", r#"{"TTL":"10s"}"#),
    ("PUT", "/v1/acl/token", r#"{"ExpirationTTL":"1h"}"#),
    ("PUT", "/v1/kv/a", "1"),
    ("POST", "/proconsul/v1/clock/advance", r#"{"by":"90s"}"#),
    ("PUT", "/v1/kv/a", "2"),
    ("GET", "/v1/acl/tokens", ""),
    ("GET", "/v1/agent/host", ""),
    ("GET", "/v1/agent/metrics", ""),
    ("GET", "/v1/operator/autopilot/health", ""),
    ("GET", "/v1/snapshot", ""),
    ("GET", "/v1/unknown", ""),
    ("GET", "/proconsul/v1/history", ""),
    ("GET", "/proconsul/v1/state", ""),
];

/// Starts an agent, and returns every byte of its answers.
fn answers(name: &str) -> Vec<u8> {
    let arguments = [
        "-dev",
        "-control",
        "-frozen",
        "-epoch=2026-01-01T00:00:00Z",
        "-seed=7",
        r#"-hcl=acl { enabled = true tokens { initial_management = "root" } }"#,
    ];
    let mut agent = Run::agent(name, &arguments)
        .at_a_free_port()
        .start()
        .ready();
    let address = agent.address();
    let mut bytes = Vec::new();
    for (method, path, body) in REQUESTS {
        let mut connection = TcpStream::connect(address).expect("a server listens");
        let length = body.len();
        write!(
            connection,
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Consul-Token: root\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        connection.read_to_end(&mut bytes).expect("it answers");
    }
    bytes
}

/// N12: the clock was frozen some milliseconds after the start, and the time of day was the machine's.
#[test]
fn two_runs_with_one_seed_answer_with_the_same_bytes() {
    let [first, second] = ["frozen-a", "frozen-b"].map(answers);
    let [first_text, second_text] = [&first, &second].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(first_text, second_text);
    assert!(first == second, "the archives differ");
    for shown in [
        "Date: Thu, 01 Jan 2026 00:00:00 GMT",
        "Date: Thu, 01 Jan 2026 00:01:30 GMT",
        r#""CreateTime": "2026-01-01T00:00:00Z""#,
        r#""ExpirationTime": "2026-01-01T01:00:00Z""#,
        r#""StableSince": "2026-01-01T00:00:00Z""#,
        r#""CollectionTime": 1767225690000000000"#,
        r#""at_ms":20000"#,
    ] {
        assert!(first_text.contains(shown), "{shown}: {first_text}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refusal = |name, arguments: &[&str]| Run::agent(name, arguments).refusal();
    assert_eq!(
        refusal("frozen-alone", &["-dev", "-frozen"]),
        "==> -frozen: no test could move the clock; add -control\n"
    );
    let no_time =
        "expected a time from 1970 up to the year 9000 such as 2026-01-01T00:00:00Z, not \"noon\"";
    assert_eq!(
        refusal("epoch-noon", &["-dev", "-epoch=noon"]),
        format!("==> -epoch: {no_time}\n")
    );
    let by_variable = Run::agent("epoch-variable", &["-dev"]).variable("PROCONSUL_EPOCH", "noon");
    assert_eq!(
        by_variable.refusal(),
        format!("==> PROCONSUL_EPOCH: {no_time}\n")
    );
}
