//! Moves a whole store to another time or to lower indexes, for tests of restored and reset servers.

use std::sync::Arc;

use crate::Index;
use crate::kv::lock_delay::LockDelays;
use crate::ordered::{OrderedMap, OrderedSet};
use crate::timestamp::Timestamp;
use crate::{Store, each_changed};

impl Store {
    /// Moves all deadlines from `from` to `to`, as if no time lay between.
    pub fn carry(&mut self, from: Timestamp, to: Timestamp) {
        if from == to {
            return;
        }
        let carried = |at: &Timestamp| at.carried(from, to);
        let sessions = &mut self.sessions;
        sessions.lapses = sessions
            .lapses
            .iter()
            .map(|(id, at)| (*id, carried(at)))
            .collect();
        let by_lapse = sessions.by_lapse.iter();
        sessions.by_lapse = by_lapse
            .map(|(at, index, id)| (carried(at), *index, *id))
            .collect();
        // Lock-delays end even at the end of time.
        let carried_end = |at: &Timestamp| to.plus(at.since(from));
        let delays = &mut self.lock_delays;
        delays.by_key = delays
            .by_key
            .iter()
            .map(|(key, at)| (key.clone(), carried_end(at)))
            .collect();
        delays.by_end = delays
            .by_end
            .iter()
            .map(|(at, key)| (carried_end(at), key.clone()))
            .collect();
        let tombstones = &mut self.tombstones;
        let reaps = tombstones.reaps.iter();
        tombstones.reaps = reaps.map(|(at, up_to)| (carried(at), *up_to)).collect();
        tombstones.counted_from = carried(&tombstones.counted_from);
        for agent in self.agents_mut() {
            agent.carry(from, to);
        }
        self.cluster.carry(from, to);
        self.acl.carry(from, to);
    }

    /// Makes the agent's checks due whose runs were in progress when the state was saved.
    pub fn run_checks_again(&mut self, now: Timestamp) {
        for agent in self.agents_mut() {
            agent.run_again(now);
        }
    }

    /// Applies a change or restart of the leader: every TTL starts again, and lock-delays are lost (session.md
    /// 3.3, 3.4).
    pub fn change_leader(&mut self, now: Timestamp) {
        self.lock_delays = LockDelays::default();
        self.start_ttls(now);
    }

    /// Starts every TTL again, as a new leader does, which knows the lock-delays in most cases (cluster.md 3.16, 3.18).
    pub fn start_ttls(&mut self, now: Timestamp) {
        let rows: Vec<_> = self.sessions.rows.values().map(Arc::clone).collect();
        for row in rows {
            self.sessions.start_ttl(now, &row);
        }
    }

    /// Removes every deadline.
    pub fn drop_deadlines(&mut self) {
        let sessions = &mut self.sessions;
        sessions.lapses = OrderedMap::new();
        sessions.by_lapse = OrderedSet::new();
        self.lock_delays = LockDelays::default();
        self.tombstones.reaps = OrderedMap::new();
        for agent in self.agents_mut() {
            agent.drop_deadlines();
        }
        self.cluster.drop_deadlines();
        self.acl.drop_deadlines();
    }

    /// Lowers every index by `by`, to 1 at least, as of a Consul that was built anew with the same data (kv.md 4.3.r5).
    /// Keys, sessions and holders stay. The indexes of events are not raft's, and stay.
    pub fn lower_indexes(&mut self, by: u64) {
        let low = |index: Index| match index {
            Index::ZERO => Index::ZERO,
            Index(index) => Index(index.saturating_sub(by).max(1)),
        };
        self.applied = low(self.applied);
        self.kv.newest = low(self.kv.newest);
        self.kv.rows = each_changed(&self.kv.rows, |row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
        self.tombstones.lower(low);
        let sessions = &mut self.sessions;
        sessions.newest = low(sessions.newest);
        sessions.rows = each_changed(&sessions.rows, |row| {
            row.create_index = low(row.create_index);
        });
        let by_lapse: OrderedSet<_> = sessions
            .by_lapse
            .iter()
            .map(|(at, index, id)| (*at, low(*index), *id))
            .collect();
        sessions.by_lapse = by_lapse;
        self.lower_catalog(low);
        if let Some(row) = &mut self.autopilot {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        }
        self.config.lower(low);
        self.acl.lower(low);
        let queries = &mut self.prepared_queries;
        queries.newest = low(queries.newest);
        queries.rows = each_changed(&queries.rows, |row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
    }

    fn lower_catalog(&mut self, low: impl Fn(Index) -> Index) {
        let catalog = &mut self.catalog;
        catalog.coordinates.lower(&low);
        catalog.nodes = each_changed(&catalog.nodes, |row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
        catalog.services = each_changed(&catalog.services, |row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
        let gateways = &mut catalog.gateway_services.0;
        *gateways = each_changed(gateways, |row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
        catalog.checks.change_all(|row| {
            row.create_index = low(row.create_index);
            row.modify_index = low(row.modify_index);
        });
        for newest in [
            &mut catalog.nodes_newest,
            &mut catalog.node_deleted,
            &mut catalog.services_newest,
            &mut catalog.checks_newest,
            &mut catalog.service_extinct,
        ] {
            *newest = low(*newest);
        }
        for newest in [&mut catalog.newest_by_node, &mut catalog.newest_by_service] {
            *newest = newest
                .iter()
                .map(|(name, index)| (name.clone(), low(*index)))
                .collect();
        }
    }
}
