//! What sessions hold (session.md 3.5).

pub(in crate::cases) mod acquire;
pub(in crate::cases) mod delays;
pub(in crate::cases) mod lock_delay;
