//! What a role or a token grants: links to policies and roles, and identities (acl.md 8.1 to 8.3).

pub(crate) mod link;

use super::AclId;
use super::refusal::{AclRefusal, IdentityFlaw, NameFlaw};

/// What a role or a token grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grants {
    /// The policies, each once.
    pub policies: Vec<AclId>,
    /// The roles, each once. A role has none.
    pub roles: Vec<AclId>,
    /// The services whose rights it has, by name.
    pub service_identities: Vec<ServiceIdentity>,
    /// The nodes whose rights it has, by name.
    pub node_identities: Vec<NodeIdentity>,
    /// The filled-in templates.
    pub templated_policies: Vec<TemplatedPolicy>,
}

/// The rights of a service (acl.md 8.2.r1).
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(deny_unknown_fields)]
pub struct ServiceIdentity {
    /// The name of the service.
    pub service_name: String,
    /// The datacenters in which it counts; empty for all.
    pub datacenters: Vec<String>,
}

/// The rights of a node (acl.md 8.2.r2).
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(deny_unknown_fields)]
pub struct NodeIdentity {
    /// The name of the node.
    pub node_name: String,
    /// The datacenter in which it counts.
    pub datacenter: String,
}

/// A template of a policy, with the values of its variables (acl.md 8.3).
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(deny_unknown_fields)]
pub struct TemplatedPolicy {
    /// The id of the template.
    pub template_id: String,
    /// The name of the template.
    pub template_name: String,
    /// The variable `Name`; `None` for a template without variables.
    pub name: Option<String>,
    /// The datacenters in which it counts; empty for all.
    pub datacenters: Vec<String>,
}

/// A link as a client sends it. The id counts if it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewAclLink {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
}

/// What a role or a token is to grant, as a client sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewGrants {
    /// The policies.
    pub policies: Vec<NewAclLink>,
    /// The roles.
    pub roles: Vec<NewAclLink>,
    /// The identities of services.
    pub service_identities: Vec<ServiceIdentity>,
    /// The identities of nodes.
    pub node_identities: Vec<NodeIdentity>,
    /// The filled-in templates, which the caller has checked.
    pub templated_policies: Vec<TemplatedPolicy>,
    /// Why a template is not filled in rightly, from the caller that knows the templates.
    pub template_flaw: Option<String>,
}

/// The longest name of a service or node in an identity.
const LONGEST_IDENTITY: usize = 256;

impl NewGrants {
    /// Checks the identities, and adds them to `grants`, each once: by name, or `as_given`. `is_local` is whether a token
    /// is a local one; `None` for a role.
    pub(crate) fn add_identities(
        &mut self,
        grants: &mut Grants,
        is_local: Option<bool>,
        as_given: bool,
    ) -> Result<(), AclRefusal> {
        for service in &self.service_identities {
            let flaw = if service.service_name.is_empty() {
                IdentityFlaw::ServiceUnnamed
            } else if is_local == Some(true) && !service.datacenters.is_empty() {
                IdentityFlaw::DatacentersOfLocal(service.service_name.clone())
            } else if !is_identity(&service.service_name) {
                IdentityFlaw::ServiceName(service.service_name.clone())
            } else {
                continue;
            };
            return Err(AclRefusal::Identity(flaw, is_local.is_none()));
        }
        for node in &self.node_identities {
            let flaw = if node.node_name.is_empty() {
                IdentityFlaw::NodeUnnamed
            } else if node.datacenter.is_empty() {
                IdentityFlaw::NodeWithoutDatacenter
            } else if !is_identity(&node.node_name) {
                IdentityFlaw::NodeName(node.node_name.clone())
            } else {
                continue;
            };
            return Err(AclRefusal::Identity(flaw, is_local.is_none()));
        }
        if let Some(flaw) = self.template_flaw.take() {
            return Err(AclRefusal::Template(flaw));
        }
        grants.service_identities = merged(std::mem::take(&mut self.service_identities), as_given);
        for identity in std::mem::take(&mut self.node_identities) {
            link::push_new(&mut grants.node_identities, identity);
        }
        if !as_given {
            grants.node_identities.sort();
        }
        grants.templated_policies = std::mem::take(&mut self.templated_policies);
        grants.templated_policies.dedup();
        Ok(())
    }
}

/// Returns the identities by name, or `as_given`. Of those of one service the datacenters are put together. By name, each
/// is there once, and an identity of all datacenters covers the others (acl.md 8.2.r4).
fn merged(identities: Vec<ServiceIdentity>, as_given: bool) -> Vec<ServiceIdentity> {
    let mut merged: Vec<ServiceIdentity> = Vec::new();
    for identity in identities {
        let mut known = merged.iter_mut();
        let known = known.find(|known| known.service_name == identity.service_name);
        let Some(known) = known else {
            merged.push(identity);
            continue;
        };
        let is_everywhere = known.datacenters.is_empty() || identity.datacenters.is_empty();
        if is_everywhere && !as_given {
            known.datacenters.clear();
            continue;
        }
        known.datacenters.extend(identity.datacenters);
        known.datacenters.sort();
        if !as_given {
            known.datacenters.dedup();
        }
    }
    if !as_given {
        merged.sort_by(|left, right| left.service_name.cmp(&right.service_name));
    }
    merged
}

/// Whether a name is allowed in an identity (acl.md 8.2.r3).
#[must_use]
pub fn is_identity(name: &str) -> bool {
    let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inner = |byte: u8| edge(byte) || matches!(byte, b'-' | b'_');
    let bytes = name.as_bytes();
    let edges = bytes.first().zip(bytes.last());
    name.len() <= LONGEST_IDENTITY
        && edges.is_some_and(|(first, last)| edge(*first) && edge(*last))
        && bytes.iter().copied().all(inner)
}

/// Checks the name of an object of at most this many letters.
pub(crate) fn check_name(name: &str, longest: usize) -> Result<(), NameFlaw> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.len() <= longest && name.bytes().all(letter) {
        Ok(())
    } else {
        Err(NameFlaw::Letters)
    }
}
