//! All cases, one file per topic.

mod acl_kv;
mod agent_alias;
mod agent_check;
mod agent_proxy;
mod agent_service;
mod agent_shapes;
mod blocking;
mod blocking_missing;
mod blocking_wakes;
mod body_values;
mod catalog;
mod catalog_blocking;
mod catalog_deregister;
mod catalog_indexes;
mod catalog_reads;
mod catalog_register;
mod catalog_shapes;
mod concurrent_key;
mod concurrent_lock;
mod endpoint_parameters;
mod endpoints;
mod events;
mod filters;
mod http_consistency;
mod http_errors;
mod http_gzip;
mod http_headers;
mod http_methods;
mod http_order;
mod http_parser;
mod http_settings;
mod http_tenancy;
mod index;
mod index_slide;
mod index_still;
mod invalidation;
mod invalidation_agent;
mod invalidation_agent_at_once;
mod invalidation_at_once;
mod invalidation_effects;
mod kv_cas;
mod kv_delete;
mod kv_get;
mod kv_json;
mod kv_keys;
mod kv_lock;
mod kv_lock_errors;
mod kv_names;
mod kv_path;
mod kv_put;
mod kv_raw;
mod kv_redirect;
mod kv_value;
mod later_catalog;
mod later_fields;
mod lock_delay;
mod node_ids;
mod own_node;
mod prepared_queries;
mod query_results;
mod session_blocking;
mod session_checks;
mod session_create;
mod session_delays;
mod session_destroy;
mod session_fields;
mod session_lock_delay;
mod session_locks;
mod session_read;
mod session_renew;
mod session_ttl;
mod session_ttl_input;
mod sessions;
mod shaped;
mod status;
mod txn_catalog;
mod txn_catalog_errors;
mod txn_limits;
mod txn_locks;
mod txn_ops;
mod txn_parse;
mod txn_paths;
mod txn_semantics;
mod txn_verbs;
pub mod uncovered;

#[cfg(test)]
mod blank_tests;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
const TOPICS: &[&[Case]] = &[
    kv_get::CASES,
    kv_json::CASES,
    kv_keys::CASES,
    kv_raw::CASES,
    kv_path::CASES,
    kv_redirect::CASES,
    kv_names::CASES,
    kv_put::CASES,
    kv_value::CASES,
    kv_cas::CASES,
    kv_lock::CASES,
    kv_lock_errors::CASES,
    kv_delete::CASES,
    http_headers::CASES,
    http_order::CASES,
    http_parser::CASES,
    http_methods::CASES,
    http_consistency::CASES,
    http_tenancy::CASES,
    http_errors::CASES,
    http_gzip::CASES,
    http_settings::CASES,
    acl_kv::CASES,
    index::CASES,
    index_still::CASES,
    index_slide::CASES,
    session_create::CASES,
    session_fields::CASES,
    session_checks::CASES,
    session_lock_delay::CASES,
    session_ttl_input::CASES,
    session_read::CASES,
    session_renew::CASES,
    session_destroy::CASES,
    session_ttl::CASES,
    session_delays::CASES,
    session_blocking::CASES,
    session_locks::CASES,
    invalidation::CASES,
    invalidation_effects::CASES,
    invalidation_agent::CASES,
    invalidation_at_once::CASES,
    invalidation_agent_at_once::CASES,
    agent_check::CASES,
    agent_service::CASES,
    agent_shapes::CASES,
    agent_alias::CASES,
    agent_proxy::CASES,
    body_values::CASES,
    later_catalog::CASES,
    later_fields::CASES,
    endpoints::CASES,
    endpoint_parameters::CASES,
    status::CASES,
    own_node::CASES,
    catalog_register::CASES,
    catalog_deregister::CASES,
    node_ids::CASES,
    catalog_reads::CASES,
    catalog_shapes::CASES,
    catalog_indexes::CASES,
    catalog_blocking::CASES,
    filters::CASES,
    prepared_queries::CASES,
    query_results::CASES,
    events::CASES,
    shaped::CASES,
    blocking::CASES,
    blocking_wakes::CASES,
    blocking_missing::CASES,
    txn_parse::CASES,
    txn_limits::CASES,
    txn_verbs::CASES,
    txn_locks::CASES,
    txn_catalog::CASES,
    txn_catalog_errors::CASES,
    txn_paths::CASES,
    txn_semantics::CASES,
    lock_delay::CASES,
    concurrent_key::CASES,
    concurrent_lock::CASES,
];

/// Every case, topic by topic.
#[must_use]
pub fn all() -> Vec<&'static Case> {
    TOPICS.iter().copied().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_have_the_form_of_ids() {
        let mut seen = BTreeSet::new();
        for case in all() {
            assert!(seen.insert(case.id), "two cases are called {}", case.id);
            let allowed =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/-".contains(c);
            assert!(case.id.chars().all(allowed), "{}", case.id);
            assert!(
                case.id.split('/').count() >= 3,
                "{}: topic/area/claim",
                case.id
            );
            assert!(
                case.id.split('/').all(|part| !part.is_empty()),
                "{}",
                case.id
            );
        }
    }

    #[test]
    fn every_case_says_what_it_claims_and_from_where() {
        for case in all() {
            assert!(case.claim.len() > 15, "{} has no claim", case.id);
            assert!(!case.claim.ends_with('.'), "{}: no full stop", case.id);
            assert!(!case.source.is_empty(), "{} has no source", case.id);
        }
    }

    #[test]
    fn windows_are_not_empty() {
        for case in all() {
            assert!(
                case.until.is_none_or(|until| until > case.since),
                "{}",
                case.id
            );
        }
    }
}
