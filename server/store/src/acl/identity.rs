//! Who asks: the token of a secret with all that it grants (acl.md 2).

use std::convert::Infallible;
use std::sync::Arc;

use super::grants::{NodeIdentity, ServiceIdentity, TemplatedPolicy};
use super::object::AclObject;
use super::policy::PolicyRow;
use super::role::RoleRow;
use super::token::TokenRow;
use super::{AclId, AclKind};
use crate::read::{Answer, Read, ReadResult, Subject, Watch};
use crate::{Index, Store};

/// Reads who has this secret; nobody if the token is unknown or has expired.
#[derive(Clone, Debug)]
pub struct AclIdentity<'a>(pub &'a str);

/// Reads whether somebody has this secret, and the state of ACLs.
#[derive(Clone, Debug)]
pub struct AclKnown<'a>(pub &'a str);

/// A read during which changes of a token are noticed, too.
#[derive(Clone, Debug)]
pub struct WithToken<'a, R>(pub &'a R, pub Option<AclId>);

/// A token with all that it grants, itself and by its roles. Links to deleted objects grant nothing.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The token.
    pub token: Arc<TokenRow>,
    /// Its policies.
    pub policies: Vec<Arc<PolicyRow>>,
    /// Its identities of services.
    pub service_identities: Vec<ServiceIdentity>,
    /// Its identities of nodes.
    pub node_identities: Vec<NodeIdentity>,
    /// Its filled-in templates.
    pub templated_policies: Vec<TemplatedPolicy>,
}

/// The state of all that identities are made of: while it is the same, so is every identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AclStamp([Index; 3]);

impl Store {
    /// Returns the state of all that identities are made of.
    #[must_use]
    pub fn acl_stamp(&self) -> AclStamp {
        let tables = &self.acl;
        AclStamp([
            tables.tokens.newest,
            tables.policies.newest,
            tables.roles.newest,
        ])
    }

    /// Returns the index at which ACLs were bootstrapped.
    #[must_use]
    pub fn acl_bootstrapped(&self) -> Option<Index> {
        self.acl.bootstrapped
    }

    fn identity(&self, token: &Arc<TokenRow>) -> Identity {
        let tables = &self.acl;
        let roles = token.grants.roles.iter();
        let roles: Vec<_> = roles
            .filter_map(|id| tables.by_id::<RoleRow>(*id))
            .collect();
        let roles = roles.iter().map(|role| &role.grants);
        let all = std::iter::once(&token.grants).chain(roles);
        let mut identity = Identity {
            token: Arc::clone(token),
            policies: Vec::new(),
            service_identities: Vec::new(),
            node_identities: Vec::new(),
            templated_policies: Vec::new(),
        };
        let mut seen = Vec::new();
        for grants in all {
            for id in &grants.policies {
                if !seen.contains(id) {
                    seen.push(*id);
                    identity
                        .policies
                        .extend(tables.by_id::<PolicyRow>(*id).cloned());
                }
            }
            identity
                .service_identities
                .extend(grants.service_identities.clone());
            identity
                .node_identities
                .extend(grants.node_identities.clone());
            identity
                .templated_policies
                .extend(grants.templated_policies.clone());
        }
        identity
    }
}

impl Read for AclKnown<'_> {
    type Rows = (AclStamp, bool);
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("the token of the request")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = (store.acl_stamp(), store.acl.token_of(self.0).is_some());
        let newest = TokenRow::table(&store.acl).newest;
        Ok(Answer::new(newest, rows, Vec::new()))
    }
}

impl<R: Read> Read for WithToken<'_, R> {
    type Rows = R::Rows;
    type Refused = R::Refused;

    const IS_SMALL: bool = R::IS_SMALL;

    fn subject(&self) -> Subject {
        self.0.subject()
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let Self(read, token) = self;
        let mut answer = read.look(store)?;
        let token = token.map(|token| Watch::AclObject(AclKind::Token, token));
        answer.reads.extend(token);
        Ok(answer)
    }
}

impl Read for AclIdentity<'_> {
    type Rows = Option<Identity>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other("the token of the request")
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let token = store.acl.token_of(self.0);
        let rows = token.map(|token| store.identity(token));
        Ok(Answer::new(
            TokenRow::table(&store.acl).newest,
            rows,
            Vec::new(),
        ))
    }
}
