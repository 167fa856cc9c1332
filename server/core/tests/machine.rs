//! A server that is driven step by step: the same inputs give the same outputs, and the next deadline says why.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proconsul_config::Config;
use proconsul_core::{Input, Machine, Output, head_of};

const SECOND: Duration = Duration::from_secs(1);
/// 2026-01-01.
const WALL: Duration = Duration::from_secs(1_767_225_600);

/// A machine, its time, and all that has come out.
struct Driven {
    machine: Machine,
    now: Duration,
    trace: String,
}

impl Driven {
    fn new(config: &Config, seed: u64) -> Self {
        Self {
            machine: Machine::new(config, seed, WALL),
            now: Duration::ZERO,
            trace: String::new(),
        }
    }

    /// Takes an input, and returns what comes out for each connection.
    fn input(&mut self, input: Input<'_>) -> Vec<(u64, String)> {
        self.input_to(0, input)
    }

    fn input_to(&mut self, agent: usize, input: Input<'_>) -> Vec<(u64, String)> {
        let outputs = self.machine.input_to(agent, self.now, input);
        let shown = outputs.map(|output| match output {
            Output::Bytes(id, bytes) => (id, String::from_utf8_lossy(&bytes).into_owned()),
            Output::Closed(id, how) => (id, format!("{how:?}")),
            Output::Response(id, None) => (id, "cut".to_owned()),
            Output::Answer(id, answer) => (id, format!("{answer:?}")),
            Output::Response(id, Some(response)) => {
                let head = String::from_utf8(head_of(&response)).expect("text");
                (id, head + &String::from_utf8_lossy(response.body()))
            }
        });
        let shown: Vec<_> = shown.collect();
        for (id, text) in &shown {
            self.trace += &format!("{:?} {id}: {text}\n", self.now);
        }
        shown
    }

    /// Sends a request on a connection, and returns the response to it; empty if it has to wait.
    fn ask(&mut self, id: u64, method: &str, target: &str, body: &str) -> String {
        let length = body.len();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let outputs = self.input(Input::Bytes(id, request.as_bytes()));
        let own = outputs.into_iter().find(|(one, _)| *one == id);
        own.map(|(_, text)| text).unwrap_or_default()
    }

    /// Goes on to the next deadline, and returns its cause and what comes out.
    fn next(&mut self) -> (String, Vec<(u64, String)>) {
        let deadline = self.machine.deadline().expect("something is due");
        self.now = deadline.at;
        (deadline.cause.to_string(), self.input(Input::Time))
    }
}

/// A lock is lost with its session while another client waits for it.
fn lost_lock(seed: u64) -> Driven {
    let mut driven = Driven::new(&Config::default(), seed);
    driven.input(Input::Connect(1, Some(([10, 0, 0, 1], 40_000).into())));
    driven.input(Input::Connect(2, Some(([10, 0, 0, 2], 40_000).into())));
    let created = driven.ask(1, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#);
    let session = created.split('"').nth(3).expect("an id").to_owned();
    let acquired = driven.ask(1, "PUT", &format!("/v1/kv/job?acquire={session}"), "a");
    assert!(acquired.ends_with("true"), "{acquired}");
    let entry = driven.ask(2, "GET", "/v1/kv/job", "");
    let index = entry
        .split("X-Consul-Index: ")
        .nth(1)
        .and_then(|rest| rest.split('\r').next())
        .expect("an index")
        .to_owned();
    let waits = driven.ask(2, "GET", &format!("/v1/kv/job?index={index}"), "");
    assert_eq!(waits, "", "it waits");
    let (cause, outputs) = driven.next();
    assert_eq!(cause, format!("session {session} lapses"));
    assert_eq!(driven.now, 20 * SECOND);
    let [(2, woken)] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    assert!(!woken.contains("Session"), "{woken}");
    let (cause, outputs) = driven.next();
    assert_eq!(cause, "the lock-delay of \"job\" ends");
    assert_eq!((driven.now, outputs.len()), (35 * SECOND, 0));
    driven
}

#[test]
fn a_lock_is_lost_with_its_session() {
    lost_lock(7);
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let run = |seed| {
        let driven = lost_lock(seed);
        let controls = driven.machine.controls().expect("they are on");
        format!("{}{}", driven.trace, controls.history_text())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
    assert!(run(7).contains("Date: Thu, 01 Jan 2026 00:00:20 GMT"));
}

#[test]
fn a_frozen_server_has_no_deadline_and_is_moved_over_its_connection() {
    let config = Config {
        frozen: true,
        ..Config::default()
    };
    let mut driven = Driven::new(&config, 7);
    driven.input(Input::Connect(1, None));
    driven.ask(1, "PUT", "/v1/session/create", r#"{"TTL":"10s"}"#);
    assert_eq!(driven.machine.deadline(), None);
    let by = r#"{"by":"20s"}"#;
    let moved = driven.ask(1, "POST", "/proconsul/v1/clock/advance", by);
    assert!(moved.contains("session-ended"), "{moved}");
}

#[test]
fn connections_end_as_their_sides_say() {
    let mut driven = Driven::new(&Config::default(), 7);
    driven.input(Input::Connect(1, None));
    let last = "GET /v1/status/leader HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let outputs = driven.input(Input::Bytes(1, last.as_bytes()));
    assert_eq!(outputs.len(), 2, "{outputs:?}");
    assert_eq!(outputs[1], (1, "Fin".to_owned()));
    driven.input(Input::Connect(1, None));
    assert_eq!(driven.ask(1, "GET", "/v1/kv/a?index=99&wait=5s", ""), "");
    driven.input(Input::Reset(1));
    let controls = driven.machine.controls().expect("they are on");
    assert_eq!(controls.open_requests(), 0, "its client has gone");
    let after = driven.input(Input::Bytes(1, last.as_bytes()));
    assert_eq!(after, [], "nobody is connected");
}

#[test]
fn a_check_that_nobody_runs_is_critical() {
    let mut driven = Driven::new(&Config::default(), 7);
    driven.input(Input::Connect(1, None));
    let check = r#"{"Name":"c","TCP":"127.0.0.1:1","Interval":"10s","Status":"passing"}"#;
    driven.ask(1, "PUT", "/v1/agent/check/register", check);
    for _ in 0..3 {
        driven.next();
    }
    let checks = driven.ask(1, "GET", "/v1/agent/checks", "");
    assert!(checks.contains("its driver has no sockets"), "{checks}");
}

#[test]
fn a_request_without_a_connection_has_its_whole_response() {
    let mut driven = Driven::new(&Config::default(), 7);
    let ask = |driven: &mut Driven, id: u64, request: &str| {
        let request = request.replace(" HTTP", " HTTP/1.1\r\nHost: x\r\n\r\n");
        driven.input(Input::Request(id, None, request.as_bytes()))
    };
    let long = "a".repeat(5000);
    let put = ask(&mut driven, 1, &format!("PUT /v1/kv/a HTTP{long}"));
    assert_eq!(put[0].0, 1);
    assert!(put[0].1.starts_with("200 OK\r\n"), "{put:?}");
    assert!(put[0].1.ends_with("true"), "{put:?}");
    let got = ask(&mut driven, 1, "GET /v1/kv/a?raw HTTP");
    let (_, index) = got[0].1.split_once("X-Consul-Index: ").expect("an index");
    let (index, _) = index.split_once("\r\n").expect("the end of the line");
    assert!(got[0].1.ends_with(&long), "{got:?}");
    let head = ask(&mut driven, 1, "HEAD /v1/kv/a HTTP");
    assert!(head[0].1.ends_with("\r\n"), "{head:?}");

    // One that waits is answered by the write of another, or given up.
    assert_eq!(
        ask(
            &mut driven,
            2,
            &format!("GET /v1/kv/a?raw&index={index}&wait=10s HTTP")
        ),
        []
    );
    assert_eq!(
        ask(&mut driven, 3, "GET /v1/kv/b?index=99&wait=10s HTTP"),
        []
    );
    assert_eq!(driven.input(Input::Reset(3)), []);
    let both = ask(&mut driven, 4, "PUT /v1/kv/a HTTPb");
    let ids: Vec<u64> = both.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [4, 2]);
    assert!(both[1].1.ends_with("\r\nb"), "{both:?}");
    while driven.machine.deadline().is_some() {
        assert_eq!(driven.next().1, []);
    }
}

#[test]
fn a_bad_or_cut_request_without_a_connection_says_so() {
    let mut driven = Driven::new(&Config::default(), 7);
    for (request, answer) in [
        (
            "GET /v1/kv/a HTTP/1.1\r\n\r\n",
            "400 Bad Request: missing required Host header",
        ),
        ("GET /v1/kv/a", "400 Bad Request"),
        ("", "400 Bad Request"),
    ] {
        let said = driven.input(Input::Request(1, None, request.as_bytes()));
        assert!(said[0].1.starts_with("400 Bad Request\r\n"), "{said:?}");
        assert!(said[0].1.ends_with(answer), "{said:?}");
    }
    let fault = concat!(
        "POST /proconsul/v1/faults HTTP/1.1\r\nHost: x\r\n\r\n",
        r#"{"effect": {"kind": "applied-then-reset"}, "key_prefix": "a"}"#
    );
    let said = driven.input(Input::Request(1, None, fault.as_bytes()));
    assert!(said[0].1.starts_with("200 "), "{said:?}");
    let put = "PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(
        driven.input(Input::Request(1, None, put.as_bytes())),
        [(1, "cut".to_owned())]
    );
}

#[test]
fn a_request_without_a_connection_names_its_client() {
    let mut driven = Driven::new(&Config::default(), 7);
    let from = "127.0.1.2:4000".parse().expect("an address");
    let put = "PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\n\r\n";
    driven.input(Input::Request(1, Some(from), put.as_bytes()));
    driven.input(Input::Connect(2, None));
    let history = driven.ask(2, "GET", "/proconsul/v1/history", "");
    assert!(history.contains("\"127.0.1.2\""), "{history}");
}

#[test]
fn a_task_waits_for_the_time_of_the_server() {
    let mut driven = Driven::new(&Config::default(), 7);
    let controls = driven.machine.controls().expect("they are on").clone();
    let then = controls.now().plus(5 * SECOND);
    driven.machine.spawn(async move {
        controls.engine().clock().sleep_until(then).await;
        controls.note("a task has waited");
    });
    driven.input(Input::Connect(1, None));
    while driven.now < 5 * SECOND {
        let history = driven.ask(1, "GET", "/proconsul/v1/history", "");
        assert!(!history.contains("a task has waited"), "{history}");
        driven.next();
    }
    assert_eq!(driven.now, 5 * SECOND);
    let history = driven.ask(1, "GET", "/proconsul/v1/history", "");
    assert!(history.contains("a task has waited"), "{history}");
}

#[test]
fn each_agent_takes_connections_and_requests() {
    let config = Config {
        agents: "3".parse().expect("a number"),
        frozen: true,
        ..Config::default()
    };
    let mut driven = Driven::new(&config, 7);
    assert_eq!(driven.machine.agents(), 3);
    driven.input_to(1, Input::Connect(1, None));
    let own = driven.ask(1, "GET", "/v1/agent/self", "");
    assert!(own.contains("\"NodeName\":\"proconsul-1\""), "{own}");
    driven.input(Input::Connect(2, None));
    driven.ask(
        2,
        "POST",
        "/proconsul/v1/agents/lag",
        r#"{"agent":1,"hold":true}"#,
    );
    driven.ask(2, "PUT", "/v1/kv/a", "new");
    let stale = driven.ask(1, "GET", "/v1/kv/a?stale", "");
    assert!(stale.starts_with("HTTP/1.1 404"), "{stale}");
    let request = b"GET /v1/kv/a?raw HTTP/1.1\r\nHost: x\r\n\r\n";
    let read = driven.input_to(2, Input::Request(3, None, request));
    assert!(read[0].1.ends_with("new"), "{read:?}");
}

/// What an agent checks before it waits for a leader is done on a copy, and is not logged.
#[test]
fn a_registration_without_a_leader_is_logged_once() {
    let config = Config {
        agents: "3".parse().expect("a number"),
        frozen: true,
        ..Config::default()
    };
    let mut driven = Driven::new(&config, 7);
    driven.input_to(1, Input::Connect(1, None));
    driven.input(Input::Connect(2, None));
    driven.ask(2, "POST", "/proconsul/v1/agents/cut", r#"{"agent":1}"#);
    let advance = |driven: &mut Driven| {
        driven.ask(2, "POST", "/proconsul/v1/clock/advance", r#"{"by":"30s"}"#);
    };
    advance(&mut driven);
    let synced = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Synced(Arc::clone(&synced)), || {
        let service = r#"{"Name":"web"}"#;
        driven.ask(1, "PUT", "/v1/agent/service/register", service);
        assert_eq!(synced.load(Ordering::Relaxed), 0, "it waits for a leader");
        advance(&mut driven);
        assert_eq!(synced.load(Ordering::Relaxed), 1);
    });
}

/// Counts what the agent logs.
struct Synced(Arc<AtomicUsize>);

impl tracing::Subscriber for Synced {
    fn enabled(&self, of: &tracing::Metadata<'_>) -> bool {
        of.target() == "agent" && of.is_event()
    }
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}
    fn enter(&self, _: &tracing::Id) {}
    fn exit(&self, _: &tracing::Id) {}
}

#[test]
fn agents_of_joined_datacenters_are_counted_on() {
    let mut config = Config {
        agents: "2:1".parse().expect("two numbers"),
        ..Config::default()
    };
    config.join("dc1,dc2".parse().expect("two names"));
    let mut driven = Driven::new(&config, 7);
    assert_eq!(driven.machine.agents(), 6);
    driven.input_to(3, Input::Connect(1, None));
    driven.ask(1, "PUT", "/v1/kv/a", "there");
    driven.input(Input::Connect(2, None));
    let here = driven.ask(2, "GET", "/v1/kv/a?raw", "");
    assert!(here.starts_with("HTTP/1.1 404"), "{here}");
    let there = driven.ask(2, "GET", "/v1/kv/a?raw&dc=dc2", "");
    assert!(there.ends_with("there"), "{there}");
    let known = driven.ask(2, "GET", "/proconsul/v1/datacenters", "");
    assert!(known.contains("\"dc2\""), "{known}");
}
