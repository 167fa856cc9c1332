//! The agent's own services and checks, and what it runs (session.md 4).

mod aliases;
mod checks;
mod clock;
#[cfg(feature = "http2-checks")]
mod http2_probes;
mod join;
mod own_node;
mod probes;
mod scripts;
mod services;
mod sidecars;

use crate::support::Consul;

const REGISTER: &str = "/v1/agent/service/register";

/// Registers a service with the agent.
fn register(consul: &Consul, body: &str) {
    consul.put(REGISTER, body).is(200, "");
}
