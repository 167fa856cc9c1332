//! Checks: their rows, and their effect on sessions (session.md 3.1).

pub(crate) mod table;

use std::convert::Infallible;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::catalog::registration::{CheckRow, Labels, NewCheck, RegistrationFlaw};
use crate::catalog::trees::check_entries;
use crate::command::Refusal;
use crate::command::effects::{Cause, Touched};
use crate::read::{Answer, Read, ReadResult, ReadSet, Subject, Tree, Watch};
use crate::session::SessionRow;
use crate::{Change, Store};

/// The status of a check that ends its sessions and admits no new ones.
pub(crate) const CRITICAL: &str = "critical";
/// The status of a check of type `session` while its session lives.
const PASSING: &str = "passing";
/// The type of the checks that follow sessions, since 1.21.
pub(crate) const SESSION: &str = "session";

/// Reads the checks of a node, in the order of their ids.
#[derive(Clone, Debug)]
pub struct NodeChecks(pub String);

/// Reads the checks with this status on nodes with this meta data, in the order of node and id. `any` is every
/// status.
#[derive(Clone, Debug)]
pub struct ChecksInState(pub String, pub Labels);

impl Read for NodeChecks {
    type Rows = Vec<Arc<CheckRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("checks of node {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let catalog = &store.catalog;
        let node = self.0.to_lowercase();
        let rows = catalog.checks.of_node(&node);
        let reads = vec![catalog.trees.search(Tree::Checks, &[&node])];
        Ok(Answer::new(catalog.checks_newest, rows, reads))
    }
}

impl Read for ChecksInState {
    type Rows = Vec<Arc<CheckRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("checks in state {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let (Self(state, node_meta), catalog) = (self, &store.catalog);
        let is_any = state == "any";
        let in_state = |row: &CheckRow| is_any || row.check.status == *state;
        let (rows, mut reads) = catalog.checks_with(node_meta, in_state);
        reads.push(if is_any {
            catalog.trees.search(Tree::Checks, &[])
        } else {
            catalog.trees.search(Tree::CheckStatuses, &[state])
        });
        Ok(Answer::new(catalog.checks_newest, rows, reads))
    }
}

impl Catalog {
    /// Returns the wanted checks on nodes with this meta data, in the order of node and id, and the nodes looked at.
    pub(crate) fn checks_with(
        &self,
        node_meta: &Labels,
        is_wanted: impl Fn(&CheckRow) -> bool,
    ) -> (Vec<Arc<CheckRow>>, ReadSet) {
        let checks = self.checks.iter().filter(|(_, row)| is_wanted(row));
        if node_meta.is_empty() {
            return (checks.map(|(_, row)| Arc::clone(row)).collect(), Vec::new());
        }
        let (mut rows, mut nodes) = (Vec::new(), Vec::new());
        for ((node, _), row) in checks {
            if nodes.last() != Some(node) {
                nodes.push(node.clone());
            }
            if self.node_has(node, node_meta) {
                rows.push(Arc::clone(row));
            }
        }
        (rows, nodes.into_iter().map(Watch::Node).collect())
    }
}

impl Store {
    /// Returns the row of a check; node and id in any case.
    #[must_use]
    pub fn check(&self, node: &str, check: &str) -> Option<&Arc<CheckRow>> {
        let checks = &self.catalog.checks;
        checks.get(&node.to_lowercase(), &check.to_lowercase())
    }

    /// Whether a check follows the sessions that its definition names (1.22.md B3).
    fn follows_sessions(&self, check: &NewCheck) -> bool {
        self.rules.session_checks && check.kind == SESSION
    }

    /// Returns the checks of a node (lower case) that follow the sessions of this name.
    fn checks_following(&self, node: &str, session: &str) -> Vec<Arc<CheckRow>> {
        let mut checks = self.catalog.checks.of_session(node, session);
        checks.retain(|row| self.follows_sessions(&row.check));
        checks
    }

    /// Refuses to bind a session to a check that is missing or critical; the node in lower case.
    pub(crate) fn require_check_for_session(&self, node: &str, check: &str) -> Result<(), Refusal> {
        match self.catalog.checks.get(node, &check.to_lowercase()) {
            None if check.is_empty() && self.rules.index_errors => Err(Refusal::EmptyCheckId),
            None => Err(Refusal::MissingCheck(check.to_owned())),
            // A new session makes its own checks pass, so they may be critical before (1.22.md B1).
            Some(row) if row.check.status == CRITICAL && !self.follows_sessions(&row.check) => {
                Err(Refusal::CriticalCheck(check.to_owned()))
            }
            Some(_) => Ok(()),
        }
    }
}

impl Change<'_> {
    /// Writes a check of this node, in any case. The check keeps the name of the node as it is given here. A critical one ends its
    /// sessions, even if it was critical before.
    pub(crate) fn put_check(&mut self, named: &str, mut check: NewCheck) -> Result<(), Refusal> {
        let node = &*named.to_lowercase();
        let service = self.service_of(node, &check);
        let (service_name, service_tags) = service.ok_or_else(|| Refusal::MissingService {
            node: named.to_owned(),
            service: check.service_id.clone(),
            check: check.check_id.clone(),
        })?;
        if check.check_id.is_empty() {
            let node = named.to_owned();
            let flaw = RegistrationFlaw::CheckWithoutId { node };
            return Err(Refusal::Registration(flaw));
        }
        if !check.service_id.is_empty() {
            // Its service says them.
            check.named_service.clear();
            check.named_tags = None;
        }
        let place = (node.to_owned(), check.check_id.to_lowercase());
        let current = self.store.catalog.checks.get(node, &place.1);
        let current = current.map(Arc::clone);
        let current = current.as_deref();
        let row = CheckRow {
            node: named.to_owned(),
            service_name,
            service_tags,
            create_index: current.map_or(self.index, |row| row.create_index),
            modify_index: self.index,
            check,
        };
        let identical = current.is_some_and(|current| {
            let unchanged = CheckRow {
                modify_index: current.modify_index,
                ..row.clone()
            };
            *current == unchanged
        });
        let critical = row.check.status == CRITICAL;
        let check_id = row.check.check_id.clone();
        if !identical || self.store.rules.identical_check_moves_index {
            let before = current.map(|row| check_entries(node, row));
            self.replace_entries(&before.unwrap_or_default(), check_entries(node, &row));
        }
        if !identical {
            let row = Arc::new(row);
            self.store
                .catalog
                .checks
                .insert(place.clone(), Arc::clone(&row));
            self.check_touched(node, &row);
        } else if self.store.rules.identical_check_moves_index {
            // This moves the index of the table, but of no service (seen on 1.8.7).
            self.store.catalog.checks_newest = self.index;
        }
        if critical {
            self.invalidate_check(node, &place.1, &Cause::CheckCritical(check_id));
        }
        Ok(())
    }

    /// Updates the checks that follow a created or ended session. Their modify index stays (1.22.md B3). A
    /// check that becomes critical ends the sessions bound to it.
    pub(crate) fn session_checks_follow(&mut self, session: &SessionRow, alive: bool) {
        let node = session.session.node.to_lowercase();
        for row in self.store.checks_following(&node, &session.session.name) {
            let (status, state) = if alive {
                (PASSING, "in force")
            } else {
                (CRITICAL, "is invalid")
            };
            let mut changed = CheckRow::clone(&row);
            changed.check.status = status.to_owned();
            changed.check.output = format!("Session '{}' {state}", session.session.id);
            let id = row.check.check_id.to_lowercase();
            let place = (node.clone(), id.clone());
            let after = check_entries(&node, &changed);
            self.store.catalog.checks.insert(place, Arc::new(changed));
            self.replace_entries(&check_entries(&node, &row), after);
            self.check_touched(&node, &row);
            if !alive {
                let cause = Cause::CheckCritical(row.check.check_id.clone());
                self.invalidate_check(&node, &id, &cause);
            }
        }
    }

    /// Returns the name and tags of a check's service; `None` if the node does not have it.
    fn service_of(&self, node: &str, check: &NewCheck) -> Option<(String, Option<Vec<String>>)> {
        if check.service_id.is_empty() {
            return Some((check.named_service.clone(), check.named_tags.clone()));
        }
        let row = self.store.catalog.service(node, &check.service_id)?;
        Some((row.service.name.clone(), row.service.tags.clone()))
    }

    pub(crate) fn check_touched(&mut self, node: &str, row: &CheckRow) {
        let service_name = row.service_name.clone();
        self.store.catalog.checks_newest = self.index;
        if row.check.service_id.is_empty() {
            self.services_on_node_changed(node, false);
        } else if self.store.catalog.has_instances(&service_name) {
            self.service_changed(&service_name);
        }
        self.effects.touched.push(Touched::Check {
            node: node.to_owned(),
            service_name,
        });
    }
}
