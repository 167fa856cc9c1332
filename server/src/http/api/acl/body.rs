//! The bodies of policies, roles and tokens (acl.md 0.9, 4, 5, 8.1).

use super::template::filled_in;
use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decode, go_struct};
use crate::http::body::durations::AnyDuration;
use crate::http::body::edition::with_edition;
use crate::http::body::time::GoTime;
use crate::http::failure::Failure;
use crate::http::request::Request;
use crate::store::{NewAclLink, NewGrants, NodeIdentity, ServiceIdentity};
use crate::version::{Behaviour, Version};

go_struct! {
    /// A policy.
    pub(crate) struct PolicyBody as "struct { Hash string; *structs.Alias }", own decoder: Refused {
        "Hash": String,
        *Alias {
            "ID": String => id,
            "Name": String => name,
            "Description": String => description,
            "Rules": String => rules,
            "Datacenters": Option<Vec<String>> => datacenters,
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

go_struct! {
    /// A role.
    pub(crate) struct RoleBody as "struct { Hash string; *structs.Alias }", own decoder: Refused {
        "Hash": String,
        *Alias {
            "ID": String => id,
            "Name": String => name,
            "Description": String => description,
            "Policies": Vec<RolePolicyFields> => policies,
            "ServiceIdentities" is "[]*structs.ACLServiceIdentity": Vec<ServiceIdentityFields> => service_identities,
            "NodeIdentities" is "[]*structs.ACLNodeIdentity": Vec<NodeIdentityFields> => node_identities,
            "TemplatedPolicies" is "structs.ACLTemplatedPolicies" since Behaviour::AclTemplatedPolicies:
                Vec<TemplatedPolicyBody> => templated_policies,
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

go_struct! {
    /// A token.
    pub(crate) struct TokenBody as "struct { ExpirationTTL interface {}; Hash string; *structs.Alias }",
    own decoder: Refused, then: check_ttl {
        "ExpirationTTL": AnyDuration => ttl,
        "Hash": String,
        *Alias {
            "AccessorID": String => accessor,
            "SecretID": String => secret,
            "Description": String => description,
            "Policies": Vec<TokenPolicyFields> => policies,
            "Roles": Vec<TokenRoleFields> => roles,
            "ServiceIdentities" is "[]*structs.ACLServiceIdentity": Vec<ServiceIdentityFields> => service_identities,
            "NodeIdentities" is "[]*structs.ACLNodeIdentity": Vec<NodeIdentityFields> => node_identities,
            "TemplatedPolicies" is "structs.ACLTemplatedPolicies" since Behaviour::AclTemplatedPolicies:
                Vec<TemplatedPolicyBody> => templated_policies,
            "Rules": Option<String> => rules,
            "Local": bool => local,
            "AuthMethod": String => auth_method,
            "ExpirationTime": GoTime => expires,
            "CreateTime": GoTime,
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

fn check_ttl(body: &mut TokenBody) -> Result<(), String> {
    body.ttl.nanoseconds().map(|_| ())
}

go_struct! {
    TokenPolicyFields as "structs.ACLTokenPolicyLink" for link: NewAclLink {
        "ID": String => link.id,
        "Name": String => link.name,
    }
}

go_struct! {
    TokenRoleFields as "structs.ACLTokenRoleLink" for link: NewAclLink {
        "ID": String => link.id,
        "Name": String => link.name,
    }
}

go_struct! {
    RolePolicyFields as "structs.ACLRolePolicyLink" for link: NewAclLink {
        "ID": String => link.id,
        "Name": String => link.name,
    }
}

go_struct! {
    ServiceIdentityFields as "structs.ACLServiceIdentity" for identity: ServiceIdentity {
        "ServiceName": String => identity.service_name,
        "Datacenters": Vec<String> => identity.datacenters,
    }
}

go_struct! {
    NodeIdentityFields as "structs.ACLNodeIdentity" for identity: NodeIdentity {
        "NodeName": String => identity.node_name,
        "Datacenter": String => identity.datacenter,
    }
}

go_struct! {
    /// A template with the values of its variables.
    pub(crate) struct TemplatedPolicyBody as "structs.ACLTemplatedPolicy" {
        "TemplateID": String => id,
        "TemplateName": String => name,
        "TemplateVariables": Option<VariablesBody> => variables,
        "Datacenters": Vec<String> => datacenters,
    }
}

go_struct! {
    /// The values of a template's variables.
    pub(crate) struct VariablesBody as "structs.ACLTemplatedPolicyVariables" {
        "Name": String => name,
    }
}

impl TokenBody {
    /// Returns what the token is to grant, and takes it out of the body.
    pub(crate) fn take_grants(&mut self, version: Version) -> NewGrants {
        let templates = std::mem::take(&mut self.templated_policies);
        NewGrants {
            policies: std::mem::take(&mut self.policies),
            roles: std::mem::take(&mut self.roles),
            service_identities: std::mem::take(&mut self.service_identities),
            node_identities: std::mem::take(&mut self.node_identities),
            ..with_templates(templates, false, version)
        }
    }
}

impl RoleBody {
    /// Returns what the role is to grant, and takes it out of the body.
    pub(crate) fn take_grants(&mut self, version: Version) -> NewGrants {
        let templates = std::mem::take(&mut self.templated_policies);
        NewGrants {
            policies: std::mem::take(&mut self.policies),
            service_identities: std::mem::take(&mut self.service_identities),
            node_identities: std::mem::take(&mut self.node_identities),
            ..with_templates(templates, true, version)
        }
    }
}

/// Returns grants with nothing but templates.
fn with_templates(bodies: Vec<TemplatedPolicyBody>, is_role: bool, version: Version) -> NewGrants {
    let (templated_policies, template_flaw) = match filled_in(bodies, is_role, version) {
        Ok(policies) => (policies, None),
        Err(flaw) => (Vec::new(), Some(flaw)),
    };
    NewGrants {
        templated_policies,
        template_flaw,
        ..NewGrants::default()
    }
}

/// Reads the body of a `what`.
pub(crate) async fn read<T: Decode<Place: Default>>(
    request: &mut Request,
    what: &str,
) -> Result<T::Place, Failure> {
    let body = request.read_whole().await;
    let rules = request.decoding(UnknownFields::Refused);
    let mut place = T::Place::default();
    let decoded = request.decode::<T>(body, &mut place, rules);
    decoded.map_err(|error| {
        let text = format!("{what} decoding failed: {}", with_edition(error));
        Failure::bad_request(&text, request.version())
    })?;
    Ok(place)
}
