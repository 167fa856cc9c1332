//! Events: the kept ones, and the index of their lists (session.md 4.6).

use super::check;

#[test]
fn events_are_listed_in_their_order_at_an_index_that_is_made_from_the_last_id() {
    check(
        "
        events                          -> nothing, index 1
        fire b                          -> done
        fire elsewhere elsewhere        -> done
        fire a                          -> done
        events                          -> b@2 a@4, index 97
        events named b                  -> b@2, index 98
        events named none               -> nothing, index 1
        put k=1                         -> true, index 11
    ",
    );
}

#[test]
fn a_wait_lasts_while_the_index_is_the_same_and_not_while_it_is_lower() {
    check(
        "
        fire b                          -> done
        wait same events index=98       -> waits
        wait other events index=99      -> b@2, index 98
        wait lower events index=97      -> b@2, index 98
        fire x elsewhere                -> done
        fire a                          -> done; same: b@2 a@4, index 97
    ",
    );
}
