//! The agent's services and checks as plain data.

use std::time::Duration;

use crate::catalog::registration::{NewCheck, NewService};
use crate::command::effects::Probe;
use crate::timestamp::Timestamp;

/// A service of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalService {
    /// The service as registered in the catalog.
    pub service: NewService,
    /// Whether it is a sidecar, and is deregistered with its service.
    pub(super) is_sidecar: bool,
}

/// A check of the agent, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCheck {
    /// The check as registered in the catalog, apart from a delayed output.
    pub check: NewCheck,
    /// The name of its service at registration; empty for a check of the node.
    pub service_name: String,
    /// The tags of its service at registration. Later changes are not copied (seen on 1.8.7).
    pub service_tags: Option<Vec<String>>,
    /// The source of its status.
    pub source: CheckSource,
    /// The longest output kept, in bytes.
    pub output_limit: usize,
    /// The time in the critical state until the service is deregistered; `None` for never.
    pub deregister_after: Option<Duration>,
    /// The start of its critical state; `None` for other states.
    pub critical_since: Option<Timestamp>,
    /// The successes and failures in a row that change its status.
    pub thresholds: Thresholds,
    /// The current successes or failures in a row.
    pub in_a_row: InARow,
    /// The number of its registration. Results of runs for earlier registrations are dropped.
    pub registration: u64,
    /// The time at which it expires or runs next.
    pub next: Option<Timestamp>,
    /// When the catalog gets a delayed output; `None` if it is up to date.
    pub output_due: Option<Timestamp>,
}

/// The source of a check's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckSource {
    /// Reports by clients. Without one for this long the check becomes critical.
    Ttl(Duration),
    /// Runs at an interval.
    Probe {
        /// How to run it.
        probe: Probe,
        /// The time between the end of a run and the next.
        interval: Duration,
    },
    /// The checks of another service.
    Alias(Alias),
    /// Nothing: maintenance, and the kinds of check that never run.
    Fixed,
}

/// The target of an alias check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The node in the catalog; empty for this agent.
    pub node: String,
    /// The service id; empty for the node.
    pub service: String,
}

/// The successes and failures in a row that change the status of a check; 0 means 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// The passes or warnings that end the critical status.
    pub success_before_passing: i64,
    /// The failures that make it critical.
    pub failures_before_critical: i64,
}

/// The successes and failures of a check in a row; one of the two is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InARow {
    /// Passes.
    pub passes: i64,
    /// Failures.
    pub failures: i64,
}

impl InARow {
    /// Whether the counts cannot overflow.
    pub(super) fn is_small(self) -> bool {
        let limit = i64::MAX / 2;
        (0..limit).contains(&self.passes) && (0..limit).contains(&self.failures)
    }

    /// Counts a run. Returns whether the status changes to the run's.
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

/// A check to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSpec {
    /// The registration in the catalog. An existing check of this id keeps its status and output.
    pub check: NewCheck,
    /// The source of its status.
    pub source: CheckSource,
    /// The longest output kept, in bytes.
    pub output_limit: usize,
    /// The time in the critical state until the service is deregistered; `None` for never.
    pub deregister_after: Option<Duration>,
    /// The successes and failures in a row that change its status.
    pub thresholds: Thresholds,
}

/// A service to register, with its checks and sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    /// The service.
    pub service: NewService,
    /// Its checks.
    pub checks: Vec<CheckSpec>,
    /// The sidecar proxy.
    pub sidecar: Option<Box<Sidecar>>,
}

/// A sidecar proxy to register with a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    /// The proxy; port 0 for any free one.
    pub service: NewService,
    /// Its checks; `None` for the default ones.
    pub checks: Vec<CheckSpec>,
    /// The longest output of the default checks, in bytes.
    pub output_limit: usize,
}

/// Truncates an output to `limit` bytes and adds its full length.
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
