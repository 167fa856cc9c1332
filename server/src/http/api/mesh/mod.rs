//! The pages about the service mesh.

pub(crate) mod config_entry;
pub(crate) mod connect;
pub(crate) mod peering;
