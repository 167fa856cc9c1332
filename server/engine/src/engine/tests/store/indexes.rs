//! The indexes of reads, and the writes that move them (kv.md 4, session.md 2.1).

use super::check;

#[test]
fn the_index_of_a_read_depends_on_what_it_finds() {
    check(
        r#"
        put a=1             -> true, index 11
        put p/x=1           -> true, index 12
        put p/y=1           -> true, index 13
        delete p/y          -> true, index 14
        put z=1             -> true, index 15
        get a               -> a=1 created=11 modified=11, index 11
        get missing         -> missing, index 15
        keys a              -> a, index 11
        keys p/             -> p/x, index 14
        keys p/y            -> nothing, index 14
        keys empty/         -> nothing, index 15
        keys ""             -> a p/x z, index 15
        delete z            -> true, index 16
        get missing         -> missing, index 16
        keys empty/         -> nothing, index 16
        keys ""             -> a p/x, index 16
    "#,
    );
}

#[test]
fn a_fresh_store_says_index_1() {
    check(
        r#"
        get a               -> missing, index 1
        keys p/             -> nothing, index 1
        keys ""             -> nothing, index 1
        services            -> nothing, index 1
    "#,
    );
}

#[test]
fn what_changes_nothing_takes_an_index_and_moves_none() {
    check(
        r#"
        session create s1           -> s1, index 11
        session create s2           -> s2, index 12
        put a=1 acquire=s1          -> true, index 13
        wait all keys "" index=13   -> waits
        wait one get a index=13     -> waits
        wait other get b index=13   -> waits
        put a=1 acquire=s1          -> true, index 14
        put a=2 acquire=s2          -> false, held by s1, index 15
        put a=2 cas=9               -> false, index 16
        put b=1 cas=9               -> false, index 17
        put a=2 release=s2          -> false, index 18
        put b=2 release=s1          -> false, index 19
        delete a cas=9              -> false, index 20
        delete b                    -> true, index 21
        delete b cas=9              -> true, index 22
        delete-tree b/              -> true, index 23
        put a=1 acquire=s9          -> refused: invalid session s9, index 24
        session renew s1            -> s1
        keys ""                     -> a, index 13
        get b                       -> missing, index 13
        get a                       -> a=1 lock=1 session=s1 created=13 modified=13, index 13
        stop other                  -> missing, index 13
        put a=2                     -> true, index 25; all: a, index 25; one: a=2 session=s1 created=13 modified=25, index 25
    "#,
    );
}

#[test]
fn tombstones_at_and_under_a_prefix_count_and_those_beside_it_do_not() {
    check(
        r"
        put p/x=1           -> true, index 11
        put p/sub/y=1       -> true, index 12
        put p2=1            -> true, index 13
        delete-tree p/sub/  -> true, index 14
        delete p2           -> true, index 15
        keys p/             -> p/x, index 14
        keys p/sub/         -> nothing, index 14
        keys p/sub/y        -> nothing, index 15
        keys p              -> p/x, index 15
    ",
    );
}

#[test]
fn all_session_reads_share_one_index_that_starts_at_1() {
    check(
        "
        sessions            -> nothing, index 1
        sessions of n1      -> nothing, index 1
        info s1             -> nothing, index 1
        put a=1             -> true, index 11
        session create s1   -> s1, index 12
        session create s2   -> s2, index 13
        session create s3 node=nowhere  -> refused: missing node, index 14
        put a=1 acquire=s1  -> true, index 15
        sessions            -> s1 s2, index 13
        sessions of n1      -> s1 s2, index 13
        sessions of nowhere -> nothing, index 13
        info s1             -> s1 node=n1 lock_delay=15s checks=serfHealth created=12, index 13
        info s9             -> nothing, index 13
        session destroy s2  -> destroyed s2, index 16
        info s1             -> s1 node=n1 lock_delay=15s checks=serfHealth created=12, index 16
    ",
    );
}
