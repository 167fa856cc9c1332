//! The settings of ACLs (acl.md 1).

use crate::cli::settings::Settings;
use crate::config::AclConfig;

/// Whether every endpoint asks for the rights that Consul's asks for. While it does not, agents refuse ACLs: a server
/// that allows too much would make tests of ACLs pass wrongly. Servers inside a test may have them.
const IS_ENFORCED: bool = false;

/// Refuses ACLs while they are not enforced.
pub(super) fn check_acls(settings: &Settings) -> Result<(), String> {
    let key = match settings.acl_enabled {
        Some(true) => "acl.enabled",
        _ if is_enabled_by_old_key(settings) => "acl_datacenter",
        _ => return Ok(()),
    };
    if IS_ENFORCED {
        return Ok(());
    }
    Err(format!(
        "{key} switches ACLs on, which proconsul does not emulate yet: it would allow every request. Leave it out to test \
         without ACLs (tokens are then accepted and ignored), or test with a real Consul"
    ))
}

/// Whether the old key alone enables ACLs (acl.md 1.7).
fn is_enabled_by_old_key(settings: &Settings) -> bool {
    settings.acl_enabled.is_none() && settings.acl_datacenter.is_some()
}

/// Applies the settings of ACLs. Of a token's two names the new one wins.
pub(super) fn take_acl(settings: &Settings, acl: &mut AclConfig) {
    let take = |place: &mut String, given: &Option<String>| {
        if let Some(text) = given {
            place.clone_from(text);
        }
    };
    acl.enabled = settings.acl_enabled.unwrap_or(acl.enabled) || is_enabled_by_old_key(settings);
    acl.enable_key_list_policy = settings
        .acl_enable_key_list_policy
        .unwrap_or(acl.enable_key_list_policy);
    take(&mut acl.default_policy, &settings.acl_default_policy);
    take(&mut acl.down_policy, &settings.acl_down_policy);
    let tokens = &mut acl.tokens;
    take(&mut tokens.initial_management, &settings.acl_token_master);
    take(
        &mut tokens.initial_management,
        &settings.acl_token_initial_management,
    );
    take(&mut tokens.agent_recovery, &settings.acl_token_agent_master);
    take(
        &mut tokens.agent_recovery,
        &settings.acl_token_agent_recovery,
    );
    take(&mut tokens.agent, &settings.acl_token_agent);
    take(&mut tokens.default, &settings.acl_token_default);
    take(&mut tokens.replication, &settings.acl_token_replication);
    take(&mut tokens.dns, &settings.acl_token_dns);
    take(
        &mut tokens.config_file_service_registration,
        &settings.acl_token_config_file_service_registration,
    );
}
