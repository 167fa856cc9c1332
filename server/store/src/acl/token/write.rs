//! Creating, replacing, cloning and deleting tokens (acl.md 5).

use crate::acl::grants::{Grants, NewGrants};
use crate::acl::object::{AclObject, Shown};
use crate::acl::policy::PolicyRow;
use crate::acl::refusal::{AclRefusal, TokenRefusal};
use crate::acl::role::RoleRow;
use crate::acl::token::{Expiry, LegacyToken, TokenRow};
use crate::acl::{AclId, AclKind};
use crate::command::Command;
use crate::command::effects::Touched;
use crate::timestamp::Timestamp;
use crate::{Change, Index, Store};

/// A token as a client sends it.
#[derive(Clone, Debug, Default)]
pub struct NewToken {
    /// The AccessorID; empty for a made one.
    pub accessor: String,
    /// The SecretID; empty for a made one.
    pub secret: String,
    /// The description.
    pub description: String,
    /// What it is to grant.
    pub grants: NewGrants,
    /// Whether it is a local one.
    pub local: bool,
    /// The auth method.
    pub auth_method: String,
    /// The name.
    pub name: String,
    /// The lifetime in nanoseconds; 0 for none.
    pub ttl_ns: i64,
    /// When it is to expire.
    pub expires: Option<Expiry>,
    /// Whether it has rules of the old system.
    pub has_rules: bool,
}

/// The ids that the caller has made for a new token.
#[derive(Clone, Copy, Debug)]
pub struct MadeIds {
    /// The AccessorID.
    pub accessor: AclId,
    /// The SecretID.
    pub secret: AclId,
}

/// Creates a token.
#[derive(Clone, Debug)]
pub struct TokenCreate {
    /// The token.
    pub token: NewToken,
    /// The ids that it gets unless it has its own.
    pub made: MadeIds,
}

/// Creates the token of a login with an auth method. Links to what there is not are left out.
#[derive(Clone, Debug)]
pub struct TokenLogin {
    /// The token, with the name of its auth method.
    pub token: NewToken,
    /// The ids that it gets.
    pub made: MadeIds,
}

/// Replaces the token with this AccessorID, as the client spelled it.
#[derive(Clone, Debug)]
pub struct TokenReplace {
    /// The AccessorID.
    pub accessor: String,
    /// The token. What never changes may be left out.
    pub token: NewToken,
}

/// Makes a token that grants what another one does.
#[derive(Clone, Debug)]
pub struct TokenClone {
    /// The AccessorID of the other one, as the client spelled it.
    pub accessor: String,
    /// The description; empty for that of the other one.
    pub description: String,
    /// The ids that it gets.
    pub made: MadeIds,
}

/// Deletes the token with this AccessorID, as the client spelled it. Returns whether there was one.
#[derive(Clone, Debug)]
pub struct TokenDelete {
    /// The AccessorID.
    pub accessor: String,
    /// The secret of the request, whose own token stays.
    pub asked_by: String,
}

/// Makes the first token that allows everything (acl.md 3.1).
#[derive(Clone, Debug)]
pub struct AclBootstrap {
    /// The AccessorID.
    pub accessor: AclId,
    /// The SecretID.
    pub secret: String,
    /// The description.
    pub description: String,
    /// Whether it is also a management token of the old system.
    pub is_legacy: bool,
    /// The index of the last bootstrap, which allows one more.
    pub reset: Option<u64>,
}

/// The shortest and the longest lifetime, in nanoseconds.
const MINUTE: i64 = 60_000_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

impl Store {
    /// Whether a text is the AccessorID or the SecretID of a token.
    fn is_token_id(&self, text: &str) -> bool {
        let id = AclId::parse(text).ok().flatten();
        let tokens = &self.acl.tokens.rows;
        self.acl.by_secret.contains_key(text) || id.is_some_and(|id| tokens.contains_key(&id))
    }

    /// Checks the ids that a client has chosen for a new token, in Consul's order.
    fn check_chosen(&self, token: &NewToken) -> Result<(), TokenRefusal> {
        if !token.accessor.is_empty() {
            AclId::parse(&token.accessor).map_err(TokenRefusal::AccessorMalformed)?;
            if self.is_token_id(&token.accessor) {
                return Err(TokenRefusal::AccessorTaken);
            }
            if AclId::parse_printed(&token.accessor).is_none() {
                return Err(TokenRefusal::AccessorUnhyphenated);
            }
            if is_reserved(&token.accessor) {
                return Err(TokenRefusal::AccessorReserved);
            }
        }
        if !token.secret.is_empty() {
            if AclId::parse_printed(&token.secret).is_none() {
                return Err(TokenRefusal::SecretMalformed);
            }
            if self.is_token_id(&token.secret) {
                return Err(TokenRefusal::SecretTaken);
            }
            if is_reserved(&token.secret) {
                return Err(TokenRefusal::SecretReserved);
            }
        }
        Ok(())
    }

    /// Returns when a token made at `created` expires.
    fn expiry(&self, created: Timestamp, token: &NewToken) -> Result<Option<Expiry>, TokenRefusal> {
        if token.ttl_ns < 0 {
            return Err(TokenRefusal::TtlNegative(token.ttl_ns));
        }
        let ttl = (token.ttl_ns > 0).then_some(token.ttl_ns);
        if ttl.is_some() && token.expires.is_some() {
            return Err(TokenRefusal::TtlAndTime);
        }
        let after = |ttl: i64| Expiry::from_offset(i128::from(created.offset()) + i128::from(ttl));
        let Some(expiry) = ttl.map(after).or(token.expires) else {
            return Ok(None);
        };
        match expiry.since(created) {
            left if left < 0 => Err(TokenRefusal::ExpiredBefore),
            left if left < MINUTE => Err(TokenRefusal::ExpiresTooSoon(left)),
            left if left > DAY && self.rules.acl_tokens_end_within_a_day => {
                Err(TokenRefusal::ExpiresTooLate(left))
            }
            _ => Ok(Some(expiry)),
        }
    }
}

/// Whether an id has the prefix that Consul keeps for itself.
fn is_reserved(id: &str) -> bool {
    id.starts_with("00000000-0000-0000-0000-0000000000")
}

fn or_made(given: String, made: AclId) -> String {
    if given.is_empty() {
        made.to_string()
    } else {
        given
    }
}

/// Checks what a token is to grant.
fn grants(store: &Store, token: &mut NewToken) -> Result<Grants, AclRefusal> {
    let late = store.rules.acl_grants_as_given;
    let mut grants = store.acl.resolve_token(&token.grants, late)?;
    token
        .grants
        .add_identities(&mut grants, Some(token.local), late)?;
    if token.has_rules {
        return Err(TokenRefusal::RulesGiven.into());
    }
    Ok(grants)
}

impl Command for TokenCreate {
    type Reply = Shown<TokenRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<TokenRow>, AclRefusal> {
        let Self { token, made } = self;
        change.store.check_chosen(&token)?;
        if !token.auth_method.is_empty() {
            return Err(TokenRefusal::AuthMethodGiven.into());
        }
        change.create_token(token, made)
    }
}

impl Command for TokenLogin {
    type Reply = Shown<TokenRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<TokenRow>, AclRefusal> {
        let Self { mut token, made } = self;
        let store = &*change.store;
        // Since the login was looked at, the method may have gone.
        let method = store.auth_method(&token.auth_method);
        if method.is_none() {
            return Err(AclRefusal::NoAuthMethod(token.auth_method));
        }
        let acl = &store.acl;
        let links = &mut token.grants;
        links
            .roles
            .retain(|link| acl.by_name::<RoleRow>(&link.name).is_some());
        links
            .policies
            .retain(|link| acl.by_name::<PolicyRow>(&link.name).is_some());
        if token.grants == NewGrants::default() {
            return Err(TokenRefusal::NothingBound.into());
        }
        change.create_token(token, made)
    }
}

impl Command for TokenReplace {
    type Reply = Shown<TokenRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<TokenRow>, AclRefusal> {
        let Self {
            accessor,
            mut token,
        } = self;
        let store = &*change.store;
        let id = AclId::parse(&accessor).map_err(TokenRefusal::TargetMalformed)?;
        let row = id.and_then(|id| store.acl.by_id::<TokenRow>(id));
        let row = row.filter(|row| !row.is_expired).cloned();
        let row = row.ok_or_else(|| AclRefusal::NoTarget(AclKind::Token, accessor.clone()))?;
        check_unchanged(&row, &token, &accessor)?;
        let grants = grants(store, &mut token)?;
        change.take_indexes(1);
        if accessor != row.accessor {
            return Err(TokenRefusal::AccessorChanged.into());
        }
        Ok(change.put_token(TokenRow {
            description: token.description,
            grants,
            legacy: None,
            modify_index: change.index,
            ..TokenRow::clone(&row)
        }))
    }
}

/// Checks that what never changes is left out or the same.
fn check_unchanged(row: &TokenRow, token: &NewToken, accessor: &str) -> Result<(), TokenRefusal> {
    let accessor = || accessor.to_owned();
    if !token.secret.is_empty() && token.secret != row.secret {
        return Err(TokenRefusal::SecretChanged);
    }
    if token.local != row.local {
        return Err(TokenRefusal::LocalChanged(accessor()));
    }
    if !token.auth_method.is_empty() && token.auth_method != row.auth_method {
        return Err(TokenRefusal::AuthMethodChanged(accessor()));
    }
    if token.ttl_ns != 0 || token.expires.is_some() && token.expires != row.expires {
        return Err(TokenRefusal::ExpiryChanged(accessor()));
    }
    Ok(())
}

impl Command for TokenClone {
    type Reply = Shown<TokenRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<TokenRow>, AclRefusal> {
        let store = &*change.store;
        let row = store.acl.by_id_text::<TokenRow>(&self.accessor)?;
        let row = row.ok_or(TokenRefusal::NothingToClone)?;
        if row.is_expired {
            return Err(TokenRefusal::ExpiredClone.into());
        }
        if !row.auth_method.is_empty() {
            return Err(TokenRefusal::ClonesLogin.into());
        }
        if row.old_rules().is_some() {
            return Err(TokenRefusal::ClonesOldRules.into());
        }
        // The limits of the lifetime count anew.
        let again = NewToken {
            expires: row.expires,
            ..NewToken::default()
        };
        store.expiry(change.now, &again)?;
        let mut clone = TokenRow::clone(row);
        clone.accessor = self.made.accessor.to_string();
        clone.secret = self.made.secret.to_string();
        clone.created = Some(change.now);
        clone.legacy = None;
        if !self.description.is_empty() {
            clone.description = self.description;
        }
        change.take_indexes(1);
        clone.create_index = change.index;
        clone.modify_index = change.index;
        Ok(change.put_token(clone))
    }
}

impl Command for TokenDelete {
    type Reply = bool;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<bool, AclRefusal> {
        let id = AclId::parse_printed(&self.accessor).ok_or(TokenRefusal::DeletedMalformed)?;
        if id == AclId::ANONYMOUS {
            return Err(TokenRefusal::DeletesAnonymous.into());
        }
        let Some(row) = change.store.acl.by_id::<TokenRow>(id) else {
            return Ok(false);
        };
        if row.secret == self.asked_by {
            return Err(TokenRefusal::DeletesItself.into());
        }
        change.take_indexes(1);
        change.store.acl.remove_token(id);
        change.acl_changed::<TokenRow>(id);
        Ok(true)
    }
}

impl Command for AclBootstrap {
    type Reply = Shown<TokenRow>;
    type Refused = AclRefusal;

    fn run(self, change: &mut Change<'_>) -> Result<Shown<TokenRow>, AclRefusal> {
        match (change.store.acl.bootstrapped, self.reset) {
            (Some(index), None) => return Err(AclRefusal::BootstrapOver(index)),
            (Some(index), Some(reset)) if reset != index.0 => {
                return Err(AclRefusal::BootstrapReset(reset, index));
            }
            _ => {}
        }
        change.take_indexes(1);
        change.store.acl.bootstrapped = Some(change.index);
        let row = TokenRow::management(&self, change.now, change.index);
        Ok(change.put_token(row))
    }
}

impl TokenRow {
    /// Returns a token that allows everything.
    pub(crate) fn management(token: &AclBootstrap, now: Timestamp, index: Index) -> Self {
        Self {
            accessor: token.accessor.to_string(),
            secret: token.secret.clone(),
            description: token.description.clone(),
            grants: Grants {
                policies: vec![AclId::GLOBAL_MANAGEMENT],
                ..Grants::default()
            },
            local: false,
            auth_method: String::new(),
            name: String::new(),
            created: Some(now),
            expires: None,
            is_expired: false,
            legacy: token.is_legacy.then(|| LegacyToken {
                is_management: true,
                rules: String::new(),
            }),
            create_index: index,
            modify_index: index,
        }
    }
}

impl Change<'_> {
    /// Makes a new token whose ids have been checked.
    fn create_token(
        &mut self,
        mut token: NewToken,
        made: MadeIds,
    ) -> Result<Shown<TokenRow>, AclRefusal> {
        let store = &*self.store;
        let expires = store.expiry(self.now, &token)?;
        let grants = grants(store, &mut token)?;
        self.take_indexes(1);
        Ok(self.put_token(TokenRow {
            accessor: or_made(token.accessor, made.accessor),
            secret: or_made(token.secret, made.secret),
            description: token.description,
            grants,
            local: token.local,
            auth_method: token.auth_method,
            name: token.name,
            created: Some(self.now),
            expires,
            is_expired: false,
            legacy: None,
            create_index: self.index,
            modify_index: self.index,
        }))
    }

    /// Writes the row of a token, which may be there already.
    pub(crate) fn put_token(&mut self, row: TokenRow) -> Shown<TokenRow> {
        let id = row.id();
        let tables = &mut self.store.acl;
        tables.remove_token(id);
        let row = tables.put_token(row);
        tables.tokens.newest = self.index;
        self.effects
            .touched
            .push(Touched::AclObject(AclKind::Token, id));
        self.store.acl.shown(&row)
    }
}
