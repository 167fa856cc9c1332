//! Checks: their rows, and the sessions that hang on them (session.md 3.1).

use std::sync::Arc;

use super::catalog::{CheckRow, NewCheck};
use super::command::Refusal;
use super::effects::{Cause, Touched};
use super::query::{Answer, Rows, Watch};
use super::{Change, Store};

/// The status that ends the sessions bound to a check, and keeps new ones from being bound to it.
const CRITICAL: &str = "critical";

impl Store {
    pub(super) fn node_checks(&self, node: &str) -> Answer {
        self.checks(self.catalog.checks_of(&node.to_lowercase()))
    }

    pub(super) fn checks_in_state(&self, state: &str) -> Answer {
        let rows = self.catalog.checks.values();
        let rows = rows.filter(|row| state == "any" || row.check.status == state);
        self.checks(rows.map(Arc::clone).collect())
    }

    fn checks(&self, rows: Vec<Arc<CheckRow>>) -> Answer {
        Answer {
            index: self.catalog.checks_newest.reported(),
            rows: Rows::Checks(rows),
            reads: vec![Watch::Checks],
            waits_for_existence: false,
        }
    }

    /// That a session may be bound to a check; the node in lower case.
    pub(super) fn require_check_for_session(&self, node: &str, check: &str) -> Result<(), Refusal> {
        let place = (node.to_owned(), check.to_lowercase());
        match self.catalog.checks.get(&place) {
            None => Err(Refusal::MissingCheck(check.to_owned())),
            Some(row) if row.check.status == CRITICAL => {
                Err(Refusal::CriticalCheck(check.to_owned()))
            }
            Some(_) => Ok(()),
        }
    }
}

impl Change<'_> {
    /// Writes a check. A critical one ends the sessions bound to it, also when it was critical before.
    pub(super) fn put_check(&mut self, node: &str, check: NewCheck) -> Result<(), Refusal> {
        let (service_name, service_tags) = self.service_of(node, &check)?;
        let place = (node.to_owned(), check.check_id.to_lowercase());
        let current = self.store.catalog.checks.get(&place);
        let row = CheckRow {
            node: self.node_name(node),
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
            **current == unchanged
        });
        let critical = row.check.status == CRITICAL;
        let check_id = row.check.check_id.clone();
        if !identical {
            let service_name = row.service_name.clone();
            self.store
                .catalog
                .checks
                .insert(place.clone(), Arc::new(row));
            self.check_touched(node, service_name);
        } else if self.store.rules.identical_check_moves_index {
            self.check_touched(node, row.service_name);
        }
        if critical {
            self.invalidate_check(node, &place.1, &Cause::CheckCritical(check_id));
        }
        Ok(())
    }

    fn service_of(&self, node: &str, check: &NewCheck) -> Result<(String, Vec<String>), Refusal> {
        if check.service_id.is_empty() {
            return Ok((String::new(), Vec::new()));
        }
        let place = (node.to_owned(), check.service_id.clone());
        let row = self.store.catalog.services.get(&place);
        let row = row.ok_or_else(|| Refusal::MissingService {
            node: self.node_name(node),
            service: check.service_id.clone(),
            check: check.check_id.clone(),
        })?;
        Ok((row.service.name.clone(), row.service.tags.clone()))
    }

    pub(super) fn check_touched(&mut self, node: &str, service_name: String) {
        self.store.catalog.checks_newest = self.index;
        self.effects.touched.push(Touched::Check {
            node: node.to_owned(),
            service_name,
        });
    }
}
