//! Sessions: creation, renewal, lookup, and their deadlines.

pub(crate) mod id;
mod invalidation;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::Index;
use crate::command::effects::{Cause, HolderChange, Note, Touched};
use crate::command::entry::LogEntry;
use crate::command::{Command, Refusal};
use crate::kv::key::Key;
use crate::ordered::{OrderedMap, OrderedSet};
use crate::read::{Answer, News, Read, ReadResult, Subject, Watch};
use crate::session::id::SessionId;
use crate::timestamp::Timestamp;
use crate::{Change, Store};

/// What an invalidation does to the keys of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behavior {
    /// They are released.
    #[default]
    Release,
    /// They are deleted.
    Delete,
}

/// A new session, with Consul's defaults filled in (session.md 1.1-1.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// The id, made by the caller.
    pub id: SessionId,
    /// The name. It need not be unique.
    pub name: String,
    /// The node, spelled as sent.
    pub node: String,
    /// The lock-delay in nanoseconds as sent, however long.
    pub lock_delay_ns: i64,
    /// What an invalidation does to its keys.
    pub behavior: Behavior,
    /// The TTL as sent; empty if unset.
    pub ttl_text: String,
    /// The TTL as a duration; zero if unset.
    pub ttl: Duration,
    /// `NodeChecks`; `None` is shown as `null`.
    pub node_checks: Option<Vec<String>>,
    /// `ServiceChecks`; `None` is shown as `null`.
    pub service_checks: Option<Vec<ServiceCheck>>,
    /// The deprecated `Checks`, which still bind the session.
    pub checks: Vec<String>,
}

/// An entry of `ServiceChecks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceCheck {
    /// The id of the check.
    pub id: String,
    /// Stored and echoed, otherwise ignored.
    pub namespace: String,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The session as created.
    pub session: NewSession,
    /// The index of its creation, which is also its modify index: sessions never change.
    pub create_index: Index,
}

/// Destroys the session with this id, as the client spelled it.
#[derive(Clone, Debug)]
pub struct SessionDestroy(pub String);

/// Restarts the TTL of the session with this id, as the client spelled it. A session without a TTL is no
/// error. Moves no index.
#[derive(Clone, Debug)]
pub struct SessionRenew(pub String);

/// Reads the session with this id, as the client spelled it. The list has one entry or is empty.
#[derive(Clone, Debug)]
pub struct SessionInfo(pub String);

/// Reads all sessions, in the order of their ids.
#[derive(Clone, Debug)]
pub struct SessionList;

/// Reads the sessions of a node.
#[derive(Clone, Debug)]
pub struct NodeSessions(pub String);

impl NewSession {
    /// Returns the ids of the bound checks, in the order in which Consul verifies them.
    pub(crate) fn bound_checks(&self) -> impl Iterator<Item = &str> {
        let service_checks = self.service_checks.iter().flatten();
        self.checks
            .iter()
            .chain(self.node_checks.iter().flatten())
            .map(String::as_str)
            .chain(service_checks.map(|check| check.id.as_str()))
    }
}

/// The sessions table.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionTable {
    pub(crate) rows: OrderedMap<SessionId, Arc<SessionRow>>,
    /// (node, session), the node in lower case.
    pub(crate) by_node: OrderedSet<(String, SessionId)>,
    /// (node, check, session), node and check in lower case.
    pub(crate) by_check: OrderedSet<(String, String, SessionId)>,
    /// (session, held key).
    pub(crate) held: OrderedSet<(SessionId, Key)>,
    /// When each session with a TTL lapses.
    pub(crate) lapses: OrderedMap<SessionId, Timestamp>,
    /// The lapses in order of time, then of creation.
    pub(crate) by_lapse: OrderedSet<(Timestamp, Index, SessionId)>,
    /// The index of the last creation or end of any session.
    pub(crate) newest: Index,
}

impl SessionTable {
    /// Starts or restarts the TTL of a session. The session lapses after twice the TTL (session.md 3.4).
    pub(crate) fn start_ttl(&mut self, now: Timestamp, row: &SessionRow) {
        self.stop_ttl(row);
        if row.session.ttl.is_zero() {
            return;
        }
        let lapse = now.plus(row.session.ttl.saturating_mul(2));
        self.lapses.insert(row.session.id, lapse);
        self.by_lapse
            .insert((lapse, row.create_index, row.session.id));
    }

    /// Stops the TTL of a session.
    pub(crate) fn stop_ttl(&mut self, row: &SessionRow) {
        if let Some(lapse) = self.lapses.remove(&row.session.id) {
            self.by_lapse
                .remove(&(lapse, row.create_index, row.session.id));
        }
    }

    /// Returns the next session to lapse.
    pub(crate) fn next_lapse(&self) -> Option<(Timestamp, SessionId)> {
        let (at, _, session) = self.by_lapse.first()?;
        Some((*at, *session))
    }
}

impl Store {
    /// Returns the session that `text` names.
    ///
    /// # Errors
    /// The text is malformed. Only versions before 1.11 report it.
    pub fn session(&self, text: &str) -> Result<Option<&Arc<SessionRow>>, Refusal> {
        let id = if self.rules.session_ids_are_uuids {
            SessionId::parse(text).map_err(Refusal::MalformedSessionId)?
        } else {
            SessionId::parse_printed(text)
        };
        Ok(id.and_then(|id| self.session_row(id)))
    }

    /// Returns the session with this id.
    #[must_use]
    pub fn session_row(&self, id: SessionId) -> Option<&Arc<SessionRow>> {
        self.sessions.rows.get(&id)
    }

    /// Returns when a session lapses unless it is renewed; `None` without a TTL.
    #[must_use]
    pub fn lapses_at(&self, session: SessionId) -> Option<Timestamp> {
        self.sessions.lapses.get(&session).copied()
    }

    pub(crate) fn require_session(&self, text: &str) -> Result<&Arc<SessionRow>, Refusal> {
        self.session(text)?
            .ok_or_else(|| Refusal::InvalidSession(text.to_owned()))
    }

    /// Returns the ids of a node's sessions (lower case).
    pub(crate) fn sessions_of(&self, node: &str) -> Vec<SessionId> {
        let first = (node.to_owned(), SessionId::from_bytes([0; 16]));
        self.sessions
            .by_node
            .range(first..)
            .take_while(|(of, _)| of == node)
            .map(|(_, id)| *id)
            .collect()
    }

    /// Returns the ids of the sessions bound to a check (node and check in lower case).
    pub(crate) fn sessions_bound_to(&self, node: &str, check: &str) -> Vec<SessionId> {
        let first = (
            node.to_owned(),
            check.to_owned(),
            SessionId::from_bytes([0; 16]),
        );
        self.sessions
            .by_check
            .range(first..)
            .take_while(|(of, id, _)| of == node && id == check)
            .map(|(_, _, id)| *id)
            .collect()
    }

    /// Returns the keys that a session holds, in order.
    pub(crate) fn keys_held_by(&self, session: SessionId) -> Vec<Key> {
        self.sessions
            .held
            .range((session, Key::new([]))..)
            .take_while(|(holder, _)| *holder == session)
            .map(|(_, key)| key.clone())
            .collect()
    }
}

impl Read for SessionInfo {
    type Rows = Vec<Arc<SessionRow>>;
    type Refused = Refusal;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::Session(self.0.clone())
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let row = store.session(&self.0)?.map(Arc::clone);
        let waits = row.is_none() && store.rules.missing_keeps_blocking;
        let reads = match (&row, SessionId::parse_printed(&self.0)) {
            (Some(row), _) => vec![Watch::Session(row.session.id)],
            (None, Some(id)) if waits => vec![Watch::Session(id)],
            // Until 1.11 the creation or end of any session may end the wait (session.md 2.1).
            (None, _) => vec![Watch::AnySession],
        };
        let rows = row.into_iter().collect();
        let mut answer = Answer::new(store.sessions.newest, rows, reads);
        if waits {
            answer.news = News::Existence;
        }
        Ok(answer)
    }
}

impl Read for SessionList {
    type Rows = Vec<Arc<SessionRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all sessions")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = store.sessions.rows.values().map(Arc::clone).collect();
        let reads = vec![Watch::AnySession];
        Ok(Answer::new(store.sessions.newest, rows, reads))
    }
}

impl Read for NodeSessions {
    type Rows = Vec<Arc<SessionRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("sessions of node {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let node = self.0.to_lowercase();
        let ids = store.sessions_of(&node).into_iter();
        let rows = ids.filter_map(|id| store.session_row(id).map(Arc::clone));
        let rows: Vec<_> = rows.collect();
        // For a node without sessions, those of any node end the wait (session.md 2.1).
        let reads = vec![if rows.is_empty() {
            Watch::AnySession
        } else {
            Watch::NodeSessions(node)
        }];
        Ok(Answer::new(store.sessions.newest, rows, reads))
    }
}

/// Creates a session. The caller has checked what Consul checks before raft (session.md 1.1) and made the id.
impl Command for NewSession {
    type Reply = Arc<SessionRow>;
    type Refused = Refusal;

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::new("session.apply", "session", "create"))
    }

    fn run(self, change: &mut Change<'_>) -> Result<Arc<SessionRow>, Refusal> {
        change.take_indexes(1);
        let created = change.session_create(self);
        change.note_session_refused("", &created);
        created
    }
}

impl Command for SessionDestroy {
    type Reply = ();
    type Refused = Refusal;

    fn entry(&self) -> Option<LogEntry> {
        Some(LogEntry::new("session.apply", "session", "destroy"))
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Refusal> {
        let found = change.store.session(&self.0);
        let found = found.map(|row| row.map(|row| row.session.id));
        // Where ids are UUIDs, a malformed or unknown one fails only in raft, and takes an index.
        if matches!(found, Ok(Some(_))) || change.store.rules.session_ids_are_uuids {
            change.take_indexes(1);
        }
        change.note_session_refused(&self.0, &found);
        if let Some(session) = found? {
            change.invalidate(session, Cause::Destroyed);
        }
        Ok(())
    }
}

impl Command for SessionRenew {
    type Reply = Arc<SessionRow>;
    type Refused = Refusal;

    fn run(self, change: &mut Change<'_>) -> Result<Arc<SessionRow>, Refusal> {
        let found = change.store.session(&self.0);
        let found = found.map(|row| row.map(Arc::clone));
        let unknown = || Refusal::SessionNotFound(self.0.clone());
        let found = found.and_then(|row| row.ok_or_else(unknown));
        change.note_session_refused(&self.0, &found);
        let row = found?;
        change.store.sessions.start_ttl(change.now, &row);
        change.effects.notes.push(Note::SessionRenewed(self.0));
        Ok(row)
    }
}

impl Change<'_> {
    fn note_session_refused<T>(&mut self, session: &str, result: &Result<T, Refusal>) {
        if let Err(why) = result {
            self.effects.notes.push(Note::SessionRefused {
                session: session.to_owned(),
                why: why.clone(),
            });
        }
    }

    /// Creates a session. Its node and checks must exist, and no check may be critical.
    fn session_create(&mut self, session: NewSession) -> Result<Arc<SessionRow>, Refusal> {
        let node = session.node.to_lowercase();
        if !self.store.catalog.nodes.contains_key(&node) {
            return Err(Refusal::MissingNode);
        }
        for check in session.bound_checks() {
            self.store.require_check_for_session(&node, check)?;
        }
        for check in session.bound_checks() {
            let binding = (node.clone(), check.to_lowercase(), session.id);
            self.store.sessions.by_check.insert(binding);
        }
        let row = Arc::new(SessionRow {
            create_index: self.index,
            session,
        });
        let id = row.session.id;
        let sessions = &mut self.store.sessions;
        sessions.by_node.insert((node.clone(), id));
        sessions.start_ttl(self.now, &row);
        sessions.rows.insert(id, Arc::clone(&row));
        sessions.newest = self.index;
        self.effects.touched.push(Touched::Session { id, node });
        self.session_checks_follow(&row, true);
        Ok(row)
    }

    /// Updates the index of held keys for a new holder of a key, and notes the change.
    pub(crate) fn holder_changed(&mut self, key: &Key, before: Option<&str>, after: Option<&str>) {
        if before == after {
            return;
        }
        let held = &mut self.store.sessions.held;
        // Holders are spelled as sent, so they have to be parsed: spellings of one session differ.
        let id = |text: &str| SessionId::parse(text).ok().flatten();
        if let Some(session) = before.and_then(id) {
            held.remove(&(session, key.clone()));
        }
        if let Some(session) = after.and_then(id) {
            held.insert((session, key.clone()));
        }
        self.effects.holders.push(HolderChange {
            key: key.clone(),
            before: before.map(Box::from),
            after: after.map(Box::from),
        });
    }
}
