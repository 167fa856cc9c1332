//! Prepared queries (session.md 5).

pub(in crate::cases) mod definition;
pub(in crate::cases) mod results;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(in crate::cases) const TOPICS: &[&[Case]] = &[definition::CASES, results::CASES];
