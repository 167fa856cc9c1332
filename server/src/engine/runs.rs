//! The checks that are to be run: the store says which and when, somebody else runs them.

use std::sync::Arc;

use super::{Engine, State};
use crate::store::{Effects, ProbeRun};

impl Engine {
    /// The next check that is to be run, when there is one. Whoever takes it runs it, comes back with
    /// [`crate::store::AgentCommand::Ran`], and says so with [`Engine::run_ended`].
    pub async fn next_run(&self) -> ProbeRun {
        loop {
            let due = {
                let mut state = self.lock();
                if let Some(run) = state.runs.pop_front() {
                    return run;
                }
                Arc::clone(&state.runs_due)
            };
            due.notified().await;
        }
    }

    /// A run that was taken is over.
    pub fn run_ended(&self) {
        let mut state = self.lock();
        state.runs_open = state.runs_open.saturating_sub(1);
        drop(state);
        self.announce();
    }
}

impl State {
    /// Keeps the runs that a command made due for those who run them.
    pub(super) fn take_runs(&mut self, effects: &Effects) {
        if !effects.runs.is_empty() {
            self.runs_open += effects.runs.len();
            self.runs.extend(effects.runs.iter().cloned());
            self.runs_due.notify_one();
        }
    }
}
