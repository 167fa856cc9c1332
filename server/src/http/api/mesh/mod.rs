//! The pages about the service mesh.

pub(crate) mod chain;
pub(crate) mod config_entry;
pub(crate) mod connect;
pub(crate) mod gateway;
pub(crate) mod intention;
pub(crate) mod peering;
pub(crate) mod virtual_ip;
