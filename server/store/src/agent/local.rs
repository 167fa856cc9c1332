//! What the agent knows of its own services and checks, as plain data.

use std::time::Duration;

use crate::catalog::registration::{NewCheck, NewService};
use crate::command::effects::Probe;
use crate::timestamp::Timestamp;

/// A service that the agent was told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalService {
    /// As it stands in the catalog.
    pub service: NewService,
    /// Whether it came as the sidecar of another service, with which it goes.
    pub(super) is_sidecar: bool,
}

/// A check that the agent was told of, and how it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCheck {
    /// As it stands in the catalog, but for an output that the catalog is told later.
    pub check: NewCheck,
    /// The name of its service when it was registered; empty for a check of the node.
    pub service_name: String,
    /// The tags of its service when it was registered: later ones are not taken over (seen on 1.8.7).
    pub service_tags: Option<Vec<String>>,
    /// How its status comes about, and the limits that hold for it.
    pub source: CheckSource,
    /// The longest output in bytes that is kept.
    pub output_limit: usize,
    /// After how long in a critical state the service is deregistered; none for never.
    pub deregister_after: Option<Duration>,
    /// Since when it has been critical; none while it is not.
    pub critical_since: Option<Timestamp>,
    /// How often it has to pass and to fail before its status follows.
    pub thresholds: Thresholds,
    /// How often it has passed and failed in a row.
    pub in_a_row: InARow,
    /// Which registration of this check is in force: the result of a run of an earlier one does not count.
    pub registration: u64,
    /// When it expires or is run next, if it does by itself.
    pub next: Option<Timestamp>,
    /// When the catalog is told of an output that it does not know; none while it knows.
    pub output_due: Option<Timestamp>,
}

/// How the status of a check comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckSource {
    /// Clients report it; without a report for this long it turns critical.
    Ttl(Duration),
    /// Something is asked again and again.
    Probe {
        /// What.
        probe: Probe,
        /// The time between the end of a run and the next.
        interval: Duration,
    },
    /// It follows the checks of another service.
    Alias(Alias),
    /// Nothing here ever changes it: maintenance, and the kinds of check that are not run.
    Fixed,
}

/// What an alias follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The node, as the catalog has it; empty for what this agent itself knows.
    pub node: String,
    /// The id of the service on it; empty for the node alone.
    pub service: String,
}

/// How often a check has to pass and to fail in a row before its status follows; 0 and 1 are at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Passes, or warnings, before it is no longer critical.
    pub success_before_passing: i64,
    /// Failures before it is critical.
    pub failures_before_critical: i64,
}

/// How often a check has passed and failed in a row; one of the two is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InARow {
    /// Passes.
    pub passes: i64,
    /// Failures.
    pub failures: i64,
}

impl InARow {
    /// Whether counting can go on for ever.
    pub(super) fn is_small(self) -> bool {
        let limit = i64::MAX / 2;
        (0..limit).contains(&self.passes) && (0..limit).contains(&self.failures)
    }

    /// Counts a run. Whether the status follows it.
    pub(super) fn count(&mut self, critical: bool, thresholds: Thresholds) -> bool {
        if critical {
            self.passes = 0;
            self.failures += 1;
            self.failures >= thresholds.failures_before_critical
        } else {
            self.failures = 0;
            self.passes += 1;
            self.passes >= thresholds.success_before_passing
        }
    }
}

/// A check to be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSpec {
    /// As it is to stand in the catalog. An existing check of this id keeps its status and output.
    pub check: NewCheck,
    /// How its status comes about.
    pub source: CheckSource,
    /// The longest output in bytes that is kept.
    pub output_limit: usize,
    /// After how long in a critical state the service is deregistered; none for never.
    pub deregister_after: Option<Duration>,
    /// How often it has to pass and to fail before its status follows.
    pub thresholds: Thresholds,
}

/// What a service brings when it is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    /// The service.
    pub service: NewService,
    /// Its checks.
    pub checks: Vec<CheckSpec>,
    /// The proxy that comes and goes with it.
    pub sidecar: Option<Box<Sidecar>>,
}

/// A proxy that is registered with a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    /// The proxy; port 0 for one that is free.
    pub service: NewService,
    /// Its checks; none for those that every sidecar has.
    pub checks: Vec<CheckSpec>,
    /// The longest output in bytes of those.
    pub output_limit: usize,
}

/// An output of at most `limit` bytes, and how much it was of.
pub(super) fn cut(output: &str, limit: usize) -> String {
    if output.len() <= limit {
        return output.to_owned();
    }
    let captured = String::from_utf8_lossy(&output.as_bytes()[..limit]);
    format!(
        "{captured} ... (captured {limit} of {} bytes)",
        output.len()
    )
}
