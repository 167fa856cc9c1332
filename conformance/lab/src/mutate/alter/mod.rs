//! The mutants, a file for each part of the answers that they alter.

mod headers;
mod indexes;
mod json;
mod keys;
mod locks;
mod pages;
mod reply;
mod sessions;
mod statuses;
mod timing;
mod wakes;

use crate::mutate::Mutant;

/// All mutants, topic by topic.
pub(super) const TOPICS: &[&[Mutant]] = &[
    indexes::MUTANTS,
    locks::MUTANTS,
    headers::MUTANTS,
    json::MUTANTS,
    statuses::MUTANTS,
    keys::MUTANTS,
    wakes::MUTANTS,
    sessions::MUTANTS,
    timing::MUTANTS,
    pages::txn::MUTANTS,
    pages::mesh::MUTANTS,
    pages::server::MUTANTS,
];
