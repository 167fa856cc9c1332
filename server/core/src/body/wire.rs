//! Nodes, services and checks in answers (session.md 4.5, 1.22.md B4.5).

use crate::reply::table::{Look, Surface, table};
use proconsul_config::schema::show::Row;
use proconsul_store::{CheckRow, Instance, NodeRow, ServiceRow};

/// A node.
pub(crate) type Node<'a> = Row<'a, NodeRow>;

/// A service instance as part of its node.
pub(crate) type NodeService<'a> = Row<'a, ServiceRow>;

/// A check.
pub(crate) type Check<'a> = Row<'a, CheckRow>;

table! {
    /// A service instance with its node and all checks, as health and prepared queries show it.
    pub(crate) HealthEntry of instance: Instance, look: Look<'a> {
        "Node" => within(Node, *instance.node),
        "Service" => within(NodeService, *instance.service)
            as NodeService::new(&instance.service, look.with_default_port()),
        "Checks" => each(Check, instance.checks.iter().map(|row| &**row)) as checks(instance, look),
    }
}

/// Returns the checks of an instance; `None` for an empty list of a transaction, which is shown as `null`.
fn checks<'a>(instance: &'a Instance, look: Look<'a>) -> Option<Vec<Check<'a>>> {
    let rows = instance.checks.iter();
    let rows = rows.map(|row| Check::new(row, look)).collect();
    (look.surface != Surface::Txn || !instance.checks.is_empty()).then_some(rows)
}
