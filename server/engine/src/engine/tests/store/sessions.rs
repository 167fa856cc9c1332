//! Creation, renewal, reads and lapses of sessions (session.md 1 to 3).

use super::check;

#[test]
fn a_session_lapses_after_twice_its_ttl() {
    check(
        "
        session create s1 ttl=10s   -> s1, index 11
        put job=a acquire=s1        -> true, index 12
        tick 19999ms                -> nothing due
        tick 1ms                    -> lapsed s1, released job, index 13
        get job                     -> job=a lock=1 created=12 modified=13, index 13
        session renew s1            -> refused: no session s1
        put job=a acquire=s1        -> false, lock-delay 15s left
        tick 15s                    -> lock-delay of job is over
        put job=a acquire=s1        -> refused: invalid session s1, index 14
    ",
    );
}

#[test]
fn only_a_renew_starts_the_ttl_anew() {
    check(
        "
        session create s1 ttl=10s lock_delay=0s -> s1, index 11
        session create s2 ttl=10s lock_delay=0s -> s2, index 12
        tick 19s                    -> nothing due
        session renew s2            -> s2
        put a=1 acquire=s1          -> true, index 13
        put a=2 release=s1          -> true, index 14
        put a=2 acquire=s1          -> true, index 15
        put a=3                     -> true, index 16
        info s1     -> s1 node=n1 lock_delay=0s ttl=10s checks=serfHealth created=11, index 12
        tick 1s                     -> lapsed s1, released a, index 17
        tick 18999ms                -> nothing due
        tick 1ms                    -> lapsed s2, index 18
        sessions                    -> nothing, index 18
    ",
    );
}

#[test]
fn a_session_without_a_ttl_never_lapses_and_can_be_renewed() {
    check(
        "
        session create s1           -> s1, index 11
        session create s2 ttl=0s    -> s2, index 12
        tick 48h                    -> nothing due
        session renew s1            -> s1
        session renew s2            -> s2
        tick 48h                    -> nothing due
        sessions                    -> s1 s2, index 12
    ",
    );
}

#[test]
fn sessions_that_lapse_together_do_so_in_the_order_of_their_creation_each_with_its_own_index() {
    check(
        "
        session create s3 ttl=10s   -> s3, index 11
        session create s1 ttl=10s   -> s1, index 12
        session create s2 ttl=10s   -> s2, index 13
        tick 20s                    -> lapsed s3, index 14; lapsed s1, index 15; lapsed s2, index 16
    ",
    );
}

#[test]
fn a_destroyed_session_does_not_lapse() {
    check(
        "
        session create s1 ttl=10s   -> s1, index 11
        session destroy s1          -> destroyed s1, index 12
        tick 1h                     -> nothing due
    ",
    );
}

#[test]
fn node_and_check_names_match_in_any_case_and_the_spelling_sent_is_kept() {
    check(
        "
        register Node2 check=Ok         -> done, index 11
        session create s1 node=nODE2 node_checks=oK -> s1, index 12
        info s1     -> s1 node=nODE2 lock_delay=15s checks=oK created=12, index 12
        sessions of NODE2               -> s1, index 12
        register NODE2 check=OK status=critical     -> critical OK ended s1, index 13
    ",
    );
}

#[test]
fn an_unknown_session_is_no_error_to_read_or_destroy_and_one_to_renew() {
    check(
        "
        info s9                     -> nothing, index 1
        session renew s9            -> refused: no session s9
        session create s1           -> s1, index 11
        session destroy s1          -> destroyed s1, index 12
        info s1                     -> nothing, index 12
        session renew s1            -> refused: no session s1
    ",
    );
    check(
        "
        with version 1.8.7
        session destroy s9          -> done, index 11
        sessions                    -> nothing, index 1
    ",
    );
}

#[test]
fn a_session_needs_its_node_and_every_one_of_its_checks() {
    check(
        "
        register n1 check=ok check=bad status=critical  -> done, index 11
        session create s1 node=n9                   -> refused: missing node, index 12
        session create s1 checks=nope,bad           -> refused: missing check nope, index 13
        session create s1 node_checks=serfHealth,nope   -> refused: missing check nope, index 14
        session create s1 checks=bad node_checks=nope   -> refused: check bad is critical, index 15
        session create s1 service_checks=nope       -> refused: missing check nope, index 16
        sessions                                    -> nothing, index 1
        session create s1 service_checks=ok         -> s1, index 17
    ",
    );
}

#[test]
fn a_node_of_the_catalog_has_no_serf_health() {
    check(
        "
        register ext                            -> done, index 11
        session create s1 node=ext              -> refused: missing check serfHealth, index 12
        session create s1 node=ext node_checks= -> s1, index 13
        info s1     -> s1 node=ext lock_delay=15s checks= created=13, index 13
    ",
    );
}

#[test]
fn sessions_are_listed_in_the_order_of_their_ids() {
    check(
        "
        register n2                             -> done, index 11
        session create s3                       -> s3, index 12
        session create s1 node=n2 node_checks=  -> s1, index 13
        session create s2                       -> s2, index 14
        sessions                                -> s1 s2 s3, index 14
        sessions of n1                          -> s2 s3, index 14
    ",
    );
}

#[test]
fn a_session_is_found_by_its_id_in_upper_case() {
    check(
        "
        session create s1       -> s1, index 11
        info S1     -> s1 node=n1 lock_delay=15s checks=serfHealth created=11, index 11
        session renew S1        -> s1
        session destroy S1      -> destroyed s1, index 12
    ",
    );
}
