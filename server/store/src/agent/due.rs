//! What the agent does by itself.

use std::sync::Arc;
use std::time::Duration;

use super::check::{next_on_grid, overdue_at};
use super::command::{Due, Start};
use super::{Own, SERF_HEALTH};
use crate::Change;
use crate::catalog::registration::Registration;
use crate::command::effects::{Note, Touched};
use crate::timestamp::Timestamp;

/// How often the agent looks for services that have been critical for too long.
pub(super) const REAP_INTERVAL: Duration = Duration::from_secs(30);
/// How often the leader looks whether the members are entered.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(60);
/// The time between two comparisons of agent and catalog, and how much is added at random.
const SYNC_INTERVAL: Duration = Duration::from_secs(60);

impl Change<'_> {
    pub(super) fn agent_start(&mut self, start: Start) {
        let own = Own {
            node: start.by_agent.node.node.to_lowercase(),
            by_leader: start.by_leader,
            by_agent: start.by_agent,
            started: self.now,
            output_interval: start.output_interval,
        };
        let agent = &mut self.store.agent;
        agent.chance = super::Chance::seeded(start.seed);
        self.enter(own.by_leader.clone());
        self.enter(own.by_agent.clone());
        let agent = &mut self.store.agent;
        agent.own = Some(own.into());
        agent.next_sync = self.now;
    }

    /// After others changed something: if it was the agent's node, leader and agent will see it when they next
    /// look. Nothing is scheduled for looks that would find nothing, so that a server at rest has no deadlines.
    pub(crate) fn agent_looks_later(&mut self) {
        let Some(own) = self.store.agent.own.as_ref().map(Arc::clone) else {
            return;
        };
        let is_own = |touched: &Touched| match touched {
            Touched::Node(node) | Touched::Service { node, .. } | Touched::Check { node, .. } => {
                *node == own.node
            }
            Touched::Key(_)
            | Touched::Session { .. }
            | Touched::ServiceHealth(_)
            | Touched::TableIndex(_)
            | Touched::PreparedQuery
            | Touched::Event
            | Touched::AgentService(_) => false,
        };
        if !self.effects.touched.iter().any(is_own) {
            return;
        }
        let reconcile = next_on_grid(own.started, RECONCILE_INTERVAL, self.now);
        self.agent_schedule(reconcile, Due::Reconcile);
        let agent = &mut self.store.agent;
        if agent.next_sync <= self.now {
            // Those that there were meanwhile have found nothing. They are taken to have been equally far apart, or a
            // century of them would have to be gone through.
            let wait = SYNC_INTERVAL + agent.chance.below(SYNC_INTERVAL);
            agent.next_sync = next_on_grid(agent.next_sync, wait, self.now);
        }
        let sync = agent.next_sync;
        self.agent_schedule(sync, Due::FullSync);
    }

    /// Does what is due. Returns a note about what the catalog does not show.
    pub(crate) fn agent_due(&mut self, due: Due) -> Option<Note> {
        let deadlines = &mut self.store.agent.deadlines;
        // A clock that was stopped may be past it.
        if let Some(first) = deadlines
            .get_min()
            .filter(|(_, first)| *first == due)
            .cloned()
        {
            deadlines.remove(&first);
        }
        match due {
            Due::Expire(id) => {
                self.agent_expire(&id);
                let words = format!("the TTL of check {id:?} expired");
                return Some(Note::CatalogChanged(words));
            }
            Due::Run(id) => self.agent_run(&id),
            Due::Output(id) => self.agent_tell_catalog(&id),
            Due::Reap => self.agent_reap(),
            Due::Reconcile => self.reconcile(),
            Due::FullSync => self.agent_full_sync(),
        }
        None
    }

    /// Deregisters the services that have been critical for longer than they said.
    fn agent_reap(&mut self) {
        let now = self.now;
        self.store.agent.next_reap = None;
        let checks = self.store.agent.checks();
        let overdue = checks.filter(|local| {
            let after = local.deregister_after;
            let since = local.critical_since;
            let over = after
                .zip(since)
                .is_some_and(|(after, since)| now.since(since) >= after);
            over && !local.check.service_id.is_empty()
        });
        let services: std::collections::BTreeSet<String> = overdue
            .map(|local| local.check.service_id.clone())
            .collect();
        for service in services {
            self.agent_drop_service(&service);
        }
        let agent = &self.store.agent;
        if let Some(next) = agent.checks().filter_map(|local| overdue_at(local)).min() {
            self.agent_schedule_reap(next);
        }
    }

    /// Lets services be looked at for how long they have been critical, at the first look that finds one at `overdue`. The
    /// looks before it would find nothing, so they do not take place: a server with a critical service can be advanced by
    /// years.
    pub(super) fn agent_schedule_reap(&mut self, overdue: Timestamp) {
        let before = Timestamp::from_offset(overdue.offset().saturating_sub(1));
        let started = self.store.agent.own().started;
        let at = match overdue {
            Timestamp::END => Timestamp::END,
            _ => next_on_grid(started, REAP_INTERVAL, before.max(self.now)),
        };
        let next = self.store.agent.next_reap;
        if next.is_none_or(|next| at < next) {
            self.agent_cancel(next, Due::Reap);
            self.agent_schedule(at, Due::Reap);
            self.store.agent.next_reap = Some(at);
        }
    }

    /// The leader enters the agent again where somebody has taken it out (session.md 4.3).
    fn reconcile(&mut self) {
        let own = self.store.agent.own();
        let catalog = &self.store.catalog;
        let node = catalog.nodes.contains_key(&own.node);
        let service = catalog
            .services
            .contains_key(&(own.node.clone(), super::CONSUL.to_owned()));
        let health = catalog.checks.get(&own.node, &SERF_HEALTH.to_lowercase());
        let passing = health.is_some_and(|row| row.check.status == "passing");
        if !(node && service && passing) {
            self.enter(Registration {
                skip_node_update: node,
                ..own.by_leader.clone()
            });
        }
    }
}
