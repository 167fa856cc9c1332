//! The endpoints around the KV store.

pub(in crate::cases) mod common;
pub(in crate::cases) mod coordinates;
pub(in crate::cases) mod debug;
pub(in crate::cases) mod events;
pub(in crate::cases) mod metrics;
pub(in crate::cases) mod operator;
pub(in crate::cases) mod parameters;
pub(in crate::cases) mod shaped;
pub(in crate::cases) mod snapshots;
pub(in crate::cases) mod status;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    common::CASES,
    parameters::CASES,
    status::CASES,
    events::CASES,
    shaped::CASES,
    operator::CASES,
    coordinates::CASES,
    debug::CASES,
    metrics::CASES,
    snapshots::CASES,
];
