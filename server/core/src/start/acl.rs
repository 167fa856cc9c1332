//! What the store of a server with ACLs has from its start (acl.md 3).

use proconsul_config::Config;
use proconsul_engine::Engine;
use proconsul_store::{AclBootstrap, AclId, AclStart, Index, NewPolicy};
use proconsul_version::{Behaviour, Version};

/// The index of the first entry that a Consul writes: the first builtin policy.
const FIRST_INDEX: Index = Index(4);

/// Returns what is written at the start of a server with this configuration; `None` if ACLs are off.
pub(super) fn acl_start(config: &Config) -> Option<AclStart> {
    let acl = &config.acl;
    if !acl.enabled {
        return None;
    }
    let secret = &acl.tokens.initial_management;
    let management = (!secret.is_empty()).then(|| AclBootstrap {
        accessor: AclId::from_bytes([0; 16]),
        secret: secret.clone(),
        description: management_description(config.version).to_owned(),
        is_legacy: !config.version.has(Behaviour::AclLegacyRemoved),
        reset: None,
    });
    Some(AclStart {
        first: FIRST_INDEX,
        policies: builtin_policies(config.version),
        management,
    })
}

/// Writes it, with an AccessorID of the server's own.
pub(super) fn start_acls(engine: &Engine, mut start: AclStart) {
    if let Some(management) = &mut start.management {
        management.accessor = AclId::from_bytes(engine.new_id());
    }
    let Ok(()) = engine.apply(start);
}

/// Whether the agent may write its own node when it starts: only the configured management token has rights by then.
pub(super) fn may_write_own_node(config: &Config) -> bool {
    let tokens = &config.acl.tokens;
    let own = [&tokens.agent, &tokens.default];
    let own = own.into_iter().find(|token| !token.is_empty());
    !config.acl.enabled
        || match own {
            Some(token) => *token == tokens.initial_management,
            None => config.acl.default_policy == "allow",
        }
}

fn management_description(version: Version) -> &'static str {
    if version.has(Behaviour::AclLegacyRemoved) {
        "Initial Management Token"
    } else {
        "Master Token"
    }
}

fn builtin_policies(version: Version) -> Vec<(AclId, NewPolicy)> {
    let late = version.has(Behaviour::AclReadOnlyPolicy);
    let policy = |name: &str, description: &str, level| NewPolicy {
        name: name.to_owned(),
        description: description.to_owned(),
        rules: rules_of_all(level, version),
        datacenters: None,
    };
    let all = if late {
        "A built-in policy that grants read and write access to all Consul features"
    } else {
        "Builtin Policy that grants unlimited access"
    };
    let mut policies = vec![(
        AclId::GLOBAL_MANAGEMENT,
        policy("global-management", all, "write"),
    )];
    if late {
        let description = "A built-in policy that grants read-only access to all Consul features";
        let name = "builtin/global-read-only";
        policies.push((AclId::GLOBAL_READ_ONLY, policy(name, description, "read")));
    }
    policies
}

/// Returns the rules that allow everything at a level, in Consul's form.
fn rules_of_all(level: &str, version: Version) -> String {
    let mut rules = String::from("\n");
    let word = |name: &str| format!("{name} = \"{level}\"\n");
    let block = |name: &str| format!("{name}_prefix \"\" {{\n\tpolicy = \"{level}\"\n}}\n");
    rules += &word("acl");
    for name in ["agent", "event", "key"] {
        rules += &block(name);
    }
    rules += &word("keyring");
    rules += &block("node");
    rules += &word("operator");
    if version.has(Behaviour::AclMeshRules) {
        rules += &word("mesh");
    }
    if version.has(Behaviour::AclPeeringRules) {
        rules += &word("peering");
    }
    rules += &block("query");
    rules += &format!(
        "service_prefix \"\" {{\n\tpolicy = \"{level}\"\n\tintentions = \"{level}\"\n}}\n"
    );
    rules += block("session").trim_end();
    rules
}
