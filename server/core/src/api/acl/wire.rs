//! The JSON of policies, roles and tokens (acl.md 4, 5, 8.1).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::body::time;
use crate::reply::table::{Look, table};
use crate::request::Request;
use proconsul_store::{
    AclHash, AclLink, NodeIdentity, PolicyRow, RoleRow, ServiceIdentity, Shown, TemplatedPolicy,
    TokenRow,
};
use proconsul_version::Behaviour;

/// The zero value of Go's times.
pub(crate) const NEVER: &str = "0001-01-01T00:00:00Z";

/// What stands in the place of a secret that the caller may not see.
const HIDDEN: &str = "<hidden>";

fn base64(hash: AclHash) -> String {
    BASE64_STANDARD.encode(hash)
}

table! {
    /// A policy.
    pub(crate) Policy of shown: Shown<PolicyRow> {
        "ID" => json(shown.row.id),
        "Name" => json(shown.row.policy.name),
        "Description" => json(shown.row.policy.description),
        "Rules" => json(shown.row.policy.rules),
        "Datacenters", omitempty => json(shown.row.policy.datacenters),
        "Hash" => json(base64(shown.row.hash())),
        "CreateIndex" => json(shown.row.create_index.0),
        "ModifyIndex" => json(shown.row.modify_index.0),
    }
}

table! {
    /// A policy in a list.
    pub(crate) PolicyStub of shown: Shown<PolicyRow> {
        "ID" => json(shown.row.id),
        "Name" => json(shown.row.policy.name),
        "Description" => json(shown.row.policy.description),
        "Datacenters" => json(shown.row.policy.datacenters),
        "Hash" => json(base64(shown.row.hash())),
        "CreateIndex" => json(shown.row.create_index.0),
        "ModifyIndex" => json(shown.row.modify_index.0),
    }
}

table! {
    /// A role.
    pub(crate) Role of shown: Shown<RoleRow>, look: Look<'a> {
        "ID" => json(shown.row.id),
        "Name" => json(shown.row.name),
        "Description" => json(shown.row.description),
        "Policies", omitempty => each(Link, shown.policies.iter()),
        "ServiceIdentities", omitempty => each(Service, shown.row.grants.service_identities.iter()),
        "NodeIdentities", omitempty => each(Node, shown.row.grants.node_identities.iter()),
        "TemplatedPolicies", omitempty => each(Templated, shown.row.grants.templated_policies.iter()),
        "Hash" => json(base64(shown.row.hash())),
        "CreateIndex" => json(shown.row.create_index.0),
        "ModifyIndex" => json(shown.row.modify_index.0),
    }
}

/// A token with the texts that its row does not have.
pub(crate) struct TokenView {
    shown: Shown<TokenRow>,
    /// The secret under its old name, after a bootstrap.
    id: Option<String>,
    secret: Option<String>,
    created: String,
    expires: Option<String>,
    is_in_list: bool,
}

/// What `?expanded` adds to a token (acl.md 5.15).
pub(crate) struct Expanded {
    /// The policies, those of its roles among them.
    pub(crate) policies: Vec<Shown<PolicyRow>>,
    /// The roles.
    pub(crate) roles: Vec<Shown<RoleRow>>,
    pub(crate) default_policy: String,
    pub(crate) down_policy: String,
    pub(crate) node: String,
}

table! {
    /// What `?expanded` adds.
    pub(crate) ExpandedFields of expanded: Expanded, look: Look<'a> {
        "ExpandedPolicies" => each(Policy, expanded.policies.iter()),
        "ExpandedRoles" if expanded.roles.is_empty() => json(None::<()>),
        "ExpandedRoles" if !expanded.roles.is_empty() => each(Role, expanded.roles.iter()),
        "NamespaceDefaultPolicyIDs" => json(None::<()>),
        "NamespaceDefaultRoleIDs" => json(None::<()>),
        "AgentACLDefaultPolicy" => json(expanded.default_policy),
        "AgentACLDownPolicy" => json(expanded.down_policy),
        "ResolvedByAgent" => json(expanded.node),
    }
}

/// A token with what `?expanded` adds to it.
#[derive(serde::Serialize)]
pub(crate) struct TokenAndMore<'a> {
    #[serde(flatten)]
    pub(crate) token: Token<'a>,
    #[serde(flatten)]
    pub(crate) more: Option<ExpandedFields<'a>>,
}

impl TokenView {
    /// Returns the view of a caller who sees the secret.
    pub(crate) fn new(request: &Request, shown: Shown<TokenRow>) -> Self {
        let row = &shown.row;
        let epoch = request.context.engine.clock().unix_nanos_of_epoch();
        let created = row.created.map(|at| epoch + i128::from(at.offset()));
        let expires = row.expires.map(|expiry| epoch + expiry.offset());
        Self {
            id: None,
            secret: Some(row.secret.clone()),
            created: created.map_or_else(|| NEVER.to_owned(), time::format),
            expires: expires.map(time::format),
            is_in_list: false,
            shown,
        }
    }

    /// Shows the secret as the id, too.
    pub(crate) fn with_id(self) -> Self {
        Self {
            id: self.secret.clone(),
            ..self
        }
    }

    /// Hides the secret unless the caller may see it.
    pub(crate) fn seen_by(self, may_see: bool) -> Self {
        Self {
            secret: if may_see {
                self.secret
            } else {
                Some(HIDDEN.to_owned())
            },
            ..self
        }
    }

    /// Leaves the secret out, where lists do.
    pub(crate) fn in_list(self, request: &Request) -> Self {
        let shows = request.has(Behaviour::AclListSecrets);
        Self {
            secret: self.secret.filter(|_| shows),
            is_in_list: true,
            ..self
        }
    }

    /// Returns the rules of the old system, which lists do not show.
    fn rules(&self) -> Option<&str> {
        self.shown.row.old_rules().filter(|_| !self.is_in_list)
    }
}

table! {
    /// A token.
    pub(crate) Token of view: TokenView, look: Look<'a> {
        "ID", omitempty => json(view.id),
        "AccessorID" => json(view.shown.row.accessor),
        "SecretID", omitempty => json(view.secret),
        "Description" => json(view.shown.row.description),
        "Policies", omitempty => each(Link, view.shown.policies.iter()),
        "Roles", omitempty => each(Link, view.shown.roles.iter()),
        "ServiceIdentities", omitempty => each(Service, view.shown.row.grants.service_identities.iter()),
        "NodeIdentities", omitempty => each(Node, view.shown.row.grants.node_identities.iter()),
        "TemplatedPolicies", omitempty => each(Templated, view.shown.row.grants.templated_policies.iter()),
        "Rules", omitempty => json(view.rules()),
        "Local" => json(view.shown.row.local),
        "AuthMethod", omitempty => json(view.shown.row.auth_method),
        "ExpirationTime", omitempty => json(view.expires),
        "CreateTime" => json(view.created),
        "Hash" => json(base64(view.shown.row.hash())),
        "CreateIndex" => json(view.shown.row.create_index.0),
        "ModifyIndex" => json(view.shown.row.modify_index.0),
        "Name", omitempty => json(view.shown.row.name),
        "Legacy" if view.is_in_list && view.shown.row.old_rules().is_some() => json(true),
    }
}

table! {
    /// A link to a policy or a role.
    pub(crate) Link of link: AclLink, look: Look<'a> {
        "ID" => json(link.id),
        "Name" => json(link.name),
    }
}

table! {
    /// The identity of a service.
    pub(crate) Service of identity: ServiceIdentity, look: Look<'a> {
        "ServiceName" => json(identity.service_name),
        "Datacenters", omitempty => json(identity.datacenters),
    }
}

table! {
    /// The identity of a node.
    pub(crate) Node of identity: NodeIdentity, look: Look<'a> {
        "NodeName" => json(identity.node_name),
        "Datacenter" => json(identity.datacenter),
    }
}

table! {
    /// A template with the values of its variables.
    pub(crate) Templated of policy: TemplatedPolicy, look: Look<'a> {
        "TemplateID" => json(policy.template_id),
        "TemplateName" => json(policy.template_name),
        "TemplateVariables" => within(Variables, policy.name),
        "Datacenters", omitempty => json(policy.datacenters),
    }
}

table! {
    /// The values of a template's variables.
    pub(crate) Variables of name: Option<String>, look: Look<'a> {
        "name", omitempty => json(*name),
    }
}
