//! The refusals that every endpoint may give (acl.md 2.4, 2.5, 2.11).

use crate::failure::{Failure, failures};
use crate::request::Request;
use proconsul_acl::Question;
use proconsul_acl::caller::Caller;
use proconsul_engine::history::Happened;
use proconsul_version::{Behaviour, Version};

failures! {
    /// ACLs are disabled.
    acl_disabled() => 401, "ACL support disabled";
    /// The token is a word that stood for a root of rights.
    root() => 500, "Cannot resolve root ACL";
    /// The token may not do this; `who` is nothing, or who lacks what.
    permission_denied(who: &str) => 403, format!("Permission denied{who}");
    /// The token is unknown; `why` is nothing, or what has to be done first.
    unknown_token(why: &str) => 403, format!("{why}ACL not found");
}

/// Returns the error for an unknown token.
pub(crate) fn acl_not_found(request: &Request) -> Failure {
    let tells = request.has(Behaviour::AclNotBootstrapped)
        && request
            .context
            .engine
            .snapshot()
            .acl_bootstrapped()
            .is_none();
    unknown_token(if tells {
        "ACL system must be bootstrapped before making any requests that require authorization: "
    } else {
        ""
    })
}

/// Returns the error for an unknown token, and notes it in the history.
pub(super) fn unknown(request: &Request) -> Failure {
    let engine = &request.context.engine;
    if let Some(call) = engine.current_call() {
        engine.record(Happened::TokenUnknown { call });
    }
    acl_not_found(request)
}

/// Returns the error for a caller who may not do what is asked.
pub(super) fn denied(caller: &Caller, question: Question<'_>, version: Version) -> Failure {
    if !version.has(Behaviour::AclDeniedText) {
        return permission_denied("");
    }
    let accessor = &caller.accessor;
    if caller.is_anonymous && version.has(Behaviour::AclDeniedAnonymous) {
        return permission_denied(&format!(
            ": anonymous token lacks permission {question}. The anonymous token is used implicitly when a request does not specify a token."
        ));
    }
    permission_denied(&format!(
        ": token with AccessorID '{accessor}' lacks permission {question}"
    ))
}
