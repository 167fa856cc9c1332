//! How calls of the control plane are carried: many at once, for as long as their client is there.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use proconsul::config::Config;
use proconsul::{Server, Version};
use proconsul_os::time::elapsed;
use serde_json::Value;

use crate::over_http::face::{call, parsed};
use crate::over_http::guarded::{both, control_address};
use crate::support::{PATIENCE, ask, ask_at, background, join, parse};

/// How many waits are open at once: more than a runtime has threads for work that blocks.
const OPEN: usize = 1000;

/// Lets this process open as many files as two ends of [`OPEN`] connections need.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).expect("a process may use what it is given");
}

/// Sends a call and leaves its connection open.
fn begin(address: SocketAddr, path: &str, body: &str) -> TcpStream {
    let mut connection = TcpStream::connect(address).expect("it listens");
    connection
        .set_read_timeout(Some(PATIENCE))
        .expect("a bound");
    let length = body.len();
    let request = format!(
        "POST /proconsul/v1{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).expect("it reads");
    connection
}

#[test]
fn a_thousand_open_waits_leave_the_control_plane_free() {
    allow_many_files();
    for control_port in [None, Some(0)] {
        let config = Config {
            control_port,
            http_max_conns_per_client: 0,
            ..Config::default()
        };
        let server = Server::builder().config(config).frozen().start();
        let server = server.expect("free ports");
        let address = control_address(&server);
        let wait = r#"{"count":1,"timeout":"600s"}"#;
        let open: Vec<TcpStream> = (0..OPEN)
            .map(|_| begin(address, "/wait/blocked", wait))
            .collect();
        parsed(&call(&server, "GET", "/clock", ""));
        parsed(&call(&server, "GET", "/explain?key=k", ""));
        // What they wait for comes, and all of them are told.
        server.kv().put("k", "v");
        let blocked = background(
            &server,
            "GET",
            &format!("/v1/kv/k?index={}", server.index()),
        );
        for mut connection in open {
            let mut answer = Vec::new();
            connection
                .read_to_end(&mut answer)
                .expect("an answer comes");
            assert_eq!(parse(&answer).status, 200);
        }
        server.kv().put("k", "w");
        assert_eq!(join(blocked).status, 200);
    }
}

fn now_ms(server: &Server) -> u64 {
    let clock: Value = parsed(&call(server, "GET", "/clock", ""));
    clock["now_ms"].as_u64().expect("a time is a number")
}

/// So often the clock is seen at the same time before it counts as standing.
const LOOKS: usize = 1000;

#[test]
fn an_advance_whose_client_has_gone_stops() {
    for server in both() {
        // Through a deadline every ten seconds, and further than any test has the time for.
        let check = r#"{"Name":"c","TCP":"127.0.0.1:1","Interval":"10s"}"#;
        let registered = ask(&server, "PUT", "/v1/agent/check/register", check);
        assert_eq!(registered.status, 200, "{}", registered.body);
        let connection = begin(
            control_address(&server),
            "/clock/advance",
            r#"{"by":"2500000h"}"#,
        );
        let began = elapsed();
        while now_ms(&server) == 0 {
            assert!(elapsed() - began < PATIENCE, "the clock moves");
        }
        drop(connection);
        let began = elapsed();
        let (mut last, mut looks) = (now_ms(&server), 0);
        while looks < LOOKS {
            let now = now_ms(&server);
            looks = if now == last { looks + 1 } else { 0 };
            let is_late = elapsed() - began >= PATIENCE;
            assert!(
                now == last || !is_late,
                "the clock still moves, at {now} ms"
            );
            last = now;
        }
        assert!(last < 2_500_000 * 3_600_000, "it had not come to its end");
    }
}

#[test]
fn a_control_call_is_known_by_its_decoded_path_and_is_not_counted() {
    for server in both() {
        let address = control_address(&server);
        let body = r#"{"timeout":"20s"}"#;
        let before = server.history_text();
        for target in [
            "/proconsul/v1/wait/idle".to_owned(),
            format!("http://{address}/proconsul/v1/wait/idle"),
            "http://x/proconsul/v1/wait/idle".to_owned(),
            "/%70roconsul/v1/wait/idle".to_owned(),
            "/proconsul%2Fv1/wait%2fidle".to_owned(),
        ] {
            let answer = ask_at(address, "POST", &target, body);
            assert_eq!(
                (answer.status, answer.body.as_str()),
                (200, "{}"),
                "{target}"
            );
        }
        assert_eq!(
            server.history_text(),
            before,
            "none of them is a request to Consul"
        );
    }
}

#[test]
fn a_query_is_read_as_it_was_sent() {
    for server in both() {
        server.kv().put("a b\"<é>#", "x");
        let address = control_address(&server);
        // hyper takes no bare `<`, our own server does.
        let less = if address == server.addr() { "<" } else { "%3C" };
        let target = format!("/proconsul/v1/explain?key=a+b%22{less}é%3E%23");
        let explained = ask_at(address, "GET", &target, "");
        let explained: Value = serde_json::from_str(&explained.body).expect("JSON");
        assert_eq!(explained["key"], "a b\"<é>#");
        assert_eq!(explained["exists"], true);
    }
}

#[test]
fn parameters_that_no_call_takes_are_refused() {
    for server in both() {
        for (method, path, sentence) in [
            (
                "GET",
                "/clock?a=1",
                "unknown parameter \"a\", expected no parameter",
            ),
            (
                "POST",
                "/clock/freeze?a",
                "unknown parameter \"a\", expected no parameter",
            ),
            (
                "POST",
                "/clock/advance?by=1s",
                "unknown parameter \"by\", expected no parameter",
            ),
            (
                "DELETE",
                "/faults/1?x=2",
                "unknown parameter \"x\", expected no parameter",
            ),
            (
                "GET",
                "/explain?key=a&key=b",
                "the parameter key is given more than once",
            ),
            ("GET", "/explain?key=%zz", "the query string cannot be read"),
        ] {
            let answer = call(&server, method, path, "");
            assert_eq!(answer.status, 400, "{path}: {}", answer.body);
            assert!(answer.body.contains(sentence), "{path}: {}", answer.body);
        }
    }
}

#[test]
fn a_body_of_any_depth_is_refused() {
    for server in both() {
        for open in ["[", r#"{"by":"#] {
            let answer = call(&server, "POST", "/clock/advance", &open.repeat(100_000));
            assert_eq!(answer.status, 400, "{}", answer.body);
        }
        let answer = call(&server, "PUT", "/state", &"[".repeat(100_000));
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
}

#[test]
fn the_seed_of_a_server_can_be_asked_for() {
    let server = Server::builder().seed(42).start().expect("a free port");
    let about = parsed(&call(&server, "GET", "/server", ""));
    assert_eq!(about["seed"], 42);
    assert_eq!(about["version"], Version::default().to_string());
    assert_eq!(about["node"], "proconsul");
    let fresh = Server::start();
    let about = parsed(&call(&fresh, "GET", "/server", ""));
    assert_eq!(about["seed"], fresh.seed());
}

#[test]
fn checkpoints_are_listed_and_deleted() {
    let server = crate::support::frozen();
    for name in ["b", "a/b c", ""] {
        let body = serde_json::json!({ "name": name }).to_string();
        assert_eq!(
            call(&server, "POST", "/state/checkpoint", &body).status,
            200
        );
    }
    let names = || parsed(&call(&server, "GET", "/state/checkpoints", ""))["checkpoints"].clone();
    assert_eq!(names(), serde_json::json!(["", "a/b c", "b"]));
    for path in ["/state/checkpoint?name=a/b+c", "/state/checkpoint?name="] {
        assert_eq!(call(&server, "DELETE", path, "").status, 200, "{path}");
    }
    assert_eq!(names(), serde_json::json!(["b"]));
    let unknown = call(&server, "DELETE", "/state/checkpoint?name=x", "");
    assert_eq!(
        (unknown.status, unknown.body.as_str()),
        (404, "no checkpoint \"x\"; there are [\"b\"]\n")
    );
    call(&server, "POST", "/state/reset", "");
    assert_eq!(names(), serde_json::json!([]));
}
