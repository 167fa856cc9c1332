//! The state without HTTP, and going back.

mod agents;
mod dump;
mod indexes;
mod start_data;

use proconsul::control::Session;
use proconsul_engine::BlockedOn;

use crate::support::{PATIENCE, SECOND, background, frozen, get, join};

#[test]
fn keys_and_sessions_are_the_same_on_both_ways() {
    let server = frozen();
    server.kv().put("a", "1");
    assert_eq!(get(&server, "/v1/kv/a?raw").body, "1");
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND).name("n").deletes_its_keys())
        .expect("a node");
    let info = get(&server, &format!("/v1/session/info/{session}")).body;
    assert!(
        info.contains(r#""TTL":"10s""#) && info.contains(r#""Behavior":"delete""#),
        "{info}"
    );
    assert_eq!(server.sessions().list().len(), 1);
    assert_eq!(server.kv().acquire("b", "2", &session), Ok(true));
    assert_eq!(server.kv().list("").len(), 2);
    server.sessions().expire(&session).expect("it is there");
    assert!(server.kv().get("b").is_none());
    server.kv().delete_tree("");
    assert!(server.kv().list("").is_empty());
    assert!(server.sessions().expire(&session).is_err());
}

#[test]
fn a_rollback_brings_back_keys_sessions_indexes_and_the_time_that_was_left() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    assert_eq!(server.kv().acquire("k", "1", &session), Ok(true));
    server.advance(15 * SECOND);
    let index = server.index();
    server.checkpoint("held");
    server.advance(3600 * SECOND);
    server.kv().put("k", "2");
    assert!(server.sessions().list().is_empty());
    server.rollback("held").expect("it is there");
    assert_eq!(server.index(), index);
    assert_eq!(server.explain("k").holder, Some(session));
    assert_eq!(server.next_deadline(), Some(5 * SECOND));
    let unknown = server.rollback("no").expect_err("it is not there");
    assert_eq!(
        unknown.to_string(),
        "no checkpoint \"no\"; there are [\"held\"]"
    );
}

#[test]
fn a_rollback_answers_those_who_wait_with_the_lower_index() {
    let server = frozen();
    server.kv().put("k", "1");
    server.checkpoint("old");
    let old = server.index().0;
    server.kv().put("k", "2");
    let waiting = background(&server, "GET", &format!("/v1/kv/k?raw&index={}", old + 1));
    server
        .wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE)
        .expect("it blocks");
    server.rollback("old").expect("it is there");
    let answer = join(waiting);
    assert_eq!((answer.index(), answer.body.as_str()), (old, "1"));
}

#[test]
fn a_reset_is_the_state_of_the_start() {
    let server = frozen();
    let start = server.index();
    server.kv().put("k", "1");
    server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    server.advance(SECOND);
    server.reset();
    assert!(server.kv().list("").is_empty() && server.sessions().list().is_empty());
    assert_eq!((server.index(), server.next_deadline()), (start, None));
    server
        .sessions()
        .create(Session::default())
        .expect("the agent's node is back");
}

#[test]
fn checkpoints_are_listed_and_deleted_and_forgotten_by_a_reset() {
    let server = frozen();
    for name in ["b", "a", "c"] {
        server.checkpoint(name);
    }
    assert_eq!(server.checkpoints(), ["a", "b", "c"]);
    server.delete_checkpoint("b").expect("it is there");
    assert_eq!(server.checkpoints(), ["a", "c"]);
    for gone in [server.rollback("b"), server.delete_checkpoint("b")] {
        let unknown = gone.expect_err("it was deleted");
        assert_eq!(
            unknown.to_string(),
            "no checkpoint \"b\"; there are [\"a\", \"c\"]"
        );
    }
    server.reset();
    assert!(server.checkpoints().is_empty());
    assert!(
        server
            .history_text()
            .contains("test: delete checkpoint \"b\"\n")
    );
}

/// The keys of a checkpoint are those of the store: not copies, but the very same rows.
#[test]
fn a_checkpoint_of_many_keys_copies_none() {
    let server = frozen();
    for number in 0..100_000 {
        server.kv().put(format!("k{number}"), "x");
    }
    let rows = server.kv().list("");
    server.checkpoint("all");
    server.kv().delete_tree("");
    server.rollback("all").expect("it is there");
    let again = server.kv().list("");
    assert_eq!(again.len(), 100_000);
    let same = rows
        .iter()
        .zip(&again)
        .all(|((_, old), (_, new))| std::sync::Arc::ptr_eq(old, new));
    assert!(same);
}
