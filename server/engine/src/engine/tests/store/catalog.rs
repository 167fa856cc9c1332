//! Registration and deregistration of nodes, services and checks (session.md 4, 1.22.md B3 and B4).

use super::check;

#[test]
fn a_registration_that_changes_nothing_keeps_the_indexes() {
    check(
        "
        register n2 service=web port=80     -> done, index 11
        register n2 service=web port=80     -> done, index 12
        nodes                               -> n1 n2, index 11
        services                            -> n2/web name=web created=11 modified=11, index 11
        register n2 service=web port=81     -> done, index 13
        services                            -> n2/web name=web created=11 modified=13, index 13
    ",
    );
}

#[test]
fn an_identical_check_moved_the_checks_index_until_1_9() {
    check(
        "
        with version 1.8.7
        register n1 check=c1            -> done, index 11
        wait w checks of n1 index=11    -> waits
        register n1 check=c1            -> done, index 12; w: n1/c1 passing created=11 modified=11, \
            n1/serfHealth passing created=10 modified=10, index 12
    ",
    );
    check(
        "
        with version 1.9.0, 1.22.0
        register n1 check=c1            -> done, index 11
        wait w checks of n1 index=11    -> waits
        register n1 check=c1            -> done, index 12
        register n1 check=c1 output=x   -> done, index 13; w: n1/c1 passing created=11 modified=13, \
            n1/serfHealth passing created=10 modified=10, index 13
    ",
    );
}

#[test]
fn a_node_is_replaced_as_a_whole_unless_it_is_to_be_skipped() {
    check(
        "
        register n1 address=10.0.0.1    -> done, index 11
        node N1         -> n1 address=10.0.0.1 created=10 modified=11, index 11
        register n1 skip_node_update address=10.0.0.2 service=web   -> done, index 12
        node n1         -> n1 address=10.0.0.1 created=10 modified=11, \
            n1/web name=web created=12 modified=12, index 12
        node nowhere    -> missing, index 1
    ",
    );
}

#[test]
fn what_is_not_there_is_deregistered_without_a_word() {
    check(
        "
        deregister nowhere              -> done, index 11
        deregister n1 service=nope      -> done, index 12
        deregister n1 check=nope        -> done, index 13
        nodes                           -> n1, index 10
        checks in any   -> n1/serfHealth passing created=10 modified=10, index 10
    ",
    );
}

#[test]
fn the_nodes_index_moves_with_services_since_1_13() {
    check(
        "
        with version 1.8.7, 1.12.0
        register n2             -> done, index 11
        register n1 service=web -> done, index 12
        nodes                   -> n1 n2, index 11
        node n2                 -> n2 address=127.0.0.1 created=11 modified=11, index 12
    ",
    );
    check(
        "
        with version 1.13.0, 1.22.0
        register n2             -> done, index 11
        register n1 service=web -> done, index 12
        nodes                   -> n1 n2, index 12
        node n2                 -> n2 address=127.0.0.1 created=11 modified=11, index 11
        node n1 -> n1 address=127.0.0.1 created=10 modified=10, n1/web name=web created=12 modified=12, index 12
    ",
    );
}

#[test]
fn who_waits_for_a_node_learns_that_a_service_went() {
    check(
        "
        register n2 service=web             -> done, index 11
        wait w node n2 index=11             -> waits
        deregister n2 service=web   -> done, index 12; w: n2 address=127.0.0.1 created=11 modified=11, index 12
    ",
    );
}

#[test]
fn who_waits_for_a_node_learns_that_it_went_since_1_13() {
    check(
        "
        with version 1.8.7, 1.12.0
        register n2             -> done, index 11
        wait w node n2 index=11 -> waits
        deregister n2           -> done, index 12
        stop w                  -> missing, index 1
    ",
    );
    check(
        "
        with version 1.13.0, 1.22.0
        register n2             -> done, index 11
        wait w node n2 index=11 -> waits
        deregister n2           -> done, index 12; w: missing, index 12
        register n3             -> done, index 13
        node n2                 -> missing, index 12
    ",
    );
}

#[test]
fn a_read_of_a_service_moves_with_its_instances_their_checks_and_their_nodes() {
    check(
        "
        register n2 service=w1 name=web     -> done, index 11
        register n3 service=w2 name=web     -> done, index 12
        register n3 service=db              -> done, index 13
        instances web   -> n2/w1 name=web created=11 modified=11, n3/w2 name=web created=12 modified=12, index 12
        wait check health of web index=12   -> waits
        wait asleep instances web index=12  -> waits
        wait other instances db index=13    -> waits
        register n2 check=c1 service_id=w1  -> done, index 14; check: n2/w1 name=web created=11 modified=11, \
            n2/c1 passing service=web created=14 modified=14, n3/w2 name=web created=12 modified=12, index 14
        wait node health of web index=14    -> waits
        register n2 skip_node_update check=c2   -> done, index 15; node: n2/w1 name=web created=11 modified=11, \
            n2/c2 passing created=15 modified=15, n2/c1 passing service=web created=14 modified=14, \
            n3/w2 name=web created=12 modified=12, index 15
        wait gone instances web index=15    -> waits
        deregister n2   -> done, index 16; \
            asleep: n3/w2 name=web created=12 modified=12, index 16; \
            gone: n3/w2 name=web created=12 modified=12, index 16
        wait last instances web index=16    -> waits
        deregister n3 service=w2            -> done, index 17; last: nothing, index 17
        stop other      -> n3/db name=db created=13 modified=13, index 13
    ",
    );
}

/// Seen on 1.8.7.
#[test]
fn an_instance_that_takes_another_name_leaves_those_asleep_who_wait_for_the_old_one() {
    check(
        "
        register n2 service=w1 name=web     -> done, index 11
        register n2 service=w2 name=web     -> done, index 12
        wait old instances web index=12     -> waits
        register n2 service=w1 name=new     -> done, index 13
        instances web                       -> n2/w2 name=web created=12 modified=12, index 12
        instances new                       -> n2/w1 name=new created=11 modified=13, index 13
        register n2 service=w2 name=new     -> done, index 14
        stop old    -> nothing, index 12
        deregister n2 service=w2            -> done, index 15
        deregister n2 service=w1            -> done, index 16
        instances new                       -> nothing, index 16
        instances web                       -> nothing, index 16
    ",
    );
}

/// Seen on 1.8.7.
#[test]
fn a_check_that_moves_to_another_service_leaves_those_asleep_who_wait_for_the_first() {
    check(
        "
        register n1 service=db              -> done, index 11
        register n1 service=web check=c1 service_id=web -> done, index 12
        wait old instances web index=12     -> waits
        register n1 check=c1 service_id=db  -> done, index 13
        instances web                       -> n1/web name=web created=12 modified=12, \
            n1/serfHealth passing created=10 modified=10, index 12
        checks for db   -> n1/c1 passing service=db created=12 modified=13, index 13
        stop old        -> n1/web name=web created=12 modified=12, \
            n1/serfHealth passing created=10 modified=10, n1/c1 passing service=web created=12 modified=12, index 12
    ",
    );
}
