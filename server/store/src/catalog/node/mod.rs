//! The rows of nodes, and renames of nodes by id.
//!
//! A registration of an existing node id under a new name renames the node. The old node goes with its
//! services, checks and sessions (session.md 3.1), and the new one keeps its `CreateIndex`. The name of a
//! living node cannot be taken. All of this was seen on 1.8.7.

pub(crate) mod id;

use std::sync::Arc;

use crate::Index;
use crate::catalog::Catalog;
use crate::catalog::check::CRITICAL;
use crate::catalog::node::id::key_of_id;
use crate::catalog::registration::{NewNode, NodeRow};
use crate::catalog::trees::node_entries;
use crate::command::Refusal;
use crate::command::effects::Touched;
use crate::kv::key::Key;
use crate::{Change, Store};

/// The health check of serf on a node, in lower case.
const SERF_HEALTH: &str = "serfhealth";

impl Catalog {
    /// Returns the node with this id.
    pub(crate) fn node_of_id(&self, id: &str) -> Option<&Arc<NodeRow>> {
        let name = self.node_ids.get(&key_of_id(id)?)?;
        self.nodes.get(name)
    }

    /// Returns the only node whose id begins so.
    pub(crate) fn node_of_start(&self, start: &Key) -> Option<&Arc<NodeRow>> {
        let ids = self.node_ids.range::<_, Key>(start..);
        let mut found = ids.take_while(|(id, _)| id.as_bytes().starts_with(start.as_bytes()));
        let (_, name) = found.next()?;
        found.next().is_none().then(|| self.nodes.get(name))?
    }

    /// Frees the id of a node.
    pub(crate) fn forget_id(&mut self, id: &str) {
        if let Some(id) = key_of_id(id) {
            self.node_ids.remove(&id);
        }
    }

    /// Whether the node has a serf check that is not critical.
    fn is_alive(&self, name: &str) -> bool {
        let check = self.checks.get(name, SERF_HEALTH);
        check.is_some_and(|row| row.check.status != CRITICAL)
    }
}

impl Store {
    /// Whether two nodes have the same name. Early versions compare the case, too (session.md 3.1).
    fn is_same_name(&self, one: &NewNode, other: &NewNode) -> bool {
        one.node == other.node
            || self.rules.node_name_ignores_case
                && one.node.to_lowercase() == other.node.to_lowercase()
    }

    /// Whether registering the one over the other changes nothing. Consul does not compare the locality (1.22.md B4.2).
    fn is_same_node(&self, one: &NewNode, other: &NewNode) -> bool {
        let respelled = || NewNode {
            node: other.node.clone(),
            locality: other.locality.clone(),
            ..one.clone()
        };
        one == other || self.is_same_name(one, other) && respelled() == *other
    }
}

impl Change<'_> {
    /// Writes a node; `name` is its name in lower case.
    pub(crate) fn put_node(&mut self, name: &str, node: NewNode) -> Result<(), Refusal> {
        let created = self.take_name(name, &node)?;
        let current = self.store.catalog.nodes.get(name).map(Arc::clone);
        let is_same = |current: &Arc<NodeRow>| self.store.is_same_node(&current.node, &node);
        if current.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        let catalog = &mut self.store.catalog;
        if let Some(current) = &current {
            catalog.forget_id(&current.node.id);
        }
        let row = NodeRow {
            create_index: created
                .or(current.as_ref().map(|row| row.create_index))
                .unwrap_or(self.index),
            modify_index: self.index,
            node,
        };
        if let Some(id) = key_of_id(&row.node.id) {
            catalog.node_ids.insert(id, name.to_owned());
        }
        let before = current.map(|row| node_entries(name, &row));
        let after = node_entries(name, &row);
        catalog.nodes.insert(name.to_owned(), Arc::new(row));
        catalog.nodes_newest = self.index;
        catalog.newest_by_node.insert(name.to_owned(), self.index);
        self.replace_entries(&before.unwrap_or_default(), after);
        self.effects.touched.push(Touched::Node(name.to_owned()));
        self.services_on_node_changed(name, true);
        Ok(())
    }

    /// Frees the name of a node with an id. Returns the create index of a renamed node.
    fn take_name(&mut self, name: &str, node: &NewNode) -> Result<Option<Index>, Refusal> {
        if node.id.is_empty() {
            return Ok(None);
        }
        let catalog = &self.store.catalog;
        let former = catalog.node_of_id(&node.id).map(Arc::clone);
        let is_other = |row: &&Arc<NodeRow>| !row.node.id.eq_ignore_ascii_case(&node.id);
        let holder = catalog.nodes.get(name).filter(is_other);
        // A node without an id may get one, if it is not another node's.
        let minds = |row: &&Arc<NodeRow>| former.is_some() || !row.node.id.is_empty();
        if let Some(holder) = holder.filter(minds)
            && catalog.is_alive(name)
        {
            return Err(Refusal::NodeNameTaken {
                by: Box::new(node.clone()),
                renamed: former.is_some(),
                holder: Arc::clone(holder),
            });
        }
        let Some(former) = former.filter(|row| !self.store.is_same_name(&row.node, node)) else {
            return Ok(None);
        };
        self.remove_node(&former.node.node.to_lowercase());
        Ok(Some(former.create_index))
    }
}
