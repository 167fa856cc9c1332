//! What an [`Authorizer`](super::Authorizer) is asked.

use std::fmt;

use proconsul_version::{Behaviour, Version};

/// What rules are about, under the names of `POST /v1/internal/acl/authorize` and of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Tokens, policies, roles; snapshots ask for it, too.
    Acl,
    /// The agent's own endpoints, by the name of its node.
    Agent,
    /// User events, by name.
    Event,
    /// Intentions, by the service that they lead to. The name `*` asks about all of them.
    Intention,
    /// Keys, by path.
    Key,
    /// The keys of gossip encryption.
    Keyring,
    /// Settings of the whole mesh.
    Mesh,
    /// Nodes of the catalog, by name.
    Node,
    /// The operator's endpoints.
    Operator,
    /// Peerings of clusters.
    Peering,
    /// Prepared queries, by name.
    Query,
    /// Services, by name.
    Service,
    /// Sessions, by the name of their node.
    Session,
}

impl Resource {
    /// All resources, in the order of their names.
    pub const ALL: [Resource; 13] = [
        Resource::Acl,
        Resource::Agent,
        Resource::Event,
        Resource::Intention,
        Resource::Key,
        Resource::Keyring,
        Resource::Mesh,
        Resource::Node,
        Resource::Operator,
        Resource::Peering,
        Resource::Query,
        Resource::Service,
        Resource::Session,
    ];

    /// Returns the name, such as `key`.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Acl => "acl",
            Resource::Agent => "agent",
            Resource::Event => "event",
            Resource::Intention => "intention",
            Resource::Key => "key",
            Resource::Keyring => "keyring",
            Resource::Mesh => "mesh",
            Resource::Node => "node",
            Resource::Operator => "operator",
            Resource::Peering => "peering",
            Resource::Query => "query",
            Resource::Service => "service",
            Resource::Session => "session",
        }
    }

    /// Whether a question about it has a name.
    pub fn has_names(self) -> bool {
        !matches!(
            self,
            Resource::Acl
                | Resource::Keyring
                | Resource::Mesh
                | Resource::Operator
                | Resource::Peering
        )
    }

    /// Whether a release knows it.
    pub fn exists_in(self, version: Version) -> bool {
        match self {
            Resource::Mesh => version.has(Behaviour::AclMeshRules),
            Resource::Peering => version.has(Behaviour::AclPeeringRules),
            _ => true,
        }
    }
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Seeing one.
    Read,
    /// Seeing all below a path: keys only (acl.md 6.3).
    List,
    /// Changing one.
    Write,
    /// Deleting everything below a path: keys only (acl.md 6.5). Refusals call it `write`.
    WriteTree,
}

impl Access {
    /// All accesses.
    pub const ALL: [Access; 4] = [Access::Read, Access::List, Access::Write, Access::WriteTree];

    /// Returns the name in `internal/acl/authorize`.
    pub fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::List => "list",
            Access::Write => "write",
            Access::WriteTree => "write-prefix",
        }
    }
}

/// One question: whether an access to the thing with this name is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question<'a> {
    /// What it is about.
    pub resource: Resource,
    /// What somebody wants to do with it.
    pub access: Access,
    /// Which one; without a meaning where the resource has no names.
    pub name: &'a str,
}

impl<'a> Question<'a> {
    /// Asks for `read`.
    pub fn read(resource: Resource, name: &'a str) -> Question<'a> {
        Question {
            resource,
            access: Access::Read,
            name,
        }
    }

    /// Asks for `write`.
    pub fn write(resource: Resource, name: &'a str) -> Question<'a> {
        Question {
            resource,
            access: Access::Write,
            name,
        }
    }

    /// Asks for `list` of the keys below a path (acl.md 6.3).
    pub fn list_keys(path: &'a str) -> Question<'a> {
        Question {
            resource: Resource::Key,
            access: Access::List,
            name: path,
        }
    }

    /// Asks whether all keys below a path may be deleted (acl.md 6.5).
    pub fn delete_tree(path: &'a str) -> Question<'a> {
        Question {
            resource: Resource::Key,
            access: Access::WriteTree,
            name: path,
        }
    }

    /// Reads a question of `internal/acl/authorize`. Only the access may be in any case (acl.md 8.5.r2).
    ///
    /// # Errors
    /// A resource that the release does not know, or an access that the resource does not have.
    pub fn asked(
        resource: &str,
        access: &str,
        name: &'a str,
        version: Version,
    ) -> Result<Question<'a>, QuestionError> {
        let known = Resource::ALL
            .into_iter()
            .find(|known| known.name() == resource && known.exists_in(version));
        let Some(resource) = known else {
            return Err(QuestionError::Resource(resource.to_owned()));
        };
        let known = Access::ALL
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(access));
        match known {
            Some(access @ (Access::List | Access::WriteTree)) if resource == Resource::Key => {
                Ok(access)
            }
            Some(access @ (Access::Read | Access::Write)) => Ok(access),
            _ => Err(QuestionError::Access(resource, access.to_owned())),
        }
        .map(|access| Question {
            resource,
            access,
            name,
        })
    }
}

/// The permission as refusals of late releases name it, such as `'key:read' on "a"` (acl.md 2.11).
impl fmt::Display for Question<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = match self.access {
            Access::WriteTree => Access::Write,
            access => access,
        };
        write!(formatter, "'{}:{}'", self.resource.name(), access.name())?;
        if self.resource.has_names() && !self.name.is_empty() {
            write!(formatter, " on \"{}\"", self.name)?;
        }
        Ok(())
    }
}

/// Why a question of `internal/acl/authorize` cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionError {
    /// There is no such resource.
    Resource(String),
    /// The resource has no such access.
    Access(Resource, String),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuestionError::Resource(name) => {
                write!(formatter, "Invalid ACL resource requested: \"{name}\"")
            }
            QuestionError::Access(resource, access) => write!(
                formatter,
                "Invalid access level for {} resource: {access}",
                resource.name()
            ),
        }
    }
}
