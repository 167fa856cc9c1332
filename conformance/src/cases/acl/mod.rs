//! What tokens may do.

pub(in crate::cases) mod kv;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[kv::CASES];
