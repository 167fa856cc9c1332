//! Operations of a transaction on nodes, services and checks (kv.md 7.5).

use std::sync::Arc;

use crate::Change;
use crate::Index;
use crate::VersionRules;
use crate::catalog::node::id::{NodeIdFlaw, check_node_id};
use crate::catalog::registration::{NewCheck, NewNode, RegistrationFlaw};
use crate::command::Refusal;
use crate::txn::{CatalogOperation, CatalogSubject, CatalogVerb, TxnRefusal, TxnResult};

impl CatalogSubject {
    /// Returns Consul's word for the kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Node(_) => "node",
            Self::Service { .. } => "service",
            Self::Check { .. } => "check",
        }
    }

    /// Returns why a write of this fails before the transaction runs.
    pub(crate) fn invalid(&self, rules: &VersionRules) -> Option<TxnRefusal> {
        match self {
            Self::Node(node) if node.node.is_empty() => Some(TxnRefusal::NodeNameMissing),
            Self::Node(node) if !node.id.is_empty() => {
                let flaw = check_node_id(&node.id).err();
                flaw.map(TxnRefusal::NodeIdMalformed)
            }
            Self::Service { service, .. } => {
                let unnamed = service.name.is_empty();
                if unnamed && !service.id.is_empty() {
                    Some(TxnRefusal::ServiceNameMissing)
                } else if unnamed && rules.empty_service_fails_pre_check {
                    Some(TxnRefusal::ServiceKeyMissing)
                } else if service.address_is_unspecified() {
                    Some(TxnRefusal::ServiceAddress)
                } else {
                    None
                }
            }
            Self::Node(_) | Self::Check { .. } => None,
        }
    }

    /// Returns the node, as it is named.
    fn named(&self) -> &str {
        match self {
            Self::Node(node) => &node.node,
            Self::Service { node, .. } | Self::Check { node, .. } => node,
        }
    }

    /// Returns the node, in lower case.
    fn node(&self) -> String {
        self.named().to_lowercase()
    }
}

impl Change<'_> {
    /// Runs an operation. Returns its result; deletes have none.
    pub(crate) fn catalog_operation(
        &mut self,
        operation: &CatalogOperation,
    ) -> Result<Option<TxnResult>, TxnRefusal> {
        let CatalogOperation {
            verb,
            subject,
            index,
        } = operation;
        if let Some(refusal) = self.lookup_refusal(verb, subject) {
            return Err(refusal);
        }
        let current = self.current(subject);
        let current_index = current.as_ref().map(modify_index);
        match verb {
            CatalogVerb::Get => match self.found(subject)? {
                Some(found) => Ok(Some(found)),
                None => Err(TxnRefusal::CatalogMissing(Box::new(subject.clone()))),
            },
            CatalogVerb::Cas if current_index.unwrap_or(Index::ZERO) != *index => {
                Err(TxnRefusal::CatalogStaleSet(Box::new(subject.clone())))
            }
            CatalogVerb::Set => self.write_subject(subject),
            // A check that cannot be written is no error. Its row is the result in later releases; 1.8.7 gives none (V N).
            CatalogVerb::Cas if matches!(subject, CatalogSubject::Check { .. }) => {
                let shows = self.store.rules.refused_check_cas_is_shown;
                let written = self.write_subject(subject);
                Ok(written.unwrap_or_else(|_| current.filter(|_| shows)))
            }
            CatalogVerb::Cas => self.write_subject(subject),
            // Unlike for a key, 0 does not match a missing row (seen on 1.8.7).
            CatalogVerb::DeleteCas if current_index != Some(*index) => {
                Err(TxnRefusal::CatalogStaleDelete(Box::new(subject.clone())))
            }
            CatalogVerb::Delete | CatalogVerb::DeleteCas => {
                self.remove_subject(subject);
                Ok(None)
            }
            CatalogVerb::Unknown(verb) => Err(TxnRefusal::UnknownCatalogVerb {
                kind: subject.kind(),
                verb: verb.clone(),
            }),
        }
    }

    /// Writes the subject of an operation and returns its row.
    fn write_subject(&mut self, subject: &CatalogSubject) -> Result<Option<TxnResult>, TxnRefusal> {
        self.put_subject(subject).map_err(TxnRefusal::Catalog)?;
        Ok(self.current(subject))
    }

    /// Returns the row of a read. A node is found by its id, if given, whatever its name.
    fn found(&self, subject: &CatalogSubject) -> Result<Option<TxnResult>, TxnRefusal> {
        let CatalogSubject::Node(NewNode { id, .. }) = subject else {
            return Ok(self.current(subject));
        };
        if id.is_empty() {
            return Ok(self.current(subject));
        }
        if let Some(flaw) = self.node_id_flaw(id) {
            let id = id.clone();
            return Err(TxnRefusal::NodeLookup { id, flaw });
        }
        let row = self.store.catalog.node_of_id(id);
        Ok(row.map(|row| TxnResult::Node(Arc::clone(row))))
    }

    /// Returns why a check cannot be looked up. A `set` does it as a registration does.
    fn lookup_refusal(&self, verb: &CatalogVerb, subject: &CatalogSubject) -> Option<TxnRefusal> {
        let CatalogSubject::Check { check, .. } = subject else {
            return None;
        };
        let looks_up = !matches!(verb, CatalogVerb::Set | CatalogVerb::Unknown(_));
        let fails = looks_up && check.check_id.is_empty() && self.store.rules.index_errors;
        fails.then(|| TxnRefusal::CheckLookup { verb: verb.clone() })
    }

    /// Returns what is wrong with the id of a node to look up.
    fn node_id_flaw(&self, id: &str) -> Option<NodeIdFlaw> {
        if self.store.rules.index_errors {
            let is_digit = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
            let other = id.bytes().find(|byte| !is_digit(byte));
            return other.map(NodeIdFlaw::InvalidByte);
        }
        check_node_id(id).err()
    }

    fn current(&self, subject: &CatalogSubject) -> Option<TxnResult> {
        let catalog = &self.store.catalog;
        let node = subject.node();
        match subject {
            CatalogSubject::Node(_) => {
                let row = catalog.nodes.get(&node)?;
                Some(TxnResult::Node(Arc::clone(row)))
            }
            CatalogSubject::Service { service, .. } => {
                let row = catalog.service(&node, &service.id)?;
                Some(TxnResult::Service(Arc::clone(row)))
            }
            CatalogSubject::Check { check, .. } => {
                let row = catalog.checks.get(&node, &check.check_id.to_lowercase())?;
                Some(TxnResult::Check(Arc::clone(row)))
            }
        }
    }

    fn put_subject(&mut self, subject: &CatalogSubject) -> Result<(), Refusal> {
        let node = subject.node();
        if let CatalogSubject::Node(new) = subject {
            return self.put_node(&node, new.clone());
        }
        if let CatalogSubject::Check { node, check } = subject
            && check.check_id.is_empty()
            && self.store.rules.index_errors
        {
            let node = node.clone();
            let flaw = RegistrationFlaw::CheckWithoutId { node };
            return Err(Refusal::Registration(flaw));
        }
        if let CatalogSubject::Service { node, service } = subject
            && let Some(flaw) = RegistrationFlaw::of_meta(node, service)
        {
            return Err(Refusal::Registration(flaw));
        }
        if !self.store.catalog.nodes.contains_key(&node) {
            return Err(Refusal::MissingNode);
        }
        match subject {
            CatalogSubject::Node(_) => Ok(()),
            CatalogSubject::Service { service, .. } if service.id.is_empty() => {
                Err(Refusal::Registration(RegistrationFlaw::ServiceWithoutId))
            }
            CatalogSubject::Service { service, .. } => {
                self.put_service(subject.named(), service.clone());
                Ok(())
            }
            CatalogSubject::Check { check, .. } => {
                self.put_check(subject.named(), NewCheck::clone(check))
            }
        }
    }

    fn remove_subject(&mut self, subject: &CatalogSubject) {
        let node = subject.node();
        match subject {
            CatalogSubject::Node(_) => self.remove_node(&node),
            CatalogSubject::Service { service, .. } => self.remove_service(&node, &service.id),
            CatalogSubject::Check { check, .. } => {
                self.remove_check(&node, &check.check_id.to_lowercase());
            }
        }
    }
}

fn modify_index(result: &TxnResult) -> Index {
    match result {
        TxnResult::Kv { row, .. } => row.modify_index,
        TxnResult::Node(row) => row.modify_index,
        TxnResult::Service(row) => row.modify_index,
        TxnResult::Check(row) => row.modify_index,
    }
}
