//! What a test does to ACLs, without a request that needs a right.

use std::convert::Infallible;

use crate::Change;
use crate::acl::AclId;
use crate::acl::grants::Grants;
use crate::acl::object::Shown;
use crate::acl::policy::{NewPolicy, PolicyRow};
use crate::acl::token::TokenRow;
use crate::acl::token::write::{AclBootstrap, MadeIds};
use crate::command::Command;

/// Makes a policy with these rules, which the caller has checked, and a token that has it.
#[derive(Clone, Debug)]
pub struct TokenForTest {
    /// The ids of the token.
    pub made: MadeIds,
    /// The id of the policy.
    pub policy: AclId,
    /// The description of both.
    pub description: String,
    /// The rules.
    pub rules: String,
}

/// Gives the policies that a token links to itself other rules, which the caller has checked. Those that Consul makes
/// stay as they are. Returns how many got the rules.
#[derive(Clone, Debug)]
pub struct RulesForTest {
    /// The AccessorID of the token.
    pub token: AclId,
    /// The rules.
    pub rules: String,
}

impl Command for TokenForTest {
    type Reply = Shown<TokenRow>;
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<TokenRow>, Infallible> {
        let Self {
            made,
            policy,
            description,
            rules,
        } = self;
        change.take_indexes(1);
        let index = change.index;
        change.put_acl(PolicyRow {
            id: policy.to_string(),
            policy: NewPolicy {
                name: format!("test-{policy}"),
                description: description.clone(),
                rules,
                datacenters: None,
            },
            create_index: index,
            modify_index: index,
        });
        let token = AclBootstrap {
            accessor: made.accessor,
            secret: made.secret.to_string(),
            description,
            is_legacy: false,
            reset: None,
        };
        change.take_indexes(1);
        let token = TokenRow {
            grants: Grants {
                policies: vec![policy],
                ..Grants::default()
            },
            ..TokenRow::management(&token, change.now, change.index)
        };
        Ok(change.put_token(token))
    }
}

impl Command for RulesForTest {
    type Reply = usize;
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<usize, Infallible> {
        let tables = &change.store.acl;
        let token = tables.by_id::<TokenRow>(self.token);
        let linked = token.map(|token| token.grants.policies.as_slice());
        let rows = linked.unwrap_or_default().iter();
        let rows: Vec<_> = rows
            .filter(|id| !id.is_builtin_policy())
            .filter_map(|id| tables.by_id::<PolicyRow>(*id).cloned())
            .collect();
        for row in &rows {
            change.take_indexes(1);
            let mut row = PolicyRow::clone(row);
            row.policy.rules.clone_from(&self.rules);
            row.modify_index = change.index;
            change.put_acl(row);
        }
        Ok(rows.len())
    }
}
