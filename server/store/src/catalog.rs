//! The catalog: nodes and services, and the registrations that write them (session.md 4).

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::check_table::CheckTable;
use super::command::Refusal;
use super::effects::{Cause, Touched};
use super::index::Index;
use super::query::{Answer, Instance, Rows, Watch};
use super::registration::{Deregistration, Labels, NewService, NodeRow, Registration, ServiceRow};
use super::{Change, Store};

/// The catalog's tables. Node names are keys in lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct Catalog {
    pub(super) nodes: OrdMap<String, Arc<NodeRow>>,
    /// The name of the node of each id, both in lower case.
    pub(super) node_ids: OrdMap<String, String>,
    /// By node and service id.
    pub(super) services: OrdMap<(String, String), Arc<ServiceRow>>,
    pub(super) checks: CheckTable,
    pub(super) nodes_newest: Index,
    /// The index of the last change of each node or of a service on it.
    pub(super) newest_by_node: OrdMap<String, Index>,
    /// The index of the last deletion of any node.
    pub(super) node_deleted: Index,
    pub(super) services_newest: Index,
    pub(super) checks_newest: Index,
    /// (name, node, id) of every service instance, the node in lower case.
    pub(super) instances: OrdSet<(String, String, String)>,
    /// The index of the last change of anything that a read of a service shows, while it has instances.
    pub(super) newest_by_service: OrdMap<String, Index>,
    /// The index at which the last instance of any service went.
    pub(super) service_extinct: Index,
}

impl Catalog {
    /// The service instances of a node, in the order of their ids.
    pub(super) fn services_of(&self, node: &str) -> Vec<Arc<ServiceRow>> {
        self.services
            .range((node.to_owned(), String::new())..)
            .take_while(|((of, _), _)| of == node)
            .map(|(_, row)| Arc::clone(row))
            .collect()
    }

    /// Forgets an instance of a service. Whether it was the last one, and the service is gone with it.
    pub(super) fn forget_instance(&mut self, node: &str, name: &str, id: &str) -> bool {
        let instance = (name.to_owned(), node.to_owned(), id.to_owned());
        self.instances.remove(&instance);
        let first = (name.to_owned(), String::new(), String::new());
        let next = self.instances.range(first..).next();
        let gone = next.is_none_or(|(of, _, _)| of != name);
        if gone {
            self.newest_by_service.remove(name);
        }
        gone
    }

    /// Whether a node has all this meta data; the node in lower case.
    pub(super) fn node_has(&self, node: &str, wanted: &Labels) -> bool {
        wanted.is_empty() || self.nodes.get(node).is_some_and(|row| row.has_meta(wanted))
    }
}

impl Store {
    pub(super) fn nodes(&self) -> Answer {
        Answer {
            index: self.catalog.nodes_newest.reported(),
            rows: Rows::Nodes(self.catalog.nodes.values().map(Arc::clone).collect()),
            reads: vec![Watch::Nodes],
            waits_for_existence: false,
        }
    }

    pub(super) fn node(&self, node: &str) -> Answer {
        let name = node.to_lowercase();
        let Some(row) = self.catalog.nodes.get(&name) else {
            // Until 1.13 the index of a missing node is always 1, so a wait sleeps through the node's deletion.
            let deleted = self
                .rules
                .index_per_node
                .then_some(self.catalog.node_deleted);
            return Answer {
                index: deleted.unwrap_or_default().reported(),
                rows: Rows::Node(None),
                reads: vec![Watch::Nodes],
                waits_for_existence: false,
            };
        };
        let services = self.catalog.services_of(&name);
        let index = if self.rules.index_per_node {
            // Not that of the rows: a service that goes leaves none.
            self.catalog
                .newest_by_node
                .get(&name)
                .copied()
                .unwrap_or_default()
        } else {
            self.catalog.nodes_newest.max(self.catalog.services_newest)
        };
        Answer {
            index: index.reported(),
            rows: Rows::Node(Some((Arc::clone(row), services))),
            reads: if self.rules.index_per_node {
                vec![Watch::Node(name)]
            } else {
                vec![Watch::Nodes, Watch::Services]
            },
            waits_for_existence: false,
        }
    }

    pub(super) fn services(&self, node_meta: &Labels) -> Answer {
        let catalog = &self.catalog;
        let rows = catalog.services.iter();
        let rows = rows.filter(|((node, _), _)| catalog.node_has(node, node_meta));
        let instance = |((node, _), service): (&(String, String), &Arc<ServiceRow>)| {
            Some(Instance {
                node: Arc::clone(catalog.nodes.get(node)?),
                service: Arc::clone(service),
                checks: Vec::new(),
            })
        };
        let mut answer = Answer {
            index: catalog.services_newest.reported(),
            rows: Rows::Instances(rows.filter_map(instance).collect()),
            reads: vec![Watch::Services],
            waits_for_existence: false,
        };
        if !node_meta.is_empty() {
            // Asked about nodes, Consul reports the index of the nodes, too.
            answer.index = answer.index.max(catalog.nodes_newest);
            answer.reads.push(Watch::Nodes);
        }
        answer
    }
}

impl Change<'_> {
    /// Registers a node with what is on it; on a refusal nothing of it stays.
    pub(super) fn register(&mut self, registration: Registration) -> Result<(), Refusal> {
        let before = (self.store.clone(), self.effects.clone());
        let result = self.register_parts(registration);
        if result.is_err() {
            // What the command did before this stays done: an agent enters several things in one.
            (*self.store, self.effects) = before;
        }
        result
    }

    fn register_parts(&mut self, registration: Registration) -> Result<(), Refusal> {
        let node = registration.node.node.to_lowercase();
        let exists = self.store.catalog.nodes.contains_key(&node);
        if !(exists && registration.skip_node_update) {
            self.put_node(&node, registration.node)?;
        }
        if let Some(service) = registration.service {
            self.put_service(&node, service);
        }
        for check in registration.checks {
            self.put_check(&node, check)?;
        }
        Ok(())
    }

    pub(super) fn put_service(&mut self, node: &str, service: NewService) {
        let place = (node.to_owned(), service.id.clone());
        let current = self.store.catalog.services.get(&place);
        if current.is_some_and(|current| current.service == service) {
            return;
        }
        let row = ServiceRow {
            node: self.node_name(node),
            create_index: current.map_or(self.index, |row| row.create_index),
            modify_index: self.index,
            service,
        };
        let renamed = current
            .map(|current| current.service.name.clone())
            .filter(|name| *name != row.service.name);
        if let Some(name) = renamed {
            self.store.catalog.forget_instance(node, &name, &place.1);
        }
        let name = row.service.name.clone();
        let instance = (name.clone(), place.0.clone(), place.1.clone());
        self.store.catalog.instances.insert(instance);
        self.store.catalog.services.insert(place, Arc::new(row));
        self.service_changed(&name);
        self.service_touched(node, name);
    }

    /// The name of a node as it was registered.
    pub(super) fn node_name(&self, node: &str) -> String {
        let row = self.store.catalog.nodes.get(node);
        row.map_or_else(|| node.to_owned(), |row| row.node.node.clone())
    }

    fn service_touched(&mut self, node: &str, name: String) {
        self.store.catalog.services_newest = self.index;
        let of_node = &mut self.store.catalog.newest_by_node;
        of_node.insert(node.to_owned(), self.index);
        if self.store.rules.index_per_node {
            self.store.catalog.nodes_newest = self.index;
        }
        self.effects.touched.push(Touched::Service {
            node: node.to_owned(),
            name,
        });
    }

    /// Takes something out of the catalog; what is not there is no error (session.md 4.3).
    pub(super) fn deregister(&mut self, what: &Deregistration) {
        match what {
            Deregistration::Node(node) => self.remove_node(&node.to_lowercase()),
            Deregistration::Service { node, id } => self.remove_service(&node.to_lowercase(), id),
            Deregistration::Check { node, id } => {
                let (node, id) = (node.to_lowercase(), id.to_lowercase());
                self.remove_check(&node, &id);
            }
        }
    }

    pub(super) fn remove_node(&mut self, node: &str) {
        if !self.store.catalog.nodes.contains_key(node) {
            return;
        }
        // First, so that the cause of every session's end is the node and not one of its checks.
        self.invalidate_node(node);
        for row in self.store.catalog.services_of(node) {
            self.remove_service(node, &row.service.id);
        }
        for row in self.store.catalog.checks.of_node(node) {
            self.remove_check(node, &row.check.check_id.to_lowercase());
        }
        let catalog = &mut self.store.catalog;
        if let Some(row) = catalog.nodes.remove(node) {
            catalog.node_ids.remove(&row.node.id.to_lowercase());
        }
        catalog.newest_by_node.remove(node);
        catalog.nodes_newest = self.index;
        catalog.node_deleted = self.index;
        self.effects.touched.push(Touched::Node(node.to_owned()));
    }

    pub(super) fn remove_service(&mut self, node: &str, id: &str) {
        let place = (node.to_owned(), id.to_owned());
        let Some(row) = self.store.catalog.services.remove(&place) else {
            return;
        };
        for row in self.store.catalog.checks.of_service(node, id) {
            self.remove_check(node, &row.check.check_id.to_lowercase());
        }
        // Even if there were none (seen on 1.8.7).
        self.store.catalog.checks_newest = self.index;
        let touched = Touched::TableIndex(Watch::Checks);
        self.effects.touched.push(touched);
        self.instance_gone(node, &row.service.name, id);
        self.service_touched(node, row.service.name.clone());
    }

    pub(super) fn remove_check(&mut self, node: &str, id: &str) {
        let Some(row) = self.store.catalog.checks.remove(node, id) else {
            return;
        };
        self.check_touched(node, &row);
        if row.check.service_id.is_empty() {
            // Written it does not, deleted it does, even where there is no service (seen on 1.8.7).
            self.store.catalog.services_newest = self.index;
            let touched = Touched::TableIndex(Watch::Services);
            self.effects.touched.push(touched);
        }
        self.invalidate_check(node, id, &Cause::CheckDeleted(row.check.check_id.clone()));
    }
}
