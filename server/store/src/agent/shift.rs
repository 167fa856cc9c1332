//! Moves the agent's state to another time.

use std::sync::Arc;

use crate::agent::{Agent, CheckSource, Due, Own};
use crate::ordered::OrderedSet;
use crate::timestamp::Timestamp;

impl Agent {
    /// Moves all times of the agent from `from` to `to`.
    pub(crate) fn carry(&mut self, from: Timestamp, to: Timestamp) {
        let carried = |at: Timestamp| at.carried(from, to);
        let deadlines = self.deadlines.iter();
        self.deadlines = deadlines
            .map(|(at, due)| (carried(*at), due.clone()))
            .collect();
        self.checks.change_all(|local| {
            local.next = local.next.map(carried);
            local.output_due = local.output_due.map(carried);
            local.critical_since = local.critical_since.map(carried);
        });
        self.next_sync = carried(self.next_sync);
        self.next_reap = self.next_reap.map(carried);
        if let Some(own) = &self.own {
            self.own = Some(Arc::new(Own {
                by_leader: own.by_leader.clone(),
                by_agent: own.by_agent.clone(),
                node: own.node.clone(),
                started: carried(own.started),
                output_interval: own.output_interval,
            }));
        }
    }

    /// Removes all deadlines of the agent.
    pub(crate) fn drop_deadlines(&mut self) {
        self.deadlines = OrderedSet::new();
        self.next_reap = None;
    }

    /// Makes every check due whose run was in progress when the state was saved: its result was lost.
    pub(crate) fn run_again(&mut self, now: Timestamp) {
        let under_way = self.checks().filter(|local| {
            let is_run = matches!(local.source, CheckSource::Probe { .. });
            is_run && local.next.is_none()
        });
        let under_way: Vec<String> = under_way
            .map(|local| local.check.check_id.clone())
            .collect();
        for id in under_way {
            self.checks.change(&id, |local| local.next = Some(now));
            self.deadlines.insert((now, Due::Run(id)));
        }
    }
}
