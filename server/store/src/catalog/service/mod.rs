//! Reads of one service: its instances and their health, each with an index of its own (session.md 4.5).

pub(crate) mod gateway;
pub(crate) mod proxy;
pub(crate) mod virtual_address;

use std::convert::Infallible;
use std::sync::Arc;

use crate::Index;
use crate::catalog::registration::{CheckRow, Labels, NodeRow, ServiceRow};
use crate::catalog::spells;
use crate::catalog::trees::OF_NODE;
use crate::command::effects::Touched;
use crate::read::{Answer, News, Read, ReadResult, ReadSet, Subject, Tree, Watch};
use crate::{Change, Store};

/// The endpoint of a read of services. It decides the index of a service without instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceView {
    /// The instances themselves.
    Catalog,
    /// Their health.
    Health,
    /// Their health, from Consul's streaming backend. Without instances a wait goes on until there are some
    /// (session.md 4.5b.r20).
    StreamedHealth,
}

impl ServiceView {
    fn answer(self, index: Index, rows: Vec<Instance>, reads: ReadSet) -> Answer<Vec<Instance>> {
        let sleeps = self == Self::StreamedHealth && rows.is_empty();
        let answer = Answer::new(index, rows, reads);
        let news = if sleeps { News::Existence } else { answer.news };
        Answer { news, ..answer }
    }
}

/// Reads the instances of a service, in the order of node and id.
#[derive(Clone, Debug)]
pub struct ServiceInstances(pub ServiceView, pub String);

/// Reads the instances of a service for a client that shows only those with all of these tags. A wait sleeps through
/// changes of the nodes and checks of the others, though the index is that of the service (session.md 4.5b.r25).
#[derive(Clone, Debug)]
pub struct TaggedInstances(pub ServiceInstances, pub Vec<Vec<u8>>);

/// Reads the proxies of a service and its Connect-native instances. The index differs from the service's.
#[derive(Clone, Debug)]
pub struct ConnectInstances(pub ServiceView, pub String);

/// Reads the checks of a service's instances on nodes with this meta data, in the order of node and id.
#[derive(Clone, Debug)]
pub struct ServiceChecks(pub String, pub Labels);

/// A service instance with its node, and the checks of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The node.
    pub node: Arc<NodeRow>,
    /// The instance.
    pub service: Arc<ServiceRow>,
    /// The checks of the node, then those of the instance; empty in [`ServiceList`](super::ServiceList).
    pub checks: Vec<Arc<CheckRow>>,
}

impl Read for ServiceInstances {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        let part = match self.0 {
            ServiceView::Catalog => "service",
            ServiceView::Health | ServiceView::StreamedHealth => "health of service",
        };
        let name = self.1.clone();
        Subject::Service { part, name }
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let Self(view, name) = self;
        let rows = store.service_rows(name).into_iter();
        let rows: Vec<_> = rows.filter_map(|row| store.instance(row)).collect();
        let reads = match view {
            // Only the index of the service is looked at.
            ServiceView::Health | ServiceView::StreamedHealth if !rows.is_empty() => {
                vec![Watch::ServiceIndex(name.to_lowercase())]
            }
            _ => {
                let name = name.to_lowercase();
                let instances = store.catalog.trees.search(Tree::ServiceNames, &[&name]);
                vec![instances, Watch::NodesOfService(name)]
            }
        };
        let index = store.service_index(name, *view);
        Ok(view.answer(index, rows, reads))
    }
}

impl Read for TaggedInstances {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        self.0.subject()
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let Self(read, tags) = self;
        let Ok(mut answer) = read.look(store);
        let ServiceInstances(view, name) = read;
        if tags.is_empty() || *view == ServiceView::StreamedHealth {
            return Ok(answer);
        }
        let trees = &store.catalog.trees;
        answer.reads = vec![trees.search(Tree::ServiceNames, &[&name.to_lowercase()])];
        for row in answer.rows.iter().filter(|row| row.has_tags(tags)) {
            let node = row.node.node.node.to_lowercase();
            if *view == ServiceView::Health {
                let id = row.service.service.id.to_lowercase();
                answer.reads.extend([
                    trees.search(Tree::CheckKinds, &[&node, OF_NODE]),
                    trees.search(Tree::CheckInstances, &[&node, &id]),
                ]);
            }
            answer.reads.push(Watch::Node(node));
        }
        Ok(answer)
    }
}

impl Instance {
    /// Whether the instance has each of these tags, ignoring case.
    #[must_use]
    pub fn has_tags(&self, wanted: &[Vec<u8>]) -> bool {
        let tags = self.service.service.tags();
        let mut wanted = wanted.iter();
        wanted.all(|wanted| {
            tags.iter()
                .any(|tag| tag.as_bytes().eq_ignore_ascii_case(wanted))
        })
    }
}

impl Read for ConnectInstances {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        let Self(view, name) = self;
        Subject::other(match view {
            ServiceView::Catalog => format!("proxies of service {name:?}"),
            ServiceView::Health | ServiceView::StreamedHealth => {
                format!("health of the proxies of service {name:?}")
            }
        })
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let Self(view, name) = self;
        let rows = store.connect_rows(name);
        let destination = name.to_lowercase();
        let mut reads = vec![
            store
                .catalog
                .trees
                .search(Tree::Destinations, &[&destination]),
        ];
        let own = store.catalog.service_newest(name);
        let newest = match view {
            _ if rows.is_empty() => None,
            // The index of the service, or of the tables for a service that has only proxies (seen on 1.8.7).
            ServiceView::Catalog => {
                let nodes = rows.iter().map(|row| row.node.to_lowercase());
                reads.extend(nodes.map(Watch::Node));
                Some(own.unwrap_or_else(|| store.tables_index(*view)))
            }
            // The newest index of the services of these instances (seen on 1.8.7).
            ServiceView::Health | ServiceView::StreamedHealth => {
                let services = rows.iter().map(|row| &row.service.name);
                let indexes = services.clone();
                reads.extend(indexes.map(|name| Watch::ServiceIndex(name.to_lowercase())));
                services.map(|name| store.service_index(name, *view)).max()
            }
        };
        let index = newest.unwrap_or_else(|| store.nobody_index(name, *view));
        let rows = rows.into_iter().filter_map(|row| store.instance(row));
        Ok(view.answer(index, rows.collect(), reads))
    }
}

impl Read for ServiceChecks {
    type Rows = Vec<Arc<CheckRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::Service {
            part: "checks of service",
            name: self.0.clone(),
        }
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let (Self(name, node_meta), catalog) = (self, &store.catalog);
        let name = &*name.to_lowercase();
        let is_wanted = |row: &CheckRow| spells(&row.service_name, name);
        let (rows, mut reads) = catalog.checks_with(node_meta, is_wanted);
        reads.push(catalog.trees.search(Tree::CheckServices, &[name]));
        let index = if node_meta.is_empty() {
            catalog.checks_newest
        } else {
            // With a filter on nodes, Consul reports the index of the service (seen on 1.8.7).
            let own = catalog.service_newest(name);
            own.unwrap_or_else(|| store.tables_index(ServiceView::Health))
        };
        Ok(Answer::new(index, rows, reads))
    }
}

impl Store {
    fn connect_rows(&self, name: &str) -> Vec<Arc<ServiceRow>> {
        let rows = self.catalog.services.values();
        let name = name.to_lowercase();
        let stands = |known: &str| spells(known, &name);
        let rows = rows.filter(|row| row.service.stands_for().is_some_and(stands));
        rows.map(Arc::clone).collect()
    }

    fn service_rows(&self, name: &str) -> Vec<Arc<ServiceRow>> {
        let name = name.to_lowercase();
        let first = (name.clone(), String::new(), String::new());
        self.catalog
            .instances
            .range(first..)
            .take_while(|(of, _, _)| *of == name)
            .filter_map(|(_, node, id)| self.catalog.services.get(&(node.clone(), id.clone())))
            .map(Arc::clone)
            .collect()
    }

    pub(crate) fn instance(&self, service: Arc<ServiceRow>) -> Option<Instance> {
        let node = service.node.to_lowercase();
        // The checks of the node come first (session.md 4.5).
        let mut checks = self.catalog.checks.of_service(&node, "");
        checks.extend(self.catalog.checks.of_service(&node, &service.service.id));
        Some(Instance {
            node: Arc::clone(self.catalog.nodes.get(&node)?),
            service,
            checks,
        })
    }

    /// Returns the index of a read of a service. Without instances it is the index at which a service last lost its
    /// last instance. If this never happened, it is the one that a renamed service left, or that of the tables.
    fn service_index(&self, name: &str, view: ServiceView) -> Index {
        let catalog = &self.catalog;
        let newest = catalog.service_newest(name);
        newest.unwrap_or_else(|| match catalog.service_extinct {
            Index::ZERO => {
                let left = catalog.newest_by_service.get(&name.to_lowercase()).copied();
                left.unwrap_or_else(|| self.tables_index(view))
            }
            extinct => extinct,
        })
    }

    /// Returns the index for a service without proxies: the index at which a service last lost its last
    /// instance, or that of the service itself if this never happened (seen on 1.8.7).
    fn nobody_index(&self, name: &str, view: ServiceView) -> Index {
        match self.catalog.service_extinct {
            Index::ZERO => self.service_index(name, view),
            extinct => extinct,
        }
    }

    /// Returns the index of the tables that a read of a view looks at.
    pub(crate) fn tables_index(&self, view: ServiceView) -> Index {
        let catalog = &self.catalog;
        let newest = catalog.nodes_newest.max(catalog.services_newest);
        match view {
            ServiceView::Catalog => newest,
            ServiceView::Health | ServiceView::StreamedHealth => newest.max(catalog.checks_newest),
        }
    }
}

impl Change<'_> {
    /// Moves the index of a service that has instances.
    pub(crate) fn service_changed(&mut self, name: &str) {
        let newest = &mut self.store.catalog.newest_by_service;
        newest.insert(name.to_lowercase(), self.index);
        let touched = Touched::ServiceIndex(name.to_lowercase());
        self.effects.touched.push(touched);
    }

    /// Moves the index of every service on a node, whose row was written or whose check was.
    pub(crate) fn services_on_node_changed(&mut self, node: &str, is_its_row: bool) {
        for row in self.store.catalog.services_of(node) {
            self.service_changed(&row.service.name);
            if is_its_row {
                let name = row.service.name.to_lowercase();
                self.effects.touched.push(Touched::NodeOfService(name));
            }
        }
    }

    /// Moves indexes for a removed instance. A renamed instance must not come here: the index of its old name
    /// stays, and waiters on that name sleep on (seen on 1.8.7).
    pub(crate) fn instance_gone(&mut self, node: &str, name: &str, id: &str) {
        let catalog = &mut self.store.catalog;
        catalog.forget_instance(node, name, id);
        if !catalog.has_instances(name) {
            let name = name.to_lowercase();
            catalog.newest_by_service.remove(&name);
            catalog.service_extinct = self.index;
            let touched = Touched::ServiceIndex(name);
            self.effects.touched.push(touched);
        } else {
            self.service_changed(name);
        }
    }
}
