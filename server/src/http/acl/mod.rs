//! Who asks, and whether they may: every request that needs a right comes through here (acl.md 2).

pub(crate) mod ask;
mod caller;
mod failure;
pub(crate) mod rights;
pub(crate) mod state;
mod tokens;

pub(crate) use self::failure::acl_disabled;
use self::state::Acls;
use crate::acl::Question;
use crate::http::failure::Failure;
use crate::http::request::Request;

/// Checks that the caller may do this. Without ACLs everybody may do everything.
pub(crate) fn authorize(request: &Request, question: Question<'_>) -> Result<(), Failure> {
    request.rights()?.check(question)
}

impl Request {
    /// Returns the ACLs of the server.
    ///
    /// # Errors
    /// They are off.
    pub(crate) fn acls(&self) -> Result<&Acls, Failure> {
        self.context.acls.as_deref().ok_or_else(acl_disabled)
    }

    /// Checks that the caller may do what the row of the route asks for, and that its token is known even if the row
    /// asks for nothing. The handler says when: what else is wrong may be told before (acl.md 2.9, 2.10).
    pub(crate) fn authorize(&self) -> Result<(), Failure> {
        let rights = self.rights()?;
        let Some(ask) = self.asks else {
            return Ok(());
        };
        rights.check(ask.question(&self.method, ask.name(&self.context.config.node_name)))
    }
}
