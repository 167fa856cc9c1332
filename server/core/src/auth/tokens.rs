//! The agent's own tokens, which `agent/token/` changes (acl.md 11.1).

use super::state::Acls;
use proconsul_config::AclTokens;
use proconsul_store::ANONYMOUS;
use proconsul_version::{Behaviour, Version};

impl Acls {
    /// Returns the secret with which the agent does what it does itself.
    pub(crate) fn own_secret(&self) -> String {
        let tokens = self.tokens.read();
        let mut own = [&tokens.agent, &tokens.default].into_iter();
        let own = own.find(|token| !token.is_empty());
        own.map_or_else(|| ANONYMOUS.to_owned(), String::clone)
    }

    /// Sets one of the agent's tokens. Returns whether the release knows one of this name.
    pub(crate) fn set_token(&self, name: &str, secret: String, version: Version) -> bool {
        let mut tokens = self.tokens.write();
        let Some(token) = token(&mut tokens, name, version) else {
            return false;
        };
        *token = secret;
        true
    }
}

/// Returns the place of the token with this name, by its new or its old one.
fn token<'a>(tokens: &'a mut AclTokens, name: &str, version: Version) -> Option<&'a mut String> {
    let late = version.has(Behaviour::AclLegacyRemoved);
    Some(match name {
        "default" | "acl_token" => &mut tokens.default,
        "agent" | "acl_agent_token" => &mut tokens.agent,
        "agent_master" | "acl_agent_master_token" => &mut tokens.agent_recovery,
        "agent_recovery" if late => &mut tokens.agent_recovery,
        "replication" | "acl_replication_token" => &mut tokens.replication,
        "config_file_service_registration" if late => &mut tokens.config_file_service_registration,
        "dns" if late => &mut tokens.dns,
        _ => return None,
    })
}
