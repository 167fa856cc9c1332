//! Transactions (kv.md 7).

use super::check;

#[test]
fn results_are_not_aligned_with_operations_and_all_failures_are_listed() {
    check(
        "
        put t/a=1               -> true, index 11
        put t/b=2               -> true, index 12
        txn
            | check-not-exists new
            | delete nothing
            | set c=3
            | check-index t/a index=11
            | check-session t/a session=
            | get t/a
            | get-tree t/
            | get-tree none/
            | cas c=4 index=13
            -> c created=13 modified=13, t/a created=11 modified=11, t/a created=11 modified=11, \
                t/a=1 created=11 modified=11, t/a=1 created=11 modified=11, \
                t/b=2 created=12 modified=12, c created=13 modified=13, index 13
        txn
            | set t/a=9
            | get nope
            | check-not-exists c
            | cas c=5 index=1
            -> #1 nope: missing, #2 c: exists, #3 c: stale, index 14
        get t/a                 -> t/a=1 created=11 modified=11, index 11
    ",
    );
}

#[test]
fn unknown_verbs_count_as_reads_and_only_delete_tree_may_have_an_empty_key() {
    check(
        r#"
        put a=1                 -> true, index 11
        txn
            | get a
            | get-tree ""       -> #1 "": empty key
        txn
            | SET a=2           -> #0 a=2: unknown verb SET
        txn
            | delete-tree ""    -> no results, index 12
        keys ""                 -> nothing, index 12
    "#,
    );
}

#[test]
fn an_unknown_verb_is_found_when_its_turn_comes_until_1_19_1() {
    check(
        "
        with version 1.8.7, 1.19.0
        txn
            | set a=1
            | frob a
            | check-not-exists a    -> #1 a: unknown verb frob, #2 a: exists, index 11
        get a                       -> missing, index 1
    ",
    );
}

#[test]
fn an_unknown_verb_is_found_before_anything_runs_since_1_19_1() {
    check(
        r#"
        with version 1.19.1, 1.22.0
        txn
            | set a=1
            | frob a
            | frob ""
            | check-not-exists a    -> #1 a: unknown verb frob, #2 "": empty key
    "#,
    );
}

#[test]
fn the_pre_check_lists_only_its_own_failures() {
    check(
        r#"
        session create s1       -> s1, index 11
        put a=1 acquire=s1      -> true, index 12
        session destroy s1      -> destroyed s1, released a, index 13
        txn
            | get nope
            | lock a=1 session=s1
            | set ""=1
            | delete ""
            -> #1 a: lock-delay, #2 "": empty key, #3 "": empty key
    "#,
    );
}

#[test]
fn later_operations_see_the_earlier_ones() {
    check(
        "
        put old=1               -> true, index 11
        txn
            | check-not-exists a
            | set a=1
            | get a
            | set a=2
            | get-tree a
            | set old=2
            | delete old
            | check-not-exists old
            | set old=3
            -> a created=12 modified=12, a=1 created=12 modified=12, a created=12 modified=12, \
                a=2 created=12 modified=12, old created=11 modified=12, old created=12 modified=12, index 12
        get old                 -> old=3 created=12 modified=12, index 12
        txn
            | set a=3
            | cas a=4 index=12  -> #1 a: stale, index 13
        get a                   -> a=2 created=12 modified=12, index 12
    ",
    );
}

#[test]
fn a_transaction_that_fails_leaves_everything_as_it_was_and_wakes_nobody() {
    check(
        r#"
        session create s1       -> s1, index 11
        put a=1 acquire=s1      -> true, index 12
        put d/1=1               -> true, index 13
        wait all keys "" index=13   -> waits
        txn
            | delete-tree d/
            | unlock a=2 session=s1
            | set b=1
            | check-not-exists b    -> #3 b: exists, index 14
        list "" -> a=1 lock=1 session=s1 created=12 modified=12, d/1=1 created=13 modified=13, index 13
        session destroy s1      -> destroyed s1, released a, index 15; all: a d/1, index 15
    "#,
    );
}

#[test]
fn writes_of_a_transaction_follow_the_rules_of_single_writes() {
    check(
        "
        session create s1                   -> s1, index 11
        session create s2                   -> s2, index 12
        txn
            | lock a=1 flags=9 session=s1   -> a flags=9 lock=1 session=s1 created=13 modified=13, index 13
        txn
            | set a=1 flags=9               -> a flags=9 session=s1 created=13 modified=14, index 14
        txn
            | set a=1 flags=9               -> a flags=9 session=s1 created=13 modified=14, index 15
        txn
            | lock a=1 session=s2
            | lock b=1 session=s9
            | lock b=1 session=
            | unlock a=1 session=s2
            | unlock nope=1 session=s2
            | unlock a=1 session=
            | delete-cas a index=1
            -> #0 a: held, #1 b: invalid session s9, #2 b: missing session, #3 a: not held, \
                #4 nope: not held, #5 a: missing session, #6 a: stale, index 16
        txn
            | unlock a= session=s1          -> a created=13 modified=17, index 17
        txn
            | delete-cas a index=17
            | delete-cas a index=17         -> no results, index 18
    ",
    );
}

#[test]
fn conditions_say_what_they_found() {
    check(
        r#"
        session create s1       -> s1, index 11
        put a=1 acquire=s1      -> true, index 12
        put b=1                 -> true, index 13
        txn
            | check-index a index=11
            | check-index nope index=0
            | check-session a session=
            | check-session b session=s1
            | check-session nope session=
            | get nope
            -> #0 a: index 12 is not 11, #1 nope: missing, #2 a: session "s1" is not "", \
                #3 b: session "" is not "s1", #4 nope: missing, #5 nope: missing
        txn
            | check-index a index=12
            | check-session a session=s1
            | check-session b session=
            | check-not-exists nope
            -> a lock=1 session=s1 created=12 modified=12, a lock=1 session=s1 created=12 modified=12, \
                b created=13 modified=13
    "#,
    );
}

#[test]
fn get_or_empty_shows_a_missing_key_as_it_was_asked_for() {
    check(
        "
        put a=1                 -> true, index 11
        txn
            | get-or-empty a flags=3 index=7
            | get-or-empty b flags=3 index=7 session=s1
            -> a=1 created=11 modified=11, b=null flags=3 session=s1 created=0 modified=7
    ",
    );
}
