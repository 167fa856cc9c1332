//! Policies, tokens, roles, auth methods and binding rules as values.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;
use crate::json;

/// Rules under a name. What is to be created has a name and rules; Consul fills in the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Policy {
    /// Its id; empty when it is to be created.
    #[serde(rename = "ID", skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Its name.
    pub name: String,
    /// A description for people.
    pub description: String,
    /// The rules, in HCL or JSON. Lists of policies leave them out.
    pub rules: String,
    /// The datacenters in which it holds; empty for all.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub datacenters: Vec<String>,
    /// The index of its last change.
    #[serde(skip_serializing)]
    pub modify_index: u64,
}

impl Policy {
    /// A policy to create.
    #[must_use]
    pub fn new(name: impl Into<String>, rules: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            rules: rules.into(),
            ..Self::default()
        }
    }
}

/// A policy or a role that a token or role has. An id or a name is enough when it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AclLink {
    /// Its id.
    #[serde(rename = "ID", skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl AclLink {
    /// The one of this name.
    #[must_use]
    pub fn name(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The one of this id.
    #[must_use]
    pub fn id(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

/// The rights of an instance of a service: to register it and to find others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ServiceIdentity {
    /// The service.
    pub service_name: String,
    /// The datacenters in which it holds; empty for all.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub datacenters: Vec<String>,
}

/// The rights of an agent: to register its node and to find services.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeIdentity {
    /// The node.
    pub node_name: String,
    /// The datacenter in which it holds.
    pub datacenter: String,
}

/// What a role or a token may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Role {
    /// Its id; empty when it is to be created.
    #[serde(rename = "ID", skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Its name.
    pub name: String,
    /// A description for people.
    pub description: String,
    /// Its policies.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub policies: Vec<AclLink>,
    /// The services whose rights it has.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub service_identities: Vec<ServiceIdentity>,
    /// The nodes whose rights it has.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub node_identities: Vec<NodeIdentity>,
    /// The index of its last change.
    #[serde(skip_serializing)]
    pub modify_index: u64,
}

/// A token. What is to be created needs none of the fields: Consul makes the ids.
///
/// ```
/// use std::time::Duration;
///
/// use proconsul_client::Token;
///
/// let token = Token::new().policy("job-runner").expires_after(Duration::from_secs(3600));
/// assert_eq!(token.policies[0].name, "job-runner");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Token {
    /// The id by which it is managed.
    #[serde(rename = "AccessorID", skip_serializing_if = "String::is_empty")]
    pub accessor_id: String,
    /// The secret that requests carry. Lists leave it out on older releases, or have `<hidden>`.
    #[serde(rename = "SecretID", skip_serializing_if = "String::is_empty")]
    pub secret_id: String,
    /// A description for people.
    pub description: String,
    /// Its policies.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub policies: Vec<AclLink>,
    /// Its roles.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub roles: Vec<AclLink>,
    /// The services whose rights it has.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub service_identities: Vec<ServiceIdentity>,
    /// The nodes whose rights it has.
    #[serde(
        deserialize_with = "json::null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub node_identities: Vec<NodeIdentity>,
    /// Whether it is valid in this datacenter only.
    pub local: bool,
    /// The auth method whose login made it; else empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub auth_method: String,
    /// How long it is to be valid, as Consul reads it; only sent.
    #[serde(
        rename = "ExpirationTTL",
        skip_serializing_if = "String::is_empty",
        skip_deserializing
    )]
    pub expiration_ttl: String,
    /// When it ends (RFC 3339); empty for never.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expiration_time: String,
    /// When it was made (RFC 3339).
    #[serde(skip_serializing)]
    pub create_time: String,
    /// The index of its last change.
    #[serde(skip_serializing)]
    pub modify_index: u64,
}

impl Token {
    /// A token without rights.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the policy of this name.
    #[must_use]
    pub fn policy(mut self, name: impl Into<String>) -> Self {
        self.policies.push(AclLink::name(name));
        self
    }

    /// Adds the role of this name.
    #[must_use]
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.roles.push(AclLink::name(name));
        self
    }

    /// Ends it after this time (Consul: at least a minute, before 1.9 at most 24 hours).
    #[must_use]
    pub fn expires_after(mut self, duration: Duration) -> Self {
        self.expiration_ttl = duration::format(duration);
        self
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret stays out of logs.
        f.debug_struct("Token")
            .field("accessor_id", &self.accessor_id)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

/// A way to exchange the proof of another system for a token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AuthMethod {
    /// Its name.
    pub name: String,
    /// Its type, e.g. `jwt`.
    #[serde(rename = "Type")]
    pub kind: String,
    /// A name for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    /// A description for people.
    pub description: String,
    /// How long its tokens live, e.g. `5m0s`; empty for ever.
    #[serde(rename = "MaxTokenTTL", skip_serializing_if = "String::is_empty")]
    pub max_token_ttl: String,
    /// `local` or `global`; empty is `local`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token_locality: String,
    /// What its type needs. Lists leave it out.
    pub config: serde_json::Value,
    /// The index of its last change.
    #[serde(skip_serializing)]
    pub modify_index: u64,
}

/// What a login by an auth method grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct BindingRule {
    /// Its id; empty when it is to be created.
    #[serde(rename = "ID", skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// A description for people.
    pub description: String,
    /// The name of the auth method.
    pub auth_method: String,
    /// An expression about who logs in; empty for all.
    pub selector: String,
    /// `service` or `role`.
    pub bind_type: String,
    /// The service or the role; may have `${...}`.
    pub bind_name: String,
    /// The index of its last change.
    #[serde(skip_serializing)]
    pub modify_index: u64,
}
