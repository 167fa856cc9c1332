//! Reads of whole nodes, each with its services and checks, for Consul's page (operator.md 3.r12, 3.r13).

use std::convert::Infallible;
use std::sync::Arc;

use crate::catalog::registration::{CheckRow, NodeRow, ServiceRow};
use crate::catalog::service::{Instance, ServiceView};
use crate::read::{Answer, Read, ReadResult, ReadSet, Subject, Tree, Watch};
use crate::{Index, Store};

/// A node with all that is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeNode {
    /// The node.
    pub node: Arc<NodeRow>,
    /// Its service instances, in the order of their ids.
    pub services: Vec<Arc<ServiceRow>>,
    /// Its checks and those of its services, in the order of their ids.
    pub checks: Vec<Arc<CheckRow>>,
}

/// Reads all nodes with what is on them, in the order of their names.
#[derive(Clone, Copy, Debug)]
pub struct WholeNodes;

/// Reads the node with this name and what is on it.
#[derive(Clone, Debug)]
pub struct WholeNodeNamed(pub String);

/// Reads the instances of all services, in the order of node and id.
#[derive(Clone, Copy, Debug)]
pub struct AllInstances;

impl Store {
    /// Returns the index of all tables of the catalog.
    fn whole_index(&self) -> Index {
        self.tables_index(ServiceView::Health)
    }

    fn whole_reads(&self) -> ReadSet {
        let trees = &self.catalog.trees;
        let tables = [Tree::Services, Tree::Checks].map(|tree| trees.search(tree, &[]));
        tables.into_iter().chain([Watch::Nodes]).collect()
    }

    fn whole_node(&self, name: &str, node: &Arc<NodeRow>) -> WholeNode {
        WholeNode {
            node: Arc::clone(node),
            services: self.catalog.services_of(name),
            checks: self.catalog.checks.of_node(name),
        }
    }
}

impl Read for WholeNodes {
    type Rows = Vec<WholeNode>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all nodes with their services and checks")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let nodes = store.catalog.nodes.iter();
        let nodes = nodes.map(|(name, node)| store.whole_node(name, node));
        let rows = nodes.collect();
        Ok(Answer::new(store.whole_index(), rows, store.whole_reads()))
    }
}

impl Read for WholeNodeNamed {
    type Rows = Option<WholeNode>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("node {:?} with its services and checks", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let (catalog, name) = (&store.catalog, self.0.to_lowercase());
        let node = catalog.nodes.get(&name);
        let row = node.map(|node| store.whole_node(&name, node));
        let searches =
            [Tree::Services, Tree::Checks].map(|tree| catalog.trees.search(tree, &[&name]));
        let reads = searches.into_iter().chain([Watch::Node(name)]).collect();
        Ok(Answer::new(store.whole_index(), row, reads))
    }
}

impl Read for AllInstances {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("the health of all services")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let services = store.catalog.services.values();
        let rows = services.filter_map(|row| store.instance(Arc::clone(row)));
        let rows = rows.collect();
        Ok(Answer::new(store.whole_index(), rows, store.whole_reads()))
    }
}
