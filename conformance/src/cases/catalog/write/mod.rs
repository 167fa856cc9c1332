//! Registering and deregistering (session.md 4.1 to 4.4).

pub(in crate::cases) mod deregister;
pub(in crate::cases) mod node_ids;
pub(in crate::cases) mod ports;
pub(in crate::cases) mod refusals;
pub(in crate::cases) mod register;
