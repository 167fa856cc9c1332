//! Servers in the runtime of their caller: on a paused clock, and among simulated hosts.

mod election;
mod http;
mod paused;
