//! The ends of sessions, and their consequences (session.md 3).

use super::check;

#[test]
fn everything_that_an_invalidation_touches_gets_one_index() {
    check(
        "
        register n2 service=web check=c1 service_id=web check=c2    -> done, index 11
        session create s1 node=n2 node_checks=c1                    -> s1, index 12
        session create s2 node=n2 node_checks=c1 behavior=delete    -> s2, index 13
        put k/a=1 acquire=s1            -> true, index 14
        put k/b=1 acquire=s2            -> true, index 15
        put k/c=1                       -> true, index 16
        register n2 check=c1 service_id=web status=critical \
            -> critical c1 ended s1, released k/a, critical c1 ended s2, deleted k/b, index 17
        list k/         -> k/a=1 lock=1 created=14 modified=17, k/c=1 created=16 modified=16, index 17
        keys k/b                        -> nothing, index 17
        sessions                        -> nothing, index 17
        checks in critical              -> n2/c1 critical service=web created=11 modified=17, index 17
    ",
    );
}

#[test]
fn a_released_key_keeps_all_but_its_holder() {
    check(
        "
        session create s1               -> s1, index 11
        put a=1 flags=9 acquire=s1      -> true, index 12
        put a=2 flags=8 release=s1      -> true, index 13
        put a=3 flags=7 acquire=s1      -> true, index 14
        get a       -> a=3 flags=7 lock=2 session=s1 created=12 modified=14, index 14
        session destroy s1              -> destroyed s1, released a, index 15
        get a       -> a=3 flags=7 lock=2 created=12 modified=15, index 15
    ",
    );
}

#[test]
fn a_session_that_holds_nothing_leaves_the_keys_alone() {
    check(
        r#"
        session create s1               -> s1, index 11
        put a=1 acquire=s1              -> true, index 12
        put a=1 release=s1              -> true, index 13
        session destroy s1              -> destroyed s1, index 14
        keys ""                         -> a, index 13
        session create s2               -> s2, index 15
        put a=1 acquire=s2              -> true, index 16
    "#,
    );
}

#[test]
fn a_session_loses_all_its_keys_in_key_order() {
    check(
        "
        session create s1                   -> s1, index 11
        session create s2 behavior=delete   -> s2, index 12
        put c=1 acquire=s1                  -> true, index 13
        put a=1 acquire=s1                  -> true, index 14
        put b=1 acquire=s2                  -> true, index 15
        put d=1 acquire=s2                  -> true, index 16
        session destroy s1                  -> destroyed s1, released a, released c, index 17
        session destroy s2                  -> destroyed s2, deleted b, deleted d, index 18
    ",
    );
}

#[test]
fn a_check_ends_its_sessions_when_it_turns_critical_or_goes() {
    check(
        "
        register n1 check=c1 check=c2           -> done, index 11
        session create s1 node_checks=c1        -> s1, index 12
        session create s2 node_checks=c2        -> s2, index 13
        session create s3 node_checks=          -> s3, index 14
        register n1 check=c1 status=warning     -> done, index 15
        register n1 check=_node_maintenance status=critical -> done, index 16
        register n1 address=10.0.0.9            -> done, index 17
        sessions                                -> s1 s2 s3, index 14
        register n1 check=c1 status=critical    -> critical c1 ended s1, index 18
        deregister n1 check=c2                  -> deleted c2 ended s2, index 19
        sessions                                -> s3, index 19
        session create s4                       -> s4, index 20
    ",
    );
}

#[test]
fn a_service_takes_the_sessions_of_its_checks_along() {
    check(
        "
        register n1 service=web1 name=web check=c1 service_id=web1  -> done, index 11
        register n1 service=web2 name=web check=c2 service_id=web2  -> done, index 12
        session create s1 service_checks=c1 node_checks=    -> s1, index 13
        session create s2 node_checks=c2                    -> s2, index 14
        put a=1 acquire=s1                                  -> true, index 15
        deregister n1 service=web1      -> deleted c1 ended s1, released a, index 16
        sessions                                            -> s2, index 16
        checks of n1    -> n1/c2 passing service=web created=12 modified=12, \
            n1/serfHealth passing created=10 modified=10, index 16
    ",
    );
}

#[test]
fn a_node_takes_all_its_sessions_along_also_those_without_checks() {
    check(
        "
        register n2 service=web check=c1 service_id=web     -> done, index 11
        session create s1 node=n2 node_checks=c1            -> s1, index 12
        session create s2 node=n2 node_checks=              -> s2, index 13
        session create s3                                   -> s3, index 14
        put a=1 acquire=s2                                  -> true, index 15
        deregister N2       -> deleted node ended s1, deleted node ended s2, released a, index 16
        sessions                                            -> s3, index 16
        nodes                                               -> n1, index 16
        services                                            -> nothing, index 16
        checks in any       -> n1/serfHealth passing created=10 modified=10, index 16
        session create s4 node=n2 node_checks=              -> refused: missing node, index 17
    ",
    );
}

#[test]
fn a_session_bound_twice_to_a_check_falls_once() {
    check(
        "
        register n1 check=c1                        -> done, index 11
        session create s1 node_checks=c1,C1 checks=c1   -> s1, index 12
        deregister n1 check=C1                      -> deleted c1 ended s1, index 13
        register n1 check=c1 status=critical        -> done, index 14
    ",
    );
}

#[test]
fn a_registration_that_fails_ends_no_session() {
    check(
        "
        register n1 check=c1                    -> done, index 11
        session create s1 node_checks=c1        -> s1, index 12
        put a=1 acquire=s1                      -> true, index 13
        register n1 address=10.0.0.9 check=c1 status=critical check=c2 service_id=nope \
            -> refused: missing service nope of check c2 on n1, index 14
        get a       -> a=1 lock=1 session=s1 created=13 modified=13, index 13
        node n1     -> n1 address=127.0.0.1 created=10 modified=10, index 10
        checks in critical                      -> nothing, index 11
    ",
    );
}

#[test]
fn the_lock_delay_runs_from_the_lapse_also_when_it_is_noticed_late() {
    check(
        "
        session create s1 ttl=10s       -> s1, index 11
        session create s2               -> s2, index 12
        put a=1 acquire=s1              -> true, index 13
        tick 30s                        -> lapsed s1, released a, index 14
        put a=1 acquire=s2              -> false, lock-delay 5s left
        tick 1h                         -> lock-delay of a is over
    ",
    );
}

#[test]
fn a_check_of_type_session_follows_the_sessions_of_its_name_since_1_21() {
    check(
        "
        with version 1.21.0, 1.22.0
        register n1 check=c1 kind=session session_name=x status=critical -> done, index 11
        session create s1 name=y node_checks=       -> s1, index 12
        checks in critical      -> n1/c1 critical created=11 modified=11, index 11
        wait w checks in passing index=11           -> waits
        session create s2 name=x node_checks=c1     -> s2, index 13; w: n1/c1 passing created=11 modified=11, \
            n1/serfHealth passing created=10 modified=10, index 13
        session create s3 name=x node_checks=       -> s3, index 14
        session create s4 name=y node_checks=c1     -> s4, index 15
        put a=1 acquire=s4                          -> true, index 16
        session destroy s3  -> destroyed s3, critical c1 ended s2, critical c1 ended s4, released a, index 17
        checks in critical      -> n1/c1 critical created=11 modified=11, index 17
        sessions                                    -> s1, index 17
    ",
    );
    check(
        "
        with version 1.8.7, 1.20.0
        register n1 check=c1 kind=session session_name=x status=critical -> done, index 11
        session create s1 name=x node_checks=c1     -> refused: check c1 is critical, index 12
        session create s1 name=x                    -> s1, index 13
        checks in critical      -> n1/c1 critical created=11 modified=11, index 11
    ",
    );
}
