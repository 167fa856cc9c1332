//! What a request may do and see, found out once: who may not do it is refused, rows that it may not see are removed
//! (acl.md 2.11, 2.12).

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::failure;
use super::state::Acls;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_acl::caller::Caller;
use proconsul_acl::{Question, Resource};
use proconsul_engine::Engine;
use proconsul_engine::history::{Happened, TokenNamed};
use proconsul_store::{AclId, Key};
use proconsul_version::{Behaviour, Version};

const FILTERED: HeaderName = HeaderName::from_static("x-consul-results-filtered-by-acls");

/// The rights of a request, as they were when it asked for them. Without ACLs everything is allowed, and nothing is
/// looked at.
pub(crate) struct Rights {
    /// Who asks; `None` if ACLs are off.
    asks: Option<Asks>,
    version: Version,
    /// How many rows were removed.
    removed: usize,
}

/// Who asks, and in which request.
struct Asks {
    caller: Arc<Caller>,
    /// Whether the caller is told that rows were removed.
    is_told: bool,
    engine: Arc<Engine>,
}

impl Asks {
    /// Notes in the history that the request is refused, by whose rule.
    fn note_refusal(&self, question: Question<'_>) {
        let Self { caller, engine, .. } = self;
        let Some(call) = engine.current_call() else {
            return;
        };
        let (_, because) = caller.explain(question);
        let Question {
            resource,
            access,
            name,
        } = question;
        engine.record(Happened::AccessDenied {
            call,
            token: TokenNamed::new(&caller.accessor, &caller.description),
            resource: resource.name().to_owned(),
            access: access.name().to_owned(),
            name: name.to_owned(),
            key: (resource == Resource::Key).then(|| Key::new(name)),
            because,
        });
    }

    /// Notes in the history how many rows an answer lacks.
    fn note_removal(&self, rows: usize) {
        let Some(call) = self.engine.current_call() else {
            return;
        };
        let caller = &self.caller;
        self.engine.record(Happened::RowsRemoved {
            call,
            token: TokenNamed::new(&caller.accessor, &caller.description),
            rows,
        });
    }
}

impl Request {
    /// Returns the rights of the caller.
    ///
    /// # Errors
    /// The token is unknown (acl.md 2.5).
    pub(crate) fn rights(&self) -> Result<Rights, Failure> {
        self.rights_with(None)
    }

    /// Returns the rights of the token with this secret; those of the caller for `None`.
    ///
    /// # Errors
    /// The token is unknown.
    pub(crate) fn rights_with(&self, secret: Option<&str>) -> Result<Rights, Failure> {
        let acls = self.context.acls.as_ref();
        let caller = |acls: &Arc<Acls>| match secret {
            Some(secret) => acls.caller_with(self, secret),
            None => acls.caller(self),
        };
        // Never without a token (acl.md 2.12), nor, in later releases, with the anonymous one (1.22.md A6.r8).
        let is_told = |caller: &Caller| {
            !caller.is_anonymous
                || !self.has(Behaviour::AclAnonymousUntold)
                    && acls.is_some_and(|acls| acls.secret(self).is_some())
        };
        let asks = |caller: Arc<Caller>| Asks {
            is_told: is_told(&caller),
            caller,
            engine: Arc::clone(&self.context.engine),
        };
        Ok(Rights {
            asks: acls.map(caller).transpose()?.map(asks),
            version: self.version(),
            removed: 0,
        })
    }

    /// Returns the rights of the caller of a read whose failures have the headers of a read (acl.md 2.11).
    pub(crate) fn rights_of_read(&self) -> Result<Rights, Failure> {
        let rights = self.rights();
        rights.map_err(|failure| failure.of_read(&self.context))
    }
}

impl Rights {
    /// Returns who asks; `None` if ACLs are off.
    fn caller(&self) -> Option<&Caller> {
        self.asks.as_ref().map(|asks| &*asks.caller)
    }

    /// Whether there may be something that the caller may not see.
    pub(crate) fn are_limited(&self) -> bool {
        self.asks.is_some()
    }

    /// Returns the AccessorID of the caller's token; `None` without ACLs.
    pub(crate) fn token(&self) -> Option<AclId> {
        AclId::parse(&self.caller()?.accessor).ok().flatten()
    }

    /// Whether the caller may do this.
    pub(crate) fn may(&self, question: Question<'_>) -> bool {
        let caller = self.caller();
        caller.is_none_or(|caller| caller.may(question))
    }

    /// Whether the caller may do this. If not, the request is refused: the history notes it.
    pub(crate) fn grant(&self, question: Question<'_>) -> bool {
        let may = self.may(question);
        if let Some(asks) = self.asks.as_ref().filter(|_| !may) {
            asks.note_refusal(question);
        }
        may
    }

    /// Checks that the caller may do this.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn check(&self, question: Question<'_>) -> Result<(), Failure> {
        match self.caller() {
            Some(caller) if !self.grant(question) => {
                Err(failure::denied(caller, question, self.version))
            }
            _ => Ok(()),
        }
    }

    /// Checks what [`Rights::check`] checks, with an error that does not say which right is missing (acl.md 2.11.r6).
    pub(crate) fn check_silently(&self, question: Question<'_>) -> Result<(), Failure> {
        match self.grant(question) {
            true => Ok(()),
            false => Err(failure::permission_denied("")),
        }
    }

    /// Removes the rows that `sees` denies the caller, and remembers how many there were.
    pub(crate) fn retain<T>(&mut self, rows: &mut Vec<T>, sees: impl Fn(&Caller, &T) -> bool) {
        let Some(asks) = &self.asks else { return };
        let all = rows.len();
        rows.retain(|row| sees(&asks.caller, row));
        self.removed += all - rows.len();
    }

    /// Whether the caller sees one thing. Remembers if not, as [`Rights::retain`] does.
    pub(crate) fn sees(&mut self, question: Question<'_>) -> bool {
        let sees = self.may(question);
        self.removed += usize::from(!sees);
        sees
    }

    /// Whether the answer says that something was removed.
    pub(crate) fn tell_removal(&self) -> bool {
        self.removed > 0 && self.asks.as_ref().is_some_and(|asks| asks.is_told)
    }

    /// Notes in the history what was removed.
    pub(crate) fn note_removal(&self) {
        if let Some(asks) = self.asks.as_ref().filter(|_| self.removed > 0) {
            asks.note_removal(self.removed);
        }
    }

    /// Adds the header that something was removed, where the release has it. The history notes it in every release.
    pub(crate) fn told_in(&self, reply: Reply) -> Reply {
        self.note_removal();
        told(reply, self.tell_removal(), self.version)
    }

    /// Adds the same header whoever asks (acl.md 2.12).
    pub(crate) fn told_to_all_in(&self, reply: Reply) -> Reply {
        self.note_removal();
        told(reply, self.removed > 0, self.version)
    }
}

/// Adds the header that something was removed, where the release has it.
pub(crate) fn told(mut reply: Reply, is_filtered: bool, version: Version) -> Reply {
    if is_filtered && version.has(Behaviour::HttpFilteredHeader) {
        let told = HeaderValue::from_static("true");
        reply.headers.push((FILTERED, told));
    }
    reply
}
