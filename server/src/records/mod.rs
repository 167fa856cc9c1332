//! What the server keeps of what happened: the history, the numbers of `agent/metrics`, the lines of the log.

pub mod history;
pub(super) mod listeners;
pub(super) mod metrics;
