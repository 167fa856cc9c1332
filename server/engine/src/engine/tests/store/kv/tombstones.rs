//! Tombstones, their reaping, and the indexes that go back with it (kv.md 4.3).

use crate::engine::tests::store::check;

#[test]
fn the_index_of_a_prefix_slides_back_and_such_a_delete_leaves_its_waiters_asleep() {
    check(
        r#"
        put a/1=1               -> true, index 11
        delete a/1              -> true, index 12
        put a/2=1               -> true, index 13
        put p/1=1               -> true, index 14
        put p/2=1               -> true, index 15
        delete p/2              -> true, index 16
        put p/1=2               -> true, index 17
        keys p/                 -> p/1, index 17
        wait p keys p/ index=17 -> waits
        delete-tree p           -> true, index 18
        keys p/                 -> nothing, index 16
        stop p                  -> nothing, index 16
        keys p                  -> nothing, index 18
        keys a/                 -> a/2, index 13
        wait a keys a/ index=13 -> waits
        delete-tree ""          -> true, index 19
        keys a/                 -> nothing, index 12
        stop a                  -> nothing, index 12
        keys q/                 -> nothing, index 19
        keys ""                 -> nothing, index 19
    "#,
    );
}

#[test]
fn tombstones_are_reaped_15_minutes_later_at_a_half_minute_and_wake_nobody() {
    check(
        r#"
        tick 15s                -> nothing due
        put t/1=1               -> true, index 11
        put t/2=1               -> true, index 12
        delete t/2              -> true, index 13
        put u/1=1               -> true, index 14
        delete u/1              -> true, index 15
        put w=1                 -> true, index 16
        tick 15s                -> nothing due
        put v=1                 -> true, index 17
        delete v                -> true, index 18
        wait t keys t/ index=13 -> waits
        wait u keys u/ index=15 -> waits
        tick 14m                -> nothing due
        tick 30s                -> nothing due
        keys t/                 -> t/1, index 13
        tick 29999ms            -> nothing due
        tick 1ms                -> reaped up to 18, index 19
        keys t/                 -> t/1, index 11
        keys u/                 -> nothing, index 18
        get u/1                 -> missing, index 18
        keys ""                 -> t/1 w, index 18
        stop t                  -> t/1, index 13
    "#,
    );
}

#[test]
fn each_half_minute_reaps_its_own_tombstones() {
    check(
        "
        put a=1                 -> true, index 11
        delete a                -> true, index 12
        tick 1ns                -> nothing due
        put b/1=1               -> true, index 13
        put b/2=1               -> true, index 14
        delete b/2              -> true, index 15
        tick 15m                -> reaped up to 12, index 16
        keys b/                 -> b/1, index 15
        tick 30s                -> reaped up to 15, index 17
        keys b/                 -> b/1, index 13
        tick 1h                 -> nothing due
    ",
    );
}

#[test]
fn a_key_that_is_made_again_keeps_the_tombstone_below_its_own_index() {
    check(
        "
        put p/a=1               -> true, index 11
        put p/b=1               -> true, index 12
        delete p/b              -> true, index 13
        put p/b=1               -> true, index 14
        keys p/                 -> p/a p/b, index 14
        delete p/b              -> true, index 15
        keys p/                 -> p/a, index 15
    ",
    );
}

#[test]
fn indexes_that_are_lowered_do_not_reap_what_was_deleted_since() {
    check(
        r#"
        put t/1=1               -> true, index 11
        put t/2=1               -> true, index 12
        delete t/1              -> true, index 13
        tick 60s                -> nothing due
        lower by=10             -> index 3
        delete t/2              -> true, index 4
        tick 14m                -> reaped up to 3, index 5
        keys t/                 -> nothing, index 4
        tick 60s                -> reaped up to 4, index 6
        keys t/                 -> nothing, index 4
    "#,
    );
}
