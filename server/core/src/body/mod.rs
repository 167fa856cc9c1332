//! Shapes of bodies and answers that the catalog, the agent and transactions share.

pub(crate) mod check;
pub(crate) mod definition;
pub(crate) mod durations;
pub(crate) mod enterprise;
pub(crate) mod kv;
pub(crate) mod proxy;
pub(crate) mod query_meta;
pub(crate) mod time;
pub(crate) mod wire;
