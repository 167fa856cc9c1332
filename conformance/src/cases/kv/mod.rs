//! Keys.

pub(in crate::cases) mod cas;
pub(super) mod concurrent;
pub(in crate::cases) mod delete;
pub(in crate::cases) mod get;
pub(in crate::cases) mod json;
pub(in crate::cases) mod keys;
pub(in crate::cases) mod lock;
pub(in crate::cases) mod names;
pub(in crate::cases) mod put;
pub(in crate::cases) mod raw;
pub(in crate::cases) mod value;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    get::CASES,
    json::CASES,
    keys::CASES,
    raw::CASES,
    names::path::CASES,
    names::redirect::CASES,
    names::refused::CASES,
    put::CASES,
    value::CASES,
    cas::CASES,
    lock::acquire::CASES,
    lock::errors::CASES,
    delete::CASES,
    lock::delay::CASES,
];
