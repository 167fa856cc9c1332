//! Who asks, and whether they may: every request that needs a right comes through here (acl.md 2).

mod caller;
mod failure;
pub(crate) mod rights;
pub(crate) mod route_rights;
pub(crate) mod state;
mod tokens;

#[cfg(feature = "acl")]
pub(crate) use self::caller::ROOTS;
pub(crate) use self::failure::{acl_disabled, permission_denied};
use self::rights::Rights;
use self::state::Acls;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

impl Request {
    /// Returns the ACLs of the server.
    ///
    /// # Errors
    /// They are off.
    pub(crate) fn acls(&self) -> Result<&Acls, Failure> {
        self.context.acls.as_deref().ok_or_else(acl_disabled)
    }

    /// Checks what [`Request::authorize`] checks for a read whose failures have the headers of a read (acl.md 2.11).
    pub(crate) fn authorize_read(&self) -> Result<(), Failure> {
        let authorized = self.authorize();
        authorized.map_err(|failure| failure.of_read(&self.context))
    }

    /// Checks that the caller may do what the row of the route asks for, and that its token is known even if the row
    /// asks for nothing. The handler says when: what else is wrong may be told before (acl.md 2.9, 2.10).
    pub(crate) fn authorize(&self) -> Result<(), Failure> {
        self.authorize_with(&self.rights()?)
    }

    /// Checks what [`Request::authorize`] checks with rights that are known already.
    pub(crate) fn authorize_with(&self, rights: &Rights) -> Result<(), Failure> {
        let Some(ask) = self.asks else { return Ok(()) };
        let name = ask.name(&self.context.config.node_name, &self.rest);
        rights.check(ask.question(&self.method, &name))
    }

    /// Answers an endpoint that is not emulated, or that this server was built without, as `why` says. A caller without the
    /// right is refused first.
    pub(crate) fn not_answered(&self, why: &str) -> Result<Reply, Failure> {
        self.authorize()?;
        let path = self.path_text();
        Err(Failure::not_answered(&self.method, &path, why))
    }
}
