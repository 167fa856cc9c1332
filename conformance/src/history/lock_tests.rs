//! Hand-made courses of events: safe ones that must pass, and unsafe ones that must not.

use super::*;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn span(asked: u64, told: u64) -> Span {
    Span {
        asked: ms(asked),
        told: ms(told),
    }
}

fn tenure(session: usize, acquired: (u64, u64), lock_index: u64, end: End) -> Tenure {
    Tenure {
        session,
        acquired: span(acquired.0, acquired.1),
        lock_index,
        end,
    }
}

fn released(asked: u64, told: u64) -> End {
    End::Released(span(asked, told))
}

fn destroyed(asked: u64, told: u64) -> End {
    End::Destroyed(span(asked, told))
}

fn found(tenures: &[Tenure]) -> Vec<Violation> {
    Locking {
        tenures: tenures.to_vec(),
        observations: Vec::new(),
        delay: ms(100),
    }
    .violations()
}

fn seen(tenures: &[Tenure], read: (u64, u64), holder: Option<usize>) -> Vec<Violation> {
    Locking {
        tenures: tenures.to_vec(),
        observations: vec![Observation {
            read: span(read.0, read.1),
            holder,
        }],
        delay: ms(100),
    }
    .violations()
}

#[test]
fn one_after_the_other_is_safe() {
    let first = tenure(1, (0, 10), 1, released(20, 30));
    assert_eq!(found(&[first, tenure(2, (31, 40), 2, End::Open)]), []);
    // WakeSignal late: the second was given the lock while the first's release was on its way back.
    assert_eq!(found(&[first, tenure(2, (5, 21), 2, End::Open)]), []);
    // The order of the list says nothing.
    assert_eq!(found(&[tenure(2, (31, 40), 2, End::Open), first]), []);
}

#[test]
fn two_holders_are_found() {
    let first = tenure(1, (0, 10), 1, released(20, 30));
    for second in [
        tenure(2, (5, 15), 2, released(17, 18)),
        tenure(2, (11, 19), 2, End::Open),
        tenure(2, (0, 5), 2, released(11, 40)),
    ] {
        for pair in [[first, second], [second, first]] {
            let violations = found(&pair);
            assert!(
                matches!(violations[..], [Violation::TwoHolders(..), ..]),
                "{second:?}: {violations:?}"
            );
        }
    }
    let open = tenure(1, (0, 10), 1, End::Open);
    assert!(!found(&[open, tenure(2, (50, 60), 2, End::Open)]).is_empty());
}

#[test]
fn the_delay_counts_from_asking_for_the_end() {
    let first = tenure(1, (0, 10), 1, destroyed(20, 30));
    assert_eq!(found(&[first, tenure(2, (90, 120), 2, End::Open)]), []);
    let early = tenure(2, (30, 119), 2, End::Open);
    for pair in [[first, early], [early, first]] {
        assert_eq!(found(&pair), [Violation::WithinDelay(first, early)]);
    }
}

#[test]
fn an_acquire_on_its_way_may_slip_through() {
    let first = tenure(1, (0, 10), 1, destroyed(20, 30));
    assert_eq!(found(&[first, tenure(2, (29, 40), 2, End::Open)]), []);
}

#[test]
fn a_later_delay_may_end_with_an_earlier_one() {
    let earlier = tenure(1, (0, 10), 1, destroyed(20, 30));
    let later = tenure(2, (140, 150), 2, destroyed(160, 170));
    assert_eq!(
        found(&[earlier, later, tenure(3, (175, 180), 3, End::Open)]),
        []
    );
}

#[test]
fn a_release_begins_no_delay_and_an_earlier_holder_meets_none() {
    assert_eq!(
        found(&[
            tenure(1, (0, 10), 1, released(20, 30)),
            tenure(2, (31, 35), 2, destroyed(40, 50)),
            tenure(3, (145, 155), 3, End::Open),
        ]),
        []
    );
}

#[test]
fn a_lock_index_that_stands_is_found() {
    let first = tenure(1, (0, 10), 3, released(20, 30));
    for lock_index in [0, 2, 3] {
        let next = tenure(2, (31, 40), lock_index, End::Open);
        assert_eq!(
            found(&[next, first]),
            [Violation::LockIndexStands(first, next)]
        );
    }
    // The same session may come back, and then counts as a later holder.
    assert_eq!(found(&[first, tenure(1, (31, 40), 3, End::Open)]).len(), 1);
}

#[test]
fn a_read_must_show_who_surely_holds() {
    let holder = tenure(1, (0, 10), 1, released(50, 60));
    assert_eq!(seen(&[holder], (20, 30), Some(1)), []);
    for shown in [None, Some(2)] {
        let violations = seen(&[holder], (20, 30), shown);
        assert!(
            matches!(violations[0], Violation::HolderNotShown(..)),
            "{violations:?}"
        );
    }
    // While the lock changes hands a read may show it or not.
    for read in [(5, 20), (40, 55), (55, 70)] {
        assert_eq!(seen(&[holder], read, None), []);
        assert_eq!(seen(&[holder], read, Some(1)), []);
    }
}

#[test]
fn a_read_must_not_show_who_cannot_hold() {
    let holder = tenure(1, (10, 20), 1, released(50, 60));
    for read in [(0, 9), (61, 70)] {
        let violations = seen(&[holder], read, Some(1));
        assert!(
            matches!(violations[..], [Violation::NotAHolder(_)]),
            "{violations:?}"
        );
        assert_eq!(seen(&[holder], read, None), []);
    }
    assert_eq!(seen(&[], (0, 9), Some(3)).len(), 1);
}

#[test]
fn violations_say_what_is_wrong() {
    let one = tenure(1, (0, 10), 1, End::Open);
    let text = found(&[one, one])[0].to_string();
    assert!(
        text.starts_with("two holders at once:\n  Tenure {"),
        "{text}"
    );
}
