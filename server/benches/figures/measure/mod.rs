//! How the figures are measured. Each function gives a sample of some numbers for each turn of each server.

pub(crate) mod acl;
pub(crate) mod blocking;
pub(crate) mod builds;
pub(crate) mod embedded;
pub(crate) mod scale;
pub(crate) mod start;
pub(crate) mod throughput;
