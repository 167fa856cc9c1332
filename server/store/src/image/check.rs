//! The validity of images: the invariants that every store keeps and relies on.

use std::collections::BTreeSet;
use std::time::Duration;

use super::flaw::{Flaw, HIGHEST, all_different};
use super::whole::Image;
use crate::kv::lock_delay::LONGEST;
use crate::session::id::SessionId;
use crate::timestamp::Timestamp;
use crate::{AgentImage, Index};

impl Image {
    /// Checks that a store can be in this state.
    ///
    /// # Errors
    /// What no store would have.
    pub fn check(&self) -> Result<(), Flaw> {
        self.check_indexes()?;
        self.check_catalog()?;
        let sessions = self.check_sessions()?;
        self.check_keys(&sessions)?;
        self.check_queries(&sessions)?;
        self.check_events()?;
        self.check_config()?;
        self.acl.check()?;
        self.agent.check()?;
        self.other_agents.iter().try_for_each(AgentImage::check)
    }

    fn check_indexes(&self) -> Result<(), Flaw> {
        let applied = self.applied;
        Flaw::unless(applied.0 <= HIGHEST, || {
            format!("the index {applied} is too high")
        })?;
        let known = |index: Index, name: &dyn Fn() -> String| {
            Flaw::unless(index <= applied, || {
                format!(
                    "{} has the index {index}, after that of the state, {applied}",
                    name()
                )
            })
        };
        for (name, created, modified) in self.rows() {
            Flaw::unless(created <= modified, || {
                format!("{name} was modified before it was created")
            })?;
            known(modified, &|| name.clone())?;
        }
        let indexes = &self.indexes;
        for (name, index) in [
            ("keys", indexes.keys),
            ("tombstones", indexes.tombstones),
            ("sessions", indexes.sessions),
            ("nodes", indexes.nodes),
            ("the deletion of nodes", indexes.node_deleted),
            ("services", indexes.services),
            ("checks", indexes.checks),
            ("the end of services", indexes.service_extinct),
            ("prepared queries", indexes.prepared_queries),
            ("coordinates", self.coordinates.newest),
            ("configuration entries", self.config.newest),
            ("gateways", self.config.gateways_newest),
        ] {
            known(index, &|| format!("the table of {name}"))?;
        }
        for (name, index) in indexes.by_node.iter().chain(&indexes.by_service) {
            known(*index, &|| format!("{name:?}"))?;
        }
        let reaps = self.reaps.iter().map(|(_, index)| index);
        for index in self.tombstones.iter().map(|(_, index)| index).chain(reaps) {
            known(*index, &|| "a tombstone".to_owned())?;
        }
        Ok(())
    }

    fn check_catalog(&self) -> Result<(), Flaw> {
        let nodes = self.nodes.iter().map(|row| row.node.node.to_lowercase());
        let nodes = all_different(nodes, |name| format!("node {name:?}"))?;
        let ids = self.nodes.iter().map(|row| row.node.id.to_lowercase());
        let ids = ids.filter(|id| !id.is_empty());
        all_different(ids, |id| format!("node id {id:?}"))?;
        let on_a_node = |node: &str, name: &dyn Fn() -> String| {
            Flaw::unless(nodes.contains(&node.to_lowercase()), || {
                format!("{} is on node {node:?}, which is not there", name())
            })
        };
        for row in &self.services {
            on_a_node(&row.node, &|| format!("service {:?}", row.service.id))?;
        }
        for row in &self.coordinates.rows {
            on_a_node(&row.node, &|| "a coordinate".to_owned())?;
        }
        for row in &self.checks {
            on_a_node(&row.node, &|| format!("check {:?}", row.check.check_id))?;
        }
        let places = self.services.iter();
        let places = places.map(|row| (row.node.to_lowercase(), row.service.id.to_lowercase()));
        let services = all_different(places, |(node, id)| {
            format!("service {id:?} of node {node:?}")
        })?;
        let places = self.checks.iter();
        let places = places.map(|row| (row.node.to_lowercase(), row.check.check_id.to_lowercase()));
        all_different(places, |(node, id)| {
            format!("check {id:?} of node {node:?}")
        })?;
        for row in &self.checks {
            let service = &row.check.service_id;
            let place = (row.node.to_lowercase(), service.to_lowercase());
            Flaw::unless(service.is_empty() || services.contains(&place), || {
                format!(
                    "check {:?} is of service {service:?}, which its node does not have",
                    row.check.check_id
                )
            })?;
        }
        Ok(())
    }

    fn check_sessions(&self) -> Result<BTreeSet<SessionId>, Flaw> {
        let ids = self.sessions.iter().map(|(row, _)| row.session.id);
        let ids = all_different(ids, |id| format!("session {id}"))?;
        let nodes = self.nodes.iter().map(|row| row.node.node.to_lowercase());
        let nodes: BTreeSet<String> = nodes.collect();
        let checks = self.checks.iter();
        let checks: BTreeSet<(String, String)> = checks
            .map(|row| (row.node.to_lowercase(), row.check.check_id.to_lowercase()))
            .collect();
        for (row, lapse) in &self.sessions {
            let session = &row.session;
            let (id, node) = (session.id, session.node.to_lowercase());
            Flaw::unless(nodes.contains(&node), || {
                format!(
                    "session {id} is of node {:?}, which is not there",
                    session.node
                )
            })?;
            for check in session.bound_checks() {
                let place = (node.clone(), check.to_lowercase());
                Flaw::unless(checks.contains(&place), || {
                    format!("session {id} is bound to check {check:?}, which is not there")
                })?;
            }
            Flaw::unless(session.ttl.is_zero() == lapse.is_none(), || {
                format!("session {id} lapses if, and only if, it has a TTL")
            })?;
            Flaw::unless(lapse.is_none_or(|lapse| lapse > Timestamp::ZERO), || {
                format!("session {id} would have lapsed")
            })?;
        }
        Ok(ids)
    }

    fn check_keys(&self, sessions: &BTreeSet<SessionId>) -> Result<(), Flaw> {
        all_different(self.keys.iter().map(|(key, _)| key), |key| {
            format!("key {key:?}")
        })?;
        for (key, row) in &self.keys {
            Flaw::unless(!key.is_empty(), || "a key is empty".to_owned())?;
            Flaw::unless(row.lock_index() <= HIGHEST, || {
                format!("the lock index of key {key:?} is too high")
            })?;
            let Some(holder) = row.session() else {
                continue;
            };
            let id = SessionId::parse(holder).ok().flatten();
            Flaw::unless(id.is_some_and(|id| sessions.contains(&id)), || {
                format!("key {key:?} is held by session {holder:?}, which is not there")
            })?;
        }
        all_different(self.tombstones.iter().map(|(key, _)| key), |key| {
            format!("the tombstone of {key:?}")
        })?;
        all_different(self.reaps.iter().map(|(at, _)| at), |_| {
            "the time of a reap".to_owned()
        })?;
        all_different(self.lock_delays.iter().map(|(key, _)| key), |key| {
            format!("the lock-delay of {key:?}")
        })?;
        for (key, end) in &self.lock_delays {
            let left = end.since(Timestamp::ZERO);
            Flaw::unless(left > Duration::ZERO && left <= LONGEST, || {
                format!(
                    "the lock-delay of {key:?} has more than nothing left, and at most {LONGEST:?}"
                )
            })?;
        }
        Ok(())
    }

    fn check_queries(&self, sessions: &BTreeSet<SessionId>) -> Result<(), Flaw> {
        let rows = &self.prepared_queries;
        let ids = all_different(rows.iter().map(|row| row.id), |id| {
            format!("prepared query {id}")
        })?;
        let names = rows.iter().filter_map(|row| row.query.key_name());
        let names = all_different(names, |name| format!("the prepared query for {name:?}"))?;
        for name in names {
            let named = SessionId::parse(&name).ok().flatten();
            Flaw::unless(named.is_none_or(|id| !ids.contains(&id)), || {
                format!("the name {name:?} of a prepared query is the id of another")
            })?;
        }
        for row in rows {
            let session = row.query.session.as_str();
            let known = SessionId::parse(session).ok().flatten();
            let known = known.is_some_and(|id| sessions.contains(&id));
            Flaw::unless(session.is_empty() || known, || {
                format!(
                    "prepared query {} is of session {session:?}, which is not there",
                    row.id
                )
            })?;
        }
        Ok(())
    }

    fn check_config(&self) -> Result<(), Flaw> {
        let places = self.config.rows.iter().map(|row| row.entry.place());
        let name = |(kind, name): &(String, String)| format!("{kind} {name:?}");
        all_different(places, name).map(|_| ())
    }

    fn check_events(&self) -> Result<(), Flaw> {
        let kept = crate::agent::event::KEPT;
        Flaw::unless(self.events.len() <= kept, || {
            format!("at most {kept} events are kept")
        })?;
        let fired = self.events_fired;
        let times = self.events.iter().map(|row| row.logical_time);
        let times: Vec<u64> = times.collect();
        let in_order = times.is_sorted_by(|earlier, later| earlier < later);
        let in_time = times.last().is_none_or(|last| *last <= fired + 1);
        Flaw::unless(fired <= HIGHEST && in_order && in_time, || {
            "the logical times of events rise, up to one more than were fired".to_owned()
        })
    }
}
