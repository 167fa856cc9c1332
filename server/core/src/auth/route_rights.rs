//! What the row of a route asks for: `asks agent on agent`.

use std::borrow::Cow;

use http::Method;

use proconsul_acl::{Access, Question, Resource};

/// What a route asks for, as its row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) resource: Resource,
    /// The access; `None` for reading with GET and writing with other methods.
    pub(crate) access: Option<Access>,
    pub(crate) on: AskOn,
}

/// Whose name a question has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskOn {
    /// Nobody's: the resource has no names.
    Nothing,
    /// That of the agent's node.
    Agent,
    /// The rest of the path.
    Path,
}

impl Ask {
    /// Returns the name that is asked about, on the agent of this node, by a request with this rest of its path.
    pub(crate) fn name<'a>(self, node: &'a str, rest: &'a [u8]) -> Cow<'a, str> {
        match self.on {
            AskOn::Nothing => Cow::Borrowed(""),
            AskOn::Agent => Cow::Borrowed(node),
            AskOn::Path => String::from_utf8_lossy(rest),
        }
    }

    /// Returns the question of a request with this method about this name.
    pub(crate) fn question<'a>(&self, method: &Method, name: &'a str) -> Question<'a> {
        let by_method = match *method {
            Method::GET | Method::HEAD => Access::Read,
            _ => Access::Write,
        };
        Question {
            resource: self.resource,
            access: self.access.unwrap_or(by_method),
            name,
        }
    }
}

/// Reads the words behind `asks` in a row: a resource, perhaps `: access`, perhaps `on agent`.
macro_rules! ask {
    ($resource:ident $(: $access:ident)? $(on $place:ident)?) => {
        $crate::auth::route_rights::Ask {
            resource: $crate::auth::route_rights::ask!(@resource $resource),
            access: $crate::auth::route_rights::ask!(@access $($access)?),
            on: $crate::auth::route_rights::ask!(@on $($place)?),
        }
    };
    (@resource acl) => { proconsul_acl::Resource::Acl };
    (@resource agent) => { proconsul_acl::Resource::Agent };
    (@resource keyring) => { proconsul_acl::Resource::Keyring };
    (@resource mesh) => { proconsul_acl::Resource::Mesh };
    (@resource node) => { proconsul_acl::Resource::Node };
    (@resource operator) => { proconsul_acl::Resource::Operator };
    (@resource peering) => { proconsul_acl::Resource::Peering };
    (@resource service) => { proconsul_acl::Resource::Service };
    (@access) => { None };
    (@access read) => { Some(proconsul_acl::Access::Read) };
    (@access write) => { Some(proconsul_acl::Access::Write) };
    (@on) => { $crate::auth::route_rights::AskOn::Nothing };
    (@on agent) => { $crate::auth::route_rights::AskOn::Agent };
    (@on path) => { $crate::auth::route_rights::AskOn::Path };
}
pub(crate) use ask;
