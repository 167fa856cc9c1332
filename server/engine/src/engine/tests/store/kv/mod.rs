//! Writing and deleting keys (kv.md 2.3, 2.4, 3).

mod tombstones;

use super::check;

#[test]
fn a_key_keeps_its_create_index_until_it_is_deleted() {
    check(
        "
        put a=1             -> true, index 11
        put a=2             -> true, index 12
        get a               -> a=2 created=11 modified=12, index 12
        delete a            -> true, index 13
        put a=2             -> true, index 14
        get a               -> a=2 created=14 modified=14, index 14
    ",
    );
}

#[test]
fn keys_are_listed_byte_by_byte_under_a_prefix_that_ends_anywhere() {
    check(
        r#"
        put foo/b=1         -> true, index 11
        put foobar=2        -> true, index 12
        put foo=            -> true, index 13
        put Zed=3           -> true, index 14
        put f\xff=4         -> true, index 15
        put f\xff\xff=5     -> true, index 16
        put g=6             -> true, index 17
        keys ""             -> Zed foo foo/b foobar f\xff f\xff\xff g, index 17
        keys foo            -> foo foo/b foobar, index 13
        keys foo/           -> foo/b, index 11
        keys f\xff          -> f\xff f\xff\xff, index 16
        list foo/b          -> foo/b=1 created=11 modified=11, index 11
    "#,
    );
}

#[test]
fn a_write_without_flags_sets_them_to_0() {
    check(
        "
        session create s1   -> s1, index 11
        put a=1 flags=9     -> true, index 12
        put a=1             -> true, index 13
        get a               -> a=1 created=12 modified=13, index 13
        put a=1 flags=9     -> true, index 14
        put a=1 cas=14      -> true, index 15
        get a               -> a=1 created=12 modified=15, index 15
        put a=1 flags=9     -> true, index 16
        put a=1 acquire=s1  -> true, index 17
        get a               -> a=1 lock=1 session=s1 created=12 modified=17, index 17
        put a=1 flags=9 acquire=s1  -> true, index 18
        put a=1 release=s1  -> true, index 19
        get a               -> a=1 lock=1 created=12 modified=19, index 19
    ",
    );
}

#[test]
fn flags_use_all_64_bits() {
    check(
        "
        put a=1 flags=18446744073709551615  -> true, index 11
        get a   -> a=1 flags=18446744073709551615 created=11 modified=11, index 11
    ",
    );
}

#[test]
fn cas_0_creates_and_another_index_must_be_the_modify_index() {
    check(
        "
        put a=1 cas=5       -> false, index 11
        get a               -> missing, index 1
        put a=1 cas=0       -> true, index 12
        put a=2 cas=0       -> false, index 13
        put a=2 cas=12      -> true, index 14
        put a=3 cas=12      -> false, index 15
        get a               -> a=2 created=12 modified=14, index 14
    ",
    );
}

#[test]
fn cas_with_the_same_content_leaves_the_index_that_it_asked_for() {
    check(
        "
        put a=1             -> true, index 11
        put a=1 cas=11      -> true, index 12
        put a=1 cas=11      -> true, index 13
        get a               -> a=1 created=11 modified=11, index 11
    ",
    );
}

#[test]
fn delete_cas_of_a_missing_key_is_true_for_every_index() {
    check(
        "
        delete a cas=0      -> true, index 11
        delete a cas=99     -> true, index 12
        get a               -> missing, index 1
        put a=1             -> true, index 13
        delete a cas=0      -> false, index 14
        delete a cas=12     -> false, index 15
        delete a cas=13     -> true, index 16
        get a               -> missing, index 16
    ",
    );
}

#[test]
fn delete_tree_goes_by_bytes_and_takes_the_prefix_itself() {
    check(
        r#"
        put o=1             -> true, index 11
        put p=1             -> true, index 12
        put p/x=1           -> true, index 13
        put p2=1            -> true, index 14
        put q=1             -> true, index 15
        delete-tree p       -> true, index 16
        keys ""             -> o q, index 16
        delete-tree nothing -> true, index 17
        delete-tree ""      -> true, index 18
        keys ""             -> nothing, index 18
    "#,
    );
}

#[test]
fn a_value_that_does_not_fit_one_raft_entry_takes_an_index_for_each() {
    check(
        "
        put a=x*524000      -> true, index 11
        put a=x*524288      -> true, index 13
        get a               -> a=x*524288 created=11 modified=13, index 13
        put a=y*1572864     -> true, index 17
        put a=              -> true, index 18
        get a               -> a=null created=11 modified=18, index 18
    ",
    );
}
