//! The tasks of the agent.

use std::sync::Arc;
use std::time::Duration;

use super::check::{next_on_grid, overdue_at};
use super::command::{Due, Start};
use super::{Own, SERF_HEALTH};
use crate::Change;
use crate::catalog::registration::Registration;
use crate::command::effects::{Note, Touched};
use crate::timestamp::Timestamp;

/// The interval of searches for overdue critical services.
pub(super) const REAP_INTERVAL: Duration = Duration::from_secs(30);
/// The interval at which the leader checks the registrations of members.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(60);
/// The interval of comparisons with the catalog, and the limit of its random extension.
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
        if own.by_agent.node != own.by_leader.node {
            self.enter(own.by_agent.clone());
        }
        let agent = &mut self.store.agent;
        agent.own = Some(own.into());
        agent.next_sync = self.now;
    }

    /// Schedules the next checks of leader and agent if others changed the agent's node. Checks that would
    /// find nothing are not scheduled, so that an idle server has no deadlines.
    pub(crate) fn agent_looks_later(&mut self) {
        let Some(own) = self.store.agent.own.as_ref().map(Arc::clone) else {
            return;
        };
        let is_own = |touched: &Touched| match touched {
            Touched::Node(node) | Touched::Service { node, .. } | Touched::Check { node, .. } => {
                *node == own.node
            }
            Touched::Key(_)
            | Touched::Keys(_)
            | Touched::MergedKeys(_)
            | Touched::Session { .. }
            | Touched::NodeOfService(_)
            | Touched::ServiceIndex(_)
            | Touched::Entry(..)
            | Touched::Merged(..)
            | Touched::PreparedQuery(_)
            | Touched::ConfigEntry { .. }
            | Touched::Event
            | Touched::AgentService(_)
            | Touched::AclObject(..)
            | Touched::AclTable(_) => false,
        };
        if !self.effects.touched.iter().any(is_own) {
            return;
        }
        self.agent_looks_at(own.started);
    }

    /// Schedules the next checks of leader and agent, which look after the agent's node.
    pub(crate) fn agent_looks_after_restore(&mut self) {
        if let Some(own) = &self.store.agent.own {
            let started = own.started;
            self.agent_looks_at(started);
        }
    }

    fn agent_looks_at(&mut self, started: Timestamp) {
        let reconcile = next_on_grid(started, RECONCILE_INTERVAL, self.now);
        self.agent_schedule(reconcile, Due::Reconcile);
        let agent = &mut self.store.agent;
        if agent.next_sync <= self.now {
            // Skips the comparisons in between, which would have found nothing. Equal intervals are assumed,
            // so that a long time costs no more.
            let wait = SYNC_INTERVAL + agent.chance.below(SYNC_INTERVAL);
            agent.next_sync = next_on_grid(agent.next_sync, wait, self.now);
        }
        let sync = agent.next_sync;
        self.agent_schedule(sync, Due::FullSync);
    }

    /// Runs a due task. Returns a note for the history if the catalog does not change.
    pub(crate) fn agent_due(&mut self, due: Due) -> Option<Note> {
        let deadlines = &mut self.store.agent.deadlines;
        // After a stopped clock another task may be first.
        if let Some(first) = deadlines
            .first()
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

    /// Deregisters the services that have been critical for too long.
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

    /// Schedules the first search that finds a service overdue at `overdue`. Earlier searches would find
    /// nothing and are skipped, so that years can pass with a critical service.
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

    /// Registers the agent again after a deregistration by others (session.md 4.3).
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
