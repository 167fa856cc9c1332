//! From a command and what it did to records: what happened, with its cause.

use std::time::Duration;

use super::{Happened, History, RefusedBecause, ReleasedBy};
use crate::store::{
    AcquireRefused, Applied, Command, Deregistration, HolderChange, Key, KvVerb, Refusal, Reply,
    SessionId, Store, Touched, TxnError, TxnOperation, TxnRefusal, TxnVerb,
};
use crate::timestamp::Timestamp;

/// What a command was about, as far as its effects do not say it. Made before the store takes the command.
#[derive(Debug)]
pub(crate) enum Intent {
    /// An acquire.
    Acquire { key: Key, session: String },
    /// A release.
    Release { key: Key, session: String },
    /// A write or delete that depends on an index.
    Cas { key: Key },
    /// A transaction, with the keys and sessions of its acquires.
    Txn(Vec<(usize, Key, String)>),
    /// A new session.
    Create,
    /// A call that names a session.
    Renew { id: String },
    /// The same, of an explicit destroy.
    Destroy { id: String },
    /// The end of a lock-delay.
    EndLockDelay { key: Key },
    /// The end of tombstones.
    Reap { up_to: crate::store::Index },
    /// A change of the catalog, in words.
    Catalog(String),
    /// Nothing that its effects do not say.
    Other,
}

impl Intent {
    /// What a command is about.
    pub(crate) fn of(command: &Command) -> Self {
        match command {
            Command::Kv(write) => {
                let key = write.key.clone();
                match &write.verb {
                    KvVerb::Acquire(_, session) => Self::Acquire {
                        key,
                        session: session.clone(),
                    },
                    KvVerb::Release(_, session) => Self::Release {
                        key,
                        session: session.clone(),
                    },
                    KvVerb::Cas(..) | KvVerb::DeleteCas(_) => Self::Cas { key },
                    KvVerb::Set(_) | KvVerb::Delete | KvVerb::DeleteTree => Self::Other,
                }
            }
            Command::Txn(operations) => Self::Txn(acquires(operations)),
            Command::SessionCreate(_) => Self::Create,
            Command::SessionDestroy { id } => Self::Destroy { id: id.clone() },
            Command::SessionRenew { id } => Self::Renew { id: id.clone() },
            Command::Register(registration) => {
                Self::Catalog(format!("registered on node {:?}", registration.node.node))
            }
            Command::Deregister(what) => Self::Catalog(deregistered(what)),
            Command::Agent(command) => command.words().map_or(Self::Other, Self::Catalog),
            Command::EndLockDelay { key } => Self::EndLockDelay { key: key.clone() },
            Command::ReapTombstones { up_to } => Self::Reap { up_to: *up_to },
            Command::PutPreparedQuery(_)
            | Command::DeletePreparedQuery { .. }
            | Command::Fire(_)
            | Command::Lapse { .. } => Self::Other,
        }
    }
}

fn acquires(operations: &[TxnOperation]) -> Vec<(usize, Key, String)> {
    let numbered = operations.iter().enumerate();
    let acquires = numbered.filter_map(|(place, operation)| match operation {
        TxnOperation::Kv {
            key,
            verb: TxnVerb::Write(KvVerb::Acquire(_, session)),
        } => Some((place, key.clone(), session.clone())),
        TxnOperation::Kv { .. } | TxnOperation::Catalog(_) => None,
    });
    acquires.collect()
}

fn deregistered(what: &Deregistration) -> String {
    format!("deregistered: {what:?}")
}

impl History {
    /// Records what a command did at `now`. `store` is as the command left it.
    pub(crate) fn note(
        &mut self,
        now: Timestamp,
        intent: &Intent,
        applied: &Applied,
        store: &Store,
    ) {
        let index = store.applied();
        let mut push = |what| self.push(now, index, what);
        for end in &applied.effects.ended {
            push(Happened::SessionEnded {
                session: end.session.to_string(),
                cause: end.cause.clone(),
            });
        }
        note_keys(applied, store, &mut push);
        for change in &applied.effects.holders {
            note_holder(change, applied, store, &mut push);
        }
        for end in &applied.effects.ended {
            for key in end.released.iter().chain(&end.deleted) {
                let lasts = store.lock_delay_left(now, key);
                if let Some(lasts) = lasts {
                    let key = key.clone();
                    push(Happened::LockDelayBegan { key, lasts });
                }
            }
        }
        note_intent(now, intent, applied, store, &mut push);
    }
}

fn note_keys(applied: &Applied, store: &Store, push: &mut impl FnMut(Happened)) {
    for touched in &applied.effects.touched {
        let Touched::Key(key) = touched else { continue };
        let key = key.clone();
        push(if store.row(&key).is_some() {
            Happened::KeyWritten { key }
        } else {
            Happened::KeyDeleted { key }
        });
    }
}

fn note_holder(
    change: &HolderChange,
    applied: &Applied,
    store: &Store,
    push: &mut impl FnMut(Happened),
) {
    if let Some(before) = &change.before {
        push(Happened::Released {
            key: change.key.clone(),
            session: before.to_string(),
            cause: released_by(before, change, applied, store),
        });
    }
    if let Some(after) = &change.after {
        push(Happened::Acquired {
            key: change.key.clone(),
            session: after.to_string(),
            again: false,
        });
    }
}

fn released_by(
    holder: &str,
    change: &HolderChange,
    applied: &Applied,
    store: &Store,
) -> ReleasedBy {
    let id = SessionId::parse(holder).ok().flatten();
    let mut ends = applied.effects.ended.iter();
    if let Some(end) = ends.find(|end| Some(end.session) == id) {
        return ReleasedBy::SessionEnd(end.cause.clone());
    }
    if store.row(&change.key).is_none() {
        return ReleasedBy::Delete;
    }
    ReleasedBy::Holder
}

fn note_intent(
    now: Timestamp,
    intent: &Intent,
    applied: &Applied,
    store: &Store,
    push: &mut impl FnMut(Happened),
) {
    let refused = matches!(applied.result, Ok(Reply::Written(false)));
    match intent {
        Intent::Acquire { key, session } => {
            let (key, session) = (key.clone(), session.clone());
            match refusal_of_acquire(applied) {
                Some(reason) => push(Happened::AcquireRefused {
                    key,
                    session,
                    reason,
                }),
                None if applied.effects.holders.is_empty() => push(Happened::Acquired {
                    key,
                    session,
                    again: true,
                }),
                None => {}
            }
        }
        Intent::Release { key, session } if refused || applied.result.is_err() => {
            push(Happened::ReleaseRefused {
                key: key.clone(),
                session: session.clone(),
            });
        }
        Intent::Cas { key } if refused => push(Happened::WriteRefused { key: key.clone() }),
        Intent::Txn(acquires) => note_txn(now, acquires, applied, store, push),
        Intent::Create => note_created(applied, push),
        Intent::Renew { id } => push(match &applied.result {
            Ok(_) => Happened::SessionRenewed {
                session: id.clone(),
            },
            Err(refusal) => session_refused(id, refusal),
        }),
        Intent::Destroy { id } => {
            if let Err(refusal) = &applied.result {
                push(session_refused(id, refusal));
            }
        }
        Intent::EndLockDelay { key } => push(Happened::LockDelayEnded { key: key.clone() }),
        Intent::Reap { up_to } => push(Happened::TombstonesReaped { up_to: *up_to }),
        Intent::Catalog(change) if applied.result.is_ok() => push(Happened::CatalogChanged {
            change: change.clone(),
        }),
        Intent::Release { .. } | Intent::Cas { .. } | Intent::Catalog(_) | Intent::Other => {}
    }
}

fn refusal_of_acquire(applied: &Applied) -> Option<RefusedBecause> {
    match (&applied.result, &applied.effects.acquire_refused) {
        (_, Some(refused)) => Some(refused.into()),
        (Err(Refusal::MissingSession), None) => Some(RefusedBecause::NoSession),
        (Err(_), None) => Some(RefusedBecause::UnknownSession),
        (Ok(_), None) => None,
    }
}

impl From<&AcquireRefused> for RefusedBecause {
    fn from(refused: &AcquireRefused) -> Self {
        match refused {
            AcquireRefused::HeldBy(holder) => Self::HeldBy(holder.to_string()),
            AcquireRefused::LockDelay(left) => Self::LockDelay(*left),
        }
    }
}

fn note_txn(
    now: Timestamp,
    acquires: &[(usize, Key, String)],
    applied: &Applied,
    store: &Store,
    push: &mut impl FnMut(Happened),
) {
    let Ok(Reply::Txn(Err(errors))) = &applied.result else {
        return;
    };
    for (place, key, session) in acquires {
        let error = errors.iter().find(|error| error.operation == *place);
        if let Some(reason) = error.and_then(|error| refusal_in_txn(now, error, store)) {
            push(Happened::AcquireRefused {
                key: key.clone(),
                session: session.clone(),
                reason,
            });
        }
    }
}

fn refusal_in_txn(now: Timestamp, error: &TxnError, store: &Store) -> Option<RefusedBecause> {
    match &error.refusal {
        TxnRefusal::LockDelay => {
            let left = store.lock_delay_left(now, &error.key);
            Some(RefusedBecause::LockDelay(left.unwrap_or(Duration::ZERO)))
        }
        TxnRefusal::LockHeld => {
            let holder = store.row(&error.key).and_then(|row| row.session.clone());
            let holder = holder.map(String::from).unwrap_or_default();
            Some(RefusedBecause::HeldBy(holder))
        }
        TxnRefusal::Session(Refusal::MissingSession) => Some(RefusedBecause::NoSession),
        TxnRefusal::Session(_) => Some(RefusedBecause::UnknownSession),
        _ => None,
    }
}

fn note_created(applied: &Applied, push: &mut impl FnMut(Happened)) {
    match &applied.result {
        Ok(Reply::Session(row)) => push(Happened::SessionCreated {
            session: row.session.id.to_string(),
            name: row.session.name.clone(),
            node: row.session.node.clone(),
            ttl: row.session.ttl,
            behavior: row.session.behavior,
        }),
        Ok(_) => {}
        Err(refusal) => push(session_refused("", refusal)),
    }
}

fn session_refused(session: &str, refusal: &Refusal) -> Happened {
    let reason = match refusal {
        Refusal::MissingNode => "its node is not in the catalog".to_owned(),
        Refusal::MissingCheck(check) => format!("its check {check:?} is not in the catalog"),
        Refusal::CriticalCheck(check) => format!("its check {check:?} is critical"),
        Refusal::MalformedSessionId(_) => "the id is no UUID".to_owned(),
        _ => "there is no such session".to_owned(),
    };
    Happened::SessionRefused {
        session: session.to_owned(),
        reason,
    }
}
