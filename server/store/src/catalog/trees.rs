//! The radix trees in which blocked reads of the catalog and of configuration entries wait (session.md 4.5b).
//!
//! Consul's tables have several indexes each, and every index is a radix tree. A read waits at the node where its
//! search ended, whatever index it reports. So it is woken by the entries it looked at and by some of their
//! neighbours in the tree, and sleeps through writes that only raise its index. All of this was held against 1.8.7
//! with random writes. The trees here hold the keys alone; the rows are in the tables.

use crate::Change;
use crate::catalog::Catalog;
use crate::catalog::node::id::key_of_id;
use crate::catalog::registration::{CheckRow, NodeRow, ServiceRow};
use crate::catalog::service::gateway::GatewayPlace;
use crate::command::effects::Touched;
use crate::kv::key::Key;
use crate::kv::radix;
use crate::ordered::OrderedMap;
use crate::read::{Tree, Watch};

/// The keys of all trees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trees([OrderedMap<Key, ()>; Tree::COUNT]);

/// What [`Tree::CheckKinds`] calls the checks of nodes.
pub(crate) const OF_NODE: &str = "";
/// What it calls those of services.
const OF_SERVICE: &str = "service";

/// An entry of a tree.
pub(crate) type Entry = (Tree, Key);

impl Trees {
    /// Builds the trees of the catalog's tables and of other rows.
    pub(crate) fn of(catalog: &Catalog, others: impl Iterator<Item = Entry>) -> Self {
        let nodes = catalog.nodes.iter();
        let nodes = nodes.flat_map(|(name, row)| node_entries(name, row));
        let services = catalog.services.iter();
        let services = services.flat_map(|((node, _), row)| service_entries(node, row));
        let checks = catalog.checks.iter();
        let checks = checks.flat_map(|((node, _), row)| check_entries(node, row));
        let coordinates = catalog.coordinates.rows.keys().map(coordinate_entry);
        let gateways = catalog.gateway_services.0.keys().map(gateway_entry);
        let mut trees = Self::default();
        let entries = nodes
            .chain(services)
            .chain(checks)
            .chain(coordinates)
            .chain(gateways)
            .chain(others);
        for (tree, key) in entries {
            trees.0[tree as usize].insert(key, ());
        }
        trees
    }

    /// Returns the dependency of a search in `tree` for the entries that start with `parts`.
    pub(crate) fn search(&self, tree: Tree, parts: &[&str]) -> Watch {
        self.search_key(tree, &key_of(parts))
    }

    /// The same for those that start with `key`.
    pub(crate) fn search_key(&self, tree: Tree, key: &Key) -> Watch {
        let keys = &self.0[tree as usize];
        Watch::Branch(tree, radix::watched_node(keys, key.as_bytes()))
    }

    /// Whether an entry in `tree` starts with `parts`.
    pub(crate) fn has_any(&self, tree: Tree, parts: &[&str]) -> bool {
        let first = key_of(parts);
        let next = self.0[tree as usize].range(first.clone()..).next();
        next.is_some_and(|(key, ())| key.as_bytes().starts_with(first.as_bytes()))
    }

    /// Removes an entry. Returns the node that the removal merges with its parent.
    fn remove(&mut self, tree: Tree, key: &Key) -> Option<Key> {
        let keys = &mut self.0[tree as usize];
        keys.remove(key)?;
        radix::merged(keys, key.as_bytes())
    }
}

impl Change<'_> {
    /// Replaces the entries of a row, some of which may stay: these are written again.
    pub(crate) fn replace_entries(&mut self, before: &[Entry], after: Vec<Entry>) {
        let trees = &mut self.store.catalog.trees;
        for entry in before.iter().filter(|entry| !after.contains(entry)) {
            let (tree, key) = entry.clone();
            let merged = trees.remove(tree, &key);
            self.effects.touched.push(Touched::Entry(tree, key));
            let merged = merged.map(|merged| Touched::Merged(tree, merged));
            self.effects.touched.extend(merged);
        }
        for (tree, key) in after {
            trees.0[tree as usize].insert(key.clone(), ());
            self.effects.touched.push(Touched::Entry(tree, key));
        }
    }
}

/// Returns the entries of a node; its name in lower case.
pub(crate) fn node_entries(name: &str, row: &NodeRow) -> Vec<Entry> {
    let meta = row.node.meta.iter().flatten();
    let entry = |(label, value): (&String, &String)| {
        let parts = [label.as_str(), value.as_str(), name];
        (Tree::NodeMeta, key_of(&parts))
    };
    let id = key_of_id(&row.node.id).map(|id| (Tree::NodeIds, id));
    let name = (Tree::Nodes, key_of(&[name]));
    meta.map(entry).chain(id).chain([name]).collect()
}

/// Returns the entries of a service instance; its node in lower case.
pub(crate) fn service_entries(node: &str, row: &ServiceRow) -> Vec<Entry> {
    let service = &row.service;
    let (name, id) = (service.name.to_lowercase(), service.id.to_lowercase());
    let mut entries = vec![
        (Tree::Services, key_of(&[node, &id])),
        (Tree::ServiceNames, key_of(&[&name, node, &id])),
    ];
    if let Some(destination) = service.stands_for() {
        entries.push((
            Tree::Destinations,
            key_of(&[&destination.to_lowercase(), node, &id]),
        ));
    }
    entries
}

/// Returns the entries of a check; its node in lower case.
pub(crate) fn check_entries(node: &str, row: &CheckRow) -> Vec<Entry> {
    let id = row.check.check_id.to_lowercase();
    let instance = row.check.service_id.to_lowercase();
    let kind = if instance.is_empty() {
        OF_NODE
    } else {
        OF_SERVICE
    };
    let mut entries = vec![
        (Tree::Checks, key_of(&[node, &id])),
        (Tree::CheckKinds, key_of(&[node, kind, &id])),
        (Tree::CheckStatuses, key_of(&[&row.check.status, node, &id])),
    ];
    if !instance.is_empty() {
        entries.push((Tree::CheckInstances, key_of(&[node, &instance, &id])));
    }
    if !row.service_name.is_empty() {
        entries.push((
            Tree::CheckServices,
            key_of(&[&row.service_name.to_lowercase(), node, &id]),
        ));
    }
    entries
}

/// Returns the entry of the coordinate of this node, in lower case, in this segment.
pub(crate) fn coordinate_entry((node, segment): &(String, String)) -> Entry {
    (Tree::Coordinates, key_of(&[node, segment]))
}

/// Returns the entry of a service behind a gateway.
pub(crate) fn gateway_entry((gateway, service, port): &GatewayPlace) -> Entry {
    let mut key = key_of(&[gateway, service]).as_bytes().to_vec();
    key.extend_from_slice(port);
    (Tree::GatewayServices, Key::new(key))
}

/// Returns the entry of the configuration entry with this kind and name, in lower case.
pub(crate) fn config_entry(kind: &str, name: &str) -> Entry {
    (Tree::ConfigEntries, key_of(&[kind, name]))
}

/// Returns the key with these parts, each of which ends in a NUL.
fn key_of(parts: &[&str]) -> Key {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts {
        bytes.extend_from_slice(part.as_bytes());
        bytes.push(0);
    }
    Key::new(bytes)
}
