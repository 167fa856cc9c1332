//! What the cases about services of the agent with a proxy share.

use serde_json::Value;

use crate::case::feature::Feature;
use crate::case::trial::Trial;

/// What cases that register services at the agent need.
pub(in crate::cases) const NEEDS: &[Feature] = &[Feature::AgentRegistration];

/// The path at which the agent registers services.
pub(in crate::cases) const REGISTER: &str = "/v1/agent/service/register";

/// Registers a service at the agent.
#[track_caller]
pub(in crate::cases) fn register(t: &Trial, body: &Value) {
    t.api_put(REGISTER, body.to_string()).is(200, "");
}
