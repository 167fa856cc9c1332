//! What an agent's settings change (kv.md 0, 2.2, 6.4, 6.6).

pub(in crate::cases) mod every_request;
pub(in crate::cases) mod limits;
