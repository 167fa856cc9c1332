//! Tokens (acl.md 5).

pub(in crate::cases) mod bootstrap;
pub(in crate::cases) mod expiry;
pub(in crate::cases) mod given;
pub(in crate::cases) mod list;
pub(in crate::cases) mod object;
