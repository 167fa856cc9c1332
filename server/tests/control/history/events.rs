//! The history as server-sent events.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use proconsul::Server;
use proconsul::control::Session;
use proconsul::faults::{LeaderLoss, Phase};
use proconsul::history::{Filter, Kind};
use serde_json::{Value, json};

use crate::over_http::guarded::{both, control_address};
use crate::support::{PATIENCE, SECOND, ask, exchange, get, parse, put, request};

/// An event: its name, its id, and its data.
#[derive(Debug, PartialEq)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

/// The events of a text.
fn events(text: &str) -> Vec<Event> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data: "));
    let field = |block: &str, name: &str| {
        let mut lines = block.lines();
        lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
    };
    blocks
        .map(|block| Event {
            name: field(block, "event: ").unwrap_or_default(),
            id: field(block, "id: "),
            data: serde_json::from_str(&field(block, "data: ").unwrap_or_default()).expect("JSON"),
        })
        .collect()
}

/// What a stream that does not go on has.
fn told(server: &Server, query: &str, headers: &[&str]) -> Vec<Event> {
    let target = format!("/proconsul/v1/events?follow=false{query}");
    let address = control_address(server);
    let bytes = exchange(address, &request("GET", &target, headers, "")).expect("it is answered");
    let answer = parse(&bytes);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("Content-Type"), Some("text/event-stream"));
    assert!(answer.body.ends_with("0\r\n\r\n"), "{}", answer.body);
    events(&answer.body)
}

/// The numbers of the records among events.
fn numbers(events: &[Event]) -> Vec<u64> {
    let records = events.iter().filter(|event| event.name == "record");
    records
        .map(|event| {
            let number = event.data["number"].as_u64().expect("a number");
            assert_eq!(event.id, Some(number.to_string()));
            number
        })
        .collect()
}

/// A stream that goes on, line by line.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(address: SocketAddr, query: &str) -> Self {
        let mut connection = TcpStream::connect(address).expect("it listens");
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("a timeout can be set");
        let request = request("GET", &format!("/proconsul/v1/events{query}"), &[], "");
        connection.write_all(request.as_bytes()).expect("it reads");
        Self(BufReader::new(connection))
    }

    /// Reads on to the next event of this name. Returns its data.
    fn next(&mut self, name: &str) -> Value {
        let data = self.field(name, "data: ");
        serde_json::from_str(&data).expect("JSON")
    }

    /// Reads on to the next event of this name. Returns its id.
    fn passed(&mut self, name: &str) -> u64 {
        let id = self.field(name, "id: ");
        id.trim_end().parse().expect("a number")
    }

    fn field(&mut self, name: &str, field: &str) -> String {
        let wanted = format!("event: {name}");
        let mut is_meant = false;
        loop {
            let mut line = String::new();
            let length = self.0.read_line(&mut line).expect("it goes on");
            assert!(length > 0, "the stream has ended");
            is_meant |= line.trim_end() == wanted;
            if let (true, Some(value)) = (is_meant, line.strip_prefix(field)) {
                return value.to_owned();
            }
        }
    }
}

#[test]
fn records_come_as_they_are_made() {
    for server in both() {
        let mut stream = Stream::open(control_address(&server), "");
        let begin = stream.next("begin");
        assert_eq!(begin["seed"], server.seed());
        assert_eq!(begin["after"], begin["last"]);
        assert_eq!(stream.next("clock")["rate"], 0.0);
        server.kv().put("job", "x");
        let record = stream.next("record");
        assert_eq!(
            (&record["kind"], &record["key"]),
            (&json!("key-written"), &json!("job"))
        );
        server.advance(SECOND);
        let mut time = json!(0);
        while time != 1000 {
            time = stream.next("clock")["now_ms"].take();
        }
    }
}

#[test]
fn a_reader_that_comes_back_goes_on_where_it_was() {
    for server in both() {
        for key in ["a", "b", "c"] {
            server.kv().put(key, "x");
        }
        let last = server.last_record();
        assert!(numbers(&told(&server, "", &[])).is_empty());
        assert_eq!(numbers(&told(&server, "&last=2", &[])), [last - 1, last]);
        assert_eq!(
            numbers(&told(&server, &format!("&after={}", last - 1), &[])),
            [last]
        );
        let header = format!("Last-Event-ID: {}", last - 1);
        assert_eq!(numbers(&told(&server, "&last=3", &[&header])), [last]);
        // One that was reached on another server.
        let all: Vec<u64> = (1..=last).collect();
        assert_eq!(numbers(&told(&server, "", &["Last-Event-ID: 999999"])), all);
    }
}

#[test]
fn a_slow_reader_is_told_what_it_missed() {
    let server = Server::builder()
        .frozen()
        .history_capacity(10)
        .start()
        .expect("a free port");
    for number in 0..30 {
        server.kv().put(format!("key-{number}"), "x");
    }
    let last = server.last_record();
    let missed = |events: &[Event]| {
        let missed = events.iter().find(|event| event.name == "missed");
        missed.map(|event| event.data.clone())
    };
    let events = told(&server, "&after=0", &[]);
    assert_eq!(
        missed(&events),
        Some(json!({ "records": last - 10, "next": last - 9 }))
    );
    assert_eq!(numbers(&events).len(), 10);
    let events = told(&server, "&last=20", &[]);
    assert_eq!((missed(&events), numbers(&events).len()), (None, 10));
    let events = told(&server, &format!("&after={}&behind=3", last - 8), &[]);
    assert_eq!(
        missed(&events),
        Some(json!({ "records": 5, "next": last - 2 }))
    );
    assert_eq!(numbers(&events), [last - 2, last - 1, last]);
    // More than are sent at once.
    let server = Server::builder().frozen().start().expect("a free port");
    for number in 0..2000 {
        server.kv().put(format!("key-{number}"), "x");
    }
    let all: Vec<u64> = (1..=server.last_record()).collect();
    assert_eq!(numbers(&told(&server, "&after=0", &[])), all);
}

/// Only what is wanted is sent, and what is passed over counts as seen.
#[test]
fn a_reader_gets_the_kinds_that_it_wants() {
    for server in both() {
        let session = server.sessions().create(Session::ttl(10 * SECOND));
        let session = session.expect("it is created");
        for key in ["a", "b"] {
            put(&server, &format!("/v1/kv/{key}"), "x");
        }
        server
            .kv()
            .acquire("job", "x", &session)
            .expect("it is free");
        server.kv().delete("b");
        let last = server.last_record();
        let kinds = |query: &str, headers: &[&str]| -> Vec<String> {
            let events = told(&server, query, headers);
            let seen = events.last().expect("there is a beginning").id.clone();
            assert_eq!(seen, Some(last.to_string()), "{events:?}");
            let records = events.iter().filter(|event| event.name == "record");
            let kind = |event: &Event| event.data["kind"].as_str().expect("a kind").to_owned();
            records.map(kind).collect()
        };
        let both_kinds = "&kind=acquired&kind=key-deleted";
        assert_eq!(
            kinds(&format!("{both_kinds}&after=0"), &[]),
            ["acquired", "key-deleted"]
        );
        assert_eq!(kinds(&format!("{both_kinds}&last=1"), &[]), ["key-deleted"]);
        assert_eq!(kinds("&kind=control&after=0", &[]), [""; 0]);
        let header = format!("Last-Event-ID: {}", last - 1);
        assert_eq!(
            kinds(&format!("{both_kinds}&after=0"), &[&header]),
            ["key-deleted"]
        );
    }
}

/// A stream that goes on passes over what is not wanted, and says up to where.
#[test]
fn a_stream_of_some_kinds_goes_on() {
    for server in both() {
        let mut stream = Stream::open(control_address(&server), "?kind=key-deleted");
        stream.next("begin");
        for key in ["a", "b", "c"] {
            put(&server, &format!("/v1/kv/{key}"), "x");
        }
        // Nothing is wanted, so that it comes with the next heartbeat.
        let mut passed = 0;
        while passed < server.last_record() {
            passed = stream.passed("clock");
        }
        server.kv().delete("b");
        let record = stream.next("record");
        assert_eq!(
            (&record["kind"], &record["number"]),
            (&json!("key-deleted"), &json!(server.last_record()))
        );
    }
}

/// What a reader of some kinds missed is counted in these kinds, as far as the history still has them.
#[test]
fn what_is_missed_is_what_was_wanted() {
    let server = crate::support::frozen();
    for number in 0..30 {
        server.kv().put(format!("key-{number}"), "x");
        server.kv().delete(format!("key-{number}"));
    }
    let last = server.last_record();
    let events = told(&server, "&kind=key-deleted&after=0&behind=3", &[]);
    let missed = events.iter().find(|event| event.name == "missed");
    assert_eq!(
        missed.map(|event| &event.data),
        Some(&json!({ "records": 27, "next": last - 4 }))
    );
    assert_eq!(numbers(&events), [last - 4, last - 2, last]);
    let all = told(&server, "&kind=key-deleted&after=0&behind=30", &[]);
    assert_eq!(numbers(&all).len(), 30);
    assert!(all.iter().all(|event| event.name != "missed"), "{all:?}");
    // More wanted ones than are sent at once, between others.
    for number in 0..3000 {
        server.kv().put(format!("key-{number}"), "x");
        server.kv().delete(format!("key-{number}"));
    }
    let all = told(&server, "&kind=key-deleted&after=0", &[]);
    let wanted = server.history(&Filter::of(Kind::KeyDeleted));
    let wanted: Vec<u64> = wanted.iter().map(|record| record.number).collect();
    assert_eq!(wanted.len(), 3030);
    assert!(numbers(&all) == wanted, "not the records that are wanted");
}

#[test]
fn wrong_parameters_are_refused_with_a_sentence() {
    let server = Server::start();
    for (query, sentence) in [
        ("?after=x", "after is the number of a record, not \"x\""),
        ("?last=x", "expected a number of records, not \"x\""),
        ("?follow=maybe", "expected true or false, not \"maybe\""),
        ("?after=1&last=1", "expected at most one of after and last"),
        ("?more=1", "more"),
        (
            "?kind=acquired&kind=lost",
            "unknown kind \"lost\"; there are request, answer, blocked",
        ),
    ] {
        let answer = get(&server, &format!("/proconsul/v1/events{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.body.contains(sentence), "{}", answer.body);
    }
    let wrong = request("GET", "/proconsul/v1/events", &["Last-Event-ID: x"], "");
    let answer = parse(&exchange(server.addr(), &wrong).expect("it is answered"));
    assert_eq!(answer.status, 400);
}

#[test]
fn streams_end_with_the_server_and_hold_up_nothing() {
    let server = Server::start();
    let mut streams: Vec<_> = (0..50).map(|_| Stream::open(server.addr(), "")).collect();
    streams
        .iter_mut()
        .for_each(|stream| drop(stream.next("begin")));
    assert_eq!(put(&server, "/v1/kv/job", "x").status, 200);
    assert_eq!(server.open_requests(), 0);
    drop(server);
    let mut rest = String::new();
    let ended = std::io::Read::read_to_string(&mut streams[0].0, &mut rest);
    assert!(ended.is_ok() || rest.contains("job"), "{ended:?}");
}

/// The page looks at a test without changing anything in it.
#[test]
fn reads_of_the_page_are_not_observed() {
    let server = Server::builder()
        .ui(true)
        .frozen()
        .start()
        .expect("a free port");
    let rule = r#"{"effect":{"kind":"error","error":"no-cluster-leader","after":"0s"}}"#;
    assert_eq!(
        ask(&server, "POST", "/proconsul/v1/faults", rule).status,
        200
    );
    let before = server.history_text();
    let page = |method: &str, target: &str| {
        let text = request(method, target, &["X-Proconsul-Page: 1"], "");
        parse(&exchange(server.addr(), &text).expect("it is answered")).status
    };
    assert_eq!(page("GET", "/v1/session/list"), 200);
    assert_eq!(get(&server, "/ui/").status, 200);
    assert_eq!(server.history_text(), before);
    assert_eq!(server.faults()[0].hits, 0);
    // What it writes is a write like any other.
    assert_eq!(page("PUT", "/v1/kv/job"), 500);
    assert_ne!(server.history_text(), before);
    assert_eq!(server.faults()[0].hits, 1);
}

#[test]
fn what_is_held_and_what_is_due_is_told() {
    let server = crate::support::frozen();
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    let session = session.expect("it is created");
    server
        .kv()
        .acquire("job", "x", &session)
        .expect("it is acquired");
    let read = |path: &str| -> Value {
        serde_json::from_str(&get(&server, &format!("/proconsul/v1{path}")).body).expect("JSON")
    };
    let lock = json!({ "key": "job", "session": session, "lock_index": 1 });
    assert_eq!(read("/locks")["locks"], json!([lock]));
    let lapse =
        json!({ "at_ms": 20_000, "text": format!("session {session} lapses"), "session": session });
    assert_eq!(read("/clock/due"), json!({ "now_ms": 0, "due": [lapse] }));
    server.advance(20 * SECOND);
    assert_eq!(read("/locks")["locks"], json!([]));
    let end = json!({ "at_ms": 35_000, "text": "the lock-delay of \"job\" ends", "key": "job" });
    assert_eq!(read("/clock/due")["due"], json!([end]));
    assert_eq!(read("/faults")["leader_lost"], Value::Null);
    server.lose_leader(LeaderLoss::never_elected());
    assert_eq!(read("/faults")["leader_lost"], "never-elected");
    assert_eq!(server.leader_lost(), Some(Phase::NeverElected));
}
