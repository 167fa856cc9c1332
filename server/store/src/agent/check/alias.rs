//! Alias checks: they follow the checks of another service, of this agent or of a node in the catalog (seen on 1.8.7).
//!
//! An alias of a service of this agent is updated when that service or one of its checks is registered,
//! deregistered or changes its status. Checks of the node count for it, too. An alias of a node in the catalog
//! is updated at every change of that node.

use std::collections::BTreeSet;

use crate::agent::Agent;
use crate::agent::local::{Alias, CheckSource};
use crate::catalog::check::CRITICAL;
use crate::catalog::registration::NewCheck;
use crate::command::effects::Touched;
use crate::{Change, Store};
use proconsul_gocompat::quote::Quoted;

const PASSING: &str = "passing";
const WARNING: &str = "warning";

/// The changes that aliases have to follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stirred {
    /// Services of this agent.
    services: BTreeSet<String>,
    /// Checks of this agent that are new.
    checks: BTreeSet<String>,
}

impl Stirred {
    pub(in crate::agent) fn service(&mut self, id: &str) {
        if !id.is_empty() {
            self.services.insert(id.to_owned());
        }
    }

    pub(in crate::agent) fn new_check(&mut self, id: &str) {
        self.checks.insert(id.to_owned());
    }
}

impl Change<'_> {
    /// Updates the aliases of changed services and nodes, then the aliases of these. Only a changed status is
    /// followed, so a ring of aliases comes to rest.
    pub(crate) fn agent_aliases_follow(&mut self) {
        let mut seen = 0;
        for _ in 0..=self.store.agent.checks.len() {
            let stirred = std::mem::take(&mut self.stirred);
            let nodes = self.nodes_touched_since(seen);
            seen = self.effects.touched.len();
            let due = self.store.agent.aliases_due(&stirred, &nodes);
            if due.is_empty() {
                return;
            }
            for (id, alias) in due {
                let (status, output) = self.store.alias_result(&alias);
                self.agent_set_status(&id, status, output);
            }
        }
    }

    /// Returns the changed nodes of the catalog, in lower case.
    fn nodes_touched_since(&self, seen: usize) -> BTreeSet<String> {
        let touched = self.effects.touched.iter().skip(seen);
        let node = |touched: &Touched| match touched {
            Touched::Node(node) | Touched::Service { node, .. } | Touched::Check { node, .. } => {
                Some(node.clone())
            }
            Touched::Key(_)
            | Touched::Keys(_)
            | Touched::MergedKeys(_)
            | Touched::Session { .. }
            | Touched::NodeOfService(_)
            | Touched::ServiceIndex(_)
            | Touched::Entry(..)
            | Touched::Merged(..)
            | Touched::PreparedQuery(_)
            | Touched::ConfigEntry { .. }
            | Touched::Event
            | Touched::AgentService(_)
            | Touched::AclObject(..)
            | Touched::AclTable(_) => None,
        };
        touched.filter_map(node).collect()
    }
}

impl Agent {
    /// Returns the aliases to update, in the order of their ids.
    fn aliases_due(&self, stirred: &Stirred, nodes: &BTreeSet<String>) -> Vec<(String, Alias)> {
        let services = stirred.services.iter();
        let of_services = services.flat_map(|service| self.checks.aliases_of_service(service));
        let of_nodes = nodes
            .iter()
            .flat_map(|node| self.checks.aliases_of_node(node));
        let new = stirred.checks.iter().map(String::as_str);
        let ids: BTreeSet<&str> = of_services.chain(of_nodes).chain(new).collect();
        let alias = |id: &str| match &self.checks.get(id)?.source {
            CheckSource::Alias(alias) => Some((id.to_owned(), alias.clone())),
            CheckSource::Ttl(_) | CheckSource::Probe { .. } | CheckSource::Fixed => None,
        };
        ids.into_iter().filter_map(alias).collect()
    }
}

impl Store {
    fn alias_result(&self, alias: &Alias) -> (&'static str, String) {
        let node = alias.node.to_lowercase();
        if alias.node.is_empty() {
            let exists = self.agent.service(&alias.service).is_some();
            let checks = self.agent.checks_on(&alias.service);
            return result(alias, exists, checks.map(|local| &local.check));
        }
        let row = self.catalog.service(&node, &alias.service);
        let exists = row.is_some_and(|row| row.service.id == alias.service);
        let rows = self.catalog.checks.of_node(&node);
        // The case of the node's name matters for its checks only.
        let rows = rows.iter().filter(|row| row.node == alias.node);
        result(alias, exists, rows.map(|row| &row.check))
    }
}

/// Returns the status of an alias: that of the first critical check, else of the last one in warning.
fn result<'a>(
    alias: &Alias,
    exists: bool,
    checks: impl Iterator<Item = &'a NewCheck>,
) -> (&'static str, String) {
    let of_both = checks
        .filter(|check| check.service_id.is_empty() || check.service_id == alias.service)
        .collect::<Vec<_>>();
    let found = exists
        || of_both
            .iter()
            .any(|check| check.service_id == alias.service);
    if !found {
        let Alias { node, service } = alias;
        let output = format!("Service {service} could not be found on node {node}");
        return (CRITICAL, output);
    }
    let failing = |status: &'static str, check: &NewCheck| {
        let name = Quoted(check.name.as_bytes());
        let output = format!("Aliased check {name} failing: {}", check.output);
        (status, output)
    };
    let mut critical = of_both.iter().filter(|check| check.status == CRITICAL);
    let mut warnings = of_both.iter().rev().filter(|check| check.status == WARNING);
    match (critical.next(), warnings.next()) {
        (Some(check), _) => failing(CRITICAL, check),
        (None, Some(check)) => failing(WARNING, check),
        (None, None) if of_both.is_empty() => (PASSING, "No checks found.".to_owned()),
        (None, None) => (PASSING, "All checks passing.".to_owned()),
    }
}
