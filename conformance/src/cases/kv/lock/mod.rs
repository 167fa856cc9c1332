//! Locks (kv.md 2.5).

pub(in crate::cases) mod acquire;
pub(in crate::cases) mod delay;
pub(in crate::cases) mod errors;
