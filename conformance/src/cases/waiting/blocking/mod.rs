//! Blocking reads (kv.md 5).

pub(in crate::cases) mod missing;
pub(in crate::cases) mod parameters;
pub(in crate::cases) mod wakes;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(in crate::cases) const TOPICS: &[&[Case]] = &[parameters::CASES, wakes::CASES, missing::CASES];
