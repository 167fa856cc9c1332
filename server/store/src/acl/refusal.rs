//! Why commands and reads of ACLs are refused. The wire layer has the texts.

use std::convert::Infallible;

use super::AclKind;
use crate::Index;
use crate::session::id::IdError;

/// Why a command or a read is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AclRefusal {
    /// The id of a read or of a deletion is no UUID.
    MalformedId(AclKind, IdError),
    /// The id of an object to replace is no UUID.
    MalformedTarget(AclKind),
    /// The object to replace is missing.
    NoTarget(AclKind, String),
    /// The object has no name.
    NoName(AclKind),
    /// The name has the wrong form.
    BadName(AclKind, NameFlaw),
    /// Another object has the name of a new one.
    NameTaken(AclKind, String),
    /// Another object has the new name of one that exists.
    NewNameTaken(AclKind, String),
    /// The object was to get another spelling of its id, and kept its name. The replicated state machine takes it for
    /// another one.
    OwnNameTaken(AclKind, String),
    /// The rules of the builtin policy of this name are not to be changed.
    BuiltinRules(String),
    /// The datacenters of the builtin policy of this name are not to be changed.
    BuiltinDatacenters(String),
    /// The builtin policy of this name is not to be deleted.
    BuiltinDeleted(String),
    /// The rules of a policy are invalid.
    Rules(String),
    /// A link names an object by a name that none has.
    NoSuchName(AclKind, String),
    /// A link names an object by an id that none has.
    NoSuchId(AclKind, String),
    /// A link has this id, which is no UUID.
    MalformedLink(AclKind, String, IdError),
    /// A role links to a policy by an id that none has. The replicated state machine finds it.
    NoPolicyOfRole(String),
    /// An identity of a token, or of a role, is invalid.
    Identity(IdentityFlaw, bool),
    /// A templated policy is invalid.
    Template(String),
    /// A token is refused.
    Token(TokenRefusal),
    /// ACLs were bootstrapped at this index.
    BootstrapOver(Index),
    /// ACLs were bootstrapped at this index, and the bootstrap is to be allowed by another one.
    BootstrapReset(u64, Index),
    /// There is no auth method with this name.
    NoAuthMethod(String),
    /// An auth method or binding rule is refused, in Consul's words.
    Method(String),
    /// A field of an auth method or binding rule that never changes was to change.
    Immutable(AclKind, &'static str),
    /// An old endpoint was to change a token that it did not make.
    NotLegacy,
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFlaw {
    /// A letter, or before names had slashes, the length.
    Letters,
    /// The length.
    Length,
    /// A prefix that is Consul's own.
    Prefix,
}

/// What is wrong with an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityFlaw {
    /// The identity of a service has no name.
    ServiceUnnamed,
    /// The name of a service has the wrong form.
    ServiceName(String),
    /// A local token names the datacenters of this service.
    DatacentersOfLocal(String),
    /// The identity of a node has no name.
    NodeUnnamed,
    /// The identity of a node has no datacenter.
    NodeWithoutDatacenter,
    /// The name of a node has the wrong form.
    NodeName(String),
}

/// Why a token is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// The AccessorID of a new token is no UUID.
    AccessorMalformed(IdError),
    /// The AccessorID of a new token can be looked up, but lacks hyphens.
    AccessorUnhyphenated,
    /// The AccessorID of a token to replace is no UUID.
    TargetMalformed(IdError),
    /// The AccessorID of a token to delete is no UUID.
    DeletedMalformed,
    /// The SecretID is no UUID.
    SecretMalformed,
    /// The AccessorID is reserved.
    AccessorReserved,
    /// The SecretID is reserved.
    SecretReserved,
    /// The AccessorID is in use.
    AccessorTaken,
    /// The SecretID is in use.
    SecretTaken,
    /// The AccessorID was to be spelled otherwise.
    AccessorChanged,
    /// The SecretID was to change.
    SecretChanged,
    /// This token was to become a local or a global one.
    LocalChanged(String),
    /// The auth method of this token was to change.
    AuthMethodChanged(String),
    /// The expiration time of this token was to change.
    ExpiryChanged(String),
    /// The auth method of a new token was given.
    AuthMethodGiven,
    /// Rules were given.
    RulesGiven,
    /// The lifetime, in nanoseconds, is negative.
    TtlNegative(i64),
    /// Both a lifetime and an expiration time were given.
    TtlAndTime,
    /// The token would have expired.
    ExpiredBefore,
    /// The token would expire so soon, in nanoseconds.
    ExpiresTooSoon(i64),
    /// The token would expire so late, in nanoseconds.
    ExpiresTooLate(i64),
    /// A login gets nothing.
    NothingBound,
    /// The token to clone is missing.
    NothingToClone,
    /// The token to clone has expired.
    ExpiredClone,
    /// The token to clone was made by a login.
    ClonesLogin,
    /// The token to clone has rules of the old system.
    ClonesOldRules,
    /// The token was to delete itself.
    DeletesItself,
    /// The anonymous token was to be deleted.
    DeletesAnonymous,
}

impl From<TokenRefusal> for AclRefusal {
    fn from(refusal: TokenRefusal) -> Self {
        Self::Token(refusal)
    }
}

impl From<Infallible> for AclRefusal {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
