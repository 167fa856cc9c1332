//! Policies, roles, auth methods and what else there is beside tokens (acl.md 4 and 8).

pub(in crate::cases) mod legacy;
pub(in crate::cases) mod login;
pub(in crate::cases) mod method;
pub(in crate::cases) mod policy;
pub(in crate::cases) mod role;
pub(in crate::cases) mod template;
