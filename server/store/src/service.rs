//! Reads of one service: its instances and their health, each with an index of its own (session.md 4.5).

use std::sync::Arc;

use super::effects::Touched;
use super::index::Index;
use super::query::{Answer, Instance, Rows, Watch};
use super::registration::{Labels, ServiceRow};
use super::{Change, Store};

/// What a read of a service without instances depends on: the tables.
pub(super) const ABSENT_IN_CATALOG: &[Watch] = &[Watch::Services, Watch::Nodes];
/// The same for reads of health.
pub(super) const ABSENT_IN_HEALTH: &[Watch] = &[Watch::Services, Watch::Nodes, Watch::Checks];

impl Store {
    /// The instances of a service, each with its node and the checks of both.
    pub(super) fn service(&self, name: &str, absent: &[Watch]) -> Answer {
        let instances = self.service_rows(name).into_iter();
        let instances: Vec<Instance> = instances.filter_map(|row| self.instance(row)).collect();
        Answer {
            index: self.service_index(name, absent).reported(),
            reads: self.service_reads(name, absent),
            rows: Rows::Instances(instances),
            waits_for_existence: false,
        }
    }

    /// The proxies of a service, and its instances that need none, for the catalog: at the index of the service, or of
    /// these tables if it has proxies alone (seen on 1.8.7).
    pub(super) fn connect(&self, name: &str) -> Answer {
        let rows = self.connect_rows(name);
        let mut answer = self.connect_answer(name, ABSENT_IN_CATALOG, &rows);
        if !rows.is_empty() {
            let of_service = self.catalog.newest_by_service.get(name).copied();
            let index = of_service.unwrap_or_else(|| self.tables_index(ABSENT_IN_CATALOG));
            answer.index = index.reported();
        }
        answer
    }

    /// The same for their health: at the newest index of the services that they are instances of (seen on 1.8.7).
    pub(super) fn connect_health(&self, name: &str) -> Answer {
        let rows = self.connect_rows(name);
        let mut answer = self.connect_answer(name, ABSENT_IN_HEALTH, &rows);
        let indexes = rows.iter().map(|row| {
            let service = &row.service.name;
            answer.reads.push(Watch::Service(service.clone()));
            self.service_index(service, ABSENT_IN_HEALTH)
        });
        if let Some(newest) = indexes.max() {
            answer.index = newest.reported();
        }
        answer
    }

    /// An answer at the index that holds where there is nobody: the first service to lose its last instance takes it
    /// away from that of the service, which it is before (seen on 1.8.7).
    fn connect_answer(&self, name: &str, absent: &[Watch], rows: &[Arc<ServiceRow>]) -> Answer {
        let extinct = self.catalog.service_extinct;
        let index = if extinct > Index::ZERO {
            extinct
        } else {
            self.service_index(name, absent)
        };
        let mut reads = self.service_reads(name, absent);
        reads.push(Watch::Services);
        let instances = rows.iter().filter_map(|row| self.instance(Arc::clone(row)));
        Answer {
            index: index.reported(),
            rows: Rows::Instances(instances.collect()),
            reads,
            waits_for_existence: false,
        }
    }

    fn connect_rows(&self, name: &str) -> Vec<Arc<ServiceRow>> {
        let stands_for = |row: &&Arc<ServiceRow>| {
            let service = &row.service;
            match service.kind.as_str() {
                "connect-proxy" => service.proxy.destination_name == name,
                _ => service.connect_native && service.name == name,
            }
        };
        let rows = self.catalog.services.values().filter(stands_for);
        rows.map(Arc::clone).collect()
    }

    /// The checks of a service's instances.
    pub(super) fn service_checks(&self, name: &str, node_meta: &Labels) -> Answer {
        let catalog = &self.catalog;
        let checks = catalog.checks.iter().filter(|((node, _), row)| {
            row.service_name == name && catalog.node_has(node, node_meta)
        });
        let checks = checks.map(|(_, row)| Arc::clone(row)).collect();
        // Asked about nodes, too, Consul reports the index of the service (seen on 1.8.7).
        let (index, reads) = if node_meta.is_empty() {
            (catalog.checks_newest, vec![Watch::Checks])
        } else {
            let own = self.catalog.newest_by_service.get(name).copied();
            let index = own.unwrap_or_else(|| self.tables_index(ABSENT_IN_HEALTH));
            (index, self.service_reads(name, ABSENT_IN_HEALTH))
        };
        Answer {
            index: index.reported(),
            rows: Rows::Checks(checks),
            reads,
            waits_for_existence: false,
        }
    }

    fn service_rows(&self, name: &str) -> Vec<Arc<ServiceRow>> {
        let first = (name.to_owned(), String::new(), String::new());
        self.catalog
            .instances
            .range(first..)
            .take_while(|(of, _, _)| of == name)
            .filter_map(|(_, node, id)| self.catalog.services.get(&(node.clone(), id.clone())))
            .map(Arc::clone)
            .collect()
    }

    fn instance(&self, service: Arc<ServiceRow>) -> Option<Instance> {
        let node = service.node.to_lowercase();
        // Those of the node come first (session.md 4.5).
        let mut checks = self.catalog.checks.of_service(&node, "");
        checks.extend(self.catalog.checks.of_service(&node, &service.service.id));
        Some(Instance {
            node: Arc::clone(self.catalog.nodes.get(&node)?),
            service,
            checks,
        })
    }

    /// The index of what a read of a service shows; for one without instances, that of the last service to lose
    /// its last instance, or of these tables while none has.
    fn service_index(&self, name: &str, absent: &[Watch]) -> Index {
        let catalog = &self.catalog;
        if let Some(index) = catalog.newest_by_service.get(name) {
            return *index;
        }
        if catalog.service_extinct > Index::ZERO {
            return catalog.service_extinct;
        }
        self.tables_index(absent)
    }

    fn tables_index(&self, tables: &[Watch]) -> Index {
        let catalog = &self.catalog;
        let newest = catalog.nodes_newest.max(catalog.services_newest);
        if tables.contains(&Watch::Checks) {
            newest.max(catalog.checks_newest)
        } else {
            newest
        }
    }

    fn service_reads(&self, name: &str, absent: &[Watch]) -> Vec<Watch> {
        let mut reads = vec![Watch::Service(name.to_owned())];
        if !self.catalog.newest_by_service.contains_key(name) {
            reads.extend(absent.iter().cloned());
        }
        reads
    }
}

impl Change<'_> {
    /// Moves the index of a service that has instances.
    pub(super) fn service_changed(&mut self, name: &str) {
        let newest = &mut self.store.catalog.newest_by_service;
        newest.insert(name.to_owned(), self.index);
    }

    /// Moves the index of every service on a node: something changed that reads of all of them show.
    pub(super) fn services_on_node_changed(&mut self, node: &str) {
        for row in self.store.catalog.services_of(node) {
            self.service_changed(&row.service.name);
            let name = row.service.name.clone();
            self.effects.touched.push(Touched::ServiceHealth(name));
        }
    }

    /// Tells that an instance went. An instance that is given another name does not: it leaves the index of the
    /// old name where it was, and nobody who waits for that one is told (seen on 1.8.7).
    pub(super) fn instance_gone(&mut self, node: &str, name: &str, id: &str) {
        let catalog = &mut self.store.catalog;
        if catalog.forget_instance(node, name, id) {
            catalog.service_extinct = self.index;
        } else {
            self.service_changed(name);
        }
        let name = name.to_owned();
        self.effects.touched.push(Touched::ServiceHealth(name));
    }
}
