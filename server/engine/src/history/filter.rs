//! Choosing records: by kind, key, session, and place.

use std::fmt;

use super::{Happened, Record};
use proconsul_store::Key;

crate::named! {
    /// The kinds of records; see [`Happened`] for what each one says.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Kind {
        Request "request" "A request arrived.",
        Answer "answer" "A request was answered.",
        Blocked "blocked" "A blocking query waits.",
        Woken "woken" "A blocking query looks again.",
        Held "held" "A fault holds a request.",
        KeyWritten "key-written" "A key was created or changed.",
        KeyDeleted "key-deleted" "A key was deleted.",
        KeyTreeDeleted "key-tree-deleted" "All keys with a prefix were deleted.",
        WriteRefused "write-refused" "A conditional write did not take place.",
        Acquired "acquired" "A key was acquired.",
        AcquireRefused "acquire-refused" "A key was not acquired.",
        Released "released" "A key has no holder any more.",
        ReleaseRefused "release-refused" "A release by somebody who holds nothing.",
        LockDelayBegan "lock-delay-began" "A key is guarded.",
        LockDelayEnded "lock-delay-ended" "A key is guarded no more.",
        SessionCreated "session-created" "A session was created.",
        SessionRenewed "session-renewed" "A TTL started anew.",
        SessionRefused "session-refused" "A session call was refused.",
        SessionEnded "session-ended" "A session ended.",
        CatalogChanged "catalog-changed" "Nodes, services or checks changed.",
        TombstonesReaped "tombstones-reaped" "The memory of deleted keys was cleared.",
        AccessDenied "access-denied" "A request was refused: its token lacks a permission.",
        TokenUnknown "token-unknown" "A request was refused: its token is unknown.",
        RowsRemoved "rows-removed" "An answer lacks what its token may not see.",
        Belief "belief" "A program said whether it believes that it holds a lock.",
        Control "control" "The test did something to the server.",
    }
}

/// A choice of records: those that meet all conditions. The default has no condition.
///
/// ```
/// use proconsul::history::{Filter, Kind};
/// let lost = Filter::of(Kind::Released).key("service/leader");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a filter chooses nothing by itself"]
pub struct Filter {
    kinds: Vec<Kind>,
    key: Option<Key>,
    session: Option<String>,
    after: u64,
}

impl Filter {
    /// All records.
    pub fn all() -> Self {
        Self::default()
    }

    /// The records of one kind.
    pub fn of(kind: Kind) -> Self {
        Self::all().or(kind)
    }

    /// Of this kind, too.
    pub fn or(mut self, kind: Kind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// About this key, which the deletion of a tree around it is, too.
    pub fn key(mut self, key: impl AsRef<[u8]>) -> Self {
        self.key = Some(Key::new(key));
        self
    }

    /// About this session.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Later than the record with this number.
    pub fn after(mut self, number: u64) -> Self {
        self.after = number;
        self
    }

    /// Whether a record is meant.
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        record.number > self.after
            && (self.kinds.is_empty() || self.kinds.contains(&record.what.kind()))
            && self
                .key
                .as_ref()
                .is_none_or(|key| record.what.is_about(key))
            && (self.session.is_none() || record.what.session() == self.session.as_deref())
    }

    /// The number after which records are looked at.
    pub fn is_after(&self) -> u64 {
        self.after
    }
}

impl Happened {
    /// Returns the kind of record that this is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Request { .. } => Kind::Request,
            Self::Answer { .. } => Kind::Answer,
            Self::Blocked { .. } => Kind::Blocked,
            Self::Woken { .. } => Kind::Woken,
            Self::Held { .. } => Kind::Held,
            Self::KeyWritten { .. } => Kind::KeyWritten,
            Self::KeyDeleted { .. } => Kind::KeyDeleted,
            Self::KeyTreeDeleted { .. } => Kind::KeyTreeDeleted,
            Self::WriteRefused { .. } => Kind::WriteRefused,
            Self::Acquired { .. } => Kind::Acquired,
            Self::AcquireRefused { .. } => Kind::AcquireRefused,
            Self::Released { .. } => Kind::Released,
            Self::ReleaseRefused { .. } => Kind::ReleaseRefused,
            Self::LockDelayBegan { .. } => Kind::LockDelayBegan,
            Self::LockDelayEnded { .. } => Kind::LockDelayEnded,
            Self::SessionCreated { .. } => Kind::SessionCreated,
            Self::SessionRenewed { .. } => Kind::SessionRenewed,
            Self::SessionRefused { .. } => Kind::SessionRefused,
            Self::SessionEnded { .. } => Kind::SessionEnded,
            Self::CatalogChanged { .. } => Kind::CatalogChanged,
            Self::TombstonesReaped { .. } => Kind::TombstonesReaped,
            Self::AccessDenied { .. } => Kind::AccessDenied,
            Self::TokenUnknown { .. } => Kind::TokenUnknown,
            Self::RowsRemoved { .. } => Kind::RowsRemoved,
            Self::Belief { .. } => Kind::Belief,
            Self::Control { .. } => Kind::Control,
        }
    }

    /// Whether this is about a key, by itself or with others.
    #[must_use]
    pub fn is_about(&self, key: &Key) -> bool {
        match self {
            Self::KeyTreeDeleted { prefix, .. } => key.as_bytes().starts_with(prefix.as_bytes()),
            other => other.key() == Some(key),
        }
    }

    /// The key that this is about, if it is about a single one.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::KeyWritten { key }
            | Self::KeyDeleted { key }
            | Self::WriteRefused { key }
            | Self::Acquired { key, .. }
            | Self::AcquireRefused { key, .. }
            | Self::Released { key, .. }
            | Self::ReleaseRefused { key, .. }
            | Self::LockDelayBegan { key, .. }
            | Self::LockDelayEnded { key } => Some(key),
            Self::AccessDenied { key, .. } => key.as_ref(),
            Self::Request { .. }
            | Self::Answer { .. }
            | Self::Blocked { .. }
            | Self::Woken { .. }
            | Self::Held { .. }
            | Self::KeyTreeDeleted { .. }
            | Self::SessionCreated { .. }
            | Self::SessionRenewed { .. }
            | Self::SessionRefused { .. }
            | Self::SessionEnded { .. }
            | Self::CatalogChanged { .. }
            | Self::TombstonesReaped { .. }
            | Self::TokenUnknown { .. }
            | Self::RowsRemoved { .. }
            | Self::Belief { .. }
            | Self::Control { .. } => None,
        }
    }

    /// The session that this is about, if it is about one.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Acquired { session, .. }
            | Self::AcquireRefused { session, .. }
            | Self::Released { session, .. }
            | Self::ReleaseRefused { session, .. }
            | Self::SessionCreated { session, .. }
            | Self::SessionRenewed { session }
            | Self::SessionRefused { session, .. }
            | Self::SessionEnded { session, .. } => Some(session),
            Self::Request { .. }
            | Self::Answer { .. }
            | Self::Blocked { .. }
            | Self::Woken { .. }
            | Self::Held { .. }
            | Self::KeyWritten { .. }
            | Self::KeyDeleted { .. }
            | Self::KeyTreeDeleted { .. }
            | Self::WriteRefused { .. }
            | Self::LockDelayBegan { .. }
            | Self::LockDelayEnded { .. }
            | Self::CatalogChanged { .. }
            | Self::TombstonesReaped { .. }
            | Self::AccessDenied { .. }
            | Self::TokenUnknown { .. }
            | Self::RowsRemoved { .. }
            | Self::Belief { .. }
            | Self::Control { .. } => None,
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
        write!(
            formatter,
            "kind {}",
            if kinds.is_empty() {
                "any".to_owned()
            } else {
                kinds.join(" or ")
            }
        )?;
        if let Some(key) = &self.key {
            write!(formatter, ", key {key:?}")?;
        }
        if let Some(session) = &self.session {
            write!(formatter, ", session {session}")?;
        }
        if self.after > 0 {
            write!(formatter, ", after record {}", self.after)?;
        }
        Ok(())
    }
}
