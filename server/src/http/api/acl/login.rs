//! `/v1/acl/login` and `/v1/acl/logout` (acl.md 8.4). What a login shows is not checked here: a known auth method is told
//! that it is not emulated.

use super::failure::refused;
use crate::go::json::context::UnknownFields;
use crate::go::json::decode::go_struct;
use crate::http::acl::permission_denied;
use crate::http::body::edition::with_edition;
use crate::http::failure::{Failure, failures, quoted};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::store::{AclIdentity, AuthMethodInfo, Labels, TokenDelete};
use crate::version::{Behaviour, Version};

failures! {
    /// The body is `null`.
    no_parameters() => 500, "Invalid Login request: Missing auth parameters";
    /// There is no such auth method.
    unknown_method() => 403, "ACL not found";
    /// There is no such auth method, in later words.
    unknown_method_named(name: &str, version: Version) => 403,
        format!("ACL not found: auth method {} not found", quoted(name, version));
    /// A login with a JWT sends none.
    missing_jwt() => 500, "missing jwt";
    /// Who logs out has no token, or an unknown one.
    unknown_token() => 403, "ACL not found";
    /// Who logs out has no token, or an unknown one, in later words.
    no_such_token() => 401, "Supplied token does not exist";
    /// This server takes no logins of this type.
    not_emulated(kind: &str) => 501 NotEmulated,
        format!("logins with auth methods of type {kind} are not emulated by proconsul");
}

go_struct! {
    /// A login.
    struct LoginBody as "structs.ACLLoginParams" {
        "AuthMethod": String => method,
        "BearerToken": String => bearer,
        "Meta": Option<Labels>,
    }
}

/// Refuses a login. It needs no token.
pub(super) async fn login(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_tenancy()?;
    let version = request.version();
    let sent = request.read_whole().await;
    let mut place = None;
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<Option<LoginBody>>(sent, &mut place, rules);
    decoded.map_err(|words| {
        let words = with_edition(words);
        Failure::bad_request(&format!("Failed to decode request body: {words}"), version)
    })?;
    let body: LoginBody = place.ok_or_else(no_parameters)?;
    request.check_datacenter()?;
    let Ok(found) = request
        .context
        .engine
        .read(&AuthMethodInfo(body.method.clone()));
    let Some(row) = found.rows else {
        let late = request.has(Behaviour::AclLateTexts);
        return Err(match late {
            true => unknown_method_named(&body.method, version),
            false => unknown_method(),
        });
    };
    let kind = &row.method.kind;
    if kind == "jwt" && body.bearer.is_empty() {
        return Err(missing_jwt());
    }
    Err(not_emulated(kind))
}

/// Deletes the request's own token if a login made it.
pub(super) fn logout(request: &Request) -> Result<Reply, Failure> {
    let acls = request.acls()?;
    request.check_datacenter()?;
    let late = request.has(Behaviour::AclLateTexts);
    let engine = &request.context.engine;
    let secret = acls.secret(request).unwrap_or_default();
    let Ok(identity) = engine.read(&AclIdentity(&secret));
    let unknown = || {
        if late {
            no_such_token()
        } else {
            unknown_token()
        }
    };
    let token = identity.rows.ok_or_else(unknown)?.token;
    if token.auth_method.is_empty() {
        let why = if late {
            ": token wasn't created via login"
        } else {
            ""
        };
        return Err(permission_denied(why));
    }
    let deleted = engine.apply(TokenDelete {
        accessor: token.accessor.clone(),
        asked_by: String::new(),
    });
    deleted.map_err(|refusal| refused(&refusal, request.version()))?;
    Ok(Reply::boolean(request, true))
}
