//! Reads of one service: its instances and their health, each with an index of its own (session.md 4.5).

use std::sync::Arc;

use super::effects::Touched;
use super::index::Index;
use super::query::{Answer, Instance, Rows, Watch};
use super::registration::{CheckRow, ServiceRow};
use super::{Change, Store};

impl Store {
    /// The instances of a service, each with its node and the checks of both.
    pub(super) fn service(&self, name: &str) -> Answer {
        let instances = self.service_rows(name).into_iter();
        let instances: Vec<Instance> = instances.filter_map(|row| self.instance(row)).collect();
        Answer {
            index: self.service_index(name).reported(),
            reads: self.service_reads(name),
            rows: Rows::Instances(instances),
            waits_for_existence: false,
        }
    }

    /// The checks of a service's instances.
    pub(super) fn service_checks(&self, name: &str) -> Answer {
        let checks = self.catalog.checks.values();
        let checks = checks.filter(|row| row.service_name == name);
        Answer {
            index: self.catalog.checks_newest.reported(),
            rows: Rows::Checks(checks.map(Arc::clone).collect()),
            reads: vec![Watch::Checks],
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
        let all = self.catalog.checks_of(&node);
        // Those of the node come first (session.md 4.5).
        let of = |id: &str| -> Vec<Arc<CheckRow>> {
            let checks = all.iter().filter(|row| row.check.service_id == id);
            checks.map(Arc::clone).collect()
        };
        let mut checks = of("");
        checks.extend(of(&service.service.id));
        Some(Instance {
            node: Arc::clone(self.catalog.nodes.get(&node)?),
            service,
            checks,
        })
    }

    /// The index of what a read of a service shows; for one without instances, that of the last service to lose
    /// its last instance, or of the tables while none has.
    fn service_index(&self, name: &str) -> Index {
        let catalog = &self.catalog;
        if let Some(index) = catalog.newest_by_service.get(name) {
            return *index;
        }
        if catalog.service_extinct > Index::ZERO {
            return catalog.service_extinct;
        }
        catalog.nodes_newest.max(catalog.services_newest)
    }

    fn service_reads(&self, name: &str) -> Vec<Watch> {
        let mut reads = vec![Watch::Service(name.to_owned())];
        if !self.catalog.newest_by_service.contains_key(name) {
            reads.extend([Watch::Services, Watch::Nodes]);
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
