//! The token of a request, and what it allows (acl.md 2.1 to 2.8).

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderName;
use http::header::AUTHORIZATION;
use proconsul_h1::Headers;

use super::failure;
use super::state::Acls;
use crate::Context;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_acl::caller::{Caller, Place};
use proconsul_store::{ANONYMOUS, AclIdentity, AclKnown};
use proconsul_version::Behaviour;

const TOKEN: HeaderName = HeaderName::from_static("x-consul-token");

/// Secrets that meant whole roots of rights in Consul's old system.
pub(crate) const ROOTS: [&str; 3] = ["allow", "deny", "manage"];

/// Returns the token that a request has itself: in the query, in Consul's header, or as a bearer (acl.md 2.1).
fn sent(request: &Request) -> Option<Cow<'_, str>> {
    let in_query = Some(request.query.get("token")).filter(|token| !token.is_empty());
    if let Some(token) = in_query {
        return Some(String::from_utf8_lossy(token));
    }
    let header = |name: &HeaderName| {
        let value = request.headers.get(name)?;
        (!value.is_empty()).then(|| String::from_utf8_lossy(value))
    };
    header(&TOKEN).or_else(|| bearer(&request.headers).map(Cow::Owned))
}

/// Returns the first word behind `Bearer`.
fn bearer(headers: &Headers) -> Option<String> {
    let value = String::from_utf8_lossy(headers.get(AUTHORIZATION)?);
    let mut words = value.split_whitespace();
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    words.next().filter(|_| is_bearer).map(str::to_owned)
}

impl Request {
    /// Returns the secret that the request goes by, whether ACLs are on or off.
    pub(crate) fn secret(&self) -> Option<Cow<'_, str>> {
        match &self.context.acls {
            Some(acls) => acls.secret(self),
            None => sent(self),
        }
    }
}

impl Acls {
    /// Returns the secret of a request: its own, else the agent's default one; `None` for neither.
    pub(crate) fn secret<'a>(&self, request: &'a Request) -> Option<Cow<'a, str>> {
        sent(request).or_else(|| {
            let default = self.tokens.read().default.clone();
            (!default.is_empty()).then_some(Cow::Owned(default))
        })
    }

    /// Returns who asks.
    ///
    /// # Errors
    /// The token is unknown.
    pub(crate) fn caller(&self, request: &Request) -> Result<Arc<Caller>, Failure> {
        let secret = self.secret(request);
        self.caller_with(request, secret.as_deref().unwrap_or(ANONYMOUS))
    }

    /// Returns who has this secret.
    ///
    /// # Errors
    /// The token is unknown.
    pub(super) fn caller_with(
        &self,
        request: &Request,
        secret: &str,
    ) -> Result<Arc<Caller>, Failure> {
        if ROOTS.contains(&secret) {
            return Err(failure::root());
        }
        if let Some(caller) = self.recovery(request, secret) {
            return Ok(caller);
        }
        self.known(&request.context, secret)
            .ok_or_else(|| failure::unknown(request))
    }

    /// Returns who asks over DNS: who has the agent's token for DNS, else its default one. Who has an unknown token sees
    /// what nobody may be refused.
    #[cfg(feature = "dns")]
    pub(crate) fn caller_of_dns(&self, context: &Context) -> Arc<Caller> {
        let tokens = self.tokens.read();
        let secrets = [&tokens.dns, &tokens.default];
        let secret = secrets.into_iter().find(|secret| !secret.is_empty());
        let secret = secret.map_or(ANONYMOUS, String::as_str);
        let known = self.known(context, secret);
        known.unwrap_or_else(|| Arc::new(Caller::nobody(self.place(context))))
    }

    /// Returns who has this secret; `None` if nobody.
    fn known(&self, context: &Context, secret: &str) -> Option<Arc<Caller>> {
        let engine = &context.engine;
        let era = engine.era();
        let Ok(known) = engine.read(&AclKnown(secret));
        let (stamp, is_known) = known.rows;
        if let Some(caller) = self.kept((era, stamp), secret).filter(|_| is_known) {
            return Some(caller);
        }
        let Ok(found) = engine.read(&AclIdentity(secret));
        let place = self.place(context);
        let caller = match found.rows {
            Some(identity) => Caller::of(&identity, place),
            // A state without an anonymous token was loaded.
            None if secret == ANONYMOUS => Caller::nobody(place),
            None => return None,
        };
        let caller = Arc::new(caller);
        self.keep((era, stamp), secret, &caller);
        Some(caller)
    }

    /// Returns the caller with the agent's recovery token, where it counts (acl.md 2.8).
    fn recovery(&self, request: &Request, secret: &str) -> Option<Arc<Caller>> {
        if self.tokens.read().agent_recovery != secret {
            return None;
        }
        let everywhere = request.has(Behaviour::AclRecoveryEverywhere);
        let is_of_agent =
            request.route.starts_with("/v1/agent/") || request.route == "/v1/event/list";
        if !everywhere && !is_of_agent {
            return None;
        }
        let node = &request.context.config.node_name;
        Some(Arc::new(Caller::recovery(
            node,
            self.place(&request.context),
        )))
    }

    fn place<'a>(&self, context: &'a Context) -> Place<'a> {
        Place {
            version: context.config.version,
            datacenter: &context.config.datacenter,
            default: self.default,
        }
    }
}
