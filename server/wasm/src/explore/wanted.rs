//! What a host searches for, as JSON.

use std::time::Duration;

use proconsul_explore::{
    AGENTS, Limits, MOST_CONTENDERS, Options, ParseError, Property, Search, are_agents,
};
use serde::Deserialize;

/// What is searched, and how. Times are in nanoseconds.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    contenders: u8,
    agents: u8,
    seed: u64,
    runs: u64,
    replays: u32,
    pub(super) guard: Option<String>,
    length: u64,
    slack: u64,
    bound: u64,
    requests: usize,
    sessions: usize,
    only: Vec<String>,
    schedule: Option<String>,
}

impl Default for Wanted {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            contenders: 3,
            agents: 1,
            seed: 1,
            runs: 1000,
            replays: 3,
            guard: None,
            length: 90_000_000_000,
            // Nothing is slow here: what a contender says is recorded at once.
            slack: 100_000_000,
            bound: 30_000_000_000,
            requests: limits.requests,
            sessions: limits.sessions,
            only: Vec::new(),
            schedule: None,
        }
    }
}

impl Wanted {
    /// Returns how long a run lasts at most.
    pub(super) fn length(&self) -> Duration {
        Duration::from_nanos(self.length)
    }

    /// Returns how long a run goes on when nothing of the schedule is left: what is late shows within the bound.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_nanos(self.bound) * 2
    }

    /// Returns the search.
    ///
    /// # Errors
    /// What is wanted is invalid.
    pub(super) fn search(&self) -> Result<Search, String> {
        if !(1..=MOST_CONTENDERS).contains(&self.contenders) {
            return Err(format!("expected 1 to {MOST_CONTENDERS} contenders"));
        }
        if !are_agents(self.agents, self.contenders) {
            return Err(format!("expected {AGENTS}"));
        }
        let options = Options {
            contenders: self.contenders,
            agents: self.agents,
            seed: self.seed,
            limits: self.limits()?,
            runs: self.runs,
            is_exact: true,
            replays: self.replays,
        };
        let Some(schedule) = &self.schedule else {
            return Ok(Search::new(options));
        };
        let schedule = schedule.parse();
        let replay = schedule.map(|schedule| Search::replay(options, schedule));
        replay.map_err(|error: ParseError| error.to_string())
    }

    fn limits(&self) -> Result<Limits, String> {
        let mut limits = Limits::default();
        limits.slack = Duration::from_nanos(self.slack);
        limits.bound = Duration::from_nanos(self.bound);
        limits.requests = self.requests;
        limits.sessions = self.sessions;
        for name in &self.only {
            let known = Property::ALL.iter().find(|known| known.name() == name);
            let unknown = || format!("there is no property {name:?}");
            limits.only.push(*known.ok_or_else(unknown)?);
        }
        Ok(limits)
    }
}
