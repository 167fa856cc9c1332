//! What one key is allowed to answer, call by call: the tables of kv.md 2 and 3 written as a state machine of their own.

use std::collections::BTreeSet;

use stateright::semantics::SequentialSpec;

/// What a client asks of the key. Sessions have no lock-delay and no TTL, and are told apart by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Reads the key, at once or after a wait, by itself or in a transaction.
    Read,
    /// Writes without a condition.
    Put(u8),
    /// Writes if the ModifyIndex is this one; 0 stands for a missing key.
    Cas(u64, u8),
    /// Deletes without a condition.
    Delete,
    /// Deletes if the ModifyIndex is this one.
    DeleteCas(u64),
    /// Acquires for a session, with a value.
    Acquire(usize, u8),
    /// Releases for a session, with a value.
    Release(usize, u8),
    /// Destroys a session.
    Destroy(usize),
}

/// What a read shows of an existing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The value.
    pub value: u8,
    /// Who holds the key.
    pub session: Option<usize>,
    /// Its LockIndex.
    pub lock_index: u64,
    /// Its ModifyIndex.
    pub modify_index: u64,
}

/// What a client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ret {
    /// What a read shows; `None` stands for a missing key.
    Shown(Option<Shown>),
    /// Whether it was done.
    Done(bool),
    /// The session is not there.
    NoSession,
}

/// The key, as far as the answers so far tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Register {
    row: Option<Row>,
    /// The greatest index that an answer has shown: every write since has a greater one.
    seen: u64,
    /// Sessions that have been destroyed.
    ended: BTreeSet<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    value: u8,
    session: Option<usize>,
    lock_index: u64,
    /// None as long as no answer has shown it: writes do not tell.
    modify_index: Option<u64>,
}

impl Register {
    /// The answer of a read is what is there; it may be the first to show its index.
    fn shows(&mut self, shown: Option<Shown>) -> bool {
        let (Some(row), Some(shown)) = (&self.row, shown) else {
            return self.row.is_none() && shown.is_none();
        };
        let same = (row.value, row.session, row.lock_index);
        same == (shown.value, shown.session, shown.lock_index) && self.has_index(shown.modify_index)
    }

    /// The existing row's index is, or may be, this one; from now on it is.
    fn has_index(&mut self, index: u64) -> bool {
        let Some(row) = &mut self.row else {
            return false;
        };
        match row.modify_index {
            Some(known) => known == index,
            None if index > self.seen => {
                row.modify_index = Some(index);
                self.seen = index;
                true
            }
            None => false,
        }
    }

    /// Whether the existing row's index may be another one.
    fn may_differ_from(&self, index: u64) -> bool {
        let known = self.row.as_ref().and_then(|row| row.modify_index);
        known != Some(index)
    }

    /// kv.md 2.3: a write keeps the holder and zeroes the lock index, and one that changes nothing keeps the index.
    fn write(&mut self, value: u8) -> bool {
        let session = self.row.as_ref().and_then(|row| row.session);
        self.replace(value, session, 0)
    }

    fn replace(&mut self, value: u8, session: Option<usize>, lock_index: u64) -> bool {
        let unchanged = self.row.as_ref().is_some_and(|row| {
            (row.value, row.session, row.lock_index) == (value, session, lock_index)
        });
        if !unchanged {
            self.row = Some(Row {
                value,
                session,
                lock_index,
                modify_index: None,
            });
        }
        true
    }

    /// kv.md 2.4.
    fn cas(&mut self, index: u64, value: u8, done: bool) -> bool {
        match (&self.row, done) {
            (None, true) => index == 0 && self.write(value),
            (None, false) => index != 0,
            (Some(_), true) => self.has_index(index) && self.write(value),
            (Some(_), false) => self.may_differ_from(index),
        }
    }

    /// kv.md 3: a missing key counts as deleted, whatever the index.
    fn delete_cas(&mut self, index: u64, done: bool) -> bool {
        match (&self.row, done) {
            (None, done) => done,
            (Some(_), true) => self.has_index(index) && self.delete(),
            (Some(_), false) => self.may_differ_from(index),
        }
    }

    fn delete(&mut self) -> bool {
        self.row = None;
        true
    }

    /// kv.md 2.5: the first acquire of a tenure adds one to the lock index.
    fn acquire(&mut self, session: usize, value: u8, done: bool) -> bool {
        if self.ended.contains(&session) {
            return false;
        }
        let (holder, lock_index) = self
            .row
            .as_ref()
            .map_or((None, 0), |row| (row.session, row.lock_index));
        match holder {
            None => done && self.replace(value, Some(session), lock_index + 1),
            Some(holder) if holder == session => {
                done && self.replace(value, Some(session), lock_index)
            }
            Some(_) => !done,
        }
    }

    /// kv.md 2.5: only the holder releases, and overwrites the value.
    fn release(&mut self, session: usize, value: u8, done: bool) -> bool {
        let lock_index = match &self.row {
            Some(row) if row.session == Some(session) => row.lock_index,
            _ => return !done,
        };
        done && self.replace(value, None, lock_index)
    }

    /// kv.md 8: the end of a session frees its keys and leaves their values.
    fn destroy(&mut self, session: usize) -> bool {
        self.ended.insert(session);
        if let Some(row) = self.row.as_mut().filter(|row| row.session == Some(session)) {
            row.session = None;
            row.modify_index = None;
        }
        true
    }
}

impl SequentialSpec for Register {
    type Op = Op;
    type Ret = Ret;

    fn invoke(&mut self, operation: &Op) -> Ret {
        unreachable!("a call that has not returned is no part of a history: {operation:?}")
    }

    fn is_valid_step(&mut self, operation: &Op, told: &Ret) -> bool {
        match (*operation, *told) {
            (Op::Read, Ret::Shown(shown)) => self.shows(shown),
            (Op::Put(value), Ret::Done(done)) => done && self.write(value),
            (Op::Cas(index, value), Ret::Done(done)) => self.cas(index, value, done),
            (Op::Delete, Ret::Done(done)) => done && self.delete(),
            (Op::DeleteCas(index), Ret::Done(done)) => self.delete_cas(index, done),
            (Op::Acquire(session, value), Ret::Done(done)) => self.acquire(session, value, done),
            (Op::Acquire(session, _), Ret::NoSession) => self.ended.contains(&session),
            (Op::Release(session, value), Ret::Done(done)) => self.release(session, value, done),
            (Op::Destroy(session), Ret::Done(done)) => done && self.destroy(session),
            (
                Op::Read
                | Op::Put(_)
                | Op::Cas(..)
                | Op::Delete
                | Op::DeleteCas(_)
                | Op::Acquire(..)
                | Op::Release(..)
                | Op::Destroy(_),
                Ret::Shown(_) | Ret::Done(_) | Ret::NoSession,
            ) => false,
        }
    }
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
