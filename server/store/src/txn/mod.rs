//! Transactions: a pre-check of all operations, then all of them in order, or none (kv.md 7).

mod catalog;

use std::sync::Arc;

use bytes::Bytes;

use crate::Index;
use crate::catalog::node_id::NodeIdFlaw;
use crate::catalog::registration::{CheckRow, NewCheck, NewNode, NewService, NodeRow, ServiceRow};
use crate::command::effects::{Effects, Note};
use crate::command::{Command, KvRefused, Refusal};
use crate::kv::key::Key;
use crate::kv::{KvRow, KvVerb};
use crate::timestamp::Timestamp;
use crate::{Change, Store};

/// A transaction.
#[derive(Clone, Debug)]
pub struct Txn(pub Vec<TxnOperation>);

/// One operation of a transaction.
#[derive(Clone, Debug)]
pub enum TxnOperation {
    /// On a key.
    Kv {
        /// The key, or the prefix of a tree.
        key: Key,
        /// What to do with it.
        verb: TxnVerb,
    },
    /// On a node, a service or a check.
    Catalog(Box<CatalogOperation>),
}

/// What an operation does.
#[derive(Clone, Debug)]
pub enum TxnVerb {
    /// A write.
    Write(KvVerb),
    /// Read a key that must exist.
    Get,
    /// Read a key; a missing one is answered with what was sent (`get-or-empty`, since 1.14.0).
    GetOrEmpty {
        /// The flags as sent.
        flags: u64,
        /// The session as sent.
        session: String,
        /// The modify index as sent.
        index: Index,
    },
    /// Read every key with the prefix.
    GetTree,
    /// The key's modify index must be this one.
    CheckIndex(Index),
    /// The key's holder must be this one; empty for none.
    CheckSession(String),
    /// The key must not exist.
    CheckNotExists,
    /// A verb that this Consul does not know. It counts as a read.
    Unknown(String),
}

/// One operation on the catalog.
#[derive(Clone, Debug)]
pub struct CatalogOperation {
    /// What to do.
    pub verb: CatalogVerb,
    /// With what.
    pub subject: CatalogSubject,
    /// The modify index that `cas` and `delete-cas` expect.
    pub index: Index,
}

/// What a catalog operation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogVerb {
    /// Show what must exist.
    Get,
    /// Write whatever is there.
    Set,
    /// Write if the modify index is the one that was sent; 0 means that nothing is there.
    Cas,
    /// Delete; what is not there is deleted already.
    Delete,
    /// Delete if the modify index is the one that was sent.
    DeleteCas,
    /// A verb that Consul does not know. It counts as a write.
    Unknown(String),
}

/// What a catalog operation is about: what identifies it counts for reads, all of it for writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogSubject {
    /// A node.
    Node(NewNode),
    /// A service instance on a node.
    Service {
        /// The node.
        node: String,
        /// The instance.
        service: NewService,
    },
    /// A check of a node or of a service instance on it.
    Check {
        /// The node.
        node: String,
        /// The check.
        check: Box<NewCheck>,
    },
}

/// What a transaction came to: the results of all operations, or every error.
pub type TxnOutcome = Result<Vec<TxnResult>, Vec<TxnError>>;

/// What an operation shows. Deletes and `check-not-exists` show nothing, trees any number of these.
#[derive(Clone, Debug)]
pub enum TxnResult {
    /// A key.
    Kv {
        /// The key.
        key: Key,
        /// Its row after the operation.
        row: Arc<KvRow>,
        /// Whether the value is shown; only reads do (kv.md trap 27).
        with_value: bool,
    },
    /// A node.
    Node(Arc<NodeRow>),
    /// A service instance.
    Service(Arc<ServiceRow>),
    /// A check.
    Check(Arc<CheckRow>),
}

/// An operation that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxnError {
    /// Its place in the transaction.
    pub operation: usize,
    /// Its key; empty for operations on the catalog.
    pub key: Key,
    /// Why.
    pub refusal: TxnRefusal,
}

/// Why an operation failed. The texts are the wire layer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnRefusal {
    /// The key is empty, where it must not be.
    EmptyKey,
    /// The verb is unknown.
    UnknownVerb(String),
    /// A write of a key that did not take place.
    Write(KvRefused),
    /// A read of a key that is not there.
    KeyMissing,
    /// A `check-index` of a key that is not there.
    CheckIndexMissing,
    /// A `check-index` with another index.
    CheckIndex {
        /// The key's.
        current: Index,
        /// The one that was sent.
        expected: Index,
    },
    /// A `check-session` of a key that is not there.
    CheckSessionMissing,
    /// A `check-session` with another holder.
    CheckSession {
        /// The key's.
        current: String,
        /// The one that was sent.
        expected: String,
    },
    /// A `check-not-exists` of a key that is there.
    KeyExists,
    /// A write of a node without a name.
    NodeNameMissing,
    /// A write of a node whose id is none.
    NodeIdMalformed(NodeIdFlaw),
    /// A read of a node by an id that is none.
    NodeLookup {
        /// The id.
        id: String,
        /// What is wrong with it.
        flaw: NodeIdFlaw,
    },
    /// A write of a service instance with an id and without a name.
    ServiceNameMissing,
    /// A write of a service instance with neither.
    ServiceKeyMissing,
    /// A check with neither id nor name.
    CheckKeyMissing,
    /// A verb that is unknown for nodes, services or checks.
    UnknownCatalogVerb {
        /// The kind, as [`CatalogSubject::kind`] says it.
        kind: &'static str,
        /// As sent.
        verb: String,
    },
    /// A read of a node, service or check that is not there.
    CatalogMissing(Box<CatalogSubject>),
    /// A `cas` of one with another index.
    CatalogStaleSet(Box<CatalogSubject>),
    /// A `delete-cas` of one with another index.
    CatalogStaleDelete(Box<CatalogSubject>),
    /// What a node, service or check needs is not there.
    Catalog(Refusal),
}

impl TxnOperation {
    /// Whether the operation makes its transaction a write (kv.md 7.2).
    #[must_use]
    pub fn is_write(&self) -> bool {
        match self {
            Self::Kv { verb, .. } => matches!(verb, TxnVerb::Write(_)),
            Self::Catalog(operation) => operation.verb != CatalogVerb::Get,
        }
    }

    /// The key; empty for operations on the catalog.
    fn key(&self) -> Key {
        match self {
            Self::Kv { key, .. } => key.clone(),
            Self::Catalog(_) => Key::new([]),
        }
    }
}

impl Store {
    /// Runs a transaction that only reads: no index, no effects.
    ///
    /// # Errors
    /// The operations that failed.
    pub fn read_transaction(&self, now: Timestamp, operations: Vec<TxnOperation>) -> TxnOutcome {
        self.pre_check(now, &operations)?;
        self.clone().change(now).transaction(operations)
    }

    /// That no operation fails before anything runs.
    fn pre_check(&self, now: Timestamp, operations: &[TxnOperation]) -> Result<(), Vec<TxnError>> {
        let early = self.rules.unknown_verb_fails_pre_check;
        let refusal = |operation: &TxnOperation| match operation {
            TxnOperation::Kv { key, verb } => self.pre_check_key(now, key, verb),
            TxnOperation::Catalog(operation) => match &operation.verb {
                CatalogVerb::Get => None,
                CatalogVerb::Unknown(verb) if early => Some(TxnRefusal::UnknownCatalogVerb {
                    kind: operation.subject.kind(),
                    verb: verb.clone(),
                }),
                _ => operation.subject.invalid(&self.rules),
            },
        };
        let numbered = operations.iter().enumerate();
        let errors = numbered.filter_map(|(place, operation)| {
            Some(TxnError {
                operation: place,
                key: operation.key(),
                refusal: refusal(operation)?,
            })
        });
        let errors: Vec<_> = errors.collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    fn pre_check_key(&self, now: Timestamp, key: &Key, verb: &TxnVerb) -> Option<TxnRefusal> {
        match verb {
            TxnVerb::Write(KvVerb::DeleteTree) => None,
            _ if key.is_empty() => Some(TxnRefusal::EmptyKey),
            TxnVerb::Unknown(verb) if self.rules.unknown_verb_fails_pre_check => {
                Some(TxnRefusal::UnknownVerb(verb.clone()))
            }
            TxnVerb::Write(verb) => {
                let checked = self.check_lock_delay(now, key, verb);
                checked.err().map(TxnRefusal::Write)
            }
            _ => None,
        }
    }
}

impl Command for Txn {
    type Reply = Vec<TxnResult>;
    type Refused = Vec<TxnError>;

    fn run(self, change: &mut Change<'_>) -> TxnOutcome {
        let sessions: Vec<_> = self.0.iter().map(acquiring_session).collect();
        let checked = change.store.pre_check(change.now, &self.0);
        let outcome = checked.and_then(|()| {
            change.take_indexes(1);
            change.transaction(self.0)
        });
        for error in outcome.as_ref().err().into_iter().flatten() {
            if let TxnRefusal::Write(KvRefused::Acquire(why)) = &error.refusal
                && let Some(session) = &sessions[error.operation]
            {
                change.effects.notes.push(Note::AcquireRefused {
                    key: error.key.clone(),
                    session: session.clone(),
                    why: why.clone(),
                });
            }
        }
        outcome
    }
}

fn acquiring_session(operation: &TxnOperation) -> Option<String> {
    match operation {
        TxnOperation::Kv {
            verb: TxnVerb::Write(KvVerb::Acquire(_, session)),
            ..
        } => Some(session.clone()),
        TxnOperation::Kv { .. } | TxnOperation::Catalog(_) => None,
    }
}

impl Change<'_> {
    /// Runs all operations, which have been checked; unless all succeed, the store is as it was.
    fn transaction(&mut self, operations: Vec<TxnOperation>) -> TxnOutcome {
        let mut errors = Vec::new();
        let before = self.store.clone();
        let mut results = Vec::new();
        // All failing operations are listed, not only the first: the later ones see what the earlier did.
        for (place, operation) in operations.into_iter().enumerate() {
            let key = operation.key();
            if let Err(refusal) = self.operation(operation, &mut results) {
                errors.push(TxnError {
                    operation: place,
                    key,
                    refusal,
                });
            }
        }
        if errors.is_empty() {
            return Ok(results);
        }
        *self.store = before;
        self.effects = Effects::default();
        Err(errors)
    }

    fn operation(
        &mut self,
        operation: TxnOperation,
        results: &mut Vec<TxnResult>,
    ) -> Result<(), TxnRefusal> {
        match operation {
            TxnOperation::Kv { key, verb } => self.key_operation(&key, verb, results),
            TxnOperation::Catalog(operation) => {
                results.extend(self.catalog_operation(&operation)?);
                Ok(())
            }
        }
    }

    fn key_operation(
        &mut self,
        key: &Key,
        verb: TxnVerb,
        results: &mut Vec<TxnResult>,
    ) -> Result<(), TxnRefusal> {
        match verb {
            TxnVerb::Write(verb) => {
                let deletes = matches!(
                    verb,
                    KvVerb::Delete | KvVerb::DeleteCas(_) | KvVerb::DeleteTree
                );
                self.kv_write(key, verb).map_err(TxnRefusal::Write)?;
                if !deletes {
                    results.push(self.result(key, false, TxnRefusal::KeyMissing)?);
                }
            }
            TxnVerb::Get => results.push(self.result(key, true, TxnRefusal::KeyMissing)?),
            TxnVerb::GetOrEmpty {
                flags,
                session,
                index,
            } => {
                let found = self.result(key, true, TxnRefusal::KeyMissing);
                results.push(found.unwrap_or_else(|_| empty(key, flags, &session, index)));
            }
            TxnVerb::GetTree => {
                let entries = self.store.kv.under(key.as_bytes()).into_iter();
                results.extend(entries.map(|(key, row)| TxnResult::Kv {
                    key,
                    row,
                    with_value: true,
                }));
            }
            TxnVerb::CheckIndex(expected) => {
                let row = self.row(key, TxnRefusal::CheckIndexMissing)?;
                let current = row.modify_index;
                if current != expected {
                    return Err(TxnRefusal::CheckIndex { current, expected });
                }
                results.push(shown(key, &row, false));
            }
            TxnVerb::CheckSession(expected) => {
                let row = self.row(key, TxnRefusal::CheckSessionMissing)?;
                let current = row.session.as_deref().unwrap_or_default();
                if current != expected {
                    return Err(TxnRefusal::CheckSession {
                        current: current.to_owned(),
                        expected,
                    });
                }
                results.push(shown(key, &row, false));
            }
            TxnVerb::CheckNotExists => {
                if self.store.kv.get(key.as_bytes()).is_some() {
                    return Err(TxnRefusal::KeyExists);
                }
            }
            TxnVerb::Unknown(verb) => return Err(TxnRefusal::UnknownVerb(verb)),
        }
        Ok(())
    }

    fn result(
        &self,
        key: &Key,
        with_value: bool,
        missing: TxnRefusal,
    ) -> Result<TxnResult, TxnRefusal> {
        Ok(shown(key, &self.row(key, missing)?, with_value))
    }

    fn row(&self, key: &Key, missing: TxnRefusal) -> Result<Arc<KvRow>, TxnRefusal> {
        let row = self.store.kv.get(key.as_bytes());
        row.map(Arc::clone).ok_or(missing)
    }
}

fn shown(key: &Key, row: &Arc<KvRow>, with_value: bool) -> TxnResult {
    TxnResult::Kv {
        key: key.clone(),
        row: Arc::clone(row),
        with_value,
    }
}

/// What `get-or-empty` shows for a missing key.
fn empty(key: &Key, flags: u64, session: &str, index: Index) -> TxnResult {
    let row = KvRow {
        value: Bytes::new(),
        flags,
        lock_index: 0,
        session: (!session.is_empty()).then(|| session.into()),
        create_index: Index::ZERO,
        modify_index: index,
    };
    shown(key, &Arc::new(row), true)
}
