//! The settings of ACLs (acl.md 1).

use std::path::PathBuf;

/// Whether requests need tokens, and which are known from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AclConfig {
    /// Whether requests need tokens (`acl.enabled`). Default: false.
    pub enabled: bool,
    /// What is allowed where no rule speaks, `allow` or `deny` (`acl.default_policy`). A header says it even if ACLs are
    /// off. Default: `allow`.
    pub default_policy: String,
    /// What is allowed while the leader cannot be asked (`acl.down_policy`). A lone server never needs it; it is shown.
    /// Default: `extend-cache`.
    pub down_policy: String,
    /// Whether reading all keys under a prefix needs the right to list them (`acl.enable_key_list_policy`). Default:
    /// false.
    pub enable_key_list_policy: bool,
    /// The folder in which a bootstrap looks for the file `acl-bootstrap-reset`, whose number allows one more bootstrap
    /// (`data_dir`). Default: none.
    pub data_dir: Option<PathBuf>,
    /// The tokens of the configuration (`acl.tokens`). Default: none.
    pub tokens: AclTokens,
}

impl AclConfig {
    /// Whether the configured management token counts and is not a UUID, of which an agent warns (acl.md 1.8).
    pub fn has_odd_management_token(&self) -> bool {
        let token = &self.tokens.initial_management;
        self.enabled && !token.is_empty() && uuid::Uuid::try_parse(token).is_err()
    }
}

impl Default for AclConfig {
    fn default() -> AclConfig {
        AclConfig {
            enabled: false,
            default_policy: "allow".to_owned(),
            down_policy: "extend-cache".to_owned(),
            enable_key_list_policy: false,
            data_dir: None,
            tokens: AclTokens::default(),
        }
    }
}

/// The tokens of a configuration, each the secret of one. An empty one is unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AclTokens {
    /// A token that allows everything, which the server makes when it starts; any text (`initial_management`, until
    /// 1.11.0 `master`).
    pub initial_management: String,
    /// The token of what the agent does itself (`agent`).
    pub agent: String,
    /// A token for the agent's own endpoints that needs no store (`agent_recovery`, until 1.11.0 `agent_master`).
    pub agent_recovery: String,
    /// The token of requests that have none (`default`).
    pub default: String,
    /// The token of replication, which a lone server does without (`replication`).
    pub replication: String,
    /// The token of the services and checks of this configuration (`config_file_service_registration`).
    pub config_file_service_registration: String,
    /// The token of answers over DNS, which is not emulated (`dns`).
    pub dns: String,
}
