//! What the store does differently on a release.

use proconsul_store::VersionRules;
use proconsul_version::{Behaviour, Version};

/// Returns the store's rules in a version.
pub fn rules_of(version: Version) -> VersionRules {
    VersionRules {
        session_ids_are_uuids: !version.has(Behaviour::SessionMalformedIdIsUnknown),
        missing_keeps_blocking: version.has(Behaviour::KvMissingKeyBlocks),
        unknown_verb_fails_pre_check: version.has(Behaviour::TxnUnknownVerbEarly),
        identical_check_moves_index: !version.has(Behaviour::CatalogCheckUnchangedKeepsIndex),
        session_checks: version.has(Behaviour::SessionChecks),
        empty_service_fails_pre_check: version.has(Behaviour::CatalogServiceEmptyText),
        index_per_node: version.has(Behaviour::CatalogNodeIndex),
        index_errors: version.has(Behaviour::CatalogIndexErrors),
        check_services_are_exact: version.has(Behaviour::CatalogRegisterOrder),
        refused_check_cas_is_shown: version.has(Behaviour::TxnCheckCasShown),
        node_name_ignores_case: version.has(Behaviour::CatalogNodeNameCase),
        virtual_addresses: version.has(Behaviour::JsonConsulVirtual),
        acl_policy_names_have_slash: version.has(Behaviour::AclPolicyNameSlash),
        acl_tokens_end_within_a_day: !version.has(Behaviour::AclLongLives),
        acl_grants_as_given: version.has(Behaviour::AclGrantsAsGiven),
        config_late: version.has(Behaviour::ConfigLate),
        sidecars_checked_at_own_address: version.has(Behaviour::AgentSidecarAddress),
        start_writes_config_entries: version.has(Behaviour::ConfigIndexOfStart),
    }
}
