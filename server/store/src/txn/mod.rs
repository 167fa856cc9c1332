//! Transactions: all operations are checked first, then run in order, all or none (kv.md 7).

mod catalog;

use std::sync::Arc;

use bytes::Bytes;

use crate::Index;
use crate::catalog::node::id::NodeIdFlaw;
use crate::catalog::registration::{CheckRow, NewCheck, NewNode, NewService, NodeRow, ServiceRow};
use crate::command::effects::{Effects, Note};
use crate::command::entry::LogEntry;
use crate::command::{Command, KvRefused, Refusal};
use crate::kv::key::Key;
use crate::kv::row::Rare;
use crate::kv::{KvRow, KvVerb};
use crate::timestamp::Timestamp;
use crate::{Change, Store};

/// A transaction.
#[derive(Clone, Debug)]
pub struct Txn(pub Vec<TxnOperation>);

/// An operation of a transaction.
#[derive(Clone, Debug)]
pub enum TxnOperation {
    /// An operation on a key.
    Kv {
        /// The key, or the prefix of a tree.
        key: Key,
        /// The operation.
        verb: TxnVerb,
    },
    /// An operation on a node, a service or a check.
    Catalog(Box<CatalogOperation>),
}

/// What an operation on a key does.
#[derive(Clone, Debug)]
pub enum TxnVerb {
    /// Write or delete.
    Write(KvVerb),
    /// Read a key that must exist.
    Get,
    /// Read a key; for a missing one, return the fields as sent (`get-or-empty`, since 1.14.0).
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
    /// Check the key's modify index.
    CheckIndex(Index),
    /// Check the key's holder; empty for a free key.
    CheckSession(String),
    /// Check that the key is missing.
    CheckNotExists,
    /// An unknown verb. It counts as a read.
    Unknown(String),
}

/// An operation on the catalog.
#[derive(Clone, Debug)]
pub struct CatalogOperation {
    /// The verb.
    pub verb: CatalogVerb,
    /// The subject.
    pub subject: CatalogSubject,
    /// The expected modify index of `cas` and `delete-cas`.
    pub index: Index,
}

/// What a catalog operation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogVerb {
    /// Read a row that must exist.
    Get,
    /// Write unconditionally.
    Set,
    /// Write if the modify index matches; 0 requires a missing row.
    Cas,
    /// Delete; a missing row is no error.
    Delete,
    /// Delete if the modify index matches.
    DeleteCas,
    /// An unknown verb. It counts as a write.
    Unknown(String),
}

/// The subject of a catalog operation. Reads use only the names and ids.
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

/// The outcome of a transaction: the results of all operations, or every error.
pub type TxnOutcome = Result<Vec<TxnResult>, Vec<TxnError>>;

/// A result of an operation. Deletes and `check-not-exists` have none, trees any number.
#[derive(Clone, Debug)]
pub enum TxnResult {
    /// A key.
    Kv {
        /// The key.
        key: Key,
        /// Its row after the operation.
        row: Arc<KvRow>,
        /// Whether to show the value, as only reads do (kv.md trap 27).
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
    /// Its position in the transaction.
    pub operation: usize,
    /// Its key; empty for operations on the catalog.
    pub key: Key,
    /// Why.
    pub refusal: TxnRefusal,
}

/// Why an operation failed. The wire layer has the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnRefusal {
    /// The key is missing.
    EmptyKey,
    /// The verb is unknown.
    UnknownVerb(String),
    /// The write of a key was refused.
    Write(KvRefused),
    /// The key of a read is missing.
    KeyMissing,
    /// The key of a `check-index` is missing.
    CheckIndexMissing,
    /// The index of a `check-index` does not match.
    CheckIndex {
        /// The key's value.
        current: Index,
        /// The value sent.
        expected: Index,
    },
    /// The key of a `check-session` is missing.
    CheckSessionMissing,
    /// The holder of a `check-session` does not match.
    CheckSession {
        /// The key's value.
        current: String,
        /// The value sent.
        expected: String,
    },
    /// The key of a `check-not-exists` exists.
    KeyExists,
    /// The name of a written node is missing.
    NodeNameMissing,
    /// The id of a written node is invalid.
    NodeIdMalformed(NodeIdFlaw),
    /// The id of a node to read is invalid.
    NodeLookup {
        /// The id.
        id: String,
        /// What is wrong with it.
        flaw: NodeIdFlaw,
    },
    /// The name of a written service instance is missing.
    ServiceNameMissing,
    /// The address of a written service instance is that of all interfaces.
    ServiceAddress,
    /// Name and id of a service instance are missing.
    ServiceKeyMissing,
    /// The id of a check that an operation looks up is empty, and this version cannot look it up.
    CheckLookup {
        /// The operation.
        verb: CatalogVerb,
    },
    /// The verb is unknown for nodes, services or checks.
    UnknownCatalogVerb {
        /// The kind, from [`CatalogSubject::kind`].
        kind: &'static str,
        /// The verb as sent.
        verb: String,
    },
    /// The node, service or check of a read is missing.
    CatalogMissing(Box<CatalogSubject>),
    /// The index of a `cas` does not match.
    CatalogStaleSet(Box<CatalogSubject>),
    /// The index of a `delete-cas` does not match.
    CatalogStaleDelete(Box<CatalogSubject>),
    /// The catalog refused the write.
    Catalog(Refusal),
    /// The caller may not do this; the text says what is lacking.
    Denied(String),
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

    /// Returns the key; empty for operations on the catalog.
    #[must_use]
    pub fn key(&self) -> Key {
        match self {
            Self::Kv { key, .. } => key.clone(),
            Self::Catalog(_) => Key::new([]),
        }
    }

    /// Whether the operation may fail when the transaction runs.
    fn may_fail(&self) -> bool {
        let Self::Kv { verb, .. } = self else {
            return true;
        };
        !matches!(
            verb,
            TxnVerb::Write(KvVerb::Set(_) | KvVerb::Delete | KvVerb::DeleteTree)
                | TxnVerb::GetTree
                | TxnVerb::GetOrEmpty { .. }
        )
    }
}

impl Store {
    /// Runs a transaction that only reads, without an index and without effects.
    ///
    /// # Errors
    /// The operations that failed.
    pub fn read_transaction(&self, now: Timestamp, operations: Vec<TxnOperation>) -> TxnOutcome {
        self.pre_check(now, &operations)?;
        self.clone().change(now).transaction(operations)
    }

    /// Checks operations before anything runs.
    ///
    /// # Errors
    /// The operations that fail so.
    pub fn pre_check(
        &self,
        now: Timestamp,
        operations: &[TxnOperation],
    ) -> Result<(), Vec<TxnError>> {
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

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::new("txn.apply", "txn", ""))
    }

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
    /// Runs checked operations. If one fails, the store is restored.
    fn transaction(&mut self, operations: Vec<TxnOperation>) -> TxnOutcome {
        let mut errors = Vec::new();
        // While there is a copy of the store, each write copies the path to its row.
        let may_fail = operations.iter().any(TxnOperation::may_fail);
        let before = may_fail.then(|| self.store.clone());
        let mut results = Vec::with_capacity(operations.len());
        // The operations behind a failing one run, too, and every failure is listed.
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
        if let Some(before) = before {
            *self.store = before;
        }
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
                let written = self.kv_write(key, verb).map_err(TxnRefusal::Write)?;
                results.extend(written.map(|row| shown(key, &row, false)));
            }
            TxnVerb::Get => {
                let row = self.row(key, TxnRefusal::KeyMissing)?;
                results.push(shown(key, &row, true));
            }
            TxnVerb::GetOrEmpty {
                flags,
                session,
                index,
            } => {
                let row = self.store.kv.get(key.as_bytes()).map(Arc::clone);
                let row = row.unwrap_or_else(|| empty(flags, &session, index));
                results.push(shown(key, &row, true));
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
                let current = row.session().unwrap_or_default();
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

/// Returns what `get-or-empty` shows of a missing key.
fn empty(flags: u64, session: &str, index: Index) -> Arc<KvRow> {
    let rare = Rare {
        flags,
        lock_index: 0,
        session: (!session.is_empty()).then(|| session.into()),
    };
    Arc::new(KvRow::new(Bytes::new(), rare, Index::ZERO, index))
}
