//! Servers in the runtime of their caller: on a paused clock, and among simulated hosts.

mod election;
mod expiry;
mod http;
mod paused;
mod renewal;
