//! How much the catalog holds (operator.md 2).

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::Store;
use crate::read::{Answer, Read, ReadResult, Subject, Tree};

/// The service of Consul's own servers.
const CONSUL: &str = "consul";

/// Counts nodes and services.
#[derive(Clone, Copy, Debug)]
pub struct CatalogUsage;

/// The numbers of nodes and services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogCounts {
    /// The nodes.
    pub nodes: usize,
    /// The names of services.
    pub services: usize,
    /// The instances of services.
    pub instances: usize,
    /// The ordinary instances of all services but Consul's own.
    pub billable: usize,
    /// The instances with Connect built in.
    pub native: usize,
    /// The instances of each kind of proxies and gateways.
    pub by_kind: BTreeMap<String, usize>,
}

impl Read for CatalogUsage {
    type Rows = CatalogCounts;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("the numbers of nodes and services")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let catalog = &store.catalog;
        let mut counts = CatalogCounts {
            nodes: catalog.nodes.len(),
            instances: catalog.services.len(),
            ..CatalogCounts::default()
        };
        let mut names = BTreeSet::new();
        for row in catalog.services.values() {
            let service = &row.service;
            names.insert(&service.name);
            counts.native += usize::from(service.connect_native);
            counts.billable += usize::from(service.kind.is_empty() && service.name != CONSUL);
            if !service.kind.is_empty() {
                *counts.by_kind.entry(service.kind.clone()).or_default() += 1;
            }
        }
        counts.services = names.len();
        // A node without services moves neither the index nor who waits, though it is counted.
        let services = catalog.trees.search(Tree::Services, &[]);
        Ok(Answer::new(catalog.services_newest, counts, vec![services]))
    }
}
