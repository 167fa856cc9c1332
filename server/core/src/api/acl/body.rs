//! The bodies of policies, roles and tokens (acl.md 0.9, 4, 5, 8.1).

use crate::body::durations::AnyDuration;
use crate::body::enterprise::with_edition;
use crate::body::time::GoTime;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::{Decode, go_struct};
use proconsul_store::{NewAclLink, NodeIdentity, ServiceIdentity};
use proconsul_version::Behaviour;

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
            "Name" since Behaviour::AclTokenName: String => name,
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
