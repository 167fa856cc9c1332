//! Who asks, and whether they may: every request that needs a right comes through here (acl.md 2).

pub(crate) mod ask;
pub(crate) mod caller;
mod failure;
pub(crate) mod tokens;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use self::caller::Caller;
pub(crate) use self::failure::{acl_disabled, acl_not_found};
use crate::acl::{DefaultPolicy, Question};
use crate::config::{AclConfig, AclTokens};
use crate::engine::Era;
use crate::http::failure::Failure;
use crate::http::request::Request;
use crate::store::AclStamp;

/// The ACLs of a server that has them on.
#[derive(Debug)]
pub(crate) struct Acls {
    default: DefaultPolicy,
    /// The tokens of the agent, which clients can change.
    tokens: RwLock<AclTokens>,
    /// Who had a secret when ACLs were last looked at. Any change of a policy, role or token makes all of them anew.
    callers: Mutex<Callers>,
}

#[derive(Debug, Default)]
struct Callers {
    stamp: Stamp,
    by_secret: HashMap<String, Arc<Caller>>,
}

/// The state of ACLs at which callers were looked up.
type Stamp = (Era, AclStamp);

/// The most callers that are kept.
const CALLERS_KEPT: usize = 10_000;

impl Acls {
    /// Returns the ACLs of a server with these settings; `None` if they are off.
    pub(crate) fn new(config: &AclConfig) -> Option<Self> {
        config.enabled.then(|| Self {
            default: if config.default_policy == "deny" {
                DefaultPolicy::Deny
            } else {
                DefaultPolicy::Allow
            },
            tokens: RwLock::new(config.tokens.clone()),
            callers: Mutex::default(),
        })
    }

    /// Returns the caller with this secret as it was at `stamp`.
    fn kept(&self, stamp: Stamp, secret: &str) -> Option<Arc<Caller>> {
        let callers = self.callers.lock();
        let kept = callers.by_secret.get(secret);
        kept.filter(|_| callers.stamp == stamp).cloned()
    }

    fn keep(&self, stamp: Stamp, secret: &str, caller: &Arc<Caller>) {
        let mut callers = self.callers.lock();
        if callers.stamp != stamp || callers.by_secret.len() >= CALLERS_KEPT {
            callers.by_secret.clear();
            callers.stamp = stamp;
        }
        let secret = secret.to_owned();
        callers.by_secret.insert(secret, Arc::clone(caller));
    }
}

/// Checks that the caller may do this. Without ACLs everybody may do everything.
pub(crate) fn authorize(request: &Request, question: Question<'_>) -> Result<(), Failure> {
    let Some(acls) = &request.context.acls else {
        return Ok(());
    };
    let caller = acls.caller(request)?;
    if caller.may(question) {
        return Ok(());
    }
    Err(failure::denied(&caller, question, request.version()))
}

impl Request {
    /// Returns the ACLs of the server.
    ///
    /// # Errors
    /// They are off.
    pub(crate) fn acls(&self) -> Result<&Acls, Failure> {
        self.context.acls.as_deref().ok_or_else(acl_disabled)
    }

    /// Checks that the caller may do what the row of the route asks for. The handler says when: what else is wrong may
    /// be told before (acl.md 2.9, 2.10).
    pub(crate) fn authorize(&self) -> Result<(), Failure> {
        if self.context.acls.is_none() {
            return Ok(());
        }
        let Some(ask) = self.asks else {
            return Ok(());
        };
        authorize(self, ask.question(&self.method, ask.name(self)))
    }
}
