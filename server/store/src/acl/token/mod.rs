//! Tokens and their reads (acl.md 5).

pub(crate) mod expiry;
pub(crate) mod legacy;
pub(crate) mod write;

use std::convert::Infallible;

use super::grants::Grants;
use super::object::{AclObject, Shown};
use super::{AclId, AclKind, AclTables, Table};
use crate::read::{Answer, Read, ReadResult, Subject, Watch};
use crate::timestamp::Timestamp;
use crate::{Index, Store};

/// A stored token.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRow {
    /// The AccessorID, as spelled when the token was made.
    pub accessor: String,
    /// The SecretID.
    pub secret: String,
    /// The description.
    pub description: String,
    /// What it grants.
    pub grants: Grants,
    /// Whether it is said to count in this datacenter only.
    pub local: bool,
    /// The auth method whose login made it; empty otherwise.
    pub auth_method: String,
    /// The name that the login gave it; empty otherwise, and before Consul 2.0.
    #[serde(default)]
    pub name: String,
    /// When it was made; `None` if an endpoint of the old system made it.
    pub created: Option<Timestamp>,
    /// When it expires.
    pub expires: Option<Expiry>,
    /// Whether it has expired, and is to be removed soon.
    #[serde(skip)]
    pub is_expired: bool,
    /// What makes it a token of the old system.
    pub legacy: Option<LegacyToken>,
    /// The index of its creation.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// What a token of the old system has instead of policies (acl.md 8.5.r3).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct LegacyToken {
    /// Whether it allows everything.
    pub is_management: bool,
    /// The text of its rules.
    pub rules: String,
}

impl LegacyToken {
    /// Returns the old name of the kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.is_management {
            "management"
        } else {
            "client"
        }
    }
}

impl TokenRow {
    /// Returns the rules of the old system, if there are any.
    #[must_use]
    pub fn old_rules(&self) -> Option<&str> {
        let rules = &self.legacy.as_ref()?.rules;
        (!rules.is_empty()).then_some(rules)
    }
}

/// When a token expires. The year may be beyond the end of time, when nothing comes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expiry {
    /// The time, at most [`Timestamp::END`].
    pub at: Timestamp,
    /// The nanoseconds from the end of time on.
    #[serde(default)]
    pub later: u64,
}

impl Expiry {
    /// Returns the time this many nanoseconds after the clock's epoch.
    #[must_use]
    pub fn from_offset(nanoseconds: i128) -> Self {
        let bounded = nanoseconds.clamp(i64::MIN.into(), i64::MAX.into());
        let at = i64::try_from(bounded).unwrap_or(i64::MAX);
        Self {
            at: Timestamp::from_offset(at),
            later: u64::try_from(nanoseconds - bounded).unwrap_or(0),
        }
    }

    /// Returns the nanoseconds since the clock's epoch.
    #[must_use]
    pub fn offset(self) -> i128 {
        i128::from(self.at.offset()) + i128::from(self.later)
    }

    /// Returns the nanoseconds from `start` on, as far as they can be counted.
    pub(crate) fn since(self, start: Timestamp) -> i64 {
        let nanoseconds = self.offset() - i128::from(start.offset());
        i64::try_from(nanoseconds.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or(i64::MAX)
    }
}

impl AclObject for TokenRow {
    const KIND: AclKind = AclKind::Token;

    fn id_text(&self) -> &str {
        &self.accessor
    }

    fn name(&self) -> &str {
        ""
    }

    fn indexes(&self) -> (Index, Index) {
        (self.create_index, self.modify_index)
    }

    fn grants(&self) -> Option<&Grants> {
        Some(&self.grants)
    }

    fn is_over(&self) -> bool {
        self.is_expired
    }

    fn table(tables: &AclTables) -> &Table<AclId, Self> {
        &tables.tokens
    }

    fn table_mut(tables: &mut AclTables) -> &mut Table<AclId, Self> {
        &mut tables.tokens
    }
}

/// Reads all tokens, in the order of their secrets.
#[derive(Clone, Debug)]
pub struct TokenList;

/// Reads the token with this secret.
#[derive(Clone, Debug)]
pub struct TokenOfSecret(pub String);

impl Read for TokenList {
    type Rows = Vec<Shown<TokenRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all tokens")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let tables = &store.acl;
        let rows = tables.by_secret.values();
        let rows = rows.filter_map(|id| tables.by_id::<TokenRow>(*id));
        let rows = rows.filter(|row| !row.is_expired);
        let rows = rows.map(|row| tables.shown(row)).collect();
        let reads = vec![Watch::Acl(AclKind::Token)];
        Ok(Answer::new(tables.tokens.newest, rows, reads))
    }
}

impl Read for TokenOfSecret {
    type Rows = Option<Shown<TokenRow>>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("the token of the request")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        Ok(store.acl_answer(None, store.acl.token_of(&self.0)))
    }
}
