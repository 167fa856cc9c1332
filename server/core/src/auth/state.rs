//! The ACLs of a server: the agent's tokens, and who was who when somebody last asked.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use proconsul_acl::DefaultPolicy;
pub(crate) use proconsul_acl::caller::Caller;
use proconsul_config::{AclConfig, AclTokens};
use proconsul_engine::Generation;
use proconsul_store::AclStamp;

/// The ACLs of a server that has them on.
#[derive(Debug)]
pub(crate) struct Acls {
    pub(super) default: DefaultPolicy,
    /// The tokens of the agent, which clients can change.
    pub(super) tokens: RwLock<AclTokens>,
    /// Who had a secret when ACLs were last looked at. Any change of a policy, role or token makes all of them anew.
    callers: Mutex<Callers>,
}

#[derive(Debug, Default)]
struct Callers {
    stamp: Stamp,
    by_secret: HashMap<String, Arc<Caller>>,
}

/// The state of ACLs at which callers were looked up.
type Stamp = (Generation, AclStamp);

/// The most callers that are kept.
const CALLERS_KEPT: usize = 10_000;

impl Acls {
    /// Returns the ACLs of a server with these settings; `None` if they are off.
    pub(crate) fn new(config: &AclConfig) -> Option<Self> {
        config.enabled.then(|| Self {
            default: DefaultPolicy::named(&config.default_policy),
            tokens: RwLock::new(config.tokens.clone()),
            callers: Mutex::default(),
        })
    }

    /// Whether what no rule is about is allowed.
    pub(crate) fn allows_by_default(&self) -> bool {
        self.default == DefaultPolicy::Allow
    }

    /// Returns the caller with this secret as it was at `stamp`.
    pub(super) fn kept(&self, stamp: Stamp, secret: &str) -> Option<Arc<Caller>> {
        let callers = self.callers.lock();
        let kept = callers.by_secret.get(secret);
        kept.filter(|_| callers.stamp == stamp).cloned()
    }

    pub(super) fn keep(&self, stamp: Stamp, secret: &str, caller: &Arc<Caller>) {
        let mut callers = self.callers.lock();
        if callers.stamp != stamp || callers.by_secret.len() >= CALLERS_KEPT {
            callers.by_secret.clear();
            callers.stamp = stamp;
        }
        let secret = secret.to_owned();
        callers.by_secret.insert(secret, Arc::clone(caller));
    }
}
