//! Runs of checks: the store says which checks run and when, and `probe` runs them.

use std::sync::Arc;

use super::Engine;
use proconsul_store::ProbeRun;

/// An order to start or stop a run of a check.
#[derive(Clone, Debug)]
pub enum RunOrder {
    /// Run a check, apply its result as [`proconsul_store::AgentCommand::Ran`], and call [`Engine::run_ended`].
    Start(ProbeRun),
    /// Stop the runs of this registration: its result is no longer wanted.
    Stop(u64),
}

impl Engine {
    /// Waits for the next order.
    pub async fn next_run(&self) -> RunOrder {
        loop {
            let due = {
                let mut state = self.lock();
                if let Some(order) = state.runs.pop_front() {
                    return order;
                }
                Arc::clone(&state.runs_due)
            };
            due.wait().await;
        }
    }

    /// Notes that a run has ended or was stopped.
    pub fn run_ended(&self) {
        let mut state = self.lock();
        state.runs_open = state.runs_open.saturating_sub(1);
        drop(state);
        self.announce();
    }
}
