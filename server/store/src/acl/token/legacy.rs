//! Tokens as the endpoints of the old system write and read them, before 1.11 (acl.md 8.5.r3).

use std::convert::Infallible;
use std::sync::Arc;

use crate::acl::grants::Grants;
use crate::acl::object::AclObject;
use crate::acl::refusal::AclRefusal;
use crate::acl::token::write::MadeIds;
use crate::acl::token::{LegacyToken, TokenRow};
use crate::acl::{AclId, AclKind, AclTables};
use crate::command::Command;
use crate::read::{Answer, Read, ReadResult, Subject, Watch};
use crate::{Change, Index, Store};

/// Creates a token of the old system, or replaces the one with this secret. Returns the secret.
#[derive(Clone, Debug)]
pub struct OldTokenWrite {
    /// The secret, which may be any text; empty for a made one.
    pub secret: String,
    /// The description.
    pub name: String,
    /// Its rights.
    pub legacy: LegacyToken,
    /// Why the rules are invalid, from the caller that knows the language.
    pub flaw: Option<String>,
    /// The ids that a new token gets unless it has its own.
    pub made: MadeIds,
}

/// Deletes the token with this secret, whatever system it is of.
#[derive(Clone, Debug)]
pub struct OldTokenDestroy(pub String);

/// Reads all tokens of the old system, in the order of their secrets.
#[derive(Clone, Debug)]
pub struct OldTokenList;

/// Reads the token of the old system with this secret.
#[derive(Clone, Debug)]
pub struct OldTokenInfo(pub String);

impl AclTables {
    fn old_token_of(&self, secret: &str) -> Option<&Arc<TokenRow>> {
        let row = self.token_of(secret)?;
        row.legacy.is_some().then_some(row)
    }

    fn old_answer<T>(&self, rows: T) -> Answer<T> {
        Answer::new(self.tokens.newest, rows, vec![Watch::Acl(AclKind::Token)])
    }
}

impl Read for OldTokenList {
    type Rows = Vec<Arc<TokenRow>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other("all tokens of the old system")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let secrets = store.acl.by_secret.keys();
        let rows = secrets.filter_map(|secret| store.acl.old_token_of(secret).cloned());
        Ok(store.acl.old_answer(rows.collect()))
    }
}

impl Read for OldTokenInfo {
    type Rows = Option<Arc<TokenRow>>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("a token of the old system")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let row = store.acl.old_token_of(&self.0).cloned();
        Ok(store.acl.old_answer(row))
    }
}

impl Command for OldTokenWrite {
    type Reply = String;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<String, AclRefusal> {
        let current = change.store.acl.token_of(&self.secret).cloned();
        let is_new = |row: &TokenRow| row.legacy.is_none() || !row.grants.policies.is_empty();
        if current.as_deref().is_some_and(is_new) {
            return Err(AclRefusal::NotLegacy);
        }
        if let Some(flaw) = self.flaw {
            return Err(AclRefusal::Rules(flaw));
        }
        change.take_indexes(1);
        let row = match current {
            Some(row) => TokenRow {
                description: self.name,
                legacy: Some(self.legacy),
                modify_index: change.index,
                ..TokenRow::clone(&row)
            },
            None => {
                let created = change.index;
                // A moment later the leader makes a token of the new system of it.
                change.take_indexes(1);
                TokenRow {
                    description: self.name,
                    ..TokenRow::upgraded(
                        self.legacy,
                        self.secret,
                        self.made,
                        [created, change.index],
                    )
                }
            }
        };
        Ok(change.put_token(row).row.secret.clone())
    }
}

impl TokenRow {
    /// Returns a token of the old system as the leader leaves it, made and changed at these indexes.
    fn upgraded(legacy: LegacyToken, secret: String, made: MadeIds, indexes: [Index; 2]) -> Self {
        let policies = if legacy.is_management {
            vec![AclId::GLOBAL_MANAGEMENT]
        } else {
            Vec::new()
        };
        let secret = if secret.is_empty() {
            made.secret.to_string()
        } else {
            secret
        };
        Self {
            accessor: made.accessor.to_string(),
            secret,
            description: String::new(),
            grants: Grants {
                policies,
                ..Grants::default()
            },
            local: false,
            auth_method: String::new(),
            name: String::new(),
            created: None,
            expires: None,
            is_expired: false,
            legacy: Some(legacy),
            create_index: indexes[0],
            modify_index: indexes[1],
        }
    }
}

impl Command for OldTokenDestroy {
    type Reply = ();
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        change.take_indexes(1);
        let id = change.store.acl.token_of(&self.0).map(|row| row.id());
        if let Some(id) = id {
            change.store.acl.remove_token(id);
            change.acl_changed::<TokenRow>(id);
        }
        Ok(())
    }
}
