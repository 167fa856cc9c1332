//! The agent's own state at another time.

use std::sync::Arc;
use std::time::Duration;

use super::{Agent, CheckSource, Due, LocalCheck, Own};
use crate::timestamp::Timestamp;

impl Agent {
    /// Moves everything that the agent will do `by` into the future.
    pub(in crate::store) fn shift_deadlines(&mut self, by: Duration) {
        let later = |at: Timestamp| at.plus(by);
        let deadlines = self.deadlines.iter();
        self.deadlines = deadlines
            .map(|(at, due)| (later(*at), due.clone()))
            .collect();
        let checks = self.checks.iter().map(|(id, local)| {
            let mut local = LocalCheck::clone(local);
            local.next = local.next.map(later);
            local.output_due = local.output_due.map(later);
            local.critical_since = local.critical_since.map(later);
            (id.clone(), Arc::new(local))
        });
        self.checks = checks.collect();
        self.next_sync = later(self.next_sync);
        if let Some(own) = &self.own {
            self.own = Some(Arc::new(Own {
                by_leader: own.by_leader.clone(),
                by_agent: own.by_agent.clone(),
                node: own.node.clone(),
                started: later(own.started),
                output_interval: own.output_interval,
            }));
        }
    }

    /// Lets every check be run at once whose run was under way when the state was saved: nobody will come back
    /// with its result.
    pub(in crate::store) fn run_again(&mut self, now: Timestamp) {
        let mut checks = self.checks.clone();
        for (id, local) in &self.checks {
            let is_run = matches!(local.source, CheckSource::Probe { .. });
            if is_run && local.next.is_none() {
                let mut local = LocalCheck::clone(local);
                local.next = Some(now);
                checks.insert(id.clone(), Arc::new(local));
                self.deadlines.insert((now, Due::Run(id.clone())));
            }
        }
        self.checks = checks;
    }
}
