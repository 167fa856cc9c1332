//! The hash that every policy, role and token shows: BLAKE2b-256 of its texts, one after the other (acl.md 4, 5, 8.1).

use cryptoxide::hashing::blake2b::{Blake2b, Context};

use super::grants::Grants;
use super::policy::PolicyRow;
use super::role::RoleRow;
use super::token::TokenRow;

/// The hash of an object.
pub type AclHash = [u8; 32];

struct Hasher(Context<256>);

impl Default for Hasher {
    fn default() -> Self {
        Self(Blake2b::new())
    }
}

impl Hasher {
    fn text(mut self, text: &str) -> Self {
        self.0.update_mut(text.as_bytes());
        self
    }

    fn texts<'a>(self, texts: impl IntoIterator<Item = &'a String>) -> Self {
        texts
            .into_iter()
            .fold(self, |hasher, text| hasher.text(text))
    }

    fn grants(mut self, grants: &Grants) -> Self {
        for id in grants.policies.iter().chain(&grants.roles) {
            self = self.text(&id.to_string());
        }
        for service in &grants.service_identities {
            self = self.text(&service.service_name).texts(&service.datacenters);
        }
        for node in &grants.node_identities {
            self = self.text(&node.node_name).text(&node.datacenter);
        }
        for policy in &grants.templated_policies {
            let named = self.text(&policy.template_id).text(&policy.template_name);
            self = named.texts(&policy.name).texts(&policy.datacenters);
        }
        self
    }

    fn done(self) -> AclHash {
        self.0.finalize()
    }
}

/// Returns the hash of parts, one after the other.
pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> AclHash {
    let mut hasher = Hasher::default();
    for part in parts {
        hasher.0.update_mut(part);
    }
    hasher.done()
}

impl PolicyRow {
    /// Returns the hash.
    #[must_use]
    pub fn hash(&self) -> AclHash {
        let hasher = Hasher::default().text(&self.policy.name);
        let hasher = hasher
            .text(&self.policy.description)
            .text(&self.policy.rules);
        hasher
            .texts(self.policy.datacenters.iter().flatten())
            .done()
    }
}

impl RoleRow {
    /// Returns the hash.
    #[must_use]
    pub fn hash(&self) -> AclHash {
        let hasher = Hasher::default().text(&self.name).text(&self.description);
        hasher.grants(&self.grants).done()
    }
}

impl TokenRow {
    /// Returns the hash.
    #[must_use]
    pub fn hash(&self) -> AclHash {
        let mut hasher = Hasher::default().text(&self.description);
        if let Some(legacy) = &self.legacy {
            hasher = hasher.text(legacy.kind()).text(&legacy.rules);
        }
        let locality = if self.local { "local" } else { "global" };
        hasher.text(locality).grants(&self.grants).done()
    }
}
