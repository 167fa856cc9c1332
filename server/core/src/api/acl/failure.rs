//! The texts of refused calls about policies, roles and tokens (acl.md 4, 5, 8).

use crate::auth::permission_denied;
use crate::failure::refusal::index_error;
use crate::failure::{Failure, failures, quoted};
use proconsul_gocompat::duration;
use proconsul_store::{AclKind, AclRefusal, IdentityFlaw, NameFlaw, TokenRefusal};
use proconsul_version::{Behaviour, Version};

failures! {
    /// A refused write, in its words.
    refused_write(words: &str) => 500, words;
    /// More than one of the filters of a list of tokens is there; `all` are their names.
    several_filters(all: &str) => 500, format!("can only filter by one of {all} at a time");
    /// The object of a read is missing; `what` is its kind.
    missing_object(what: &str) => 404 Direct, format!("Requested {what} does not exist: ACL not found");
    /// The object to delete is missing; `what` is its kind.
    nothing_to_delete(what: &str) => 404 Direct, format!("Cannot find {what} to delete");
    /// The policy or token of a read is missing, which the agent says.
    nothing_found() => 403 Local, "ACL not found";
    /// The token is missing, which the leader says; `why` says more in later releases.
    missing_token(why: &str) => 403, format!("{why}ACL not found");
    /// ACLs were bootstrapped at an index.
    bootstrap_over(index: u64) => 403 Wrapped,
        format!("Permission denied: ACL bootstrap no longer allowed (reset index: {index})");
    /// The secret of a bootstrap is no UUID.
    bootstrap_secret() => 500, "uuid string is wrong length";
}

/// Returns the name of a kind in titles.
fn title(kind: AclKind) -> &'static str {
    match kind {
        AclKind::Policy => "Policy",
        AclKind::Role => "Role",
        AclKind::Token => "Token",
        AclKind::AuthMethod => "Auth Method",
        AclKind::BindingRule => "Binding Rule",
    }
}

/// Returns the error for a refusal of the store.
pub(crate) fn refused(refusal: &AclRefusal, version: Version) -> Failure {
    let late = version.has(Behaviour::AclLateTexts);
    let words = match refusal {
        AclRefusal::MalformedId(kind, error) => lookup(*kind, &index_error(*error)),
        AclRefusal::MalformedTarget(kind) => format!("{} ID invalid UUID", title(*kind)),
        AclRefusal::NoTarget(AclKind::Token, id) => {
            format!("Cannot find token {}", quoted(id, version))
        }
        AclRefusal::NoTarget(kind, id) => format!("cannot find {} {id}", kind.name()),
        AclRefusal::NoName(kind) => format!("Invalid {}: no Name is set", title(*kind)),
        AclRefusal::BadName(kind, flaw) => {
            let allowed = bad_name(*kind, *flaw, version);
            format!("Invalid {}: invalid Name. {allowed}", title(*kind))
        }
        AclRefusal::NameTaken(kind, name) => {
            let (title, name) = (title(*kind), quoted(name, version));
            format!("Invalid {title}: A {title} with Name {name} already exists")
        }
        AclRefusal::NewNameTaken(kind, name) => {
            let (title, kind) = (title(*kind), kind.name());
            let name = quoted(name, version);
            format!("Invalid {title}: A {kind} with name {name} already exists")
        }
        AclRefusal::OwnNameTaken(kind, name) => {
            let name = quoted(name, version);
            format!("A {} with name {name} already exists", kind.name())
        }
        AclRefusal::BuiltinRules(name) => {
            format!("Changing the Rules for the builtin {name} policy is not permitted")
        }
        AclRefusal::BuiltinDatacenters(name) => {
            let builtin = if late { "" } else { "builtin " };
            format!("Changing the Datacenters of the {builtin}{name} policy is not permitted")
        }
        AclRefusal::BuiltinDeleted(name) => {
            format!("Delete operation not permitted on the builtin {name} policy")
        }
        AclRefusal::NoSuchName(..) | AclRefusal::NoSuchId(..) | AclRefusal::MalformedLink(..) => {
            link(refusal, version)
        }
        AclRefusal::NoPolicyOfRole(id) => {
            let step = if late {
                "Failed to apply role upsert request: "
            } else {
                ""
            };
            format!("{step}No such policy with ID: {id}")
        }
        AclRefusal::Identity(flaw, of_role) => identity(flaw, *of_role, version),
        AclRefusal::Rules(flaw) | AclRefusal::Template(flaw) | AclRefusal::Method(flaw) => {
            flaw.clone()
        }
        AclRefusal::Token(refusal) => return token(refusal, version),
        AclRefusal::BootstrapOver(index) => return bootstrap_over(index.0),
        AclRefusal::BootstrapReset(given, index) => {
            let index = index.0;
            format!("Invalid bootstrap reset index (specified {given}, reset index: {index})")
        }
        AclRefusal::NoAuthMethod(name) => {
            let name = quoted(name, version);
            format!("cannot find auth method with name {name}")
        }
        AclRefusal::Immutable(kind, field) => {
            format!("the {field} field of an {} is immutable", title(*kind))
        }
        AclRefusal::NotLegacy => "Cannot use legacy endpoint to modify a non-legacy token".into(),
    };
    refused_write(&words)
}

/// Returns the text about a link that leads nowhere.
fn link(refusal: &AclRefusal, version: Version) -> String {
    let late = version.has(Behaviour::AclLateTexts);
    match refusal {
        AclRefusal::NoSuchName(kind, name) => {
            let name = quoted(name, version);
            format!("No such ACL {} with name {name}", kind.name())
        }
        AclRefusal::NoSuchId(kind, id) => {
            format!(
                "No such ACL {} with ID {}",
                kind.name(),
                quoted(id, version)
            )
        }
        AclRefusal::MalformedLink(kind, id, error) => {
            let named = if late { "ID:" } else { "id" };
            let (name, id) = (kind.name(), quoted(id, version));
            let lookup = lookup(*kind, &index_error(*error));
            format!("Error looking up {name} for {named} {id}: {lookup}")
        }
        _ => String::new(),
    }
}

fn lookup(kind: AclKind, error: &str) -> String {
    format!("failed acl {} lookup: {error}", kind.name())
}

/// Returns what a name may have.
fn bad_name(kind: AclKind, flaw: NameFlaw, version: Version) -> &'static str {
    match flaw {
        NameFlaw::Length => "Length must be greater than 0 and less than 128",
        NameFlaw::Prefix => "Names cannot be prefixed with '/' or 'builtin/'",
        NameFlaw::Letters
            if kind == AclKind::Policy && version.has(Behaviour::AclPolicyNameSlash) =>
        {
            "Only alphanumeric characters, a single '/', '-' and '_' are allowed"
        }
        NameFlaw::Letters => "Only alphanumeric characters, '-' and '_' are allowed",
    }
}

fn identity(flaw: &IdentityFlaw, of_role: bool, version: Version) -> String {
    let owner = if of_role { "role" } else { "token" };
    let allowed = if version.has(Behaviour::AclLateTexts) {
        "Only lowercase alphanumeric characters, '-' and '_' are allowed"
    } else {
        "Only alphanumeric characters, '-' and '_' are allowed"
    };
    match flaw {
        IdentityFlaw::ServiceUnnamed => {
            format!("Service identity is missing the service name field on this {owner}")
        }
        IdentityFlaw::ServiceName(name) => {
            let name = quoted(name, version);
            format!("Service identity {name} has an invalid name. {allowed}")
        }
        IdentityFlaw::DatacentersOfLocal(name) => {
            let name = quoted(name, version);
            format!("Service identity {name} cannot specify a list of datacenters on a local token")
        }
        IdentityFlaw::NodeUnnamed => {
            format!("Node identity is missing the node name field on this {owner}")
        }
        IdentityFlaw::NodeWithoutDatacenter => {
            format!("Node identity is missing the datacenter field on this {owner}")
        }
        IdentityFlaw::NodeName(_) => format!("Node identity has an invalid name. {allowed}"),
    }
}

/// Returns the error for a refused token.
fn token(refusal: &TokenRefusal, version: Version) -> Failure {
    const RESERVED: &str =
        "UUIDs with the prefix \"00000000-0000-0000-0000-0000000000\" are reserved";
    let late = version.has(Behaviour::AclLateTexts);
    let by_accessor = |error| {
        let lookup = lookup(AclKind::Token, &index_error(error));
        format!("Failed acl token lookup by accessor: {lookup}")
    };
    let reserved = |field: &str| {
        let field = if late { field } else { "" };
        format!("Invalid Token: {field}{RESERVED}")
    };
    let words = match refusal {
        TokenRefusal::NothingToClone => {
            let tells = version.has(Behaviour::AclTokenMissingText);
            return missing_token(if tells { "token does not exist: " } else { "" });
        }
        TokenRefusal::ExpiredClone => {
            let tells = version.has(Behaviour::AclTokenMissingText);
            return missing_token(if tells { "token is expired: " } else { "" });
        }
        TokenRefusal::NothingBound => return permission_denied(""),
        TokenRefusal::AccessorUnhyphenated if !late => {
            "Invalid Token: AccessorID is not a valid UUID".into()
        }
        TokenRefusal::AccessorMalformed(_) | TokenRefusal::AccessorUnhyphenated if late => {
            "Invalid Token: AccessorID - not a valid UUID".into()
        }
        TokenRefusal::TargetMalformed(_) if late => "AccessorID is not a valid UUID".into(),
        TokenRefusal::AccessorMalformed(error) | TokenRefusal::TargetMalformed(error) => {
            by_accessor(*error)
        }
        TokenRefusal::DeletedMalformed => "Accessor ID is missing or an invalid UUID".into(),
        TokenRefusal::SecretMalformed if late => {
            "Invalid Token: SecretID - not a valid UUID".into()
        }
        TokenRefusal::SecretMalformed => "Invalid Token: SecretID is not a valid UUID".into(),
        TokenRefusal::AccessorReserved => reserved("AccessorID - "),
        TokenRefusal::SecretReserved => reserved("SecretID - "),
        TokenRefusal::AccessorTaken => "Invalid Token: AccessorID is already in use".into(),
        TokenRefusal::SecretTaken => "Invalid Token: SecretID is already in use".into(),
        TokenRefusal::AccessorChanged => "The ACL Token AccessorID field is immutable".into(),
        TokenRefusal::SecretChanged => {
            let whose = if late { "a token's" } else { "a tokens" };
            format!("Changing {whose} SecretID is not permitted")
        }
        TokenRefusal::LocalChanged(accessor) => {
            let cannot = if late { "Cannot" } else { "cannot" };
            format!("{cannot} toggle local mode of {accessor}")
        }
        TokenRefusal::AuthMethodChanged(accessor) => {
            format!("Cannot change AuthMethod of {accessor}")
        }
        TokenRefusal::ExpiryChanged(accessor) => {
            format!("Cannot change expiration time of {accessor}")
        }
        TokenRefusal::AuthMethodGiven => {
            let login = if late { "login" } else { "Login" };
            format!("AuthMethod field is disallowed outside of {login}")
        }
        TokenRefusal::RulesGiven => "Rules cannot be specified for this token".into(),
        TokenRefusal::ClonesLogin => "Cannot clone a token created from an auth method".into(),
        TokenRefusal::ClonesOldRules => "Cannot clone a legacy ACL with this endpoint".into(),
        rest => end_text(rest),
    };
    refused_write(&words)
}

/// Returns the text about a deletion or a lifetime.
fn end_text(refusal: &TokenRefusal) -> String {
    match refusal {
        TokenRefusal::DeletesItself => {
            "Deletion of the request's authorization token is not permitted".into()
        }
        TokenRefusal::DeletesAnonymous => {
            "Delete operation not permitted on the anonymous token".into()
        }
        TokenRefusal::TtlNegative(ttl) => {
            let ttl = duration::format(*ttl);
            format!("Token Expiration TTL '{ttl}' should be > 0")
        }
        TokenRefusal::TtlAndTime => {
            "Token Expiration TTL and Expiration Time cannot both be set".into()
        }
        TokenRefusal::ExpiresTooSoon(left) => {
            let was = duration::format(*left);
            format!("ExpirationTime cannot be less than 1m0s in the future (was {was})")
        }
        TokenRefusal::ExpiresTooLate(left) => {
            let was = duration::format(*left);
            format!("ExpirationTime cannot be more than 24h0m0s in the future (was {was})")
        }
        _ => "ExpirationTime cannot be before CreateTime".into(),
    }
}
