//! Sessions.

pub(in crate::cases) mod blocking;
pub(in crate::cases) mod checks;
pub(in crate::cases) mod create;
pub(in crate::cases) mod destroy;
pub(in crate::cases) mod fields;
pub(super) mod invalidation;
pub(in crate::cases) mod locks;
pub(in crate::cases) mod read;
pub(in crate::cases) mod renew;
pub(in crate::cases) mod ttl;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    create::CASES,
    fields::CASES,
    checks::CASES,
    locks::lock_delay::CASES,
    ttl::input::CASES,
    read::CASES,
    renew::CASES,
    destroy::CASES,
    ttl::expiry::CASES,
    locks::delays::CASES,
    blocking::CASES,
    locks::acquire::CASES,
];
