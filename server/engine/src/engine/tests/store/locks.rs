//! Acquire, release and the lock-delay (kv.md 2.5 and 8, session.md 3.3 and 3.5).

use super::check;

#[test]
fn only_the_holder_acquires_again_and_the_lock_index_counts_holders() {
    check(
        "
        session create s1           -> s1, index 11
        session create s2           -> s2, index 12
        put a=1 flags=9 acquire=s1  -> true, index 13
        get a       -> a=1 flags=9 lock=1 session=s1 created=13 modified=13, index 13
        put a=2 acquire=s2          -> false, held by s1, index 14
        put a=2 acquire=s1          -> true, index 15
        get a       -> a=2 lock=1 session=s1 created=13 modified=15, index 15
        put a=3 release=s2          -> false, index 16
        put a=3 release=s1          -> true, index 17
        put a=3 release=s1          -> false, index 18
        get a       -> a=3 lock=1 created=13 modified=17, index 17
        put a=3 acquire=s2          -> true, index 19
        get a       -> a=3 lock=2 session=s2 created=13 modified=19, index 19
    ",
    );
}

#[test]
fn a_missing_key_cannot_be_released() {
    check(
        "
        session create s1       -> s1, index 11
        put a=1 release=s1      -> false, index 12
        put a=1 release=nope    -> false, index 13
        put a=1 release=        -> refused: missing session, index 14
        put a=1 acquire=        -> refused: missing session, index 15
        get a                   -> missing, index 1
    ",
    );
}

#[test]
fn a_plain_or_cas_write_of_a_held_key_keeps_the_holder_and_zeroes_the_lock_index() {
    check(
        "
        session create s1       -> s1, index 11
        put a=1 acquire=s1      -> true, index 12
        put a=2                 -> true, index 13
        get a                   -> a=2 session=s1 created=12 modified=13, index 13
        put a=2 acquire=s1      -> true, index 14
        get a                   -> a=2 session=s1 created=12 modified=13, index 13
        put b=1 acquire=s1      -> true, index 15
        put b=2 cas=15          -> true, index 16
        get b                   -> b=2 session=s1 created=15 modified=16, index 16
    ",
    );
}

#[test]
fn the_same_value_right_after_an_acquire_is_a_change() {
    check(
        "
        session create s1       -> s1, index 11
        put a=1 acquire=s1      -> true, index 12
        put a=1                 -> true, index 13
        get a                   -> a=1 session=s1 created=12 modified=13, index 13
        put a=1                 -> true, index 14
        get a                   -> a=1 session=s1 created=12 modified=13, index 13
    ",
    );
}

#[test]
fn after_a_plain_write_the_lock_index_counts_from_1_again() {
    check(
        "
        session create s1       -> s1, index 11
        put a=1 acquire=s1      -> true, index 12
        put a=1 release=s1      -> true, index 13
        put a=1 acquire=s1      -> true, index 14
        get a                   -> a=1 lock=2 session=s1 created=12 modified=14, index 14
        put a=1                 -> true, index 15
        put a=1 release=s1      -> true, index 16
        put a=1 acquire=s1      -> true, index 17
        get a                   -> a=1 lock=1 session=s1 created=12 modified=17, index 17
    ",
    );
}

#[test]
fn a_release_writes_its_own_value_and_flags() {
    check(
        "
        session create s1           -> s1, index 11
        put a=1 flags=9 acquire=s1  -> true, index 12
        put a= release=s1           -> true, index 13
        get a                       -> a=null lock=1 created=12 modified=13, index 13
    ",
    );
}

#[test]
fn an_acquire_is_refused_by_error_or_by_false_depending_on_what_is_looked_at_first() {
    check(
        "
        session create s1               -> s1, index 11
        session create s2 lock_delay=0s -> s2, index 12
        put a=1 acquire=s1              -> true, index 13
        put a=1 acquire=s9              -> refused: invalid session s9, index 14
        put a=1 acquire=s2              -> false, held by s1, index 15
        session destroy s1              -> destroyed s1, released a, index 16
        put a=1 acquire=s1              -> false, lock-delay 15s left
        put a=1 acquire=s9              -> false, lock-delay 15s left
        put a=1 acquire=nope            -> false, lock-delay 15s left
        put a=1 acquire=                -> false, lock-delay 15s left
        tick 15s                        -> lock-delay of a is over
        put a=1 acquire=s9              -> refused: invalid session s9, index 17
        put a=1 acquire=s2              -> true, index 18
    ",
    );
}

#[test]
fn until_1_11_a_malformed_id_is_an_error_of_its_own() {
    check(
        "
        with version 1.8.7
        put a=1 acquire=nope    -> refused: an id has 36 characters, index 11
        put a=1 acquire=zbababab-abab-abab-abab-abababababab -> refused: 'z' is no digit of an id, index 12
        put a=1 acquire=ababababa-bab-abab-abab-abababababa- -> refused: an id has no 5 hyphens, index 13
        put a=1 acquire=abababababab-abab-abab-abababababab0 -> refused: an id has an even number of digits, index 14
        put a=1 acquire=abababababab-abababab-abababababab00 -> refused: invalid session abababababab-abababab-abababababab00, index 15
        session destroy nope    -> refused: an id has 36 characters, index 16
        session renew nope      -> refused: an id has 36 characters
        info nope               -> refused: an id has 36 characters
    ",
    );
}

#[test]
fn since_1_11_a_malformed_id_is_an_unknown_one() {
    check(
        "
        with version 1.11.0, 1.16.4, 1.22.0
        put a=1 acquire=nope    -> refused: invalid session nope, index 11
        session destroy nope    -> done
        session destroy s1      -> done
        session renew nope      -> refused: no session nope
        info nope               -> nothing, index 1
    ",
    );
}

#[test]
fn the_lock_delay_outlives_the_key_and_follows_the_end_of_a_session_only() {
    check(
        "
        session create s1 lock_delay=15s                    -> s1, index 11
        session create s2 lock_delay=15s behavior=delete    -> s2, index 12
        session create s3                                   -> s3, index 13
        put released=1 acquire=s1                           -> true, index 14
        put released=1 release=s1                           -> true, index 15
        put removed=1 acquire=s1                            -> true, index 16
        delete removed                                      -> true, index 17
        put held=1 acquire=s1                               -> true, index 18
        put gone=1 acquire=s2                               -> true, index 19
        session destroy s1                                  -> destroyed s1, released held, index 20
        session destroy s2                                  -> destroyed s2, deleted gone, index 21
        put released=1 acquire=s3                           -> true, index 22
        put removed=1 acquire=s3                            -> true, index 23
        put gone=1 acquire=s3                               -> false, lock-delay 15s left
        delete held                                         -> true, index 24
        put held=2                                          -> true, index 25
        put held=2 acquire=s3                               -> false, lock-delay 15s left
        tick 14s                                            -> nothing due
        put gone=1 acquire=s3                               -> false, lock-delay 1s left
        tick 1s                 -> lock-delay of gone is over; lock-delay of held is over
        put gone=1 acquire=s3                               -> true, index 26
        put held=1 acquire=s3                               -> true, index 27
    ",
    );
}

#[test]
fn the_lock_delay_holds_back_nothing_but_acquires_of_that_key() {
    check(
        "
        session create s1 behavior=delete   -> s1, index 11
        session create s2                   -> s2, index 12
        put a=1 acquire=s1                  -> true, index 13
        put a/b=1                           -> true, index 14
        session destroy s1                  -> destroyed s1, deleted a, index 15
        put a=2                             -> true, index 16
        put a=3 cas=16                      -> true, index 17
        put a=3 release=s2                  -> false, index 18
        delete a                            -> true, index 19
        put a=4                             -> true, index 20
        put a=4 acquire=s2                  -> false, lock-delay 15s left
        put a/b=1 acquire=s2                -> true, index 21
        get a                               -> a=4 created=20 modified=20, index 20
    ",
    );
}

#[test]
fn what_is_refused_before_raft_takes_no_index() {
    check(
        r#"
        session create s1           -> s1, index 11
        put a=1 acquire=s1          -> true, index 12
        session destroy s1          -> destroyed s1, released a, index 13
        put a=1 acquire=s1          -> false, lock-delay 15s left
        txn
            | lock a=1 session=s1
            | set b=1               -> #0 a: lock-delay
        txn
            | set ""=1
            | get ""                -> #0 "": empty key, #1 "": empty key
        put b=1 acquire=s1          -> refused: invalid session s1, index 14
        txn
            | lock b=1 session=s1   -> #0 b: invalid session s1, index 15
    "#,
    );
}

#[test]
fn a_refused_acquire_takes_an_index_when_the_key_is_held_and_none_in_its_lock_delay() {
    check(
        "
        session create s1       -> s1, index 11
        session create s2       -> s2, index 12
        put a=1 acquire=s1      -> true, index 13
        put a=1 acquire=s2      -> false, held by s1, index 14
        put b=1                 -> true, index 15
        session destroy s1      -> destroyed s1, released a, index 16
        put a=1 acquire=s2      -> false, lock-delay 15s left
        put a=1 acquire=s2      -> false, lock-delay 15s left
        put b=2                 -> true, index 17
    ",
    );
}

#[test]
fn a_lock_delay_acts_up_to_a_minute_and_a_negative_one_not_at_all() {
    check(
        "
        session create s1 lock_delay=120s   -> s1, index 11
        session create s2 lock_delay=-1s    -> s2, index 12
        session create s3 lock_delay=0s     -> s3, index 13
        session create s4                   -> s4, index 14
        info s1     -> s1 node=n1 lock_delay=2m checks=serfHealth created=11, index 14
        info s2     -> s2 node=n1 lock_delay=-1s checks=serfHealth created=12, index 14
        put a=1 acquire=s1                  -> true, index 15
        put b=1 acquire=s2                  -> true, index 16
        put c=1 acquire=s3                  -> true, index 17
        session destroy s1                  -> destroyed s1, released a, index 18
        session destroy s2                  -> destroyed s2, released b, index 19
        session destroy s3                  -> destroyed s3, released c, index 20
        put a=1 acquire=s4                  -> false, lock-delay 1m left
        put b=1 acquire=s4                  -> true, index 21
        put c=1 acquire=s4                  -> true, index 22
        tick 1m                             -> lock-delay of a is over
        put a=1 acquire=s4                  -> true, index 23
    ",
    );
}

#[test]
fn a_second_invalidation_starts_the_lock_delay_anew() {
    check(
        "
        session create s1 lock_delay=10s    -> s1, index 11
        session create s2 lock_delay=1s     -> s2, index 12
        put a=1 acquire=s1                  -> true, index 13
        session destroy s1                  -> destroyed s1, released a, index 14
        tick 10s                            -> lock-delay of a is over
        put a=1 acquire=s2                  -> true, index 15
        session destroy s2                  -> destroyed s2, released a, index 16
        tick 999ms                          -> nothing due
        tick 1ms                            -> lock-delay of a is over
    ",
    );
}

#[test]
fn whoever_knows_a_session_can_acquire_and_release_with_it() {
    check(
        "
        register n2                         -> done, index 11
        session create s1 node=n2 node_checks= name=theirs -> s1, index 12
        put a=1 acquire=s1                  -> true, index 13
        put a=2 release=s1                  -> true, index 14
        get a                               -> a=2 lock=1 created=13 modified=14, index 14
    ",
    );
}

#[test]
fn an_id_in_upper_case_is_the_same_session_and_another_holder() {
    check(
        "
        session create s1       -> s1, index 11
        put a=1 acquire=S1      -> true, index 12
        get a                   -> a=1 lock=1 session=S1 created=12 modified=12, index 12
        put a=1 acquire=s1      -> false, held by S1, index 13
        put a=1 release=s1      -> false, index 14
        put a=2 release=S1      -> true, index 15
        put a=2 acquire=S1      -> true, index 16
        session destroy s1      -> destroyed s1, released a, index 17
        get a                   -> a=2 lock=2 created=12 modified=17, index 17
    ",
    );
}
