//! The settings of ACLs (acl.md 1).

use std::path::PathBuf;

use super::{Errors, duration_of};
use crate::AclConfig;
use crate::settings::Settings;
use crate::settings::flags::called;
use proconsul_version::{Behaviour, Version};

/// Whether the old key alone enables ACLs (acl.md 1.7).
fn is_enabled_by_old_key(settings: &Settings) -> bool {
    settings.acl_enabled.is_none() && settings.acl_datacenter.is_some()
}

/// Checks `-acl`.
///
/// # Errors
/// Our text about an empty secret.
pub fn check_flag(settings: &Settings) -> Result<(), String> {
    if settings.acl.as_deref() == Some("") {
        let name = called("acl", settings);
        return Err(format!("{name}: the secret of the token is empty"));
    }
    Ok(())
}

/// Applies the settings of ACLs. Of a token's names the newest wins, and of all `-acl`.
pub fn take_acl(settings: &Settings, acl: &mut AclConfig) {
    let take = |place: &mut String, given: &Option<String>| {
        if let Some(text) = given {
            place.clone_from(text);
        }
    };
    let by_flag = settings.acl.is_some();
    if by_flag {
        "deny".clone_into(&mut acl.default_policy);
    }
    acl.enabled =
        by_flag || settings.acl_enabled.unwrap_or(acl.enabled) || is_enabled_by_old_key(settings);
    acl.enable_key_list_policy = settings
        .acl_enable_key_list_policy
        .unwrap_or(acl.enable_key_list_policy);
    acl.data_dir = settings.data_dir.as_ref().map(PathBuf::from);
    take(&mut acl.default_policy, &settings.acl_default_policy);
    take(&mut acl.down_policy, &settings.acl_down_policy);
    let tokens = &mut acl.tokens;
    for given in [
        &settings.acl_master_token,
        &settings.acl_token_master,
        &settings.acl_token_initial_management,
        &settings.acl,
    ] {
        take(&mut tokens.initial_management, given);
    }
    for given in [
        &settings.acl_agent_master_token,
        &settings.acl_token_agent_master,
        &settings.acl_token_agent_recovery,
    ] {
        take(&mut tokens.agent_recovery, given);
    }
    take(&mut tokens.agent, &settings.acl_token_agent);
    take(&mut tokens.default, &settings.acl_token_default);
    take(&mut tokens.replication, &settings.acl_token_replication);
    take(&mut tokens.dns, &settings.acl_token_dns);
    take(
        &mut tokens.config_file_service_registration,
        &settings.acl_token_config_file_service_registration,
    );
}

/// Checks the times for which client agents keep tokens, policies and roles; a lone server keeps nothing (acl.md 1.2).
pub fn check_times(settings: &Settings, errors: &mut Errors) {
    let rows = [
        ("acl_ttl", &settings.acl_ttl),
        ("acl.policy_ttl", &settings.acl_policy_ttl),
        ("acl.role_ttl", &settings.acl_role_ttl),
        ("acl.token_ttl", &settings.acl_token_ttl),
    ];
    for (key, text) in rows {
        duration_of(key, text.as_deref(), errors);
    }
}

/// Returns what Consul logs about old names and a token of an old form (acl.md 1.3, 1.7, 1.8).
pub fn warnings(settings: &Settings, acl: &AclConfig, version: Version) -> Vec<String> {
    let late = version.has(Behaviour::AclLegacyRemoved);
    let tokens = late.then_some([
        (
            &settings.acl_token_agent_master,
            "acl.tokens.agent_master",
            "acl.tokens.agent_recovery",
        ),
        (
            &settings.acl_token_master,
            "acl.tokens.master",
            "acl.tokens.initial_management",
        ),
    ]);
    let datacenter = (
        &settings.acl_datacenter,
        "acl_datacenter",
        "primary_datacenter",
    );
    let old = std::iter::once(datacenter).chain(tokens.into_iter().flatten());
    let old = old.filter(|(given, ..)| given.is_some());
    let old = old.map(|(_, old, new)| {
        format!("The '{old}' field is deprecated. Use the '{new}' field instead.")
    });
    let odd = acl.has_odd_management_token().then(|| {
        let name = if late { "management" } else { "master" };
        format!("Configuring a non-UUID {name} token is deprecated")
    });
    old.chain(odd).collect()
}

/// Returns Consul's text about a policy that there is not (acl.md 1.5).
pub fn policy_flaw(acl: &AclConfig) -> Option<String> {
    let (default, down) = (&acl.default_policy, &acl.down_policy);
    if !matches!(&default[..], "allow" | "deny") {
        return Some(format!("Unsupported default ACL policy: {default}"));
    }
    let is_known = matches!(&down[..], "allow" | "deny" | "extend-cache" | "async-cache");
    (!is_known).then(|| format!("Unsupported down ACL policy: {down}"))
}
