//! Configuration entries, and what is made of them: chains, gateways, intentions.

pub(in crate::cases) mod chain;
pub(in crate::cases) mod entries;
pub(in crate::cases) mod gateways;
pub(in crate::cases) mod intentions;
pub(in crate::cases) mod permissions;
pub(in crate::cases) mod refusals;
pub(in crate::cases) mod refused_since_1_22;
pub(in crate::cases) mod waiting;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    entries::CASES,
    refusals::CASES,
    refused_since_1_22::CASES,
    waiting::CASES,
    chain::CASES,
    gateways::CASES,
    intentions::CASES,
    permissions::CASES,
];
