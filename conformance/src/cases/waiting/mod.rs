//! Blocking queries and the indexes that they wait for (kv.md 4 and 5).

pub(in crate::cases) mod blocking;
pub(in crate::cases) mod index;
