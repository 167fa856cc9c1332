//! The server and its settings, as its endpoints show them (operator.md).

mod absent;
mod configured;
#[cfg(feature = "dns")]
mod dns;
mod events;
mod metrics;
mod snapshots;
mod tenancy;
