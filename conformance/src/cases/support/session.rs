//! What the cases about sessions share: paths, the form of a session on the wire, and claims that something does not move.

use std::time::Duration;

use serde_json::json;

use crate::case::trial::Trial;
use crate::wire::Request;
use crate::wire::answer::Answer;
use crate::wire::waiting::Waiting;

/// How long a claim may wait for a moment in which nobody else disturbs what it looks at.
pub(in crate::cases) const QUIET: Duration = Duration::from_secs(40);

/// The read that every session shows its index in.
pub(in crate::cases) const LIST: &str = "/v1/session/list";

/// `session/info` of a session.
pub(in crate::cases) fn info(session: &str) -> String {
    format!("/v1/session/info/{session}")
}

/// `session/renew` of a session.
pub(in crate::cases) fn renew_path(session: &str) -> String {
    format!("/v1/session/renew/{session}")
}

/// `session/destroy` of a session.
pub(in crate::cases) fn destroy(session: &str) -> String {
    format!("/v1/session/destroy/{session}")
}

/// The sessions that live on a node.
pub(in crate::cases) fn of_node(node: &str) -> String {
    format!("/v1/session/node/{node}")
}

/// A session as every version since 1.7 prints it, field by field in this order.
#[derive(Debug, Clone, Copy)]
pub(in crate::cases) struct Shown<'a> {
    pub(in crate::cases) id: &'a str,
    /// As JSON prints it between its quotes.
    pub(in crate::cases) name: &'a str,
    pub(in crate::cases) node: &'a str,
    /// In nanoseconds.
    pub(in crate::cases) lock_delay: i64,
    pub(in crate::cases) behavior: &'a str,
    pub(in crate::cases) ttl: &'a str,
    /// JSON.
    pub(in crate::cases) node_checks: &'a str,
    /// JSON.
    pub(in crate::cases) service_checks: &'a str,
    /// JSON; the field is absent when there is nothing in it.
    pub(in crate::cases) checks: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// A session of which nothing was asked.
    pub(in crate::cases) fn of(t: &'a Trial, id: &'a str) -> Self {
        Self {
            id,
            name: "",
            node: &t.facts().node,
            lock_delay: 15_000_000_000,
            behavior: "release",
            ttl: "",
            node_checks: r#"["serfHealth"]"#,
            service_checks: "null",
            checks: None,
        }
    }

    /// The object, with the index of its creation.
    pub(in crate::cases) fn text(&self, index: u64) -> String {
        let checks = self
            .checks
            .map(|checks| format!(r#""Checks":{checks},"#))
            .unwrap_or_default();
        let Self {
            id,
            name,
            node,
            lock_delay,
            behavior,
            ttl,
            node_checks,
            service_checks,
            ..
        } = self;
        format!(
            r#"{{"ID":"{id}","Name":"{name}","Node":"{node}","LockDelay":{lock_delay},"Behavior":"{behavior}","TTL":"{ttl}","NodeChecks":{node_checks},"ServiceChecks":{service_checks},{checks}"CreateIndex":{index},"ModifyIndex":{index}}}"#
        )
    }

    /// `session/info` prints exactly this.
    #[track_caller]
    pub(in crate::cases) fn is_stored(&self, t: &Trial) {
        self.is_alone_in(t.api_get(&info(self.id)));
    }

    /// The answer is a list of exactly this session.
    #[track_caller]
    pub(in crate::cases) fn is_alone_in(&self, answer: Answer) {
        let index = created(&answer);
        answer.is(200, &format!("[{}]", self.text(index)));
    }
}

/// The `CreateIndex` of the first session of a list; 0 where there is none, which no session has.
#[track_caller]
pub(in crate::cases) fn created(answer: &Answer) -> u64 {
    answer.json()[0]["CreateIndex"].as_u64().unwrap_or_default()
}

/// A text field of every session in a list.
#[track_caller]
pub(in crate::cases) fn fields(answer: &Answer, name: &str) -> Vec<String> {
    let text = |session: &serde_json::Value| session[name].as_str().unwrap_or_default().to_owned();
    answer.list().iter().map(text).collect()
}

/// The id of a session with this body, if the server creates one now.
#[track_caller]
pub(in crate::cases) fn try_session(t: &Trial, body: &str) -> Option<String> {
    let answer = t.create_session(body);
    if answer.status() != 200 {
        return None;
    }
    answer.json()["ID"].as_str().map(str::to_owned)
}

/// The session is there.
#[track_caller]
pub(in crate::cases) fn lives(t: &Trial, session: &str) {
    t.api_get(&info(session)).field_is("/0/ID", session);
}

/// The session is not there.
#[track_caller]
pub(in crate::cases) fn is_gone(t: &Trial, session: &str) {
    t.api_get(&info(session)).is(200, "[]");
}

/// Whether the form is that of the ids that Consul gives: 8-4-4-4-12 hexadecimal digits in lower case.
pub(in crate::cases) fn is_session_id(text: &str) -> bool {
    let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || hexadecimal(c))
}

/// A blocking read of sessions that has slept through `act`. For servers of a case's own: elsewhere others' sessions end it.
#[track_caller]
pub(in crate::cases) fn sleeping(t: &Trial, path: &str, act: impl Fn()) -> Waiting {
    let index = t.api_get(path).index();
    let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=60s")));
    act();
    t.still_blocked(&waiting);
    waiting
}

/// Two reads of an index around an act are the same. For servers of a case's own: elsewhere others move the index.
#[track_caller]
pub(in crate::cases) fn leaves_alone(
    t: &Trial,
    what: &str,
    read: impl Fn() -> u64,
    act: impl Fn(),
) {
    let before = read();
    act();
    t.same(what, read(), before);
}

/// How many raft indexes an act takes, as two writes around it show: at least so many every time, and so many alone when the server
/// writes nothing by itself. For servers of a case's own.
#[track_caller]
pub(in crate::cases) fn takes_raft_indexes(t: &Trial, expected: u64, act: impl Fn()) {
    let key = t.key("raft-index");
    let index = |value: &str| {
        t.put(&key, "", value).is(200, "true");
        t.get(&key, "").entry().modify_index
    };
    let what = format!("it takes {expected} raft indexes and no more");
    t.eventually(&what, QUIET, || {
        let before = index("before");
        act();
        let taken = index("after") - before - 1;
        t.check(
            taken >= expected,
            format!("it takes {taken} raft indexes instead of {expected}"),
        );
        if taken > expected {
            t.not_compared("the server wrote something by itself meanwhile");
        }
        (taken == expected).then_some(())
    });
}

/// A session of a catalog node.
#[track_caller]
pub(in crate::cases) fn session_on(t: &Trial, node: &str) -> String {
    t.session(&json!({"Node": node, "NodeChecks": [], "LockDelay": "0s"}).to_string())
}

/// A node for which a read can block undisturbed, and its neighbour.
///
/// Consul watches a place in a tree of names, and a first neighbour in the tree moves what it finds there. A neighbour that is there
/// already, with a session that stays, keeps the place where it is whatever other cases call their nodes.
#[track_caller]
pub(in crate::cases) fn node_with_neighbour(t: &Trial) -> (String, String) {
    let (node, neighbour) = (t.register_node("n"), t.register_node("other"));
    session_on(t, &neighbour);
    (node, neighbour)
}

/// Ids that no UUID index can look up, with its words for each.
pub(in crate::cases) const MALFORMED: &[(&str, &str)] = &[
    ("nope", "UUID must be 36 characters"),
    (
        "deadbeef-0000-4000-8000-0123456789a",
        "UUID must be 36 characters",
    ),
    (
        "zeadbeef-0000-4000-8000-0123456789ab",
        "Invalid UUID: encoding/hex: invalid byte: U+007A 'z'",
    ),
    (
        "deadbeef-0000-4000-800000123456789ab",
        "Input (without hyphens) must be even length",
    ),
];
