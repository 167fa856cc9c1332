//! What each record follows from: the server says it, so that no reader has to guess.

use proconsul::Server;
use proconsul::control::Session;
use proconsul::history::Filter;
use proconsul_engine::BlockedOn;
use serde_json::{Value, json};

use crate::support::{PATIENCE, SECOND, background, frozen, get, join, put};

/// The records as a program in another language gets them, each as its kind, its key, and the kind of its cause.
fn causes(server: &Server, after: u64) -> Vec<(String, String, String)> {
    let history = get(server, &format!("/proconsul/v1/history?after={after}")).body;
    let history: Value = serde_json::from_str(&history).expect("JSON");
    let records = history["records"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cause = |record: &Value| {
        let number = record["caused_by"].as_u64()?;
        let of_number = |one: &&Value| one["number"] == number;
        let cause = records.iter().find(of_number).expect("it is a record");
        assert!(cause["number"].as_u64() < record["number"].as_u64());
        Some(text(&cause["kind"]))
    };
    let shown = |record: &Value| {
        (
            text(&record["kind"]),
            text(&record["key"]),
            cause(record).unwrap_or_default(),
        )
    };
    records.iter().map(shown).collect()
}

/// Fails unless the records after the one with this number are these.
#[track_caller]
fn assert_causes(server: &Server, after: u64, expected: &[(&str, &str, &str)]) {
    let found = causes(server, after);
    let found: Vec<_> = found
        .iter()
        .map(|(kind, key, cause)| (kind.as_str(), key.as_str(), cause.as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn what_a_request_does_follows_from_it() {
    let server = frozen();
    let session = server.sessions().create(Session::default());
    let session = session.expect("a node");
    let before = server.last_record();
    put(&server, &format!("/v1/kv/job?acquire={session}"), "x");
    put(&server, "/v1/kv/job?cas=1", "y");
    put(&server, &format!("/v1/session/destroy/{session}"), "");
    assert_causes(
        &server,
        before,
        &[
            ("request", "", ""),
            ("key-written", "job", "request"),
            ("acquired", "job", "request"),
            ("answer", "", "request"),
            ("request", "", ""),
            ("write-refused", "job", "request"),
            ("answer", "", "request"),
            ("request", "", ""),
            ("session-ended", "", "request"),
            ("key-written", "job", "session-ended"),
            ("released", "job", "session-ended"),
            ("lock-delay-began", "job", "session-ended"),
            ("answer", "", "request"),
        ],
    );
}

/// The clock is no record; what follows from what it did is told, as is the end of what had a beginning.
#[test]
fn what_time_does_follows_from_no_request() {
    let server = frozen();
    let session = server.sessions().create(Session::ttl(10 * SECOND));
    let session = session.expect("a node");
    server
        .kv()
        .acquire("job", "x", &session)
        .expect("it is free");
    let before = server.last_record();
    server.advance(20 * SECOND);
    server.advance(15 * SECOND);
    let lapse = [
        ("session-ended", "", ""),
        ("key-written", "job", "session-ended"),
        ("released", "job", "session-ended"),
        ("lock-delay-began", "job", "session-ended"),
        ("lock-delay-ended", "job", "lock-delay-began"),
    ];
    let found = causes(&server, before);
    for (kind, key, cause) in lapse {
        let row = (kind.to_owned(), key.to_owned(), cause.to_owned());
        assert!(found.contains(&row), "{row:?} in {found:?}");
    }
}

#[test]
fn a_wake_follows_from_the_change_of_what_was_read() {
    let server = frozen();
    server.kv().put("b", "x");
    let before = server.last_record();
    let wait = format!("/v1/kv/b?index={}&wait=60s", server.index());
    let waiting = background(&server, "GET", &wait);
    let blocked = server.wait_blocked(&BlockedOn::prefix("b"), 1, PATIENCE);
    let arrival = blocked.expect("it blocks")[0].record;
    assert_eq!(arrival, before + 1);
    let body = json!([
        { "KV": { "Verb": "set", "Key": "a", "Value": "eA==" } },
        { "KV": { "Verb": "set", "Key": "b", "Value": "eQ==" } },
    ]);
    put(&server, "/v1/txn", &body.to_string());
    assert_eq!(join(waiting).status, 200);
    let records = server.history(&Filter::all().after(before));
    let woken = records.iter().find(|one| one.what.kind().name() == "woken");
    let cause = woken.and_then(|woken| woken.cause).expect("it has a cause");
    let change = records.iter().find(|one| one.number == cause);
    let key = change.and_then(|change| change.what.key().cloned());
    assert_eq!(key, Some(proconsul_store::Key::new("b")));
}

/// What a test does to a server is a record, and has consequences.
#[test]
fn what_a_control_does_follows_from_it() {
    let server = frozen();
    let session = server.sessions().create(Session::default());
    let session = session.expect("a node");
    let before = server.last_record();
    server.sessions().expire(&session).expect("it is there");
    assert_causes(
        &server,
        before,
        &[("control", "", ""), ("session-ended", "", "control")],
    );
}
