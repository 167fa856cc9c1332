//! The table of Consul's configuration keys, and reading a document by it.

use super::settings::Settings;
use super::slot::Slot;
use super::tree::Tree;

/// One key of a configuration file, `group.key` where it is in a group.
struct Key {
    path: &'static str,
    treatment: Treatment,
}

/// What is done with a key. One that is not in the table is unknown: Consul refuses it, proconsul says so and goes on,
/// because the lists of keys of two versions are never the same.
enum Treatment {
    /// Its value goes to this field, and has to have the field's type.
    Honoured(fn(&mut Settings) -> Slot<'_>),
    /// The same, but Consul knows the key in a group only and refuses it here: it is taken, and named as unknown.
    Misplaced(fn(&mut Settings) -> Slot<'_>),
    /// Consul knows it; what it asks for is not emulated or has no meaning here. Its value may be anything.
    Ignored,
    /// A group of which every key that has no row of its own is ignored.
    IgnoredGroup,
}

/// What a document had besides values that were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remarks {
    /// Keys that Consul knows and proconsul does nothing about.
    pub(super) ignored: Vec<String>,
    /// Keys that are in no table.
    pub(super) unknown: Vec<String>,
}

/// Takes all values of a document.
///
/// # Errors
/// Consul's text about all values of honoured keys that have another type.
pub(super) fn take_document(
    tree: &Tree,
    settings: &mut Settings,
    remarks: &mut Remarks,
) -> Result<(), String> {
    let mut errors = Vec::new();
    take_group("", tree, settings, remarks, &mut errors);
    if errors.is_empty() {
        return Ok(());
    }
    errors.sort();
    let lines: Vec<String> = errors.iter().map(|error| format!("* {error}")).collect();
    Err(format!(
        "{} error(s) decoding:\n\n{}",
        lines.len(),
        lines.join("\n")
    ))
}

fn take_group(
    group: &str,
    tree: &Tree,
    settings: &mut Settings,
    remarks: &mut Remarks,
    errors: &mut Vec<String>,
) {
    let members = match tree.unwrapped() {
        Tree::Object(members) => members,
        Tree::Null => return,
        other => {
            errors.push(format!(
                "'{group}' expected a map, got '{}'",
                other.go_kind()
            ));
            return;
        }
    };
    for (name, value) in members {
        // Consul finds keys in any case.
        let name = name.to_lowercase();
        let path = if group.is_empty() {
            name
        } else {
            format!("{group}.{name}")
        };
        match find(&path) {
            Found::Key(Treatment::Honoured(slot)) => slot(settings).take_tree(&path, value, errors),
            Found::Key(Treatment::Misplaced(slot)) => {
                slot(settings).take_tree(&path, value, errors);
                remarks.unknown.push(path);
            }
            Found::Group => take_group(&path, value, settings, remarks, errors),
            Found::Key(Treatment::Ignored | Treatment::IgnoredGroup) => remarks.ignored.push(path),
            Found::Nothing => remarks.unknown.push(path),
        }
    }
}

enum Found {
    Key(&'static Treatment),
    /// No key, but the group of some.
    Group,
    Nothing,
}

fn find(path: &str) -> Found {
    let below = |key: &Key| {
        key.path
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let row = |path: &str| KEYS.iter().find(|key| key.path == path);
    match (row(path), path.split_once('.')) {
        (_, None) if KEYS.iter().any(below) => Found::Group,
        (Some(key), _) => Found::Key(&key.treatment),
        (None, Some((group, _))) => match row(group) {
            Some(Key {
                treatment: ignored @ Treatment::IgnoredGroup,
                ..
            }) => Found::Key(ignored),
            _ => Found::Nothing,
        },
        (None, None) => Found::Nothing,
    }
}

const fn honoured(path: &'static str, slot: fn(&mut Settings) -> Slot<'_>) -> Key {
    Key {
        path,
        treatment: Treatment::Honoured(slot),
    }
}

const fn misplaced(path: &'static str, slot: fn(&mut Settings) -> Slot<'_>) -> Key {
    Key {
        path,
        treatment: Treatment::Misplaced(slot),
    }
}

const fn ignored(path: &'static str) -> Key {
    Key {
        path,
        treatment: Treatment::Ignored,
    }
}

const fn ignored_group(path: &'static str) -> Key {
    Key {
        path,
        treatment: Treatment::IgnoredGroup,
    }
}

/// All keys, first those that have an effect.
const KEYS: &[Key] = &[
    honoured("acl.default_policy", |settings| {
        Slot::Text(&mut settings.acl_default_policy)
    }),
    honoured("acl_datacenter", |settings| {
        Slot::Text(&mut settings.primary_datacenter)
    }),
    honoured("acl_default_policy", |settings| {
        Slot::Text(&mut settings.acl_default_policy)
    }),
    honoured("addresses.http", |settings| {
        Slot::Text(&mut settings.addresses_http)
    }),
    honoured("advertise_addr", |settings| {
        Slot::Text(&mut settings.advertise_addr)
    }),
    honoured("bind_addr", |settings| Slot::Text(&mut settings.bind_addr)),
    honoured("bootstrap", |settings| Slot::Bool(&mut settings.bootstrap)),
    honoured("bootstrap_expect", |settings| {
        Slot::Integer(&mut settings.bootstrap_expect)
    }),
    honoured("check", |settings| Slot::Tree(&mut settings.checks)),
    honoured("check_output_max_size", |settings| {
        Slot::Integer(&mut settings.check_output_max_size)
    }),
    honoured("check_update_interval", |settings| {
        Slot::Text(&mut settings.check_update_interval)
    }),
    honoured("checks", |settings| Slot::Trees(&mut settings.checks)),
    honoured("client_addr", |settings| {
        Slot::Text(&mut settings.client_addr)
    }),
    honoured("datacenter", |settings| {
        Slot::Text(&mut settings.datacenter)
    }),
    honoured("default_query_time", |settings| {
        Slot::Text(&mut settings.default_query_time)
    }),
    honoured("disable_http_unprintable_char_filter", |settings| {
        Slot::Bool(&mut settings.disable_http_unprintable_char_filter)
    }),
    honoured("disable_kv_key_validation", |settings| {
        Slot::Bool(&mut settings.disable_kv_key_validation)
    }),
    honoured("enable_local_script_checks", |settings| {
        Slot::Bool(&mut settings.enable_local_script_checks)
    }),
    honoured("enable_script_checks", |settings| {
        Slot::Bool(&mut settings.enable_script_checks)
    }),
    honoured("http_config.allow_write_http_from", |settings| {
        Slot::List(&mut settings.allow_write_http_from)
    }),
    honoured("http_config.block_endpoints", |settings| {
        Slot::List(&mut settings.block_endpoints)
    }),
    honoured("http_config.max_header_bytes", |settings| {
        Slot::Integer(&mut settings.max_header_bytes)
    }),
    honoured("http_config.response_headers", |settings| {
        Slot::Map(&mut settings.response_headers)
    }),
    honoured("http_config.use_cache", |settings| {
        Slot::Bool(&mut settings.use_cache)
    }),
    honoured("leave_on_terminate", |settings| {
        Slot::Bool(&mut settings.leave_on_terminate)
    }),
    honoured("limits.http_max_conns_per_client", |settings| {
        Slot::Integer(&mut settings.http_max_conns_per_client)
    }),
    honoured("limits.kv_max_value_size", |settings| {
        Slot::Unsigned(&mut settings.kv_max_value_size)
    }),
    honoured("limits.txn_max_req_len", |settings| {
        Slot::Unsigned(&mut settings.txn_max_req_len)
    }),
    honoured("log_json", |settings| Slot::Bool(&mut settings.log_json)),
    honoured("log_level", |settings| Slot::Text(&mut settings.log_level)),
    honoured("max_query_time", |settings| {
        Slot::Text(&mut settings.max_query_time)
    }),
    honoured("node_id", |settings| Slot::Text(&mut settings.node_id)),
    honoured("node_meta", |settings| Slot::Map(&mut settings.node_meta)),
    honoured("node_name", |settings| Slot::Text(&mut settings.node_name)),
    honoured("pid_file", |settings| Slot::Text(&mut settings.pid_file)),
    honoured("ports.dns", |settings| {
        Slot::Integer(&mut settings.ports.dns)
    }),
    honoured("ports.grpc", |settings| {
        Slot::Integer(&mut settings.ports.grpc)
    }),
    honoured("ports.grpc_tls", |settings| {
        Slot::Integer(&mut settings.ports.grpc_tls)
    }),
    honoured("ports.http", |settings| {
        Slot::Integer(&mut settings.ports.http)
    }),
    honoured("ports.https", |settings| {
        Slot::Integer(&mut settings.ports.https)
    }),
    honoured("ports.serf_lan", |settings| {
        Slot::Integer(&mut settings.ports.serf_lan)
    }),
    honoured("ports.serf_wan", |settings| {
        Slot::Integer(&mut settings.ports.serf_wan)
    }),
    honoured("ports.server", |settings| {
        Slot::Integer(&mut settings.ports.server)
    }),
    honoured("primary_datacenter", |settings| {
        Slot::Text(&mut settings.primary_datacenter)
    }),
    honoured("server", |settings| Slot::Bool(&mut settings.server)),
    honoured("service", |settings| Slot::Tree(&mut settings.services)),
    honoured("services", |settings| Slot::Trees(&mut settings.services)),
    honoured("session_ttl_min", |settings| {
        Slot::Text(&mut settings.session_ttl_min)
    }),
    honoured("skip_leave_on_interrupt", |settings| {
        Slot::Bool(&mut settings.skip_leave_on_interrupt)
    }),
    honoured("translate_wan_addrs", |settings| {
        Slot::Bool(&mut settings.translate_wan_addrs)
    }),
    honoured("ui", |settings| Slot::Bool(&mut settings.ui)),
    honoured("ui_config.enabled", |settings| Slot::Bool(&mut settings.ui)),
    honoured("use_streaming_backend", |settings| {
        Slot::Bool(&mut settings.use_streaming_backend)
    }),
    misplaced("kv_max_value_size", |settings| {
        Slot::Unsigned(&mut settings.kv_max_value_size)
    }),
    misplaced("txn_max_req_len", |settings| {
        Slot::Unsigned(&mut settings.txn_max_req_len)
    }),
    ignored("acl_agent_master_token"),
    ignored("acl_agent_token"),
    ignored("acl_down_policy"),
    ignored("acl_enable_key_list_policy"),
    ignored("acl_master_token"),
    ignored("acl_replication_token"),
    ignored("acl_token"),
    ignored("acl_ttl"),
    ignored("addresses.dns"),
    ignored("addresses.grpc"),
    ignored("addresses.grpc_tls"),
    ignored("addresses.https"),
    ignored("advertise_addr_ipv4"),
    ignored("advertise_addr_ipv6"),
    ignored("advertise_addr_wan"),
    ignored("advertise_addr_wan_ipv4"),
    ignored("advertise_addr_wan_ipv6"),
    ignored("advertise_reconnect_timeout"),
    ignored("alt_domain"),
    ignored("auto_reload_config"),
    ignored("ca_file"),
    ignored("ca_path"),
    ignored("cert_file"),
    ignored("data_dir"),
    ignored("default_intention_policy"),
    ignored("disable_anonymous_signature"),
    ignored("disable_coordinates"),
    ignored("disable_host_node_id"),
    ignored("disable_keyring_file"),
    ignored("disable_remote_exec"),
    ignored("disable_update_check"),
    ignored("discard_check_output"),
    ignored("discovery_max_stale"),
    ignored("domain"),
    ignored("enable_acl_replication"),
    ignored("enable_agent_tls_for_checks"),
    ignored("enable_central_service_config"),
    ignored("enable_debug"),
    ignored("enable_syslog"),
    ignored("encrypt"),
    ignored("encrypt_verify_incoming"),
    ignored("encrypt_verify_outgoing"),
    ignored("experiments"),
    ignored("key_file"),
    ignored("license_path"),
    ignored("limits.https_handshake_timeout"),
    ignored("limits.request_limits"),
    ignored("limits.rpc_client_timeout"),
    ignored("limits.rpc_handshake_timeout"),
    ignored("limits.rpc_max_burst"),
    ignored("limits.rpc_max_conns_per_client"),
    ignored("limits.rpc_rate"),
    ignored("log_file"),
    ignored("log_rotate_bytes"),
    ignored("log_rotate_duration"),
    ignored("log_rotate_max_files"),
    ignored("non_voting_server"),
    ignored("partition"),
    ignored("ports.expose_max_port"),
    ignored("ports.expose_min_port"),
    ignored("ports.proxy_max_port"),
    ignored("ports.proxy_min_port"),
    ignored("ports.rpc"),
    ignored("ports.sidecar_max_port"),
    ignored("ports.sidecar_min_port"),
    ignored("primary_gateways"),
    ignored("primary_gateways_interval"),
    ignored("protocol"),
    ignored("raft_prevote_disabled"),
    ignored("raft_protocol"),
    ignored("raft_snapshot_interval"),
    ignored("raft_snapshot_threshold"),
    ignored("raft_trailing_logs"),
    ignored("read_replica"),
    ignored("reconnect_timeout"),
    ignored("reconnect_timeout_wan"),
    ignored("recursors"),
    ignored("rejoin_after_leave"),
    ignored("retry_interval"),
    ignored("retry_interval_wan"),
    ignored("retry_join"),
    ignored("retry_join_wan"),
    ignored("retry_max"),
    ignored("retry_max_wan"),
    ignored("segment"),
    ignored("segments"),
    ignored("serf_lan"),
    ignored("serf_lan_allowed_cidrs"),
    ignored("serf_wan"),
    ignored("serf_wan_allowed_cidrs"),
    ignored("server_name"),
    ignored("server_rejoin_age_max"),
    ignored("start_join"),
    ignored("start_join_wan"),
    ignored("syslog_facility"),
    ignored("tls_cipher_suites"),
    ignored("tls_min_version"),
    ignored("tls_prefer_server_cipher_suites"),
    ignored("ui_content_path"),
    ignored("ui_dir"),
    ignored("verify_incoming"),
    ignored("verify_incoming_https"),
    ignored("verify_incoming_rpc"),
    ignored("verify_outgoing"),
    ignored("verify_server_hostname"),
    ignored("version"),
    ignored("watches"),
    ignored_group("acl"),
    ignored_group("audit"),
    ignored_group("auto_config"),
    ignored_group("auto_encrypt"),
    ignored_group("autopilot"),
    ignored_group("cache"),
    ignored_group("cloud"),
    ignored_group("config_entries"),
    ignored_group("connect"),
    ignored_group("dns_config"),
    ignored_group("gossip_lan"),
    ignored_group("gossip_wan"),
    ignored_group("locality"),
    ignored_group("peering"),
    ignored_group("performance"),
    ignored_group("raft_logstore"),
    ignored_group("reporting"),
    ignored_group("rpc"),
    ignored_group("tagged_addresses"),
    ignored_group("telemetry"),
    ignored_group("tls"),
    ignored_group("ui_config"),
    ignored_group("unix_sockets"),
    ignored_group("xds"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::hcl;

    /// Settings and remarks after one HCL document, or its refusal.
    fn taken(document: &str) -> Result<(Settings, Remarks), String> {
        let tree = hcl::parse(document).expect("the test gives HCL");
        let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
        take_document(&tree, &mut settings, &mut remarks).map(|()| (settings, remarks))
    }

    #[test]
    fn each_key_has_one_row() {
        let paths: BTreeSet<_> = KEYS.iter().map(|key| key.path).collect();
        assert_eq!(paths.len(), KEYS.len());
    }

    #[test]
    fn the_fields_of_the_honoured_keys_differ_from_each_other() {
        // Two keys for one field are two names of one thing; anything else is a slip of the table.
        let aliases = [
            "acl_default_policy",
            "acl_datacenter",
            "checks",
            "services",
            "ui_config.enabled",
            "kv_max_value_size",
            "txn_max_req_len",
        ];
        let mut seen = BTreeSet::new();
        for key in KEYS.iter().filter(|key| !aliases.contains(&key.path)) {
            let (Treatment::Honoured(slot) | Treatment::Misplaced(slot)) = key.treatment else {
                continue;
            };
            let mut settings = Settings::default();
            match slot(&mut settings) {
                Slot::Text(field) => *field = Some("x".to_owned()),
                Slot::Bool(field) => *field = Some(true),
                Slot::Integer(field) => *field = Some(1),
                Slot::Unsigned(field) => *field = Some(1),
                Slot::List(items) => items.push("x".to_owned()),
                Slot::Tree(items) | Slot::Trees(items) => items.push(Tree::Null),
                Slot::Map(members) => drop(members.insert("x".to_owned(), "y".to_owned())),
            }
            assert!(
                seen.insert(format!("{settings:?}")),
                "{} writes another key's field",
                key.path
            );
        }
    }

    #[test]
    fn values_of_groups_and_blocks_reach_their_fields() {
        let document = r#"
            node_name = "a" NODE_ID = "id" limits { kv_max_value_size = 5 } ports = { http = 1, server = 2 }
            http_config { response_headers { A = "x" } block_endpoints = ["/v1/x"] }
            acl { enabled = true default_policy = "deny" } ui_config { enabled = true }
        "#;
        let (settings, remarks) = taken(document).expect("all values fit");
        let expected = Settings {
            acl_default_policy: Some("deny".to_owned()),
            block_endpoints: vec!["/v1/x".to_owned()],
            kv_max_value_size: Some(5),
            node_id: Some("id".to_owned()),
            node_name: Some("a".to_owned()),
            ports: crate::cli::settings::Ports {
                http: Some(1),
                server: Some(2),
                ..Default::default()
            },
            response_headers: [("A".to_owned(), "x".to_owned())].into(),
            ui: Some(true),
            ..Settings::default()
        };
        assert_eq!(settings, expected);
        assert_eq!(
            remarks,
            Remarks {
                ignored: vec!["acl.enabled".to_owned()],
                unknown: vec![]
            }
        );
    }

    #[test]
    fn later_documents_win_and_lists_grow() {
        let (mut settings, mut remarks) = (Settings::default(), Remarks::default());
        for document in [
            r#"node_name = "a" http_config { block_endpoints = ["/a"] response_headers { X = "a" Y = "a" } }"#,
            r#"node_name = "b" http_config { block_endpoints = ["/b"] response_headers { X = "b" } }"#,
        ] {
            let tree = hcl::parse(document).expect("the test gives HCL");
            take_document(&tree, &mut settings, &mut remarks).expect("all values fit");
        }
        assert_eq!(settings.node_name.as_deref(), Some("b"));
        assert_eq!(settings.block_endpoints, ["/a", "/b"]);
        assert_eq!(
            format!("{:?}", settings.response_headers),
            r#"{"X": "b", "Y": "a"}"#
        );
    }

    #[test]
    fn what_has_no_effect_is_named_and_what_is_unknown_too() {
        let document = r#"
            data_dir = 5 performance { raft_multiplier = 1 } ports { grpc = 1 rpc = 2 zork = 3 } limits { zork = 1 }
            zork = 1 connect = {} kv_max_value_size = 7
        "#;
        let (settings, remarks) =
            taken(document).expect("values of keys without effect may be anything");
        assert_eq!(settings.kv_max_value_size, Some(7));
        assert_eq!(
            remarks.ignored,
            ["connect", "data_dir", "performance", "ports.rpc"]
        );
        assert_eq!(
            remarks.unknown,
            ["kv_max_value_size", "limits.zork", "ports.zork", "zork"]
        );
    }

    #[test]
    fn all_misfits_are_named_in_order() {
        let refused = taken(r#"server = "yes" node_name = 5 ports = 7"#).map(|_| ());
        let expected = "3 error(s) decoding:\n\n* 'node_name' expected type 'string', got unconvertible type 'int'\n\
                        * 'ports' expected a map, got 'int'\n\
                        * 'server' expected type 'bool', got unconvertible type 'string'";
        assert_eq!(refused, Err(expected.to_owned()));
    }
}
