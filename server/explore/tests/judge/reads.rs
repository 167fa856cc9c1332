//! Whether what reads show is linearizable.

use proconsul_explore::{Finding, Limits, Property, judge};

use crate::runs::{is_right, run};

/// Two writes; then a follower answers that has applied one of them.
const READ: &str = "mute
1 a put k
2 a put k
3 b get k?stale behind 1";

/// Judges `stale-read` alone.
fn findings(text: &str) -> Vec<Finding> {
    let mut limits = Limits::default();
    limits.only = vec![Property::StaleRead];
    judge(&run(text), &limits).findings
}

fn is_linearizable(text: &str) -> bool {
    findings(text).is_empty()
}

#[test]
fn a_read_of_what_was_before_an_answered_write_is_found() {
    assert!(!is_linearizable(READ));
    assert!(!is_linearizable(&READ.replace("behind 1", "behind 0")));
    assert!(!is_linearizable(&READ.replace("2 a put", "2 a delete")));
    assert!(!is_linearizable(
        &READ.replace("get k?stale", "get ?recurse&stale")
    ));
    let text =
        r#"stale-read: at 3.000s b read /v1/kv/k?stale as it was before "k" was written at 2.000s"#;
    assert_eq!(findings(READ)[0].to_string(), text);
}

#[test]
fn it_is_judged_only_where_it_is_asked_for() {
    is_right(READ);
}

#[test]
fn a_read_that_shows_all_that_had_been_answered_is_right() {
    assert!(is_linearizable(&READ.replace("behind 1", "behind 2")));
    // The leader has answered it.
    assert!(is_linearizable(&READ.replace(" behind 1", "")));
    // The write is answered after the read is sent, or never.
    assert!(is_linearizable(
        &READ.replace("2 a put k", "2 a put k in 2")
    ));
    assert!(is_linearizable(&READ.replace("2 a put k", "2 a put k cut")));
    // It is of another key, which the read does not show.
    assert!(is_linearizable(&READ.replace("2 a put k", "2 a put l")));
    assert!(is_linearizable(&READ.replace("k?stale", "k?keys&stale")));
    // A prefix is deleted that is no key.
    let deleted = READ.replace("1 a put k", "1 a put k/x");
    assert!(is_linearizable(
        &deleted.replace("2 a put k", "2 a delete k")
    ));
}

#[test]
fn what_another_read_has_shown_is_not_taken_back() {
    let cut = READ.replace("2 a put k", "2 a put k cut");
    assert!(!is_linearizable(&cut.replace("3 b", "2.5 a get k\n3 b")));
    assert!(!is_linearizable(
        &cut.replace("3 b", "2.5 b get k?stale behind 2\n3 b")
    ));
    assert!(is_linearizable(&cut.replace("3 b", "2.5 a get l\n3 b")));
    assert!(is_linearizable(
        &cut.replace("3 b", "2.5 a get k in 1\n3 b")
    ));
    assert!(is_linearizable(&cut.replace("3 b", "1.5 a get k\n3 b")));
}
