//! What a server answers in a build with some features or none: what needs a feature that is off names it, and everything
//! else is answered as ever.
//!
//! `server/packaging/test crates` asks a server without any.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use proconsul::Server;
use proconsul::config::Config;

/// Sends a request, and returns the status and the body of the response.
fn send(server: &Server, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(server.addr()).expect("the server listens");
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("it answers");
    let response = String::from_utf8_lossy(&response);
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// Returns the body of a response with status 200.
fn ok(server: &Server, method: &str, path: &str, body: &str) -> String {
    let (status, answer) = send(server, method, path, body);
    assert_eq!(status, 200, "{method} {path}: {answer}");
    answer
}

/// A method and a path.
type Endpoint = (&'static str, &'static str);

/// The endpoints of guests, by feature, and whether this build has it.
const GUESTS: [(&str, bool, &[Endpoint]); 5] = [
    (
        "acl",
        cfg!(feature = "acl"),
        &[
            ("PUT", "/v1/acl/bootstrap"),
            ("GET", "/v1/acl/tokens"),
            ("GET", "/v1/acl/policy/name/a"),
            ("POST", "/v1/acl/login"),
            ("POST", "/v1/internal/acl/authorize"),
        ],
    ),
    (
        "mesh",
        cfg!(feature = "mesh"),
        &[
            ("PUT", "/v1/config"),
            ("GET", "/v1/config/service-defaults"),
            ("GET", "/v1/discovery-chain/web"),
            ("GET", "/v1/connect/intentions"),
            ("GET", "/v1/connect/ca/roots"),
            ("GET", "/v1/catalog/gateway-services/gate"),
            ("GET", "/v1/peerings"),
        ],
    ),
    (
        "queries",
        cfg!(feature = "queries"),
        &[("GET", "/v1/query"), ("GET", "/v1/query/nearest/execute")],
    ),
    (
        "snapshots",
        cfg!(feature = "snapshots"),
        &[("GET", "/v1/snapshot")],
    ),
    (
        "metrics",
        cfg!(feature = "metrics"),
        &[
            ("GET", "/v1/agent/metrics"),
            ("GET", "/debug/pprof/goroutine"),
        ],
    ),
];

#[test]
fn an_endpoint_of_a_feature_that_is_off_names_it() {
    let server = Server::builder()
        .version("1.22.0".parse().expect("a version"))
        .start()
        .expect("a server");
    for (feature, is_on, endpoints) in GUESTS {
        for (method, path) in endpoints {
            let (status, answer) = send(&server, method, path, "");
            let sentence = format!("{method} {path} needs the feature \"{feature}\" of proconsul");
            assert_eq!(
                answer.contains(&sentence),
                !is_on,
                "{method} {path}: {answer}"
            );
            assert_eq!(status == 501, !is_on, "{method} {path}: {status}");
        }
    }
}

#[test]
fn another_method_is_refused_and_another_release_does_not_know_the_path() {
    let version = "1.8.7".parse().expect("a version");
    let server = Server::builder().version(version).start();
    let server = server.expect("a server");
    assert_eq!(send(&server, "DELETE", "/v1/snapshot", "").0, 405);
    assert_eq!(send(&server, "GET", "/v1/peerings", "").0, 404);
}

#[test]
fn the_heart_is_there_without_features() {
    let server = proconsul::test::frozen();
    let ok = |method, path, body| ok(&server, method, path, body);
    let session = ok("PUT", "/v1/session/create", r#"{"TTL": "10s"}"#);
    let session = session.split('"').nth(3).expect("an id").to_owned();
    let acquire = format!("/v1/kv/leader?acquire={session}");
    assert_eq!(ok("PUT", &acquire, "me").trim(), "true");
    assert!(ok("GET", "/v1/kv/leader", "").contains(&session));
    let verbs = r#"[{"KV": {"Verb": "set", "Key": "a", "Value": "Yg=="}}]"#;
    assert!(ok("PUT", "/v1/txn", verbs).contains(r#""Key":"a""#));
    let node = r#"{"Node": "n", "Address": "10.0.0.1", "Service": {"Service": "web"}}"#;
    ok("PUT", "/v1/catalog/register", node);
    assert!(ok("GET", "/v1/health/service/web", "").contains("10.0.0.1"));
    assert!(ok("GET", "/v1/catalog/services?filter=ServiceName==web", "").contains("web"));
    ok("PUT", "/v1/event/fire/deploy", "");
    assert!(ok("GET", "/v1/event/list", "").contains("deploy"));
    let check = r#"{"ID": "t", "Name": "t", "TTL": "5s"}"#;
    ok("PUT", "/v1/agent/check/register", check);
    ok("PUT", "/v1/agent/check/pass/t", "");
    assert!(ok("GET", "/v1/health/state/passing", "").contains(r#""CheckID":"t""#));

    server.advance(Duration::from_secs(20));

    assert!(ok("GET", "/v1/health/state/critical", "").contains(r#""CheckID":"t""#));
    assert_eq!(ok("GET", "/v1/session/list", "").trim(), "[]");
    assert_eq!(server.explain("leader").holder, None);
    assert!(server.timeline("leader").contains("its TTL ran out"));
}

#[test]
fn a_check_that_is_to_be_run_says_what_it_needs() {
    let server = proconsul::test::frozen();
    let check = r#"{"ID": "h", "Name": "h", "TCP": "127.0.0.1:1", "Interval": "1s"}"#;
    ok(&server, "PUT", "/v1/agent/check/register", check);
    server.advance(Duration::from_secs(5));
    let checks = ok(&server, "GET", "/v1/agent/checks", "");
    assert!(checks.contains(r#""Status":"critical""#), "{checks}");
    let sentence = r#"checks that are run need the feature \"probes\" of proconsul"#;
    let is_on = cfg!(feature = "probes");
    assert_eq!(checks.contains(sentence), !is_on, "{checks}");
}

#[test]
fn a_configuration_that_needs_a_feature_is_rejected() {
    let mut data = Config::default();
    data.data.states.push("none.json".into());
    let error = Server::builder().config(data).start().map(drop);
    let error = error.expect_err("there is no such file").to_string();
    let sentence = "files with a state or keys need the feature \"dump\" of proconsul";
    assert_eq!(error == sentence, !cfg!(feature = "dump"), "{error}");

    let mut entries = Config::default();
    entries.config_entries.push("{}".to_owned());
    let error = Server::builder().config(entries).start().map(drop);
    let error = error.expect_err("an entry has a kind").to_string();
    let sentence = "need the feature \"mesh\" of proconsul";
    assert_eq!(error.contains(sentence), !cfg!(feature = "mesh"), "{error}");
}
