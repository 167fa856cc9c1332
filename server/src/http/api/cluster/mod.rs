//! The pages about the servers and nodes themselves.

pub(crate) mod autopilot;
pub(crate) mod coordinate;
pub(crate) mod keyring;
pub(crate) mod operator;
pub(crate) mod status;
