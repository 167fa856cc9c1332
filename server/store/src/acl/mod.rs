//! ACLs: policies, roles, tokens, auth methods and binding rules (acl.md 3 to 8).
//!
//! The store keeps them and says who has which; what rules mean and who may do what is the server's. A store whose ACLs
//! are off has none of these rows.

pub(crate) mod grants;
pub(crate) mod hash;
pub(crate) mod identity;
#[cfg(feature = "dump")]
pub(crate) mod image;
pub(crate) mod method;
pub(crate) mod object;
pub(crate) mod policy;
pub(crate) mod refusal;
pub(crate) mod role;
pub(crate) mod start;
pub(crate) mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Index;
use crate::ordered::{OrderedMap, OrderedSet};
use crate::session::id::SessionId;
use crate::timestamp::Timestamp;
use method::{AuthMethodRow, BindingRuleRow};
use object::AclObject as _;
use policy::PolicyRow;
use role::RoleRow;
use token::TokenRow;

/// The id of a policy, role, token or binding rule. It has the form of a session id.
pub type AclId = SessionId;

/// The kinds of objects, each with a table of its own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum AclKind {
    /// Policies.
    Policy,
    /// Roles.
    Role,
    /// Tokens.
    Token,
    /// Auth methods.
    AuthMethod,
    /// Binding rules.
    BindingRule,
}

/// The tables.
#[derive(Clone, Debug, Default)]
pub struct AclTables {
    pub(crate) policies: Table<AclId, PolicyRow>,
    pub(crate) roles: Table<AclId, RoleRow>,
    pub(crate) tokens: Table<AclId, TokenRow>,
    /// By name in lower case.
    pub(crate) methods: Table<String, AuthMethodRow>,
    pub(crate) binding_rules: Table<AclId, BindingRuleRow>,
    /// The tokens by their secrets.
    pub(crate) by_secret: OrderedMap<String, AclId>,
    /// When tokens expire.
    pub(crate) expiring: OrderedSet<(Timestamp, AclId)>,
    /// When expired tokens are removed, and whether the local ones are.
    pub(crate) reaps: OrderedSet<(Timestamp, bool)>,
    /// The index of the first token with every right: ACLs were bootstrapped.
    pub(crate) bootstrapped: Option<Index>,
}

/// Rows of a kind.
#[derive(Clone, Debug)]
pub struct Table<K: Ord, R> {
    pub(crate) rows: OrderedMap<K, Arc<R>>,
    /// The index of the last change of any.
    pub(crate) newest: Index,
}

impl<K: Ord, R> Default for Table<K, R> {
    fn default() -> Self {
        Self {
            rows: OrderedMap::default(),
            newest: Index::ZERO,
        }
    }
}

impl AclTables {
    /// Returns the index of each table.
    pub(crate) fn newest(&self) -> BTreeMap<AclKind, Index> {
        let all = [
            (AclKind::Policy, self.policies.newest),
            (AclKind::Role, self.roles.newest),
            (AclKind::Token, self.tokens.newest),
            (AclKind::AuthMethod, self.methods.newest),
            (AclKind::BindingRule, self.binding_rules.newest),
        ];
        let all = all.into_iter();
        all.filter(|(_, index)| *index > Index::ZERO).collect()
    }

    /// Returns the token with this secret, unless it has expired.
    pub(crate) fn token_of(&self, secret: &str) -> Option<&Arc<TokenRow>> {
        let row = self.tokens.rows.get(self.by_secret.get(secret)?)?;
        (!row.is_expired).then_some(row)
    }

    /// Writes the row of a token, and when it expires.
    pub(crate) fn put_token(&mut self, row: TokenRow) -> Arc<TokenRow> {
        let id = row.id();
        if let Some(expiry) = row.expires.filter(|_| !row.is_expired) {
            self.expiring.insert((expiry.at, id));
        }
        self.by_secret.insert(row.secret.clone(), id);
        let row = Arc::new(row);
        self.tokens.rows.insert(id, Arc::clone(&row));
        row
    }

    /// Removes the row of a token.
    pub(crate) fn remove_token(&mut self, id: AclId) -> Option<Arc<TokenRow>> {
        let row = self.tokens.rows.remove(&id)?;
        self.by_secret.remove(&row.secret);
        if let Some(expiry) = row.expires {
            self.expiring.remove(&(expiry.at, id));
        }
        Some(row)
    }
}

impl AclTables {
    /// Lowers every index.
    pub(crate) fn lower(&mut self, low: impl Fn(Index) -> Index) {
        macro_rules! lower {
            ($($table:ident)*) => {$(
                self.$table.newest = low(self.$table.newest);
                self.$table.rows = crate::each_changed(&self.$table.rows, |row| {
                    row.create_index = low(row.create_index);
                    row.modify_index = low(row.modify_index);
                });
            )*};
        }
        lower! { policies roles tokens methods binding_rules }
        self.bootstrapped = self.bootstrapped.map(low);
    }
}
