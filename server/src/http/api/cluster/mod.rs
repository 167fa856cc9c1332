//! The pages about the servers and nodes themselves.

pub(crate) mod autopilot;
pub(crate) mod coordinate;
pub(crate) mod keyring;
pub(crate) mod not_emulated;
pub(crate) mod operator;
#[cfg(feature = "snapshots")]
pub(crate) mod snapshot;
pub(crate) mod status;
