//! The control plane over HTTP, as its own description says.

use proconsul::config::Config;
use proconsul::control::Session;
use proconsul::history::{Filter, Kind};
use proconsul::{Builder, Server};
use serde_json::{Map, Value, json};

use crate::over_http::described;
use crate::support::{Answer, ask, ask_at, background, frozen, get, join};

/// Calls the control plane, and checks that it answers as it describes.
#[track_caller]
pub(crate) fn call(server: &Server, method: &str, path: &str, body: &str) -> Answer {
    let url = server.control_url();
    let rest = url.strip_prefix("http://").expect("it is a URL");
    let (address, prefix) = rest.split_once('/').expect("it has a path");
    let address = address.parse().expect("it has an address");
    let answer = ask_at(address, method, &format!("/{prefix}{path}"), body);
    described::check(method, path, &answer);
    answer
}

/// A frozen server whose control plane has a port of its own.
pub(crate) fn with_control_port() -> Server {
    started_with_control_port(|builder| builder)
}

fn started_with_control_port(set: impl FnOnce(Builder) -> Builder) -> Server {
    let config = Config {
        control_port: Some(0),
        ..Config::default()
    };
    let server = set(Server::builder().config(config)).frozen().start();
    server.expect("two free ports")
}

pub(crate) fn parsed(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).expect("the answer is JSON")
}

/// The calls of the description that take a body, with its schema and its example.
fn calls_with_bodies(server: &Server) -> Vec<(String, String, Value, Value)> {
    let description = parsed(&call(server, "GET", "/openapi.json", ""));
    let mut found = Vec::new();
    for (path, methods) in description["paths"].as_object().expect("it has paths") {
        for (method, operation) in methods.as_object().expect("a path has methods") {
            let body = &operation["requestBody"]["content"]["application/json"];
            if body.is_object() {
                let (schema, example) = (body["schema"].clone(), body["example"].clone());
                found.push((method.to_uppercase(), path.clone(), schema, example));
            }
        }
    }
    assert!(found.len() > 15, "the calls are found");
    found
}

/// A server on which every example can be carried out.
pub(crate) fn prepared(example: &Value) -> (Server, String) {
    let server = started_with_control_port(|builder| builder.acl("root").agents(2));
    server.kv().put("job", "x");
    server.checkpoint("before");
    let session = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    let token = server.acl().token("").expect("there are ACLs").secret;
    let body = example.to_string().replace("SESSION", &session);
    let body = body.replace("TOKEN", &token);
    (server, body)
}

#[test]
fn every_example_of_the_description_works() {
    for (method, path, _, example) in calls_with_bodies(&frozen()) {
        let (server, body) = prepared(&example);
        let answer = call(&server, &method, &path, &body);
        assert_eq!(
            answer.status, 200,
            "{method} {path} {body}: {}",
            answer.body
        );
    }
}

#[test]
fn what_is_required_is_and_what_is_not_is_not() {
    for (method, path, schema, example) in calls_with_bodies(&frozen()) {
        let Value::Object(fields) = &example else {
            continue;
        };
        let required = schema["required"]
            .as_array()
            .expect("the schema says what it requires");
        for name in fields.keys() {
            let mut left: Map<String, Value> = fields.clone();
            left.remove(name);
            let (server, body) = prepared(&Value::Object(left));
            let answer = call(&server, &method, &path, &body);
            let is_required = required.contains(&json!(name));
            // A loss of the leader takes one of two things.
            let is_refused = is_required || path == "/leader/lose";
            let expected = if is_refused { 400 } else { 200 };
            assert_eq!(answer.status, expected, "{path} {body}: {}", answer.body);
        }
    }
}

#[test]
fn unknown_fields_are_refused_and_nothing_happens() {
    for (method, path, _, example) in calls_with_bodies(&frozen()) {
        let Value::Object(mut fields) = example else {
            continue;
        };
        fields.insert("surprise".to_owned(), json!(1));
        let (server, body) = prepared(&Value::Object(fields));
        let before = (server.index(), server.now(), server.last_record());
        let answer = call(&server, &method, &path, &body);
        assert_eq!(answer.status, 400, "{path}");
        assert!(
            answer.body.contains("unknown field `surprise`, expected"),
            "{}",
            answer.body
        );
        let after = (server.index(), server.now(), server.last_record());
        assert_eq!(after, before, "{path}");
    }
}

/// Values at the edges of what a field can hold, and beyond.
fn edges(name: &str) -> Vec<Value> {
    if name == "timeout" {
        return vec![json!("0s"), json!("-1s"), json!("1ns"), json!(1)];
    }
    let texts = [
        "",
        "0s",
        "1ns",
        "-1s",
        "2562047h47m16.854775807s",
        "\u{0}",
        "é/",
    ];
    let texts = texts.map(|text| json!(text));
    let numbers = [
        json!(0),
        json!(1),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e-300),
        json!(1e300),
    ];
    let others = [json!(null), json!([]), json!({})];
    texts.into_iter().chain(numbers).chain(others).collect()
}

/// Whatever a field says, the call is carried out or refused, and the server serves on.
#[test]
fn no_value_of_a_field_breaks_a_call() {
    for (method, path, _, example) in calls_with_bodies(&frozen()) {
        let Value::Object(fields) = &example else {
            continue;
        };
        for name in fields.keys() {
            let (server, _) = prepared(&example);
            for edge in edges(name) {
                let mut changed = fields.clone();
                if changed.contains_key("timeout") {
                    changed.insert("timeout".to_owned(), json!("1ms"));
                }
                changed.insert(name.clone(), edge);
                let body = Value::Object(changed).to_string();
                let answer = call(&server, &method, &path, &body);
                let is_known = [200, 400, 404, 409].contains(&answer.status);
                assert!(is_known, "{method} {path} {body}: {}", answer.body);
                parsed(&call(&server, "GET", "/clock", ""));
                parsed(&call(&server, "GET", "/history", ""));
            }
        }
    }
}

/// Calls that are refused, and a part of the sentence that says why.
const WRONG: &[(&str, &str, &str, &str)] = &[
    (
        "POST",
        "/clock/advance",
        r#"{"by":"20"}"#,
        "missing unit in duration",
    ),
    (
        "POST",
        "/clock/advance",
        r#"{"by":"-1s"}"#,
        "a duration here is not negative, as \"-1s\" is",
    ),
    (
        "POST",
        "/clock/advance",
        "",
        "the body is not what \"clock/advance\" takes: EOF",
    ),
    ("POST", "/clock/rate", r#"{"rate":-1}"#, "a rate is"),
    (
        "POST",
        "/clock/auto",
        r#"{"clients":0}"#,
        "expected at least one client",
    ),
    ("POST", "/clock/freeze", r#"{"a":1}"#, "unknown field `a`"),
    (
        "GET",
        "/history?kind=nothing",
        "",
        "unknown kind \"nothing\"; there are request, answer",
    ),
    (
        "GET",
        "/history?who=me",
        "",
        "unknown parameter \"who\", expected kind, key, session, after, limit, format",
    ),
    (
        "GET",
        "/history?after=x",
        "",
        "after is the number of a record, not \"x\"",
    ),
    (
        "GET",
        "/history?format=xml",
        "",
        "a format is json or text, not \"xml\"",
    ),
    ("GET", "/timeline", "", "expected the parameter key"),
    (
        "POST",
        "/wait/blocked",
        r#"{"prefix":"a","session":"b","count":1,"timeout":"1s"}"#,
        "expected at most one of prefix, session and service",
    ),
    (
        "POST",
        "/faults",
        r#"{"effect":{"kind":"error","error":"oops"}}"#,
        "unknown error \"oops\"; there are no-cluster-leader, rpc-eof",
    ),
    (
        "POST",
        "/faults",
        r#"{"effect":{"kind":"explode"}}"#,
        "unknown variant `explode`, expected",
    ),
    (
        "POST",
        "/faults",
        r#"{"effect":{"kind":"hang","by":"1s"}}"#,
        "unknown field `by`",
    ),
    (
        "POST",
        "/faults",
        r#"{"effect":{"kind":"hang"},"nth":0}"#,
        "this rule can never match",
    ),
    (
        "POST",
        "/leader/lose",
        r#"{"scenario":"bad"}"#,
        "unknown scenario \"bad\"; there are never-elected",
    ),
    (
        "POST",
        "/leader/lose",
        "{}",
        "expected either a scenario or a list of phases",
    ),
    (
        "POST",
        "/leader/lose",
        r#"{"phases":[{"phase":"electing"},{"phase":"no-leader"}]}"#,
        "only the last phase can be without lasts",
    ),
    (
        "POST",
        "/safety",
        r#"{"key":"k","beliefs":[{"session":"s","from_ms":2,"to_ms":1}]}"#,
        "a belief ends at to_ms, which is not before from_ms",
    ),
    (
        "PUT",
        "/state/kv",
        r#"[{"key":"k","flags":0,"value":"?"}]"#,
        "the value of \"k\" is no base64",
    ),
    ("POST", "/servers", r#"{"version":"0.1"}"#, "version: "),
    ("DELETE", "/faults/x", "", "an id is a number, not \"x\""),
];

#[test]
fn wrong_input_is_answered_with_a_sentence() {
    let server = frozen();
    for (method, path, body, sentence) in WRONG {
        let answer = call(&server, method, path, body);
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.body);
        assert!(
            answer.body.contains(sentence),
            "{path} {body}: {}",
            answer.body
        );
    }
    assert!(server.faults().is_empty());
}

#[test]
fn what_is_not_there_is_404_and_a_wrong_method_405() {
    let server = frozen();
    let unknown = call(&server, "GET", "/none", "");
    assert_eq!(unknown.status, 404);
    assert_eq!(
        unknown.body,
        "there is no \"none\"; GET /proconsul/v1/openapi.json lists what there is\n"
    );
    let method = call(&server, "PUT", "/faults", "");
    assert_eq!(
        (method.status, method.body.as_str()),
        (405, "\"faults\" takes GET or POST or DELETE, not PUT\n")
    );
    for (method, path, body) in [
        ("POST", "/state/rollback", r#"{"name":"no"}"#),
        ("POST", "/sessions/expire", r#"{"session":"no"}"#),
        ("POST", "/checks/fail", r#"{"check":"no"}"#),
        ("POST", "/nodes/delete", r#"{"node":"no"}"#),
        ("DELETE", "/faults/7", ""),
        ("DELETE", "/servers/7", ""),
    ] {
        assert_eq!(call(&server, method, path, body).status, 404, "{path}");
    }
    assert_eq!(get(&server, "/proconsul/").status, 404);
}

#[test]
fn a_lock_is_lost_and_explained_from_any_language() {
    let server = frozen();
    let created = ask(&server, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#);
    let created: Value = serde_json::from_str(&created.body).expect("JSON");
    let session = created["ID"].as_str().expect("an id");
    ask(
        &server,
        "PUT",
        &format!("/v1/kv/job?acquire={session}"),
        "x",
    );
    let index = server.index();
    let waiting = background(&server, "GET", &format!("/v1/kv/job?index={index}"));
    let wait = r#"{"prefix":"job","count":1,"timeout":"20s"}"#;
    let blocked = parsed(&call(&server, "POST", "/wait/blocked", wait));
    assert_eq!(blocked["blocked"][0]["min_index"], json!(index.0));
    assert_eq!(blocked["blocked"][0]["since_ms"], 0);
    let arrived = server.history(&Filter::of(Kind::Request));
    let record = arrived.last().map(|record| record.number);
    assert_eq!(blocked["blocked"][0]["record"], json!(record));
    let advanced = parsed(&call(&server, "POST", "/clock/advance", r#"{"by":"20s"}"#));
    assert_eq!(advanced["caused"][0]["kind"], "session-ended");
    assert_eq!(advanced["caused"][0]["cause"], "its TTL ran out");
    assert_eq!(advanced["now_ms"], 20_000);
    assert_eq!(join(waiting).status, 200);
    let explained = parsed(&call(&server, "GET", "/explain?key=job", ""));
    assert_eq!(explained["lock_delay_left_ms"], 15_000);
    let released = parsed(&call(&server, "GET", "/history?kind=released&key=job", ""));
    assert_eq!(released["records"][0]["session"], session);
    let some = parsed(&call(&server, "GET", "/history?after=1&limit=2", ""));
    let some = some["records"].as_array().expect("a list");
    let numbers: Vec<_> = some.iter().map(|one| one["number"].clone()).collect();
    assert_eq!(numbers, [json!(2), json!(3)]);
    let timeline = call(&server, "GET", "/timeline?key=job", "");
    assert_eq!(timeline.body, server.timeline("job"));
}

#[test]
fn a_barrier_that_is_not_met_is_409_with_what_there_was() {
    let server = frozen();
    let wait = r#"{"count":1,"timeout":"10ms"}"#;
    let unmet = call(&server, "POST", "/wait/blocked", wait);
    assert_eq!(unmet.status, 409);
    assert_eq!(
        unmet.body,
        "timed out after 10ms waiting for 1 requests blocked on anything; nobody was blocked\n"
    );
}

#[test]
fn the_plane_leaves_no_trace_in_the_history_but_what_it_does() {
    let server = frozen();
    let before = server.history_text();
    call(&server, "GET", "/clock", "");
    assert_eq!(server.history_text(), before);
    call(&server, "POST", "/state/checkpoint", r#"{"name":"a"}"#);
    let texts = server.history_text();
    assert!(texts.ends_with("test: checkpoint \"a\"\n"), "{texts}");
}

#[test]
fn faults_do_not_touch_the_control_plane() {
    let server = frozen();
    let hang = call(&server, "POST", "/faults", r#"{"effect":{"kind":"hang"}}"#);
    assert_eq!(parsed(&hang)["id"], 1);
    assert_eq!(call(&server, "DELETE", "/faults/1", "").status, 200);
    assert_eq!(get(&server, "/v1/kv/k").status, 404);
}

#[test]
fn without_control_the_plane_is_an_unknown_path() {
    let config = Config {
        control: false,
        ..Config::default()
    };
    let server = Server::builder()
        .config(config)
        .start()
        .expect("a free port");
    let answer = get(&server, "/proconsul/v1/clock");
    let unknown = get(&server, "/nobody/v1/clock");
    assert_eq!((answer.status, &answer.body), (404, &unknown.body));
}

#[test]
fn servers_are_started_and_stopped_on_demand() {
    let server = frozen();
    let options = r#"{"version":"1.8.7","frozen":true,"node":"n1","session_ttl_min":"1s"}"#;
    let started = parsed(&call(&server, "POST", "/servers", options));
    let other = parsed(&call(&server, "POST", "/servers", ""));
    let url = started["url"].as_str().expect("it has a URL");
    let address = url
        .strip_prefix("http://")
        .expect("it is one")
        .parse()
        .expect("an address");
    let kv = ask_at(address, "PUT", "/v1/kv/k", "x");
    assert_eq!(kv.body, "true");
    assert_eq!(get(&server, "/v1/kv/k").status, 404, "they share nothing");
    let own = ask_at(address, "GET", "/v1/agent/self", "").body;
    assert!(own.contains("1.8.7") && own.contains("\"n1\""), "{own}");
    let list = parsed(&call(&server, "GET", "/servers", ""));
    assert_eq!(list["servers"].as_array().map(Vec::len), Some(2));
    let id = &started["id"];
    assert_eq!(
        call(&server, "DELETE", &format!("/servers/{id}"), "").status,
        200
    );
    std::net::TcpStream::connect(address).expect_err("nobody listens any more");
    let list = parsed(&call(&server, "GET", "/servers", ""));
    assert_eq!(list["servers"][0]["url"], other["url"]);
}

#[test]
fn keys_go_out_and_in_as_consul_exports_them() {
    let server = frozen();
    server.kv().put("a", "one");
    server.kv().put("b/c", [0, 255]);
    let exported = call(&server, "GET", "/state/kv", "").body;
    assert_eq!(
        exported,
        "[\n\t{\n\t\t\"key\": \"a\",\n\t\t\"flags\": 0,\n\t\t\"value\": \"b25l\"\n\t},\n\
         \t{\n\t\t\"key\": \"b/c\",\n\t\t\"flags\": 0,\n\t\t\"value\": \"AP8=\"\n\t}\n]"
    );
    let other = frozen();
    let imported = parsed(&call(&other, "PUT", "/state/kv", &exported));
    assert_eq!(imported["keys"], 2);
    assert_eq!(other.kv().export(""), exported);
    assert_eq!(other.kv().export("b/").matches("key").count(), 1);
}

#[test]
fn a_control_port_serves_the_plane_alone_whatever_happens_to_the_other() {
    let server = with_control_port();
    assert!(!server.control_url().contains(&server.addr().to_string()));
    assert_eq!(get(&server, "/proconsul/v1/clock").status, 404);
    assert_eq!(
        call(&server, "POST", "/faults", r#"{"effect":{"kind":"hang"}}"#).status,
        200
    );
    assert_eq!(call(&server, "POST", "/connections/refuse", "").status, 200);
    std::net::TcpStream::connect(server.addr()).expect_err("nobody listens");
    assert_eq!(call(&server, "DELETE", "/faults", "").status, 200);
    assert_eq!(call(&server, "POST", "/connections/accept", "").status, 200);
    assert_eq!(get(&server, "/v1/kv/k").status, 404);
    assert_eq!(
        call(&server, "POST", "/restart", r#"{"state":"wipe"}"#).status,
        200
    );
    let beside = frozen();
    let refused = call(&beside, "POST", "/restart", r#"{"state":"keep"}"#);
    assert_eq!(refused.status, 409);
    assert!(
        refused
            .body
            .contains("start the server with a control port"),
        "{}",
        refused.body
    );
}
