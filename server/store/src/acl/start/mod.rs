//! What a server with ACLs has from its start (acl.md 3).

pub(crate) mod for_tests;

use std::convert::Infallible;
use std::time::Duration;

use super::grants::Grants;
use super::object::AclObject;
use super::policy::{NewPolicy, PolicyRow};
use super::token::TokenRow;
use super::{AclId, AclTables};
use crate::acl::token::write::AclBootstrap;
use crate::command::Command;
use crate::{Change, Index};

/// The secret of the anonymous token, which stands for requests without one.
pub const ANONYMOUS: &str = "anonymous";

/// Writes the builtin policies, the configured management token, and the anonymous token. Their indexes are those that
/// a Consul gives them, before its node registers itself.
#[derive(Clone, Debug)]
pub struct AclStart {
    /// The index of the first row.
    pub first: Index,
    /// The builtin policies with their ids.
    pub policies: Vec<(AclId, NewPolicy)>,
    /// The configured management token.
    pub management: Option<AclBootstrap>,
}

impl AclStart {
    /// Returns the number of rows, each with an index of its own.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.policies.len() as u64 + u64::from(self.management.is_some()) + 1
    }
}

impl Command for AclStart {
    type Reply = ();
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        let now = change.now;
        let tables = &mut change.store.acl;
        let mut indexes = (self.first.0..).map(Index);
        let mut next = || indexes.next().unwrap_or(Index::ZERO);
        for (id, policy) in self.policies {
            put_policy(tables, id, policy, next());
        }
        if let Some(management) = self.management {
            let row = TokenRow::management(&management, now, next());
            tables.bootstrapped = Some(row.create_index);
            tables.tokens.newest = row.create_index;
            tables.put_token(row);
        }
        let anonymous = AclBootstrap {
            accessor: AclId::ANONYMOUS,
            secret: ANONYMOUS.to_owned(),
            description: "Anonymous Token".to_owned(),
            is_legacy: false,
            reset: None,
        };
        // Consul writes it after the management token, so that no client sees the two with one time.
        let later = now.plus(Duration::from_nanos(1));
        let row = TokenRow {
            grants: Grants::default(),
            ..TokenRow::management(&anonymous, later, next())
        };
        tables.tokens.newest = row.create_index;
        tables.put_token(row);
        Ok(())
    }
}

fn put_policy(tables: &mut AclTables, id: AclId, policy: NewPolicy, index: Index) {
    let row = PolicyRow {
        id: id.to_string(),
        policy,
        create_index: index,
        modify_index: index,
    };
    tables.policies.newest = index;
    tables.policies.rows.insert(row.id(), row.into());
}
