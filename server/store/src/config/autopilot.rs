//! The settings of autopilot, which a lone server keeps and does not need (operator.md 1, cluster.md 2.7).

use std::convert::Infallible;

use crate::command::Command;
use crate::command::entry::LogEntry;
use crate::read::{Answer, Read, ReadResult, Subject};
use crate::{Change, Index, Store};

/// The index at which a new server writes the default settings (seen on 1.8.7).
const FIRST: Index = Index(4);
/// A millisecond in nanoseconds.
const MILLISECOND: i64 = 1_000_000;

/// The settings of autopilot. Durations are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AutopilotSettings {
    /// Whether dead servers are removed.
    pub cleanup_dead_servers: bool,
    /// How long a healthy server may be out of contact.
    pub last_contact_threshold_ns: i64,
    /// How many entries of the log a healthy server may lack.
    pub max_trailing_logs: u64,
    /// The least number of servers.
    pub min_quorum: u64,
    /// How long a new server must be healthy before it votes.
    pub server_stabilization_time_ns: i64,
    /// The label of zones, of which Consul Enterprise takes one voter each.
    pub redundancy_zone_tag: String,
    /// Whether Consul Enterprise must not move to newer servers.
    pub disable_upgrade_migration: bool,
    /// The label of the version for such a move.
    pub upgrade_version_tag: String,
}

impl Default for AutopilotSettings {
    fn default() -> Self {
        Self {
            cleanup_dead_servers: true,
            last_contact_threshold_ns: 200 * MILLISECOND,
            max_trailing_logs: 250,
            server_stabilization_time_ns: 10_000 * MILLISECOND,
            ..Self::ZERO
        }
    }
}

impl AutopilotSettings {
    /// Settings without any value.
    pub const ZERO: Self = Self {
        cleanup_dead_servers: false,
        last_contact_threshold_ns: 0,
        max_trailing_logs: 0,
        min_quorum: 0,
        server_stabilization_time_ns: 0,
        redundancy_zone_tag: String::new(),
        disable_upgrade_migration: false,
        upgrade_version_tag: String::new(),
    };
}

/// The stored settings.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AutopilotRow {
    /// The settings.
    pub settings: AutopilotSettings,
    /// The index of their creation.
    pub create_index: Index,
    /// The index of their last change.
    pub modify_index: Index,
}

impl Default for AutopilotRow {
    fn default() -> Self {
        Self {
            settings: AutopilotSettings::default(),
            create_index: FIRST,
            modify_index: FIRST,
        }
    }
}

/// Replaces the settings. The reply says whether it did.
#[derive(Clone, Debug)]
pub struct AutopilotWrite {
    /// The new settings.
    pub settings: AutopilotSettings,
    /// The index that the present ones must have; `None` for any.
    pub cas: Option<Index>,
}

/// Reads the settings.
#[derive(Clone, Copy, Debug)]
pub struct AutopilotInfo;

impl Command for AutopilotWrite {
    type Reply = bool;
    type Refused = Infallible;

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::new("", "autopilot", ""))
    }

    fn run(self, change: &mut Change<'_>) -> Result<bool, Infallible> {
        change.take_indexes(1);
        let current = change.store.autopilot_row();
        if self.cas.is_some_and(|index| index != current.modify_index) {
            return Ok(false);
        }
        change.store.autopilot = Some(AutopilotRow {
            settings: self.settings,
            create_index: current.create_index,
            modify_index: change.index,
        });
        change.autopilot_later();
        Ok(true)
    }
}

impl Read for AutopilotInfo {
    type Rows = AutopilotRow;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("the settings of autopilot")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let row = store.autopilot_row();
        Ok(Answer::new(row.modify_index, row, Vec::new()))
    }
}

impl Store {
    pub(crate) fn autopilot_row(&self) -> AutopilotRow {
        self.autopilot.clone().unwrap_or_default()
    }
}
