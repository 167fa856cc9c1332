//! Makes records of the effects of a command.

use std::collections::BTreeMap;

use super::{Happened, History, RefusedBecause, ReleasedBy};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{
    AcquireRefused, Effects, HolderChange, Key, Note, Refusal, SessionId, Store, Touched,
};

impl History {
    /// Records what a command did at `now`, which follows from the record with the number `cause`. `store` is as the
    /// command left it.
    pub fn note(&mut self, now: Timestamp, cause: Option<u64>, effects: &Effects, store: &Store) {
        if !self.is_on() {
            return;
        }
        let index = store.applied();
        let mut ends = BTreeMap::new();
        for end in &effects.ended {
            let what = Happened::SessionEnded {
                session: end.session.to_string(),
                cause: end.cause.clone(),
            };
            self.push(now, index, cause, what);
            let lost = end.released.iter().chain(&end.deleted);
            ends.extend(lost.map(|key| (key, self.last())));
        }
        // What happens to the keys of a session that ended follows from its end.
        let mut push = |what: Happened| {
            let ended = what.key().and_then(|key| ends.get(key).copied());
            self.push(now, index, ended.or(cause), what);
        };
        for touched in &effects.touched {
            note_key(touched, store, &mut push);
        }
        for change in &effects.holders {
            note_holder(change, effects, store, &mut push);
        }
        for (key, end) in &ends {
            if let Some(lasts) = store.lock_delay_left(now, key) {
                let key = Key::clone(key);
                self.delays.insert(key.clone(), self.last() + 1);
                self.push(
                    now,
                    index,
                    Some(*end),
                    Happened::LockDelayBegan { key, lasts },
                );
            }
        }
        for touched in &effects.touched {
            note_created(touched, store, |what| self.push(now, index, cause, what));
        }
        for note in &effects.notes {
            let began = match note {
                Note::LockDelayEnded(key) => self.delays.remove(key),
                _ => None,
            };
            self.push(now, index, began.or(cause), Happened::from(note));
        }
    }
}

/// A deleted tree is one record, however many keys it had, and one more for each key that was a lock.
fn note_key(touched: &Touched, store: &Store, push: &mut impl FnMut(Happened)) {
    match touched {
        Touched::Key(key) => {
            let key = key.clone();
            push(if store.row(&key).is_some() {
                Happened::KeyWritten { key }
            } else {
                Happened::KeyDeleted { key }
            });
        }
        Touched::Keys(deleted) => {
            push(Happened::KeyTreeDeleted {
                prefix: deleted.prefix.clone(),
                keys: deleted.len(),
            });
            for key in deleted.held.iter().cloned() {
                push(Happened::KeyDeleted { key });
            }
        }
        _ => {}
    }
}

/// A touched session that exists has been created: nothing else touches its row.
fn note_created(touched: &Touched, store: &Store, push: impl FnOnce(Happened)) {
    let Touched::Session { id, .. } = touched else {
        return;
    };
    let Some(row) = store.session_row(*id) else {
        return;
    };
    push(Happened::SessionCreated {
        session: id.to_string(),
        name: row.session.name.clone(),
        node: row.session.node.clone(),
        ttl: row.session.ttl,
        behavior: row.session.behavior,
    });
}

fn note_holder(
    change: &HolderChange,
    effects: &Effects,
    store: &Store,
    push: &mut impl FnMut(Happened),
) {
    if let Some(before) = &change.before {
        push(Happened::Released {
            key: change.key.clone(),
            session: before.to_string(),
            cause: released_by(before, change, effects, store),
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
    effects: &Effects,
    store: &Store,
) -> ReleasedBy {
    let id = SessionId::parse(holder).ok().flatten();
    let mut ends = effects.ended.iter();
    if let Some(end) = ends.find(|end| Some(end.session) == id) {
        return ReleasedBy::SessionEnd(end.cause.clone());
    }
    if store.row(&change.key).is_none() {
        return ReleasedBy::Delete;
    }
    ReleasedBy::Holder
}

impl From<&Note> for Happened {
    fn from(note: &Note) -> Self {
        match note.clone() {
            Note::AcquiredAgain { key, session } => Self::Acquired {
                key,
                session,
                again: true,
            },
            Note::AcquireRefused { key, session, why } => Self::AcquireRefused {
                key,
                session,
                reason: RefusedBecause::from(&why),
            },
            Note::ReleaseRefused { key, session } => Self::ReleaseRefused { key, session },
            Note::WriteRefused(key) => Self::WriteRefused { key },
            Note::SessionRenewed(session) => Self::SessionRenewed { session },
            Note::SessionRefused { session, why } => Self::SessionRefused {
                session,
                reason: session_refused(&why),
            },
            Note::LockDelayEnded(key) => Self::LockDelayEnded { key },
            Note::TombstonesReaped(up_to) => Self::TombstonesReaped { up_to },
            Note::CatalogChanged(change) => Self::CatalogChanged { change },
        }
    }
}

impl From<&AcquireRefused> for RefusedBecause {
    fn from(refused: &AcquireRefused) -> Self {
        match refused {
            AcquireRefused::HeldBy(holder) => Self::HeldBy(holder.to_string()),
            AcquireRefused::LockDelay(left) => Self::LockDelay(*left),
            AcquireRefused::Session(Refusal::MissingSession) => Self::NoSession,
            AcquireRefused::Session(_) => Self::UnknownSession,
        }
    }
}

fn session_refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::MissingNode => "its node is not in the catalog".to_owned(),
        Refusal::MissingCheck(check) => format!("its check {check:?} is not in the catalog"),
        Refusal::EmptyCheckId => "the id of a check is empty".to_owned(),
        Refusal::CriticalCheck(check) => format!("its check {check:?} is critical"),
        Refusal::MalformedSessionId(_) => "the id is no UUID".to_owned(),
        _ => "there is no such session".to_owned(),
    }
}
