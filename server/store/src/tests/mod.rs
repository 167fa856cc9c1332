//! Random commands, and the invariants of every store. Scripts of commands with their outcomes are tests of
//! the server, which knows the releases.

mod acl;
#[expect(dead_code, reason = "the scripts of the server use the rest")]
mod any;
mod names;
mod radix;
mod random;
mod work;

use crate as store;
use crate::VersionRules;

/// The rules of 1.8.7.
pub(crate) const OLDEST: VersionRules = VersionRules {
    session_ids_are_uuids: true,
    missing_keeps_blocking: false,
    unknown_verb_fails_pre_check: false,
    identical_check_moves_index: true,
    session_checks: false,
    empty_service_fails_pre_check: false,
    index_per_node: false,
    index_errors: false,
    node_name_ignores_case: false,
    virtual_addresses: false,
    acl_policy_names_have_slash: false,
    acl_tokens_end_within_a_day: true,
    acl_grants_as_given: false,
    config_late: false,
    sidecars_checked_at_own_address: false,
    start_writes_config_entries: false,
    check_services_are_exact: false,
    refused_check_cas_is_shown: false,
};

/// The rules of 1.16.4.
const MIDDLE: VersionRules = VersionRules {
    session_ids_are_uuids: false,
    missing_keeps_blocking: true,
    identical_check_moves_index: false,
    index_per_node: true,
    virtual_addresses: true,
    acl_policy_names_have_slash: true,
    acl_tokens_end_within_a_day: false,
    acl_grants_as_given: true,
    config_late: true,
    start_writes_config_entries: true,
    ..OLDEST
};

/// The rules of 1.20.0.
const NEWER: VersionRules = VersionRules {
    unknown_verb_fails_pre_check: true,
    ..MIDDLE
};

/// The rules of 1.22.0.
pub(crate) const NEWEST: VersionRules = VersionRules {
    session_checks: true,
    empty_service_fails_pre_check: true,
    index_errors: true,
    node_name_ignores_case: true,
    check_services_are_exact: true,
    refused_check_cas_is_shown: true,
    ..NEWER
};
