//! What happened on a server, in its order, and why: the answer to "who held the lock, and why was it lost?".
//!
//! The history is a bounded log of plain values. The engine writes it under its lock, so its order is the order of
//! the store's indexes; it holds the engine's own time only, so the same seed and the same calls on a frozen clock
//! give the same history, byte for byte. A history that is off records nothing and costs nothing.

mod filter;
mod note;
mod safety;
mod text;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Behavior, Cause, Index, Key};

pub use filter::{Filter, Kind};
pub use safety::violations;
pub use safety::{Interval, Unsafe};
pub use text::timeline;

/// The default capacity of a history, in records. A full history drops its oldest records and says how many.
pub const DEFAULT_CAPACITY: usize = 100_000;

/// The number of a request to a server, counted from 1 in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The record's place in the history, counted from 1. Numbers are never reused.
    pub number: u64,
    /// When it happened, on the server's own clock.
    pub at: Timestamp,
    /// The index of the last entry that the store had applied.
    pub index: Index,
    /// The number of the record that it follows from: of a request, of the end of a session, of a control. `None` where
    /// the clock, or a program in this process, did it.
    pub cause: Option<u64>,
    /// What it was.
    pub what: Happened,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A request arrived.
    Request {
        /// Its number.
        call: CallId,
        /// The client's address; `None` for a Unix socket.
        client: Option<IpAddr>,
        /// The method; `DNS` for a question of DNS.
        method: String,
        /// Path and query, as sent; of a question the name and the type, as in `web.service.consul. SRV`.
        target: String,
        /// The number of the agent that it came to; `None` for a lone one.
        agent: Option<usize>,
    },
    /// A request was answered, or ended without an answer.
    Answer {
        /// Its number.
        call: CallId,
        /// The status, and of a question of DNS its code: 0 NOERROR, 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED. `None` if there was no
        /// answer.
        status: Option<u16>,
        /// The fault that hit the request, in words.
        fault: Option<String>,
        /// The number of the last record that the state of a follower shows, if the request was answered from it.
        read_at: Option<u64>,
    },
    /// A blocking query found nothing new and waits.
    Blocked {
        /// The request.
        call: CallId,
        /// What it reads, in words.
        read: String,
        /// The index that the read has to pass.
        min_index: Index,
    },
    /// A blocking query looks again.
    Woken {
        /// The request.
        call: CallId,
        /// Why.
        by: WokenBy,
    },
    /// A fault holds a request.
    Held {
        /// The request.
        call: CallId,
        /// The fault, in words.
        fault: String,
        /// For how long on the server's clock; `None` until the client gives up.
        lasts: Option<Duration>,
        /// Whether the clock stands still, so that this time passes only when the test moves it.
        is_frozen: bool,
    },
    /// A key was created or changed.
    KeyWritten {
        /// The key.
        key: Key,
    },
    /// A key was deleted.
    KeyDeleted {
        /// The key.
        key: Key,
    },
    /// All keys with a prefix were deleted. Those of them that sessions held follow as [`Happened::KeyDeleted`].
    KeyTreeDeleted {
        /// What the keys start with.
        prefix: Key,
        /// How many there were.
        keys: usize,
    },
    /// A conditional write or delete did not take place: the key has another index.
    WriteRefused {
        /// The key.
        key: Key,
    },
    /// A session acquired a key.
    Acquired {
        /// The key.
        key: Key,
        /// The session, as the client spelled it.
        session: String,
        /// Whether the session held the key already; the value may have changed.
        again: bool,
    },
    /// A session did not acquire a key.
    AcquireRefused {
        /// The key.
        key: Key,
        /// The session, as the client spelled it.
        session: String,
        /// Why.
        reason: RefusedBecause,
    },
    /// A key has no holder any more.
    Released {
        /// The key.
        key: Key,
        /// The session that held it.
        session: String,
        /// Why it lost the key.
        cause: ReleasedBy,
    },
    /// A release by a session that does not hold the key.
    ReleaseRefused {
        /// The key.
        key: Key,
        /// The session, as the client spelled it.
        session: String,
    },
    /// A key cannot be acquired for a while.
    LockDelayBegan {
        /// The key.
        key: Key,
        /// For how long.
        lasts: Duration,
    },
    /// A key can be acquired again.
    LockDelayEnded {
        /// The key.
        key: Key,
    },
    /// A session was created.
    SessionCreated {
        /// Its id.
        session: String,
        /// Its name; not unique.
        name: String,
        /// Its node.
        node: String,
        /// Its TTL; zero for a session without one. The session lapses after twice as long.
        ttl: Duration,
        /// What happens to its keys when it ends.
        behavior: Behavior,
    },
    /// The TTL of a session started anew.
    SessionRenewed {
        /// Its id.
        session: String,
    },
    /// A session could not be created, renewed or destroyed.
    SessionRefused {
        /// Its id, or an empty text.
        session: String,
        /// Why.
        reason: String,
    },
    /// A session ended.
    SessionEnded {
        /// Its id.
        session: String,
        /// Why.
        cause: Cause,
    },
    /// The catalog changed: nodes, services, checks.
    CatalogChanged {
        /// How, in words.
        change: String,
    },
    /// The memory of deleted keys was cleared up to an index.
    TombstonesReaped {
        /// The highest index that was cleared.
        up_to: Index,
    },
    /// A request was refused: its token lacks a permission.
    AccessDenied {
        /// The request.
        call: CallId,
        /// The token.
        token: TokenNamed,
        /// What the permission is about, such as `key`.
        resource: String,
        /// What the request was to do: `read`, `list`, `write` or `write-prefix`.
        access: String,
        /// Which one; empty for a resource without names.
        name: String,
        /// The key, if it is about keys.
        key: Option<Key>,
        /// What decided: a rule and the policy that has it, or the default policy.
        because: String,
    },
    /// A request was refused: its token is unknown. It may have been deleted, or have expired.
    TokenUnknown {
        /// The request.
        call: CallId,
    },
    /// An answer lacks what its token may not see.
    RowsRemoved {
        /// The request.
        call: CallId,
        /// The token.
        token: TokenNamed,
        /// How many rows it lacks.
        rows: usize,
    },
    /// A program said whether it believes that it holds a lock.
    Belief {
        /// Its name.
        program: String,
        /// Whether it believes that.
        holds: bool,
        /// The fencing token with which it holds the lock, if it has one.
        token: Option<String>,
    },
    /// The test did something to the server.
    Control {
        /// What, in words.
        action: String,
    },
}

impl Happened {
    /// Returns the request that this is about, of what happens to a request after its arrival.
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::Answer { call, .. }
            | Self::Blocked { call, .. }
            | Self::Woken { call, .. }
            | Self::Held { call, .. }
            | Self::AccessDenied { call, .. }
            | Self::TokenUnknown { call }
            | Self::RowsRemoved { call, .. } => Some(*call),
            _ => None,
        }
    }
}

/// A token, by what is no secret of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenNamed {
    /// Its AccessorID.
    pub accessor: String,
    /// Its description.
    pub description: String,
}

impl TokenNamed {
    /// Returns the token with this accessor.
    pub fn new(accessor: &str, description: &str) -> Self {
        Self {
            accessor: accessor.to_owned(),
            description: description.to_owned(),
        }
    }
}

/// Why an acquire is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedBecause {
    /// Another session, or another spelling of the same, holds the key.
    HeldBy(String),
    /// The lock-delay runs for this much longer.
    LockDelay(Duration),
    /// Unknown session.
    UnknownSession,
    /// The acquire named no session.
    NoSession,
}

/// Why a key lost its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReleasedBy {
    /// The holder released it.
    Holder,
    /// The key was deleted.
    Delete,
    /// The holder's session ended.
    SessionEnd(Cause),
}

/// Why a blocking query looks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WokenBy {
    /// Something of its read set was touched.
    Change,
    /// The wait timed out.
    Timeout,
    /// The test woke it, or replaced all state under it.
    Control,
}

/// A bounded log of records.
#[derive(Debug)]
pub struct History {
    /// The number of records to keep; 0 switches the history off.
    capacity: usize,
    last: u64,
    /// The number of dropped records.
    lost: u64,
    records: VecDeque<Record>,
    /// The records of the lock-delays that have not ended.
    delays: BTreeMap<Key, u64>,
}

impl History {
    /// Returns a history that records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self::keeping(0)
    }

    /// Returns a history of the last `capacity` records.
    #[must_use]
    pub fn keeping(capacity: usize) -> Self {
        Self {
            capacity,
            last: 0,
            lost: 0,
            records: VecDeque::new(),
            delays: BTreeMap::new(),
        }
    }

    /// Returns whether anything is recorded.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// Returns the number of the last record; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns the number of the last record of what a state shows that has applied the log up to `index`; 0 before the first.
    #[must_use]
    pub fn last_at(&self, index: Index) -> u64 {
        let mut records = self.records.iter().rev();
        let last = records.find(|record| record.index <= index);
        last.map_or(0, |record| record.number)
    }

    /// Records what happened, and the number of the record that it follows from.
    pub fn push(&mut self, at: Timestamp, index: Index, cause: Option<u64>, what: Happened) {
        if self.capacity == 0 {
            return;
        }
        if self.records.len() == self.capacity {
            self.records.pop_front();
            self.lost += 1;
        }
        self.last += 1;
        self.records.push_back(Record {
            number: self.last,
            at,
            index,
            cause,
            what,
        });
    }

    /// Forgets which lock-delays run: the state is replaced by another one.
    pub fn forget_delays(&mut self) {
        self.delays.clear();
    }

    /// Returns the records after the one with this number, oldest first.
    pub fn after(&self, number: u64) -> impl Iterator<Item = &Record> {
        let known = self.records.front().map_or(0, |first| {
            number.saturating_sub(first.number.saturating_sub(1))
        });
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        self.records.range(known.min(self.records.len())..)
    }

    /// Returns the number of dropped records: those at the beginning.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Forgets all records. Numbers go on.
    pub fn clear(&mut self) {
        self.records.clear();
        self.delays.clear();
        self.lost = 0;
    }
}
