//! `/v1/acl/login` and `/v1/acl/logout` (acl.md 8.4). Only methods of type `jwt` with static keys take logins.

use super::failure::refused;
use crate::api::acl::objects::token::{made_ids, written};
use crate::auth::permission_denied;
use crate::body::enterprise::with_edition;
use crate::failure::{Failure, FailureKind, failures, quoted};
use crate::reply::Reply;
use crate::request::Request;
use proconsul_acl::login::{self, LoginFlaw, Settings};
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::encode;
use proconsul_store::{
    AclIdentity, AclList, AuthMethodInfo, BindingRuleRow, Labels, NewAclLink, NewAuthMethod,
    NewGrants, NewToken, NodeIdentity, ServiceIdentity, TokenDelete, TokenLogin,
};
use proconsul_version::{Behaviour, Version};

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
    /// What a login shows is refused.
    invalid_login(words: &str) => 500, words;
    /// This server does not emulate what a login needs.
    not_emulated(words: &str) => 501 NotEmulated, words;
}

go_struct! {
    /// A login.
    struct LoginBody as "structs.ACLLoginParams" {
        "AuthMethod": String => method,
        "BearerToken": String => bearer,
        "Meta": Option<Labels> => meta,
    }
}

/// Makes a token for who shows a bearer token. It needs no other token.
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
    if kind != "jwt" {
        return Err(not_emulated(&format!(
            "logins with auth methods of type {kind} are not emulated by proconsul"
        )));
    }
    if body.bearer.is_empty() {
        return Err(missing_jwt());
    }
    let (grants, name) = granted(&request, &row.method, &body.bearer)?;
    let token = NewToken {
        name,
        description: description(&body.meta.unwrap_or_default()),
        grants,
        local: row.method.token_locality != "global",
        auth_method: row.method.name.clone(),
        ttl_ns: row.method.max_token_ttl_ns,
        ..NewToken::default()
    };
    let made = made_ids(&request);
    written(&request, TokenLogin { token, made })
}

/// Returns the description of a login's token.
fn description(meta: &Labels) -> String {
    let made = "token created via login";
    match meta.is_empty() {
        true => made.to_owned(),
        false => format!("{made}: {}", encode::to_text(meta)),
    }
}

/// Returns what the binding rules of a method grant to who shows a bearer token, and the name of the token.
fn granted(
    request: &Request,
    method: &NewAuthMethod,
    bearer: &str,
) -> Result<(NewGrants, String), Failure> {
    let version = request.version();
    let engine = &request.context.engine;
    let flaw = |flaw| match flaw {
        LoginFlaw::Refused(words) => invalid_login(&words),
        LoginFlaw::NotEmulated(words) => not_emulated(&words),
    };
    let config = method.config.as_deref().unwrap_or("{}");
    let settings = Settings::read(config, version).map_err(|words| invalid_login(&words))?;
    let now = engine.clock().unix_nanos_of_epoch() + i128::from(engine.clock().now().offset());
    let claims = login::claims(&settings, bearer, now).map_err(flaw)?;
    let Ok(rules) = engine.read(&AclList::<BindingRuleRow>::default());
    let name = method.name.to_lowercase();
    let mut grants = NewGrants::default();
    for shown in &rules.rows {
        let rule = &shown.row.rule;
        if rule.auth_method.to_lowercase() != name || !login::is_chosen(rule, &claims, version) {
            continue;
        }
        let bound = login::bound_name(rule, &settings, &claims);
        let bound = bound.map_err(|words| invalid_login(&words))?;
        let link = |name| NewAclLink {
            id: String::new(),
            name,
        };
        match rule.bind_type.as_str() {
            "service" => grants.service_identities.push(ServiceIdentity {
                service_name: bound,
                datacenters: Vec::new(),
            }),
            "node" => grants.node_identities.push(NodeIdentity {
                node_name: bound,
                datacenter: request.context.config.datacenter.clone(),
            }),
            "role" => grants.roles.push(link(bound)),
            "policy" => grants.policies.push(link(bound)),
            kind => {
                return Err(not_emulated(&format!(
                    "binding rules of type {kind} are not emulated by proconsul"
                )));
            }
        }
    }
    let name = match version.has(Behaviour::AclTokenName) {
        true => login::token_name(method, &settings, &claims),
        false => Ok(String::new()),
    };
    Ok((grants, name.map_err(|words| invalid_login(&words))?))
}

/// Deletes the request's own token if a login made it.
pub(super) fn logout(request: &Request) -> Result<Reply, Failure> {
    let acls = request.acls()?;
    let late = request.has(Behaviour::AclLateTexts);
    let engine = &request.context.engine;
    let secret = acls.secret(request).unwrap_or_default();
    // Without a token, no datacenter is asked.
    if !secret.is_empty() {
        request.check_datacenter()?;
    }
    let Ok(identity) = engine.read(&AclIdentity(&secret));
    let unknown = || {
        let failure = if late {
            no_such_token()
        } else {
            unknown_token()
        };
        // Without a token, the agent says so itself.
        match secret.is_empty() {
            true => failure.of_kind(FailureKind::Local),
            false => failure,
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
