//! The table of the agent's checks, with indexes by service and by alias target.

use std::sync::Arc;

use crate::agent::local::{Alias, CheckSource, LocalCheck};
use crate::catalog::work::looked_at;
use crate::each_changed;
use crate::ordered::{OrderedMap, OrderedSet};

/// The agent's checks by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct Checks {
    rows: OrderedMap<String, Arc<LocalCheck>>,
    /// (service, check); the service is empty for checks of the node.
    by_service: OrderedSet<(String, String)>,
    /// (service, check) of the aliases of services of this agent.
    aliases_by_service: OrderedSet<(String, String)>,
    /// (node, check) of the aliases of nodes of the catalog, the node in lower case.
    aliases_by_node: OrderedSet<(String, String)>,
}

impl Checks {
    /// Inserts or replaces a check.
    pub(in crate::agent) fn insert(&mut self, local: LocalCheck) {
        let id = local.check.check_id.clone();
        self.remove(&id);
        let service = local.check.service_id.clone();
        self.by_service.insert((service, id.clone()));
        if let CheckSource::Alias(alias) = &local.source {
            let (aliases, place) = self.aliases_of(alias, &id);
            aliases.insert(place);
        }
        self.rows.insert(id, Arc::new(local));
    }

    pub(in crate::agent) fn remove(&mut self, id: &str) -> Option<Arc<LocalCheck>> {
        let local = self.rows.remove(id)?;
        let service = local.check.service_id.clone();
        self.by_service.remove(&(service, id.to_owned()));
        if let CheckSource::Alias(alias) = &local.source {
            let (aliases, place) = self.aliases_of(alias, id);
            aliases.remove(&place);
        }
        Some(local)
    }

    fn aliases_of(
        &mut self,
        alias: &Alias,
        id: &str,
    ) -> (&mut OrderedSet<(String, String)>, (String, String)) {
        let id = id.to_owned();
        if alias.node.is_empty() {
            (&mut self.aliases_by_service, (alias.service.clone(), id))
        } else {
            (&mut self.aliases_by_node, (alias.node.to_lowercase(), id))
        }
    }

    pub(in crate::agent) fn get(&self, id: &str) -> Option<&Arc<LocalCheck>> {
        self.rows.get(id)
    }

    /// Changes a check. Its id, service and source must stay.
    pub(in crate::agent) fn change<T>(
        &mut self,
        id: &str,
        change: impl FnOnce(&mut LocalCheck) -> T,
    ) -> Option<T> {
        let local = self.rows.get_mut(id)?;
        Some(change(Arc::make_mut(local)))
    }

    /// Changes all checks. Their ids, services and sources must stay.
    pub(in crate::agent) fn change_all(&mut self, change: impl Fn(&mut LocalCheck)) {
        self.rows = each_changed(&self.rows, change);
    }

    /// Returns all checks, in the order of their ids.
    pub(in crate::agent) fn all(&self) -> impl Iterator<Item = &Arc<LocalCheck>> {
        self.rows.values().inspect(|_| looked_at())
    }

    /// Returns the number of checks.
    pub(in crate::agent) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the ids of a service's checks, in order. An empty service selects the node's.
    pub(in crate::agent) fn of_service(&self, service: &str) -> impl Iterator<Item = &str> {
        second_of(&self.by_service, service)
    }

    /// Returns the checks of a service and of the node, in the order of their ids.
    pub(in crate::agent) fn on(&self, service: &str) -> Vec<&Arc<LocalCheck>> {
        let mut ids: Vec<&str> = self.of_service("").collect();
        if !service.is_empty() {
            ids.extend(self.of_service(service));
            ids.sort_unstable();
        }
        ids.into_iter().filter_map(|id| self.rows.get(id)).collect()
    }

    /// Returns the ids of the aliases of a service of this agent.
    pub(in crate::agent) fn aliases_of_service(&self, service: &str) -> impl Iterator<Item = &str> {
        second_of(&self.aliases_by_service, service)
    }

    /// Returns the ids of the aliases of a node of the catalog (lower case).
    pub(in crate::agent) fn aliases_of_node(&self, node: &str) -> impl Iterator<Item = &str> {
        second_of(&self.aliases_by_node, node)
    }
}

/// Returns the second parts of the pairs that begin with `first`, in order.
fn second_of<'a>(
    pairs: &'a OrderedSet<(String, String)>,
    first: &str,
) -> impl Iterator<Item = &'a str> {
    let from = (first.to_owned(), String::new());
    let first = first.to_owned();
    pairs
        .range(from..)
        .take_while(move |(of, _)| *of == first)
        .inspect(|_| looked_at())
        .map(|(_, second)| second.as_str())
}
