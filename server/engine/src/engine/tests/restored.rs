//! Who waits while a snapshot is restored is answered with the state of before, in whatever order threads run
//! (operator.md 6.r8).

use std::convert::Infallible;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use shuttle::future::block_on;

use super::interleaved::{end, in_every_order_of, start};
use super::{
    Clock, Engine, Index, Key, KvList, Labels, NodeList, SessionList, Version, Wait, answer,
    create_session, engine, get, put, value, wait_past,
};
use proconsul_store::{Answer, Image, Read};

/// An engine with the key `a`, which is `old` in the image and `new` now, at the index.
fn changed() -> (Engine, Image, Index) {
    let engine = engine(Version::V1_22_0, Clock::frozen());
    put(&engine, "a", "old");
    let image = engine.image();
    put(&engine, "a", "new");
    create_session(&engine, Duration::from_secs(60));
    let Ok(Answer { index, .. }) = engine.read(&get("a"));
    (engine, image, index)
}

fn restore(engine: &Engine, image: Image) {
    engine.restore(image, "").expect("the image is sound");
}

/// Lets `meanwhile` happen while a read waits. Returns its answer, if that ends the wait.
fn answered<R: Read<Refused = Infallible>>(
    engine: &Engine,
    read: &R,
    wait: Option<Wait>,
    meanwhile: impl FnOnce(),
) -> Poll<Answer<R::Rows>> {
    let mut waiting = pin!(answer(engine, read, wait));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    meanwhile();
    waiting.as_mut().poll(&mut context).map(|Ok(answer)| answer)
}

fn is_answered_with_its_index(read: &impl Read<Refused = Infallible>) {
    let (engine, image, _) = changed();
    let Ok(Answer { index, .. }) = engine.read(read);
    let restored = answered(&engine, read, wait_past(99_999), || restore(&engine, image));
    let name = read.subject();
    let Poll::Ready(found) = restored else {
        panic!("{name}: the wait goes on");
    };
    assert_eq!(found.index, index, "{name}");
}

#[test]
fn reads_of_every_kind_are_answered_with_their_index() {
    is_answered_with_its_index(&get("a"));
    is_answered_with_its_index(&get("missing"));
    is_answered_with_its_index(&KvList(Key::new("")));
    is_answered_with_its_index(&KvList(Key::new("empty/")));
    is_answered_with_its_index(&SessionList);
    is_answered_with_its_index(&NodeList(Labels::new()));
}

/// The reader was woken, and gets to look only when the snapshot is restored.
#[test]
fn who_was_woken_before_is_answered_with_what_woke_it() {
    let (engine, image, index) = changed();
    let found = answered(&engine, &get("a"), wait_past(index.0), || {
        put(&engine, "a", "newer");
        restore(&engine, image);
    });
    let Poll::Ready(found) = found else {
        panic!("the wait goes on");
    };
    assert_eq!(value(&found.rows).as_deref(), Some("newer"));
    assert!(found.index > index);
}

/// Its next news come behind the index that it knows: until then it sleeps, with the new state.
#[test]
fn who_is_answered_from_a_stream_waits_on() {
    let (engine, image, index) = changed();
    let read = get("a");
    let wait = wait_past(index.0).map(|wait| Wait {
        is_streamed: true,
        ..wait
    });
    let mut waiting = pin!(answer(&engine, &read, wait));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    restore(&engine, image);
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    put(&engine, "a", "later");
    let Poll::Ready(Ok(found)) = waiting.as_mut().poll(&mut context) else {
        panic!("the wait goes on");
    };
    assert_eq!(value(&found.rows).as_deref(), Some("later"));
}

/// A reader that comes before the restore is answered with the state of before; one that comes after it sleeps.
#[test]
fn nobody_is_answered_with_the_restored_state() {
    let make = || changed().0;
    in_every_order_of(make, |engine| {
        let mut image = engine.image();
        image.keys.clear();
        let Ok(Answer { index, .. }) = engine.read(&get("a"));
        let reader = start(engine, move |engine| {
            let Ok(found) = block_on(answer(engine, &get("a"), wait_past(index.0)));
            let found = (value(&found.rows), found.index);
            let before = (Some("new".to_owned()), index);
            assert!(found == before || found.0.as_deref() == Some("later") && found.1 > index);
        });
        let restorer = start(engine, move |engine| {
            restore(engine, image);
            put(engine, "a", "later");
        });
        end([reader, restorer]);
    });
}
