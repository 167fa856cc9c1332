//! A fault can give any response, as a proxy between client and Consul does.

use proconsul::Version;
use proconsul::faults::{Effect, Response, Rule};
use serde_json::json;

use crate::over_http::face::{call, parsed};
use crate::support::{exchange, frozen, get, put, request};

const PAGE: &str = "<html><h1>502 Bad Gateway</h1></html>";

#[test]
fn a_proxys_page_is_sent_as_it_is_and_nothing_is_applied() {
    let server = frozen();
    let rule = json!({
        "effect": {
            "kind": "respond",
            "status": 502,
            "headers": { "Content-Type": "text/html", "Server": "nginx/1.25.1", "Set-Cookie": "a=\u{e9}" },
            "body": PAGE,
        },
        "method": "PUT",
        "times": 1,
    });
    let installed = call(&server, "POST", "/faults", &rule.to_string());
    assert_eq!(parsed(&installed)["id"], 1);
    let answer = put(&server, "/v1/kv/k", "x");
    assert_eq!(answer.head.lines().next(), Some("HTTP/1.1 502 Bad Gateway"));
    assert_eq!(answer.body, PAGE);
    let names: Vec<&str> = answer
        .head
        .lines()
        .skip(1)
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(
        names,
        [
            "Content-Type",
            "Server",
            "Set-Cookie",
            "Content-Length",
            "Date",
            "Connection"
        ]
    );
    assert_eq!(answer.header("Server"), Some("nginx/1.25.1"));
    assert_eq!(answer.header("Set-Cookie"), Some("a=\u{e9}"));
    assert_eq!(server.kv().get("k"), None, "nothing was applied");
    assert!(
        server
            .history_text()
            .contains("answered 502 (fault: rule 1: status 502 and 37 bytes)"),
        "{}",
        server.history_text()
    );
    assert_eq!(put(&server, "/v1/kv/k", "x").body, "true", "it hits once");
}

#[test]
fn any_status_and_any_bytes_can_be_given() {
    for version in ["1.8.7", "1.22.0"] {
        let version: Version = version.parse().expect("it is emulated");
        let server = proconsul::Server::builder()
            .version(version)
            .start()
            .expect("a port");
        let respond = |response: Response| {
            server.clear_faults();
            server
                .fault(Rule::new(Effect::Respond(response)))
                .expect("it can be sent")
                .keep();
        };
        respond(Response::new(200).body(vec![b'x'; 100_000]));
        let long = get(&server, "/v1/kv/k");
        assert_eq!((long.status, long.body.len()), (200, 100_000));
        assert_eq!(long.header("Content-Length"), Some("100000"));
        assert_eq!(long.header("Content-Type"), None);
        respond(Response::new(799));
        assert_eq!(get(&server, "/v1/agent/self").status, 799);
        respond(Response::new(204));
        let empty = get(&server, "/v1/kv/k");
        assert_eq!((empty.status, empty.body.as_str()), (204, ""));
        respond(Response::new(301).header("Location", "/elsewhere"));
        assert_eq!(
            get(&server, "/v1/kv/k").header("Location"),
            Some("/elsewhere")
        );
        // A body in base64 is any bytes.
        server.clear_faults();
        let rule = r#"{"effect":{"kind":"respond","status":200,"body_base64":"AP8K"}}"#;
        assert_eq!(call(&server, "POST", "/faults", rule).status, 200);
        let bytes =
            exchange(server.addr(), &request("GET", "/v1/kv/k", &[], "")).expect("an answer");
        assert!(bytes.ends_with(b"\r\n\r\n\x00\xff\n"), "{bytes:?}");
    }
}

#[test]
fn a_response_keeps_the_connection_unless_it_says_otherwise() {
    let server = frozen();
    let response = Response::new(502).body("bad");
    server
        .fault(Rule::new(Effect::Respond(response)).times(1))
        .expect("a rule")
        .keep();
    let two = "GET /v1/kv/k HTTP/1.1\r\nHost: x\r\n\r\n".to_owned()
        + &request("GET", "/v1/kv/k", &[], "");
    let both = exchange(server.addr(), &two).expect("two answers come");
    let text = String::from_utf8_lossy(&both);
    assert!(
        text.starts_with("HTTP/1.1 502") && text.contains("badHTTP/1.1 404"),
        "{text}"
    );
    let response = Response::new(502).header("Connection", "close").body("bad");
    server
        .fault(Rule::new(Effect::Respond(response)))
        .expect("a rule")
        .keep();
    let one = exchange(server.addr(), &two).expect("an answer comes");
    assert!(
        one.ends_with(b"bad") && one.starts_with(b"HTTP/1.1 502"),
        "{one:?}"
    );
    assert!(
        !String::from_utf8_lossy(&one).contains("badHTTP"),
        "{one:?}"
    );
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let server = frozen();
    let refused = |effect: serde_json::Value, sentence: &str| {
        let mut effect = effect;
        effect["kind"] = json!("respond");
        let body = json!({ "effect": effect }).to_string();
        let answer = call(&server, "POST", "/faults", &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert!(answer.body.contains(sentence), "{body}: {}", answer.body);
    };
    refused(json!({}), "missing field `status`");
    refused(
        json!({ "status": 199 }),
        "the status of a response is from 200 to 999, not 199",
    );
    refused(json!({ "status": 1000 }), "from 200 to 999, not 1000");
    refused(json!({ "status": 70000 }), "expected u16");
    refused(
        json!({ "status": 304, "body": "x" }),
        "a response with status 304 has no body",
    );
    refused(
        json!({ "status": 200, "headers": { "a b": "x" } }),
        "\"a b\" cannot be the name of a response's header",
    );
    refused(
        json!({ "status": 200, "headers": { "a": "x\r\nb: c" } }),
        "the value of the header \"a\"",
    );
    refused(
        json!({ "status": 200, "headers": { "content-length": "1" } }),
        "is the server's own; leave it out",
    );
    refused(
        json!({ "status": 200, "body": "x", "body_base64": "eA==" }),
        "at most one of body and body_base64",
    );
    refused(
        json!({ "status": 200, "body_base64": "?" }),
        "body_base64 is not base64",
    );
    assert!(server.faults().is_empty());
}

/// The book's example over HTTP: at once, also on a server whose clock stands still.
#[test]
fn an_error_can_come_at_once() {
    let server = frozen();
    let rule = r#"{"effect":{"kind":"error","error":"no-cluster-leader","after":"0s"},"times":1}"#;
    assert_eq!(call(&server, "POST", "/faults", rule).status, 200);
    let answer = get(&server, "/v1/kv/k");
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (500, "No cluster leader")
    );
}
