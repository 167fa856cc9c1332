//! Indexes and waits of the catalog (session.md 4.5).

pub(in crate::cases) mod blocking;
pub(in crate::cases) mod indexes;
pub(in crate::cases) mod wakes;
