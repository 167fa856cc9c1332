//! What an agent tells of itself to who looks for a fault: its metrics, its log, its settings, and profiles, which are off.

pub(super) mod config;
pub(super) mod metrics;
pub(super) mod monitor;
pub(super) mod pprof;
