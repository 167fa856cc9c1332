//! The pages about the servers and nodes themselves.

pub(crate) mod coordinate;
pub(crate) mod operator;
pub(crate) mod status;
