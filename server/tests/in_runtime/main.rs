//! Servers in the runtime of their caller: on a paused clock, and among simulated hosts.

#![expect(
    clippy::disallowed_methods,
    reason = "the time that is slept is simulated: it takes none of the machine's"
)]

#[cfg(feature = "dns")]
mod dns;
mod election;
mod expiry;
mod paused;
mod renewal;
#[cfg(feature = "tower")]
mod service;
