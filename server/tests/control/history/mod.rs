//! The history: what happened, in order, and why.

mod causes;
mod determinism;
mod events;
mod safety;
mod trees;

use proconsul::Server;
use proconsul::control::Session;
use proconsul::history::{Filter, Happened, Kind, RefusedBecause, ReleasedBy};
use proconsul_store::Cause;

use crate::support::{PATIENCE, SECOND, background, frozen, get, join, put};
use proconsul_engine::BlockedOn;

fn kinds(server: &Server, filter: &Filter) -> Vec<&'static str> {
    let records = server.history(filter);
    records
        .iter()
        .map(|record| record.what.kind().name())
        .collect()
}

/// A lock that is lost to its TTL, guarded, refused to a contender and taken over by it.
fn lock_loss(server: &Server) -> (String, String) {
    let sessions = server.sessions();
    let holder = sessions.create(Session::ttl(10 * SECOND)).expect("a node");
    let other = sessions.create(Session::default()).expect("a node");
    let acquire = |session: &str| put(server, &format!("/v1/kv/job?acquire={session}"), "x").body;
    assert_eq!(acquire(&holder), "true");
    assert_eq!(acquire(&other), "false");
    server.advance(20 * SECOND);
    assert_eq!(acquire(&other), "false");
    server.advance(15 * SECOND);
    assert_eq!(acquire(&other), "true");
    (holder, other)
}

#[test]
fn the_loss_of_a_lock_is_told_with_its_causes() {
    let server = frozen();
    let (holder, other) = lock_loss(&server);
    let about_key = server.history(&Filter::all().key("job"));
    let facts: Vec<&Happened> = about_key.iter().map(|record| &record.what).collect();
    let key = proconsul_store::Key::new("job");
    let expected = [
        Happened::KeyWritten { key: key.clone() },
        Happened::Acquired {
            key: key.clone(),
            session: holder.clone(),
            again: false,
        },
        Happened::AcquireRefused {
            key: key.clone(),
            session: other.clone(),
            reason: RefusedBecause::HeldBy(holder.clone()),
        },
        Happened::KeyWritten { key: key.clone() },
        Happened::Released {
            key: key.clone(),
            session: holder,
            cause: ReleasedBy::SessionEnd(Cause::Lapsed),
        },
        Happened::LockDelayBegan {
            key: key.clone(),
            lasts: 15 * SECOND,
        },
        Happened::AcquireRefused {
            key: key.clone(),
            session: other.clone(),
            reason: RefusedBecause::LockDelay(15 * SECOND),
        },
        Happened::LockDelayEnded { key: key.clone() },
        Happened::KeyWritten { key: key.clone() },
        Happened::Acquired {
            key,
            session: other,
            again: false,
        },
    ];
    assert_eq!(facts, expected.iter().collect::<Vec<_>>());
    assert!(about_key.is_sorted_by_key(|record| record.index));
}

#[test]
fn a_timeline_tells_the_life_of_a_lock_to_a_person() {
    let server = frozen();
    let (holder, other) = lock_loss(&server);
    put(&server, "/v1/kv/unrelated", "x");
    let text = server
        .timeline("job")
        .replace(&holder, "A")
        .replace(&other, "B");
    assert_eq!(
        text,
        "timeline of \"job\":\n\
        \x20      0.000s  index 8     session A created on node \"proconsul\", TTL 10s\n\
        \x20      0.000s  index 9     session B created on node \"proconsul\"\n\
        \x20      0.000s  index 10    \"job\" written\n\
        \x20      0.000s  index 10    \"job\" acquired by A\n\
        \x20      0.000s  index 11    \"job\" not acquired by B: held by A\n\
        \x20     20.000s  index 12    session A ended: its TTL ran out\n\
        \x20     20.000s  index 12    \"job\" written\n\
        \x20     20.000s  index 12    \"job\" released by A: its session ended, its TTL ran out\n\
        \x20     20.000s  index 12    \"job\" guarded by its lock-delay for 15s\n\
        \x20     20.000s  index 12    \"job\" not acquired by B: lock-delay, 15000 ms left\n\
        \x20     35.000s  index 12    \"job\" can be acquired: its lock-delay is over\n\
        \x20     35.000s  index 13    \"job\" written\n\
        \x20     35.000s  index 13    \"job\" acquired by B\n"
    );
}

#[test]
fn every_way_to_lose_a_key_has_its_cause() {
    let server = frozen();
    let sessions = server.sessions();
    let held = |key: &str| {
        let session = sessions.create(Session::default()).expect("a node");
        let acquired = server.kv().acquire(key, "x", &session);
        assert_eq!(acquired, Ok(true));
        session
    };
    let by_holder = held("a");
    assert_eq!(server.kv().release("a", "x", &by_holder), Ok(true));
    held("b");
    server.kv().delete("b");
    let destroyed = held("c");
    sessions.destroy(&destroyed).expect("a session");
    held("d");
    server
        .catalog()
        .fail_check("proconsul", "serfHealth")
        .expect("a check");
    let causes: Vec<String> = server
        .history(&Filter::of(Kind::Released))
        .iter()
        .map(|record| match &record.what {
            Happened::Released { key, cause, .. } => format!("{key}: {cause}"),
            other => panic!("not what was asked for: {other}"),
        })
        .collect();
    assert_eq!(
        causes,
        [
            "a: the holder let go",
            "b: the key was deleted",
            "c: its session ended, a client destroyed it",
            "d: its session ended, the check \"serfHealth\" is critical",
        ]
    );
}

#[test]
fn refusals_say_what_was_wrong() {
    let server = frozen();
    let unknown = "adf4238a-882b-9ddc-4a9d-5b6758e4159e";
    put(&server, &format!("/v1/kv/k?acquire={unknown}"), "x");
    put(&server, "/v1/kv/k?acquire=", "x");
    put(&server, &format!("/v1/kv/k?release={unknown}"), "x");
    put(&server, "/v1/kv/k?cas=7", "x");
    let refused = Filter::of(Kind::AcquireRefused)
        .or(Kind::ReleaseRefused)
        .or(Kind::WriteRefused);
    let texts: Vec<String> = server
        .history(&refused)
        .iter()
        .map(|record| record.what.to_string().replace(unknown, "U"))
        .collect();
    assert_eq!(
        texts,
        [
            "\"k\" not acquired by U: unknown session",
            "\"k\" not acquired by : no session given",
            "\"k\" not released by U: it does not hold it",
            "\"k\" not written: it has another index",
        ]
    );
}

#[test]
fn a_transaction_that_fails_says_which_lock_it_did_not_get() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    let other = server
        .sessions()
        .create(Session::default())
        .expect("a node");
    assert_eq!(server.kv().acquire("k", "x", &session), Ok(true));
    let body = format!(r#"[{{"KV":{{"Verb":"lock","Key":"k","Session":"{other}"}}}}]"#);
    assert_eq!(put(&server, "/v1/txn", &body).status, 409);
    let refused = server.history(&Filter::of(Kind::AcquireRefused));
    assert_eq!(refused.len(), 1);
    assert_eq!(
        refused[0].what.to_string(),
        format!("\"k\" not acquired by {other}: held by {session}")
    );
}

#[test]
fn a_request_that_is_woken_is_followed_from_its_arrival_to_its_answer() {
    let server = frozen();
    server.kv().put("k", "1");
    server.clear_history();
    let waiting = background(&server, "GET", "/v1/kv/k?index=8");
    let blocked = server.wait_blocked(&BlockedOn::prefix("k"), 1, PATIENCE);
    assert_eq!(blocked.expect("it blocks")[0].min_index.0, 8);
    server.kv().put("k", "2");
    assert_eq!(join(waiting).index(), 9);
    assert_eq!(
        kinds(&server, &Filter::all()),
        ["request", "blocked", "key-written", "woken", "answer"]
    );
}

#[test]
fn a_key_is_explained() {
    let server = frozen();
    let session = server
        .sessions()
        .create(Session::ttl(10 * SECOND))
        .expect("a node");
    assert_eq!(server.kv().acquire("job", "x", &session), Ok(true));
    server.advance(SECOND);
    let waiting = background(&server, "GET", "/v1/kv/job?index=9");
    server
        .wait_blocked(&BlockedOn::prefix("job"), 1, PATIENCE)
        .expect("it blocks");
    let held = server.explain("job").to_string().replace(&session, "A");
    assert_eq!(
        held,
        "\"job\": held by A since 0.000s, whose session lapses in 19s, LockIndex 1, 1 waiting; \
         last: \"job\" acquired by A"
    );
    server.sessions().expire(&session).expect("it is there");
    join(waiting);
    server.advance(5 * SECOND);
    let guarded = server.explain("job");
    assert_eq!(guarded.lock_delay_left, Some(10 * SECOND));
    assert_eq!((guarded.holder, guarded.held_since), (None, None));
}

#[test]
fn old_records_go_first_and_numbers_stay() {
    let builder = Server::builder().history_capacity(1000).frozen();
    let server = builder.start().expect("a free port");
    for number in 0..1500 {
        server.kv().put("a", number.to_string());
    }
    let kept = server.history(&Filter::all());
    assert_eq!(kept.len(), 1000);
    let last = kept.last().expect("records are kept").number;
    assert_eq!(last, server.last_record());
    assert_eq!(server.history(&Filter::all().after(last - 2)).len(), 2);
    assert!(kept.iter().map(|record| record.number).is_sorted());
}

#[test]
fn who_reads_a_history_without_its_beginning_is_told() {
    let builder = Server::builder().history_capacity(10).frozen();
    let server = builder.start().expect("a free port");
    server.clear_history();
    for number in 0..10 {
        server.kv().put("a", number.to_string());
    }
    assert_eq!(server.lost_records(), 0);
    assert!(server.timeline("a").starts_with("timeline of"));
    server.kv().put("b", "1");
    server.kv().put("b", "2");
    assert_eq!(server.lost_records(), 2);
    let told = "the beginning is missing: 2 older records are gone, the history keeps 10\n";
    assert!(server.timeline("a").starts_with(told));
    assert!(server.history_text().starts_with(told));
    let text = get(&server, "/proconsul/v1/history?format=text").body;
    assert!(text.starts_with(told), "{text}");
    // The request itself has been recorded, and one of before is gone for it.
    let answer = get(&server, "/proconsul/v1/history").body;
    assert!(answer.contains("\"lost\":2"), "{answer}");
    server.clear_history();
    assert_eq!(server.lost_records(), 0);
    let smallest = Server::builder().history_capacity(0).start();
    let smallest = smallest.expect("a free port");
    smallest.kv().put("a", "1");
    assert_eq!(smallest.history(&Filter::all()).len(), 1);
}
