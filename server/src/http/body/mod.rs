//! Shapes of bodies that the catalog, the agent and transactions share.

pub(crate) mod check;
pub(crate) mod definition;
pub(crate) mod durations;
pub(crate) mod proxy;
pub(crate) mod proxy_wire;
pub(crate) mod service;
