//! Faults of ACLs: the token of a request is deleted, or its policies get other rules, when the request arrives or while
//! it is blocked.

use std::pin::Pin;

use crate::control::Controls;
use crate::request::Request;
use proconsul_engine::faults::{AclChange, Moment};
use proconsul_engine::sync::either;

/// A change that is to come, and the token that it is about.
pub(super) struct Pending {
    change: AclChange,
    secret: String,
}

impl Pending {
    /// Returns the change of a request; `None` if it has no token, or no ACLs are there to change.
    pub(super) fn new(request: &Request, change: AclChange) -> Option<Self> {
        let secret = request.context.acls.as_deref()?.secret(request)?;
        let secret = secret.into_owned();
        Some(Self { change, secret })
    }

    /// Does it, if there is something to do: a token that is unknown already stays so, and that of requests without one
    /// is never deleted.
    fn come(self, control: &Controls) {
        let acl = control.acl();
        let done = match &self.change {
            AclChange::Revoke(_) => acl.revoke(&self.secret),
            AclChange::Rules(_, rules) => acl.change_rules(&self.secret, rules),
        };
        drop(done);
    }
}

/// Handles a request, with the change that comes before it or while it is blocked.
pub(super) async fn with_change<T>(
    control: &Controls,
    change: Option<Pending>,
    mut handling: Pin<&mut impl Future<Output = T>>,
) -> T {
    let Some(pending) = change else {
        return handling.await;
    };
    match (pending.change.moment(), control.engine().current_call()) {
        (Moment::Blocked, Some(call)) => {
            let changed = async {
                let change = || pending.come(control);
                control.engine().change_when_blocked(call, change).await;
                None
            };
            let done = async { Some(handling.as_mut().await) };
            // The change first, so that the request counts as blocked only when it is done.
            if let Some(done) = either(changed, done).await {
                return done;
            }
        }
        _ => pending.come(control),
    }
    handling.await
}
