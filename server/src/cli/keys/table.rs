//! The rows of the table of configuration keys.

use super::{Key, Treatment};
use crate::cli::settings::Settings;
use crate::cli::slot::Slot;

const fn honoured(path: &'static str, slot: fn(&mut Settings) -> Slot<'_>) -> Key {
    Key {
        path,
        treatment: Treatment::Honoured(slot),
    }
}

const fn moot(path: &'static str) -> Key {
    Key {
        path,
        treatment: Treatment::Moot,
    }
}

const fn moot_group(path: &'static str) -> Key {
    Key {
        path,
        treatment: Treatment::MootGroup,
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

/// Keys that 1.8.7 refuses: they came with releases after it. Since which one each is known is not in the contract;
/// all releases from 1.9 on take all of them here.
pub(super) const LATER: &[&str] = &[
    "addresses.grpc_tls",
    "advertise_addr_wan_ipv6",
    "advertise_reconnect_timeout",
    "auto_reload_config",
    "cloud",
    "default_intention_policy",
    "disable_kv_key_validation",
    "experiments",
    "http_config.max_header_bytes",
    "license_path",
    "limits.request_limits",
    "limits.rpc_client_timeout",
    "locality",
    "partition",
    "peering",
    "ports.grpc_tls",
    "raft_logstore",
    "raft_prevote_disabled",
    "read_replica",
    "reporting",
    "rpc",
    "server_rejoin_age_max",
    "tls",
    "ui_config",
    "use_streaming_backend",
    "xds",
];

/// All keys, first those that have an effect.
pub(super) const KEYS: &[Key] = &[
    honoured("acl.default_policy", |settings| {
        Slot::Text(&mut settings.acl_default_policy)
    }),
    honoured("acl.enabled", |settings| {
        Slot::Bool(&mut settings.acl_enabled)
    }),
    honoured("acl_datacenter", |settings| {
        Slot::Text(&mut settings.acl_datacenter)
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
    moot("acl_agent_master_token"),
    moot("acl_agent_token"),
    moot("acl_down_policy"),
    moot("acl_enable_key_list_policy"),
    moot("acl_master_token"),
    moot("acl_replication_token"),
    moot("acl_token"),
    moot("acl_ttl"),
    moot("acl.disabled_ttl"),
    moot("acl.down_policy"),
    moot("acl.enable_key_list_policy"),
    moot("acl.enable_token_persistence"),
    moot("acl.enable_token_replication"),
    moot("acl.policy_ttl"),
    moot("acl.role_ttl"),
    moot("acl.token_ttl"),
    moot("acl.tokens"),
    moot("acl_enforce_version_8"),
    ignored("ui_config.content_path"),
    ignored("ui_config.dashboard_url_templates"),
    ignored("ui_config.dir"),
    ignored("ui_config.metrics_provider"),
    ignored("ui_config.metrics_provider_files"),
    ignored("ui_config.metrics_provider_options_json"),
    ignored("ui_config.metrics_proxy"),
    ignored("addresses.dns"),
    ignored("addresses.grpc"),
    ignored("addresses.grpc_tls"),
    ignored("addresses.https"),
    ignored("advertise_addr_ipv4"),
    ignored("advertise_addr_ipv6"),
    ignored("advertise_addr_wan"),
    ignored("advertise_addr_wan_ipv4"),
    ignored("advertise_addr_wan_ipv6"),
    moot("advertise_reconnect_timeout"),
    ignored("alt_domain"),
    ignored("auto_reload_config"),
    ignored("ca_file"),
    ignored("ca_path"),
    ignored("cert_file"),
    moot("data_dir"),
    ignored("default_intention_policy"),
    moot("disable_anonymous_signature"),
    ignored("disable_coordinates"),
    moot("disable_host_node_id"),
    moot("disable_keyring_file"),
    moot("disable_remote_exec"),
    moot("disable_update_check"),
    ignored("discard_check_output"),
    moot("discovery_max_stale"),
    ignored("domain"),
    moot("enable_acl_replication"),
    ignored("enable_agent_tls_for_checks"),
    ignored("enable_central_service_config"),
    ignored("enable_debug"),
    ignored("enable_syslog"),
    ignored("encrypt"),
    ignored("encrypt_verify_incoming"),
    ignored("encrypt_verify_outgoing"),
    ignored("experiments"),
    ignored("key_file"),
    moot("license_path"),
    moot("limits.https_handshake_timeout"),
    ignored("limits.request_limits"),
    moot("limits.rpc_client_timeout"),
    moot("limits.rpc_handshake_timeout"),
    ignored("limits.rpc_max_burst"),
    ignored("limits.rpc_max_conns_per_client"),
    ignored("limits.rpc_rate"),
    ignored("log_file"),
    moot("log_rotate_bytes"),
    moot("log_rotate_duration"),
    moot("log_rotate_max_files"),
    ignored("non_voting_server"),
    ignored("partition"),
    moot("ports.expose_max_port"),
    moot("ports.expose_min_port"),
    moot("ports.proxy_max_port"),
    moot("ports.proxy_min_port"),
    moot("ports.rpc"),
    moot("ports.sidecar_max_port"),
    moot("ports.sidecar_min_port"),
    moot("primary_gateways"),
    moot("primary_gateways_interval"),
    moot("protocol"),
    moot("raft_prevote_disabled"),
    moot("raft_protocol"),
    moot("raft_snapshot_interval"),
    moot("raft_snapshot_threshold"),
    moot("raft_trailing_logs"),
    ignored("read_replica"),
    moot("reconnect_timeout"),
    moot("reconnect_timeout_wan"),
    ignored("recursors"),
    moot("rejoin_after_leave"),
    moot("retry_interval"),
    moot("retry_interval_wan"),
    moot("retry_join"),
    moot("retry_join_wan"),
    moot("retry_max"),
    moot("retry_max_wan"),
    ignored("segment"),
    ignored("segments"),
    moot("serf_lan"),
    moot("serf_lan_allowed_cidrs"),
    moot("serf_wan"),
    moot("serf_wan_allowed_cidrs"),
    ignored("server_name"),
    moot("server_rejoin_age_max"),
    moot("start_join"),
    moot("start_join_wan"),
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
    moot("version"),
    ignored("watches"),
    ignored_group("audit"),
    ignored_group("auto_config"),
    ignored_group("auto_encrypt"),
    ignored_group("autopilot"),
    ignored_group("cache"),
    ignored_group("cloud"),
    ignored_group("config_entries"),
    ignored_group("connect"),
    ignored_group("dns_config"),
    moot_group("gossip_lan"),
    moot_group("gossip_wan"),
    ignored_group("locality"),
    ignored_group("peering"),
    moot_group("performance"),
    moot_group("raft_logstore"),
    ignored_group("reporting"),
    ignored_group("rpc"),
    ignored_group("tagged_addresses"),
    ignored_group("telemetry"),
    ignored_group("tls"),
    ignored_group("unix_sockets"),
    ignored_group("xds"),
];
