//! The catalog: nodes and services, and the registrations that write them (session.md 4).

pub(crate) mod check;
pub(crate) mod coordinate;
pub(crate) mod node;
pub(crate) mod node_dump;
pub(super) mod query;
pub(crate) mod registration;
pub(crate) mod remote;
pub(crate) mod service;
pub(crate) mod trees;
pub(crate) mod usage;
pub(crate) mod work;

use std::convert::Infallible;
use std::sync::Arc;

use crate::Index;
use crate::catalog::check::table::CheckTable;
use crate::catalog::coordinate::CoordinateTable;
use crate::catalog::node::id::key_of_id;
use crate::catalog::registration::{
    Deregistration, Labels, NewCheck, NewService, NodeRow, Registration, RegistrationFlaw,
    ServiceRow,
};
use crate::catalog::service::Instance;
use crate::catalog::service::gateway::GatewayTable;
use crate::catalog::trees::{Trees, check_entries, node_entries, service_entries};
use crate::command::effects::{Cause, Note, Touched};
use crate::command::entry::{self, LogEntry};
use crate::command::{Command, Refusal};
use crate::kv::key::Key;
use crate::ordered::{OrderedMap, OrderedSet};
use crate::read::{Answer, Read, ReadResult, Subject, Tree, Watch};
use crate::{Change, Store};

/// Reads the nodes with this meta data, in the order of their names.
#[derive(Clone, Debug)]
pub struct NodeList(pub Labels);

/// Reads a node with its services, in the order of their ids.
#[derive(Clone, Debug)]
pub struct NodeInfo(pub String);

/// Reads the node with this name, or else the only one whose id is this or begins so, as [`NodeInfo`] does (session.md 4.5.r12).
#[derive(Clone, Debug)]
pub struct NodeByNameOrId(pub String);

/// Reads the services on nodes with this meta data, in the order of node and id, without their checks.
#[derive(Clone, Debug)]
pub struct ServiceList(pub Labels);

/// The catalog's tables. Node names are keys in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) nodes: OrderedMap<String, Arc<NodeRow>>,
    /// Node names, in lower case, by node id.
    pub(crate) node_ids: OrderedMap<Key, String>,
    /// By node and service id, both in lower case.
    pub(crate) services: OrderedMap<(String, String), Arc<ServiceRow>>,
    pub(crate) checks: CheckTable,
    pub(crate) nodes_newest: Index,
    /// The index of the last change of each node or of a service on it.
    pub(crate) newest_by_node: OrderedMap<String, Index>,
    /// The index of the last deletion of any node.
    pub(crate) node_deleted: Index,
    pub(crate) services_newest: Index,
    pub(crate) checks_newest: Index,
    /// (name, node, id) of every service instance, all in lower case.
    pub(crate) instances: OrderedSet<(String, String, String)>,
    /// The index of the last change that reads of a service show. It goes with the service's last instance, but stays
    /// when that takes another name. By name in lower case.
    pub(crate) newest_by_service: OrderedMap<String, Index>,
    /// The index at which a service last lost its last instance.
    pub(crate) service_extinct: Index,
    pub(crate) coordinates: CoordinateTable,
    pub(crate) gateway_services: GatewayTable,
    pub(crate) trees: Trees,
}

/// Whether a name is `lower`, which is in lower case, in any case.
pub(crate) fn spells(name: &str, lower: &str) -> bool {
    // Most names are ASCII, and cost no copy.
    name.eq_ignore_ascii_case(lower) || !name.is_ascii() && name.to_lowercase() == lower
}

impl Catalog {
    /// Returns the service instances of a node, in the order of their ids.
    pub(crate) fn services_of(&self, node: &str) -> Vec<Arc<ServiceRow>> {
        self.services
            .range((node.to_owned(), String::new())..)
            .take_while(|((of, _), _)| of == node)
            .map(|(_, row)| Arc::clone(row))
            .collect()
    }

    /// Returns the service instance of a node (lower case) with this id in any case.
    pub(crate) fn service(&self, node: &str, id: &str) -> Option<&Arc<ServiceRow>> {
        self.services.get(&(node.to_owned(), id.to_lowercase()))
    }

    /// Removes an instance of a service.
    pub(crate) fn forget_instance(&mut self, node: &str, name: &str, id: &str) {
        let instance = (name.to_lowercase(), node.to_owned(), id.to_lowercase());
        self.instances.remove(&instance);
    }

    /// Whether a service has instances.
    pub(crate) fn has_instances(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let first = (name.clone(), String::new(), String::new());
        let next = self.instances.range(first..).next();
        next.is_some_and(|(of, _, _)| *of == name)
    }

    /// Returns the index of a service with instances.
    pub(crate) fn service_newest(&self, name: &str) -> Option<Index> {
        let newest = self.newest_by_service.get(&name.to_lowercase()).copied();
        newest.filter(|_| self.has_instances(name))
    }

    /// Returns the dependency of a search for nodes with this meta data; `None` for every node. Consul searches for
    /// one of several labels.
    fn nodes_with(&self, wanted: &Labels) -> Option<Watch> {
        let (label, value) = wanted.first_key_value()?;
        Some(self.trees.search(Tree::NodeMeta, &[label, value]))
    }

    /// Whether a node (lower case) has all this meta data.
    pub(crate) fn node_has(&self, node: &str, wanted: &Labels) -> bool {
        wanted.is_empty() || self.nodes.get(node).is_some_and(|row| row.has_meta(wanted))
    }
}

impl Read for NodeList {
    type Rows = Vec<Arc<NodeRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all nodes")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let catalog = &store.catalog;
        let rows = catalog.nodes.values().filter(|row| row.has_meta(&self.0));
        let rows = rows.map(Arc::clone).collect();
        let reads = catalog.nodes_with(&self.0).unwrap_or(Watch::Nodes);
        Ok(Answer::new(catalog.nodes_newest, rows, vec![reads]))
    }
}

impl Read for NodeInfo {
    type Rows = Option<(Arc<NodeRow>, Vec<Arc<ServiceRow>>)>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("node {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let (catalog, name) = (&store.catalog, self.0.to_lowercase());
        let per_node = store.rules.index_per_node;
        let Some(row) = catalog.nodes.get(&name) else {
            // Until 1.13 the index of a missing node is always 1, so a wait sleeps through the node's deletion. Later it
            // is so for names of one letter (session.md 4.5).
            let (deleted, reads) = if per_node && name.len() > 1 {
                (catalog.node_deleted, Watch::Nodes)
            } else {
                (Index::ZERO, Watch::Node(name))
            };
            return Ok(Answer::new(deleted, None, vec![reads]));
        };
        let rows = (Arc::clone(row), catalog.services_of(&name));
        let index = if per_node {
            // The highest index of the rows would miss deregistered services.
            let index = catalog.newest_by_node.get(&name).copied();
            index.unwrap_or_default()
        } else {
            catalog.nodes_newest.max(catalog.services_newest)
        };
        let services = catalog.trees.search(Tree::Services, &[&name]);
        let reads = vec![services, Watch::Node(name)];
        Ok(Answer::new(index, Some(rows), reads))
    }
}

impl Read for NodeByNameOrId {
    type Rows = <NodeInfo as Read>::Rows;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        NodeInfo(self.0.clone()).subject()
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let catalog = &store.catalog;
        let mut answer = NodeInfo(self.0.clone()).look(store)?;
        if answer.rows.is_some() {
            return Ok(answer);
        }
        let Some(start) = key_of_id(&self.0) else {
            return Ok(answer);
        };
        let found = catalog.node_of_start(&start);
        let Some(row) = found else {
            // The name was looked for first.
            let name = self.0.to_lowercase();
            answer
                .reads
                .push(catalog.trees.search(Tree::Nodes, &[&name]));
            return Ok(answer);
        };
        let mut answer = NodeInfo(row.node.node.clone()).look(store)?;
        answer
            .reads
            .push(catalog.trees.search_key(Tree::NodeIds, &start));
        Ok(answer)
    }
}

impl Read for ServiceList {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all services")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let catalog = &store.catalog;
        let rows = catalog.services.iter();
        let rows = rows.filter(|((node, _), _)| catalog.node_has(node, &self.0));
        let instance = |((node, _), service): (&(String, String), &Arc<ServiceRow>)| {
            Some(Instance {
                node: Arc::clone(catalog.nodes.get(node)?),
                service: Arc::clone(service),
                checks: Vec::new(),
            })
        };
        let rows = rows.filter_map(instance).collect();
        let Some(nodes) = catalog.nodes_with(&self.0) else {
            let reads = vec![catalog.trees.search(Tree::Services, &[])];
            return Ok(Answer::new(catalog.services_newest, rows, reads));
        };
        // With a filter on nodes, Consul includes the index of the nodes.
        let index = catalog.services_newest.max(catalog.nodes_newest);
        let found = catalog.nodes.iter();
        let found = found.filter(|(_, row)| row.has_meta(&self.0));
        let services = found.map(|(node, _)| catalog.trees.search(Tree::Services, &[node]));
        let reads = services.chain([nodes]).collect();
        Ok(Answer::new(index, rows, reads))
    }
}

/// Registers a node with its services and checks (session.md 4.2), all or nothing.
impl Command for Registration {
    type Reply = ();
    type Refused = Refusal;

    fn entry(&self) -> Option<LogEntry> {
        Some(entry::REGISTER)
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Refusal> {
        let words = format!("registered on node {:?}", self.node.node);
        change.take_indexes(1);
        change.register(self)?;
        change.effects.notes.push(Note::CatalogChanged(words));
        Ok(())
    }
}

/// Deregisters a node, a service or a check (session.md 4.3).
impl Command for Deregistration {
    type Reply = ();
    type Refused = Infallible;

    fn entry(&self) -> Option<LogEntry> {
        Some(entry::DEREGISTER)
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        change.take_indexes(1);
        change.deregister(&self);
        let words = format!("deregistered: {self:?}");
        change.effects.notes.push(Note::CatalogChanged(words));
        Ok(())
    }
}

impl Change<'_> {
    /// Registers a node with its services and checks, all or nothing.
    pub(crate) fn register(&mut self, registration: Registration) -> Result<(), Refusal> {
        // While there is a copy of the store, each write copies the path to its row.
        self.require_services_of_checks(&registration)?;
        let before = self.may_fail_midway(&registration);
        let before = before.then(|| (self.store.clone(), self.effects.clone()));
        let result = self.register_parts(registration);
        if let (Err(_), Some(before)) = (&result, before) {
            // Earlier changes of the command stay: an agent's command has several registrations.
            (*self.store, self.effects) = before;
        }
        result
    }

    /// Refuses a check of a service that the node does not have by exactly this id.
    fn require_services_of_checks(&self, registration: &Registration) -> Result<(), Refusal> {
        if !self.store.rules.check_services_are_exact {
            return Ok(());
        }
        let Registration {
            service,
            node,
            checks,
            ..
        } = registration;
        let place = node.node.to_lowercase();
        let stands = |id: &str| {
            let stored = self.store.catalog.service(&place, id);
            let known = stored.map(|row| &row.service.id);
            id.is_empty()
                || known
                    .into_iter()
                    .chain(service.as_ref().map(|new| &new.id))
                    .any(|known| known == id)
        };
        match checks.iter().find(|check| !stands(&check.service_id)) {
            None => Ok(()),
            Some(check) => Err(Refusal::MissingService {
                node: node.node.clone(),
                service: check.service_id.clone(),
                check: check.check_id.clone(),
            }),
        }
    }

    /// Whether a registration may fail behind its first change: only a node is refused before.
    fn may_fail_midway(&self, registration: &Registration) -> bool {
        let Registration { service, .. } = registration;
        let new = service.as_ref().map(|service| service.id.to_lowercase());
        let node = registration.node.node.to_lowercase();
        let catalog = &self.store.catalog;
        // A node that takes a name replaces the one that had it, with its services.
        let keeps_services = registration.skip_node_update && catalog.nodes.contains_key(&node);
        let stands = |id: &str| {
            id.is_empty()
                || new.as_ref().is_some_and(|new| *new == id.to_lowercase())
                || keeps_services && catalog.service(&node, id).is_some()
        };
        let is_written = |check: &NewCheck| !check.check_id.is_empty() && stands(&check.service_id);
        let has_flaw = |service| RegistrationFlaw::of_meta(&node, service).is_some();
        registration.flaw.is_some()
            || service.as_ref().is_some_and(has_flaw)
            || !registration.checks.iter().all(is_written)
    }

    fn register_parts(&mut self, registration: Registration) -> Result<(), Refusal> {
        let named = registration.node.node.clone();
        let node = named.to_lowercase();
        let exists = self.store.catalog.nodes.contains_key(&node);
        if !(exists && registration.skip_node_update) {
            self.put_node(&node, registration.node)?;
        }
        if let Some(service) = registration.service {
            if let Some(flaw) = RegistrationFlaw::of_meta(&named, &service) {
                return Err(Refusal::Registration(flaw));
            }
            self.put_service(&named, service);
        }
        for check in registration.checks {
            self.put_check(&named, check)?;
        }
        let flaw = registration.flaw.map(Refusal::Registration);
        flaw.map_or(Ok(()), Err)
    }

    /// Writes a service of this node, in any case. The service keeps the name of the node as it is given here.
    pub(crate) fn put_service(&mut self, named: &str, mut service: NewService) {
        let node = &*named.to_lowercase();
        self.show_virtual_addresses(&mut service);
        let current = self
            .store
            .catalog
            .service(node, &service.id)
            .map(Arc::clone);
        let current = current.as_deref();
        let is_same = |row: &&ServiceRow| row.service == service && row.node == named;
        if let Some(current) = current.filter(is_same) {
            self.gateways_gain(current);
            return;
        }
        let row = ServiceRow {
            node: named.to_owned(),
            create_index: current.map_or(self.index, |row| row.create_index),
            modify_index: self.index,
            service,
        };
        let renamed = current
            .map(|current| current.service.name.clone())
            .filter(|name| *name != row.service.name);
        if let Some(name) = renamed {
            let id = &row.service.id;
            self.store.catalog.forget_instance(node, &name, id);
        }
        let name = row.service.name.clone();
        let place = (node.to_owned(), row.service.id.to_lowercase());
        let instance = (name.to_lowercase(), place.0.clone(), place.1.clone());
        let before = current.map(|row| service_entries(node, row));
        let after = service_entries(node, &row);
        let row = Arc::new(row);
        self.store.catalog.instances.insert(instance);
        self.store.catalog.services.insert(place, Arc::clone(&row));
        self.gateways_gain(&row);
        self.replace_entries(&before.unwrap_or_default(), after);
        if let Some(before) =
            current.filter(|before| before.service.stands_for() != row.service.stands_for())
        {
            self.instance_frees_virtual_address(&before.service);
        }
        self.service_changed(&name);
        self.service_touched(node, name);
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

    /// Deregisters; what is missing is no error (session.md 4.3).
    pub(crate) fn deregister(&mut self, what: &Deregistration) {
        match what {
            Deregistration::Node(node) => self.remove_node(&node.to_lowercase()),
            Deregistration::Service { node, id } => self.remove_service(&node.to_lowercase(), id),
            Deregistration::Check { node, id } => {
                let (node, id) = (node.to_lowercase(), id.to_lowercase());
                self.remove_check(&node, &id);
            }
        }
    }

    pub(crate) fn remove_node(&mut self, node: &str) {
        if !self.store.catalog.nodes.contains_key(node) {
            return;
        }
        // Sessions go first, so that the cause of their end is the node and not one of its checks.
        self.invalidate_node(node);
        for row in self.store.catalog.services_of(node) {
            self.remove_service(node, &row.service.id);
        }
        for row in self.store.catalog.checks.of_node(node) {
            self.remove_check(node, &row.check.check_id.to_lowercase());
        }
        self.remove_coordinates(node);
        let catalog = &mut self.store.catalog;
        if let Some(row) = catalog.nodes.remove(node) {
            catalog.forget_id(&row.node.id);
            self.replace_entries(&node_entries(node, &row), Vec::new());
        }
        let catalog = &mut self.store.catalog;
        catalog.newest_by_node.remove(node);
        catalog.nodes_newest = self.index;
        catalog.node_deleted = self.index;
        self.effects.touched.push(Touched::Node(node.to_owned()));
    }

    pub(crate) fn remove_service(&mut self, node: &str, id: &str) {
        let place = (node.to_owned(), id.to_lowercase());
        let Some(row) = self.store.catalog.services.remove(&place) else {
            return;
        };
        for row in self.store.catalog.checks.of_service(node, id) {
            self.remove_check(node, &row.check.check_id.to_lowercase());
        }
        self.replace_entries(&service_entries(node, &row), Vec::new());
        // This happens even without checks (seen on 1.8.7). Blocked reads of checks sleep through it.
        self.store.catalog.checks_newest = self.index;
        self.instance_gone(node, &row.service.name, id);
        self.gateways_lose(&row.service.name);
        self.instance_frees_virtual_address(&row.service);
        self.service_touched(node, row.service.name.clone());
    }

    pub(crate) fn remove_check(&mut self, node: &str, id: &str) {
        let Some(row) = self.store.catalog.checks.remove(node, id) else {
            return;
        };
        self.replace_entries(&check_entries(node, &row), Vec::new());
        self.check_touched(node, &row);
        if row.check.service_id.is_empty() {
            // Deleting a check of a node moves the services' index, even without services; writing one does
            // not (seen on 1.8.7). Blocked reads of services sleep through it.
            self.store.catalog.services_newest = self.index;
        }
        self.invalidate_check(node, id, &Cause::CheckDeleted(row.check.check_id.clone()));
    }
}
