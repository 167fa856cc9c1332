//! All cases: a folder for each area, and in it a file for each topic.

mod acl;
mod agent;
#[cfg(test)]
mod blank_tests;
mod catalog;
pub mod clusters;
mod config;
mod endpoints;
mod http;
mod kv;
mod session;
mod support;
mod txn;
pub mod uncovered;
pub(in crate::cases) mod waiting;

use crate::case::Case;

/// The topics of each folder, in the order of reports.
const TOPICS: &[&[&[Case]]] = &[
    kv::TOPICS,
    http::TOPICS,
    acl::TOPICS,
    waiting::index::TOPICS,
    session::TOPICS,
    session::invalidation::TOPICS,
    agent::TOPICS,
    catalog::TOPICS,
    endpoints::TOPICS,
    config::TOPICS,
    catalog::query::TOPICS,
    waiting::blocking::TOPICS,
    txn::TOPICS,
    kv::concurrent::TOPICS,
];

/// Every case, topic by topic.
#[must_use]
pub fn all() -> Vec<&'static Case> {
    TOPICS
        .iter()
        .copied()
        .flatten()
        .copied()
        .flatten()
        .collect()
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
