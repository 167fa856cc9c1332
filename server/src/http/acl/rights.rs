//! What a request may do and see, found out once: who may not do it is refused, rows that it may not see are removed
//! (acl.md 2.11, 2.12).

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::failure;
use super::state::{Acls, Caller};
use crate::acl::Question;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::version::{Behaviour, Version};

const FILTERED: HeaderName = HeaderName::from_static("x-consul-results-filtered-by-acls");

/// The rights of a request, as they were when it asked for them. Without ACLs everything is allowed, and nothing is
/// looked at.
pub(crate) struct Rights {
    /// Who asks; `None` if ACLs are off.
    caller: Option<Arc<Caller>>,
    version: Version,
    has_removed: bool,
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
        Ok(Rights {
            caller: acls.map(caller).transpose()?,
            version: self.version(),
            has_removed: false,
        })
    }

    /// Returns the rights of the caller of a read whose failures have the headers of a read (acl.md 2.11).
    pub(crate) fn rights_of_read(&self) -> Result<Rights, Failure> {
        let rights = self.rights();
        rights.map_err(|failure| failure.of_read(&self.context))
    }
}

impl Rights {
    /// Whether the caller may do this.
    pub(crate) fn may(&self, question: Question<'_>) -> bool {
        let caller = self.caller.as_ref();
        caller.is_none_or(|caller| caller.may(question))
    }

    /// Checks that the caller may do this.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn check(&self, question: Question<'_>) -> Result<(), Failure> {
        match &self.caller {
            Some(caller) if !caller.may(question) => {
                Err(failure::denied(caller, question, self.version))
            }
            _ => Ok(()),
        }
    }

    /// Removes the rows that `sees` denies the caller, and remembers whether there were any.
    pub(crate) fn retain<T>(&mut self, rows: &mut Vec<T>, sees: impl Fn(&Caller, &T) -> bool) {
        let Some(caller) = &self.caller else { return };
        let all = rows.len();
        rows.retain(|row| sees(caller, row));
        self.has_removed |= rows.len() < all;
    }

    /// Whether the caller sees one thing. Remembers if not, as [`Rights::retain`] does.
    pub(crate) fn sees(&mut self, question: Question<'_>) -> bool {
        let sees = self.may(question);
        self.has_removed |= !sees;
        sees
    }

    /// Whether the answer says that something was removed: never to those who sent no token (acl.md 2.12).
    pub(crate) fn tell_removal(&self) -> bool {
        let caller = self.caller.as_ref();
        self.has_removed && caller.is_some_and(|caller| !caller.is_anonymous)
    }

    /// Adds the header that something was removed, where the release has it.
    pub(crate) fn told_in(&self, mut reply: Reply) -> Reply {
        if self.tell_removal() && self.version.has(Behaviour::HttpFilteredHeader) {
            let told = HeaderValue::from_static("true");
            reply.headers.push((FILTERED, told));
        }
        reply
    }
}
