//! The tables of ACLs as plain data.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::method::{AuthMethodRow, BindingRuleRow};
use super::object::AclObject;
use super::policy::PolicyRow;
use super::role::RoleRow;
use super::token::TokenRow;
use super::{AclId, AclKind, AclTables, Table};
use crate::image::{Flaw, all_different};
use crate::{Index, Store};

/// All policies, roles, tokens, auth methods and binding rules. Empty if ACLs are off.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AclImage {
    /// The policies, in the order of their ids.
    pub policies: Vec<Arc<PolicyRow>>,
    /// The roles, in the order of their ids.
    pub roles: Vec<Arc<RoleRow>>,
    /// The tokens, in the order of their AccessorIDs.
    pub tokens: Vec<TokenRow>,
    /// The auth methods, in the order of their names.
    pub auth_methods: Vec<Arc<AuthMethodRow>>,
    /// The binding rules, in the order of their ids.
    pub binding_rules: Vec<Arc<BindingRuleRow>>,
    /// The index of the last change of each table.
    pub indexes: BTreeMap<AclKind, Index>,
    /// The index of the first token with every right.
    pub bootstrapped: Option<Index>,
}

impl AclImage {
    /// Whether it has nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that a store can have these tables.
    pub(crate) fn check(&self) -> Result<(), Flaw> {
        check_ids(&self.policies)?;
        check_ids(&self.roles)?;
        check_ids(&self.binding_rules)?;
        check_ids(
            &self
                .tokens
                .iter()
                .cloned()
                .map(Arc::new)
                .collect::<Vec<_>>(),
        )?;
        let secrets = self.tokens.iter().map(|row| &row.secret);
        all_different(secrets, |_| "a token's secret".to_owned())?;
        let methods = self.auth_methods.iter();
        let methods = methods.map(|row| row.method.name.to_lowercase());
        all_different(methods, |name| format!("auth method {name:?}"))?;
        Ok(())
    }

    /// Returns the name and the indexes of every row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (String, Index, Index)> {
        let tables = self.indexes.iter();
        let tables =
            tables.map(|(kind, index)| (format!("the table of {}s", kind.name()), *index, *index));
        let policies = self.policies.iter().map(|row| named(&**row));
        let roles = self.roles.iter().map(|row| named(&**row));
        let tokens = self.tokens.iter().map(named);
        let rules = self.binding_rules.iter().map(|row| named(&**row));
        let methods = self.auth_methods.iter().map(|row| {
            let name = format!("auth method {:?}", row.method.name);
            (name, row.create_index, row.modify_index)
        });
        let with_ids = policies.chain(roles).chain(tokens).chain(rules);
        with_ids.chain(methods).chain(tables)
    }
}

fn named<R: AclObject>(row: &R) -> (String, Index, Index) {
    let (created, modified) = row.indexes();
    (
        format!("{} {}", R::KIND.name(), row.id_text()),
        created,
        modified,
    )
}

fn check_ids<R: AclObject>(rows: &[Arc<R>]) -> Result<(), Flaw> {
    for row in rows {
        let id = row.id_text();
        Flaw::unless(AclId::parse(id).is_ok_and(|id| id.is_some()), || {
            format!("the {} {id:?} has no UUID", R::KIND.name())
        })?;
    }
    let ids = rows.iter().map(|row| row.id());
    all_different(ids, |id| format!("{} {id}", R::KIND.name()))?;
    Ok(())
}

impl AclTables {
    /// Returns the tables as plain data.
    pub(crate) fn image(&self) -> AclImage {
        AclImage {
            policies: self.policies.rows.values().cloned().collect(),
            roles: self.roles.rows.values().cloned().collect(),
            tokens: self
                .tokens
                .rows
                .values()
                .map(|row| TokenRow::clone(row))
                .collect(),
            auth_methods: self.methods.rows.values().cloned().collect(),
            binding_rules: self.binding_rules.rows.values().cloned().collect(),
            indexes: self.newest(),
            bootstrapped: self.bootstrapped,
        }
    }

    /// Returns the tables of an image.
    pub(crate) fn of(image: AclImage) -> Self {
        let newest = |kind| image.indexes.get(&kind).copied().unwrap_or(Index::ZERO);
        let methods = image.auth_methods.into_iter();
        let methods = methods.map(|row| (row.method.name.to_lowercase(), row));
        let mut tables = Self {
            policies: table(image.policies, newest(AclKind::Policy)),
            roles: table(image.roles, newest(AclKind::Role)),
            binding_rules: table(image.binding_rules, newest(AclKind::BindingRule)),
            methods: Table {
                rows: methods.collect(),
                newest: newest(AclKind::AuthMethod),
            },
            bootstrapped: image.bootstrapped,
            ..Self::default()
        };
        tables.tokens.newest = newest(AclKind::Token);
        for row in image.tokens {
            tables.restore_token(row);
        }
        tables
    }
}

impl Store {
    /// Keeps what a server must not lose by going over to another state: all of ACLs if the state has nothing of them,
    /// as that of a server without them; else the token with the secret `management`, if the state lacks it.
    ///
    /// What is kept counts as written before the last change of the state.
    pub fn keep_acls(&mut self, own: &Self, management: &str) {
        let newest = self.applied;
        let low = |index: Index| index.min(newest);
        let mut kept = own.acl.clone();
        kept.lower(low);
        if self.acl.tokens.rows.is_empty() {
            self.acl = kept;
            return;
        }
        let token = kept.token_of(management);
        let token = token.filter(|token| !self.acl.tokens.rows.contains_key(&token.id()));
        if let Some(token) = token.filter(|_| self.acl.token_of(management).is_none()) {
            self.acl.put_token(TokenRow::clone(token));
        }
    }
}

fn table<R: AclObject>(rows: Vec<Arc<R>>, newest: Index) -> Table<AclId, R> {
    Table {
        rows: rows.into_iter().map(|row| (row.id(), row)).collect(),
        newest,
    }
}
