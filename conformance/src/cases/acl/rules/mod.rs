//! The language of rules, and what rules allow (acl.md 9).

pub(in crate::cases) mod evaluation;
pub(in crate::cases) mod refused;
pub(in crate::cases) mod text;
