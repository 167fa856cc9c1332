//! Names of keys.

pub(in crate::cases) mod path;
pub(in crate::cases) mod redirect;
pub(in crate::cases) mod refused;
