//! Tests of those who wait: no wake-up is lost, and nobody is remembered who has gone.

mod barriers;
mod interleaved;
mod store;

mod parallel;
#[cfg(feature = "dump")]
mod restored;
mod told;

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::Engine;
use crate::blocking::{Wait, WaitState, answer};
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::history::History;
use crate::rules::rules_of;
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{
    Behavior, Content, Entry, Index, Key, KvGet, KvList, KvVerb, KvWrite, Labels, NewNode,
    NewSession, NodeChecks, NodeList, NodeSessions, Read, Registration, SessionList, Store,
};
use proconsul_version::Version;

pub(super) use interleaved::between_steps;

/// An engine without a key, whose node `n1` was registered at index 1.
fn engine(version: Version, clock: Clock) -> Engine {
    with_node(Engine::new(
        rules_of(version),
        Index::ZERO,
        clock,
        Entropy::seeded(1),
    ))
}

/// The same as a test observes it.
fn observed() -> Engine {
    let store = Store::new(rules_of(Version::default()), Index::ZERO);
    // Nothing is lost of it, however long a thread stands still.
    let history = History::keeping(100_000);
    with_node(Engine::over(
        store,
        Clock::frozen(),
        Entropy::seeded(1),
        history,
    ))
}

fn with_node(engine: Engine) -> Engine {
    let node = NewNode {
        node: "n1".to_owned(),
        ..NewNode::default()
    };
    let registration = Registration {
        node,
        ..Registration::default()
    };
    let registered = engine.apply(registration);
    registered.expect("a node can be registered");
    engine
}

fn write(engine: &Engine, key: &str, verb: KvVerb) {
    let key = Key::new(key);
    let written = engine.apply(KvWrite { key, verb });
    written.expect("the store takes the write");
}

fn put(engine: &Engine, key: &str, value: &str) {
    write(engine, key, KvVerb::Set(content(value)));
}

fn content(value: &str) -> Content {
    Content {
        value: value.to_owned().into(),
        flags: 0,
    }
}

fn get(key: &str) -> KvGet {
    KvGet(Key::new(key))
}

/// A wait that is over when the index has passed `min_index`, or after a minute of the engine's clock.
fn wait_past(min_index: u64) -> Option<Wait> {
    Some(Wait {
        min_index: Index(min_index),
        limit: Duration::from_secs(60),
        is_exact: false,
        is_streamed: false,
    })
}

/// The value of the key that an answer is about; none when it is missing.
fn value(entry: &Option<Entry>) -> Option<String> {
    let (_, row) = entry.as_ref()?;
    Some(String::from_utf8_lossy(&row.value).into_owned())
}

fn create_session(engine: &Engine, ttl: Duration) -> String {
    let id = engine.new_session_id();
    let session = NewSession {
        id,
        name: String::new(),
        node: "n1".to_owned(),
        lock_delay_ns: 0,
        behavior: Behavior::Release,
        ttl_text: String::new(),
        ttl,
        node_checks: None,
        service_checks: None,
        checks: Vec::new(),
    };
    let created = engine.apply(session);
    created.expect("a session can be created on a node that exists");
    id.to_string()
}

/// Advances the clock, and lets all others go on from there for as long as they can.
async fn advance_to(engine: &Engine, target: Timestamp) {
    engine.clock().advance_to(target);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn nobody_waits(engine: &Engine) -> bool {
    engine.lock().waiters.is_empty()
}

#[test]
fn a_client_that_goes_away_is_forgotten() {
    let engine = engine(Version::V1_8_7, Clock::frozen());
    put(&engine, "a", "1");
    goes_away(&engine, &get("a"));
    goes_away(&engine, &get("missing"));
    goes_away(&engine, &KvList(Key::new("a")));
    goes_away(&engine, &KvList(Key::new("empty/")));
    goes_away(&engine, &SessionList);
    goes_away(&engine, &NodeSessions("n1".to_owned()));
    goes_away(&engine, &NodeList(Labels::new()));
    goes_away(&engine, &NodeChecks("n1".to_owned()));
}

fn goes_away(engine: &Engine, read: &impl Read) {
    let name = read.subject();
    {
        let mut waiting = pin!(answer(engine, read, wait_past(99)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending(), "{name}");
        assert!(!nobody_waits(engine), "{name}");
        // What the missing key hangs on is now another part of the store.
        put(engine, "miss", "1");
        assert!(waiting.as_mut().poll(&mut context).is_pending(), "{name}");
        write(engine, "miss", KvVerb::Delete);
    }
    assert!(nobody_waits(engine), "{name}");
}

/// Whether looks at a missing key are over, before and after an unrelated write, and after its own.
fn looks_at_a_missing_key(version: Version) -> [bool; 4] {
    let engine = engine(version, Clock::frozen());
    let mut looks = WaitState::new(Index(1));
    let mut look = || {
        let Ok(answer) = engine.read(&get("a"));
        looks.are_over_with(&answer)
    };
    let before = [look(), look()];
    put(&engine, "unrelated", "1");
    let after = look();
    put(&engine, "a", "1");
    [before[0], before[1], after, look()]
}

#[test]
fn an_unrelated_write_ends_the_looks_at_a_missing_key_only_where_it_did() {
    let old = looks_at_a_missing_key(Version::V1_8_7);
    assert_eq!(old, [false, false, true, true]);
    let new = looks_at_a_missing_key(Version::V1_22_0);
    assert_eq!(new, [false, false, false, true]);
}

#[test]
fn a_wait_that_is_answered_is_forgotten() {
    let engine = engine(Version::default(), Clock::frozen());
    put(&engine, "a", "1");
    let read = get("a");
    let mut waiting = pin!(answer(&engine, &read, wait_past(2)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    put(&engine, "b", "1");
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    put(&engine, "a", "2");
    let Poll::Ready(Ok(answer)) = waiting.as_mut().poll(&mut context) else {
        panic!("the wait goes on after its key has changed")
    };
    assert_eq!(
        (answer.index, value(&answer.rows)),
        (Index(4), Some("2".to_owned()))
    );
    assert!(nobody_waits(&engine));
}

#[test]
fn a_wait_is_over_when_its_time_is_and_its_jitter_is_less_than_a_sixteenth() {
    let engine = engine(Version::default(), Clock::frozen());
    put(&engine, "a", "1");
    let read = get("a");
    let mut waiting = pin!(answer(&engine, &read, wait_past(2)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    let limit = Timestamp::ZERO.plus(Duration::from_secs(60));
    engine
        .clock()
        .advance_to(Timestamp::from_nanos(limit.as_nanos() - 1));
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    engine
        .clock()
        .advance_to(limit.plus(Duration::from_secs(60) / 16));
    let Poll::Ready(Ok(answer)) = waiting.as_mut().poll(&mut context) else {
        panic!("the wait goes on after its time is up")
    };
    assert_eq!(
        (answer.index, value(&answer.rows)),
        (Index(2), Some("1".to_owned()))
    );
    assert!(nobody_waits(&engine));
}

#[tokio::test]
async fn a_lapse_wakes_who_waits_for_the_key_that_it_releases() {
    let engine = engine(Version::default(), Clock::frozen());
    let read = get("a");
    // The session is created at index 2, after the engine began to run, and acquires at index 3.
    let lapse = async {
        tokio::task::yield_now().await;
        let session = create_session(&engine, Duration::from_secs(10));
        write(&engine, "a", KvVerb::Acquire(content("1"), session));
        tokio::task::yield_now().await;
        advance_to(&engine, Timestamp::ZERO.plus(Duration::from_secs(20))).await;
    };
    let answer = tokio::select! {
        biased;
        () = engine.run() => unreachable!("an engine runs for ever"),
        answer = answer(&engine, &read, wait_past(3)) => answer.expect("a key can be read"),
        () = lapse => panic!("nobody was told of the lapse"),
    };
    assert_eq!(
        (answer.index, value(&answer.rows)),
        (Index(4), Some("1".to_owned()))
    );
}
