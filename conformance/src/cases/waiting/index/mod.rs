//! `X-Consul-Index` (kv.md 4).

pub(in crate::cases) mod moves;
pub(in crate::cases) mod slide;
pub(in crate::cases) mod still;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(in crate::cases) const TOPICS: &[&[Case]] = &[moves::CASES, still::CASES, slide::CASES];
