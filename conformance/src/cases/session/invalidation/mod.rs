//! What ends a session besides its destruction and its TTL (session.md 3.1).

pub(in crate::cases) mod agent;
pub(in crate::cases) mod agent_at_once;
pub(in crate::cases) mod at_once;
pub(in crate::cases) mod catalog;
pub(in crate::cases) mod effects;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(in crate::cases) const TOPICS: &[&[Case]] = &[
    catalog::CASES,
    effects::CASES,
    agent::CASES,
    at_once::CASES,
    agent_at_once::CASES,
];
