//! The table of the catalog's checks, with indexes by service and by session name.

use std::sync::Arc;

use crate::catalog::check::SESSION;
use crate::catalog::registration::CheckRow;
use crate::catalog::work::looked_at;
use crate::each_changed;
use crate::ordered::{OrderedMap, OrderedSet};

/// The checks of the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckTable {
    /// By node and check id, both in lower case.
    pub(crate) rows: OrderedMap<(String, String), Arc<CheckRow>>,
    /// (node, service id, check), all in lower case; the service id is empty for checks of the node.
    by_service: OrderedSet<(String, String, String)>,
    /// (node, session name, check) of the checks of type `session`; the name may be empty.
    by_session: OrderedSet<(String, String, String)>,
}

impl CheckTable {
    /// Inserts or replaces the check at this node and id, both in lower case.
    pub(crate) fn insert(&mut self, place: (String, String), row: Arc<CheckRow>) {
        let belongs_to = |row: &CheckRow| {
            let check = &row.check;
            let session = (check.kind == SESSION).then(|| check.definition.session_name.clone());
            (check.service_id.to_lowercase(), session)
        };
        let (service, session) = belongs_to(&row);
        let before = self.rows.get(&place).map(|row| belongs_to(row));
        if before.is_none_or(|before| before != (service.clone(), session.clone())) {
            let (node, id) = place.clone();
            self.remove(&node, &id);
            self.by_service.insert((node.clone(), service, id.clone()));
            if let Some(session) = session {
                self.by_session.insert((node, session, id));
            }
        }
        self.rows.insert(place, row);
    }

    pub(crate) fn remove(&mut self, node: &str, id: &str) -> Option<Arc<CheckRow>> {
        let place = (node.to_owned(), id.to_owned());
        let row = self.rows.remove(&place)?;
        let (node, id) = place;
        let service = row.check.service_id.to_lowercase();
        let session = row.check.definition.session_name.clone();
        self.by_service.remove(&(node.clone(), service, id.clone()));
        self.by_session.remove(&(node, session, id));
        Some(row)
    }

    /// Returns a check; node and id in lower case.
    pub(crate) fn get(&self, node: &str, id: &str) -> Option<&Arc<CheckRow>> {
        self.rows.get(&(node.to_owned(), id.to_owned()))
    }

    /// Returns all checks, in the order of node and id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&(String, String), &Arc<CheckRow>)> {
        self.rows.iter().inspect(|_| looked_at())
    }

    /// Returns the checks of a node, in the order of their ids.
    pub(crate) fn of_node(&self, node: &str) -> Vec<Arc<CheckRow>> {
        self.rows
            .range((node.to_owned(), String::new())..)
            .take_while(|((of, _), _)| of == node)
            .inspect(|_| looked_at())
            .map(|(_, row)| Arc::clone(row))
            .collect()
    }

    /// Returns the checks of a service instance, in the order of their ids. An empty id selects the checks of
    /// the node.
    pub(crate) fn of_service(&self, node: &str, service: &str) -> Vec<Arc<CheckRow>> {
        self.third_of(&self.by_service, node, &service.to_lowercase())
    }

    /// Returns the checks of type `session` with this session name, in the order of their ids.
    pub(crate) fn of_session(&self, node: &str, session: &str) -> Vec<Arc<CheckRow>> {
        self.third_of(&self.by_session, node, session)
    }

    fn third_of(
        &self,
        index: &OrderedSet<(String, String, String)>,
        node: &str,
        second: &str,
    ) -> Vec<Arc<CheckRow>> {
        index
            .range((node.to_owned(), second.to_owned(), String::new())..)
            .take_while(|(of, what, _)| of == node && what == second)
            .inspect(|_| looked_at())
            .filter_map(|(node, _, id)| self.get(node, id))
            .map(Arc::clone)
            .collect()
    }

    /// Changes every check. Its id, service and session name must stay.
    pub(crate) fn change_all(&mut self, change: impl Fn(&mut CheckRow)) {
        self.rows = each_changed(&self.rows, change);
    }
}

impl FromIterator<Arc<CheckRow>> for CheckTable {
    fn from_iter<I: IntoIterator<Item = Arc<CheckRow>>>(rows: I) -> Self {
        let mut table = Self::default();
        for row in rows {
            let id = row.check.check_id.to_lowercase();
            table.insert((row.node.to_lowercase(), id), row);
        }
        table
    }
}
