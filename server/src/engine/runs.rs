//! The checks that are to be run: the store says which and when, somebody else runs them.

use std::sync::Arc;

use super::Engine;
use crate::store::ProbeRun;

/// What is to be done about runs.
#[derive(Clone, Debug)]
pub enum RunOrder {
    /// Run a check, come back with [`crate::store::AgentCommand::Ran`], and say so with [`Engine::run_ended`].
    Start(ProbeRun),
    /// Nobody wants the result of this registration any more.
    Stop(u64),
}

impl Engine {
    /// The next order, when there is one.
    pub async fn next_run(&self) -> RunOrder {
        loop {
            let due = {
                let mut state = self.lock();
                if let Some(order) = state.runs.pop_front() {
                    return order;
                }
                Arc::clone(&state.runs_due)
            };
            due.notified().await;
        }
    }

    /// A run that was taken is over, or was stopped.
    pub fn run_ended(&self) {
        let mut state = self.lock();
        state.runs_open = state.runs_open.saturating_sub(1);
        drop(state);
        self.announce();
    }
}
