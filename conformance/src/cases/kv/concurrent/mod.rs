//! Many clients at once: what they see fits one order.

pub(in crate::cases) mod key;
pub(in crate::cases) mod lock;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(in crate::cases) const TOPICS: &[&[Case]] = &[key::CASES, lock::CASES];
