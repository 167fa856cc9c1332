//! Transactions.

pub(in crate::cases) mod catalog;
pub(in crate::cases) mod catalog_errors;
pub(in crate::cases) mod limits;
pub(in crate::cases) mod locks;
pub(in crate::cases) mod parse;
pub(in crate::cases) mod paths;
pub(in crate::cases) mod semantics;
pub(in crate::cases) mod verbs;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    parse::CASES,
    limits::CASES,
    verbs::CASES,
    locks::CASES,
    catalog::CASES,
    catalog_errors::CASES,
    paths::CASES,
    semantics::CASES,
];
