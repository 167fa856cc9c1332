//! Blocking queries: the writes that end a wait, and those that do not (kv.md 5, session.md 2.1).

use super::check;

#[test]
fn an_index_ahead_of_the_store_waits_until_it_is_passed() {
    check(
        r#"
        put a=1                     -> true, index 11
        wait past get a index=10    -> a=1 created=11 modified=11, index 11
        wait now get a index=11     -> waits
        wait ahead get a index=13   -> waits
        wait far keys "" index=99   -> waits
        put a=2                     -> true, index 12; now: a=2 created=11 modified=12, index 12
        put a=3                     -> true, index 13
        put a=4                     -> true, index 14; ahead: a=4 created=11 modified=14, index 14
        stop far                    -> a, index 14
    "#,
    );
}

#[test]
fn a_wait_whose_time_is_up_answers_with_its_last_look() {
    check(
        "
        put a=1                     -> true, index 11
        put p/x=1                   -> true, index 12
        wait there get a index=11   -> waits
        wait gone get b index=12    -> waits
        wait list list p/ index=12  -> waits
        wait none info s1 index=1   -> waits
        stop there                  -> a=1 created=11 modified=11, index 11
        stop gone                   -> missing, index 12
        stop list                   -> p/x=1 created=12 modified=12, index 12
        stop none                   -> nothing, index 1
    ",
    );
}

#[test]
fn an_existing_key_wakes_on_its_own_changes_only() {
    check(
        "
        session create s1           -> s1, index 11
        put a=1                     -> true, index 12
        put ab=1                    -> true, index 13
        wait value get a index=12   -> waits
        put ab=2                    -> true, index 14
        put a/b=1                   -> true, index 15
        put a=1                     -> true, index 16
        put a=2     -> true, index 17; value: a=2 created=12 modified=17, index 17
        wait flags get a index=17   -> waits
        put a=2 flags=1 -> true, index 18; flags: a=2 flags=1 created=12 modified=18, index 18
        wait lock get a index=18    -> waits
        put a=2 acquire=s1 -> true, index 19; lock: a=2 lock=1 session=s1 created=12 modified=19, index 19
        wait end get a index=19     -> waits
        session destroy s1 -> destroyed s1, released a, index 20; end: a=2 lock=1 created=12 modified=20, index 20
    ",
    );
}

#[test]
fn a_key_that_is_deleted_ends_the_wait_for_it() {
    check(
        r#"
        session create s1 behavior=delete   -> s1, index 11
        put a=1                     -> true, index 12
        wait w1 get a index=12      -> waits
        delete a                    -> true, index 13; w1: missing, index 13
        put a=1                     -> true, index 14
        wait w2 get a index=14      -> waits
        delete-tree ""              -> true, index 15; w2: missing, index 15
        put a=1 acquire=s1          -> true, index 16
        wait w3 get a index=16      -> waits
        session destroy s1          -> destroyed s1, deleted a, index 17; w3: missing, index 17
    "#,
    );
}

#[test]
fn who_waits_for_what_is_missing_may_be_woken_early() {
    check(
        "
        with version 1.8.7
        put k=1                     -> true, index 11
        put kk=1                    -> true, index 12
        wait key get nokey index=12 -> waits
        wait list keys no/ index=12 -> waits
        put q=1     -> true, index 13; key: missing, index 13; list: nothing, index 13
        put nokez=1                 -> true, index 14
        wait key get nokey index=14 -> waits
        wait list keys no/ index=14 -> waits
        put r=1                     -> true, index 15
        put nop=1   -> true, index 16; key: missing, index 16; list: nothing, index 16
        wait key get nokey index=16 -> waits
        put nokey=1 -> true, index 17; key: nokey=1 created=17 modified=17, index 17
    ",
    );
    check(
        "
        with version 1.16.4, 1.22.0
        put k=1                     -> true, index 11
        wait old get nokey index=10 -> missing, index 11
        wait key get nokey index=11 -> waits
        wait list keys no/ index=11 -> waits
        put q=1                     -> true, index 12; list: nothing, index 12
        put nokez=1                 -> true, index 13
        put nokey=1 -> true, index 14; key: nokey=1 created=14 modified=14, index 14
    ",
    );
}

#[test]
fn a_prefix_wakes_on_changes_under_it_only() {
    check(
        "
        put p/x=1                   -> true, index 11
        put q=1                     -> true, index 12
        wait new keys p/ index=11   -> waits
        put q=2                     -> true, index 13
        put p=1                     -> true, index 14
        put p/x=1                   -> true, index 15
        put p/y=1                   -> true, index 16; new: p/x p/y, index 16
        wait value keys p/ index=16 -> waits
        put p/y=2                   -> true, index 17; value: p/x p/y, index 17
        wait gone keys p/ index=17  -> waits
        delete p/y                  -> true, index 18; gone: p/x, index 18
        wait last keys p/ index=18  -> waits
        delete-tree p/              -> true, index 19; last: nothing, index 19
        wait made keys p/ index=19  -> waits
        put q=3                     -> true, index 20
        put p/z=1                   -> true, index 21; made: p/z, index 21
    ",
    );
}

#[test]
fn the_root_wakes_on_every_change() {
    check(
        r#"
        wait first keys "" index=1  -> waits
        put a=1                     -> true, index 11; first: a, index 11
        wait second keys "" index=11    -> waits
        put a=1                     -> true, index 12
        delete a                    -> true, index 13; second: nothing, index 13
    "#,
    );
}

#[test]
fn info_waits_for_its_session_list_for_all_and_node_for_its_node() {
    check(
        "
        register n2                     -> done, index 11
        register n3                     -> done, index 12
        session create s1               -> s1, index 13
        session create s2 node=n2 node_checks=  -> s2, index 14
        wait info info s1 index=14      -> waits
        wait list sessions index=14     -> waits
        wait node sessions of n1 index=14   -> waits
        wait empty sessions of n3 index=14  -> waits
        session renew s1                -> s1
        session destroy s2  -> destroyed s2, index 15; list: s1, index 15; empty: nothing, index 15
        session create s3   -> s3, index 16; node: s1 s3, index 16
        session destroy s1  -> destroyed s1, index 17; info: nothing, index 17
    ",
    );
    check(
        "
        with version 1.8.7
        wait unknown info s9 index=1    -> waits
        session create s1       -> s1, index 11; unknown: nothing, index 11
    ",
    );
    check(
        "
        with version 1.16.4, 1.22.0
        wait unknown info s9 index=1    -> waits
        session create s1       -> s1, index 11
        session create s9       -> s9, index 12; unknown: s9 node=n1 lock_delay=15s checks=serfHealth created=12, index 12
    ",
    );
}

#[test]
fn a_transaction_wakes_at_its_one_index() {
    check(
        r"
        put a=1                     -> true, index 11
        wait a get a index=11       -> waits
        wait b keys b/ index=11     -> waits
        txn
            | set a=2
            | set b/1=1
            | set b/2=1
            -> a created=11 modified=12, b/1 created=12 modified=12, b/2 created=12 modified=12, index 12; \
                a: a=2 created=11 modified=12, index 12; b: b/1 b/2, index 12
    ",
    );
}

#[test]
fn deadlines_wake_as_commands_do() {
    check(
        "
        session create s1 ttl=10s   -> s1, index 11
        put a=1 acquire=s1          -> true, index 12
        wait key get a index=12     -> waits
        wait list sessions index=11 -> waits
        tick 1h     -> lapsed s1, released a, index 13; \
            key: a=1 lock=1 created=12 modified=13, index 13; list: nothing, index 13; lock-delay of a is over
    ",
    );
}

#[test]
fn catalog_reads_wait_for_their_tables() {
    check(
        "
        wait nodes nodes index=10           -> waits
        wait services services index=10     -> waits
        wait checks checks of n1 index=10   -> waits
        register n2     -> done, index 11; nodes: n1 n2, index 11
        register n2 service=web -> done, index 12; services: n2/web name=web created=12 modified=12, index 12
        register n2 check=c1 \
            -> done, index 13; checks: n1/serfHealth passing created=10 modified=10, index 13
    ",
    );
}
