//! The JSON that only the catalog's answers have (session.md 4.5, 1.22.md B4.5).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::body::wire::{Node, NodeService};
use proconsul_config::schema::show::Row;
use proconsul_store::Instance;

/// A node with its services by id.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct NodeWithServices<'a> {
    pub(crate) node: Node<'a>,
    pub(crate) services: BTreeMap<&'a str, NodeService<'a>>,
}

/// A node with the list of its services.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct NodeServiceList<'a> {
    pub(crate) node: Option<Node<'a>>,
    pub(crate) services: Option<Vec<NodeService<'a>>>,
}

/// A service instance with its node, as `catalog/service` shows it. Missing metadata is an empty object here, and
/// `null` in other reads (seen on 1.8.7).
pub(crate) type CatalogService<'a> = Row<'a, Instance>;
