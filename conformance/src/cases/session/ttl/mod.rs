//! The TTL of sessions (session.md 3.4).

pub(in crate::cases) mod expiry;
pub(in crate::cases) mod input;
