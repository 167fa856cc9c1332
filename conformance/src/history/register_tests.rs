//! Hand-made histories of one key: good ones that must pass, and bad ones that must not.

use std::time::Duration;

use super::*;
use crate::history::{Event, History, What};

/// `(client, asked or told)` in the order of time.
type Line = (usize, What<Op, Ret>);

fn holds(lines: &[Line]) -> bool {
    let event = |(number, (client, what)): (u64, &Line)| Event {
        client: *client,
        at: Duration::from_millis(number),
        what: what.clone(),
    };
    let history = History((0..).zip(lines).map(event).collect());
    history.is_linearizable(Register::default())
}

fn ask(client: usize, operation: Op) -> Line {
    (client, What::Asked(operation))
}

fn tell(client: usize, told: Ret) -> Line {
    (client, What::WakeSignal(told))
}

/// A call of client 0 while nobody else asks.
fn alone(operation: Op, told: Ret) -> [Line; 2] {
    [ask(0, operation), tell(0, told)]
}

fn in_turn(calls: &[(Op, Ret)]) -> bool {
    let lines: Vec<Line> = calls
        .iter()
        .flat_map(|(operation, told)| alone(*operation, *told))
        .collect();
    holds(&lines)
}

const fn shown(value: u8, session: Option<usize>, lock_index: u64, modify_index: u64) -> Ret {
    Ret::Shown(Some(Shown {
        value,
        session,
        lock_index,
        modify_index,
    }))
}

const YES: Ret = Ret::Done(true);
const NO: Ret = Ret::Done(false);
const GONE: Ret = Ret::Shown(None);

#[test]
fn what_a_key_does() {
    assert!(in_turn(&[
        (Op::Read, GONE),
        (Op::Cas(0, 1), YES),
        (Op::Cas(0, 2), NO),
        (Op::Read, shown(1, None, 0, 7)),
        (Op::Put(1), YES),
        (Op::Read, shown(1, None, 0, 7)),
        (Op::Acquire(4, 1), YES),
        (Op::Acquire(4, 1), YES),
        (Op::Acquire(5, 1), NO),
        (Op::Read, shown(1, Some(4), 1, 9)),
        (Op::Put(1), YES),
        (Op::Read, shown(1, Some(4), 0, 10)),
        (Op::Release(5, 3), NO),
        (Op::Release(4, 3), YES),
        (Op::Acquire(5, 3), YES),
        (Op::Destroy(5), YES),
        (Op::Acquire(5, 3), Ret::NoSession),
        (Op::Read, shown(3, None, 1, 20)),
        (Op::Cas(20, 4), YES),
        (Op::Read, shown(4, None, 0, 21)),
        (Op::DeleteCas(20), NO),
        (Op::DeleteCas(21), YES),
        (Op::DeleteCas(21), YES),
        (Op::Delete, YES),
        (Op::Read, GONE),
    ]));
}

#[test]
fn concurrent_calls_may_take_effect_in_either_order() {
    for read in [GONE, shown(1, None, 0, 5)] {
        assert!(holds(&[
            ask(0, Op::Put(1)),
            ask(1, Op::Read),
            tell(1, read),
            tell(0, YES)
        ]));
    }
    // Two writes at once; the later read tells which was the last.
    for last in [1, 2] {
        assert!(holds(&[
            ask(0, Op::Put(1)),
            ask(1, Op::Put(2)),
            tell(0, YES),
            tell(1, YES),
            ask(0, Op::Read),
            tell(0, shown(last, None, 0, 6)),
        ]));
    }
}

/// What is wrong, what comes before it, and the wrong answer.
type Wrong<'a> = (&'a str, &'a [(Op, Ret)], (Op, Ret));

/// What a checker is for: each of these answers is wrong, and what comes before it is right.
#[track_caller]
fn are_found(wrong: &[Wrong<'_>]) {
    for (what, before, last) in wrong {
        let calls = [*before, &[*last]].concat();
        assert!(in_turn(before), "{what}: what comes before it is right");
        assert!(!in_turn(&calls), "{what}");
    }
}

const WRITTEN: &[(Op, Ret)] = &[(Op::Put(1), YES), (Op::Read, shown(1, None, 0, 7))];
const HELD: &[(Op, Ret)] = &[(Op::Acquire(4, 1), YES)];

#[test]
fn wrong_answers_about_values_are_found() {
    are_found(&[
        ("a write that is refused", &[], (Op::Put(1), NO)),
        (
            "a value that nobody wrote",
            WRITTEN,
            (Op::Read, shown(2, None, 0, 7)),
        ),
        ("a write that is lost", WRITTEN, (Op::Read, GONE)),
        (
            "an index that moves by itself",
            WRITTEN,
            (Op::Read, shown(1, None, 0, 8)),
        ),
        ("an answer of another kind", &[], (Op::Read, YES)),
    ]);
}

#[test]
fn wrong_answers_to_conditions_are_found() {
    are_found(&[
        ("a missing key with an index", &[], (Op::Cas(3, 1), YES)),
        (
            "a current index that is refused",
            WRITTEN,
            (Op::Cas(7, 2), NO),
        ),
        ("an old index", WRITTEN, (Op::Cas(6, 2), YES)),
        ("a creation of what exists", WRITTEN, (Op::Cas(0, 2), YES)),
        ("a creation that is refused", &[], (Op::Cas(0, 2), NO)),
        ("a delete that is refused", WRITTEN, (Op::DeleteCas(7), NO)),
        (
            "a delete with an old index",
            WRITTEN,
            (Op::DeleteCas(6), YES),
        ),
        ("a refused delete of nothing", &[], (Op::DeleteCas(6), NO)),
    ]);
}

#[test]
fn wrong_answers_about_locks_are_found() {
    are_found(&[
        ("a second holder", HELD, (Op::Acquire(5, 1), YES)),
        (
            "a free key that is refused",
            WRITTEN,
            (Op::Acquire(4, 1), NO),
        ),
        ("a holder that is refused", HELD, (Op::Acquire(4, 2), NO)),
        ("a release by another", HELD, (Op::Release(5, 1), YES)),
        (
            "a holder that cannot release",
            HELD,
            (Op::Release(4, 1), NO),
        ),
        ("a release of a missing key", &[], (Op::Release(4, 1), YES)),
        (
            "a session that is denied",
            &[],
            (Op::Acquire(4, 1), Ret::NoSession),
        ),
        (
            "a holder that is not shown",
            HELD,
            (Op::Read, shown(1, None, 1, 9)),
        ),
        (
            "a lock index that stands",
            HELD,
            (Op::Read, shown(1, Some(4), 0, 9)),
        ),
    ]);
}

#[test]
fn a_dead_session_holds_and_takes_nothing() {
    let destroyed = [(Op::Acquire(4, 1), YES), (Op::Destroy(4), YES)];
    assert!(!in_turn(
        &[&destroyed[..], &[(Op::Acquire(4, 1), YES)]].concat()
    ));
    assert!(!in_turn(
        &[&destroyed[..], &[(Op::Acquire(4, 1), NO)]].concat()
    ));
    assert!(!in_turn(
        &[&destroyed[..], &[(Op::Read, shown(1, Some(4), 1, 9))]].concat()
    ));
    assert!(in_turn(
        &[&destroyed[..], &[(Op::Acquire(5, 1), YES)]].concat()
    ));
}

#[test]
fn an_identical_write_must_not_move_the_index() {
    let twice = [
        (Op::Put(1), YES),
        (Op::Read, shown(1, None, 0, 7)),
        (Op::Put(1), YES),
    ];
    assert!(in_turn(
        &[&twice[..], &[(Op::Read, shown(1, None, 0, 7))]].concat()
    ));
    assert!(!in_turn(
        &[&twice[..], &[(Op::Read, shown(1, None, 0, 8))]].concat()
    ));
}

#[test]
fn a_change_must_move_the_index_up() {
    let changed = [
        (Op::Put(1), YES),
        (Op::Read, shown(1, None, 0, 7)),
        (Op::Put(2), YES),
    ];
    for index in [6, 7] {
        assert!(!in_turn(
            &[&changed[..], &[(Op::Read, shown(2, None, 0, index))]].concat()
        ));
    }
    // A key that was deleted and made anew does not begin again either.
    let anew = [&changed[..2], &[(Op::Delete, YES), (Op::Put(1), YES)]].concat();
    assert!(!in_turn(
        &[&anew[..], &[(Op::Read, shown(1, None, 0, 7))]].concat()
    ));
}

#[test]
fn a_stale_read_is_found() {
    // Client 1 begins to read after client 0 was told that its write is done.
    assert!(!holds(&[
        ask(0, Op::Put(1)),
        tell(0, YES),
        ask(1, Op::Read),
        tell(1, GONE),
    ]));
    // The second read begins after the first has shown the write, and must show it too.
    assert!(!holds(&[
        ask(0, Op::Put(1)),
        ask(1, Op::Read),
        tell(1, shown(1, None, 0, 5)),
        ask(1, Op::Read),
        tell(1, GONE),
        tell(0, YES),
    ]));
}

#[test]
fn a_lost_update_is_found() {
    let start = [
        alone(Op::Put(1), YES),
        alone(Op::Read, shown(1, None, 0, 5)),
    ]
    .concat();
    let both = |first: Ret, second: Ret| {
        let race = [
            ask(0, Op::Cas(5, 2)),
            ask(1, Op::Cas(5, 3)),
            tell(0, first),
            tell(1, second),
        ];
        holds(&[&start[..], &race[..]].concat())
    };
    assert!(both(YES, NO));
    assert!(both(NO, YES));
    assert!(!both(YES, YES), "two clients have changed the same state");
    assert!(
        !both(NO, NO),
        "nobody has changed it, yet both are told that somebody did"
    );
}

#[test]
fn two_holders_at_once_are_found() {
    let race = |first: Ret, second: Ret| {
        holds(&[
            ask(0, Op::Acquire(1, 1)),
            ask(1, Op::Acquire(2, 1)),
            tell(0, first),
            tell(1, second),
        ])
    };
    assert!(race(YES, NO));
    assert!(!race(YES, YES));
    assert!(!race(NO, NO), "a free key was refused to both");
}
