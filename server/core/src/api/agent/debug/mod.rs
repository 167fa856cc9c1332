//! What an agent tells of itself to who looks for a fault: its metrics, its log, its settings, and profiles, which are off.

pub(super) mod config;
#[cfg(feature = "metrics")]
mod metrics;
pub(super) mod monitor;
#[cfg(feature = "metrics")]
mod pprof;

use crate::route::routes;
use proconsul_version::Behaviour;

routes! {
    feature "metrics";
    "/v1/agent/metrics" [GET] asks agent on agent => at_once(metrics::metrics);
    "/v1/agent/metrics/stream" [GET] asks agent on agent => at_once(metrics::stream), since Behaviour::AgentMetricsStream;
    "/debug/pprof/" [] asks operator:read => at_once(pprof::profile);
}
