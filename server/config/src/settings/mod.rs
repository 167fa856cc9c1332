//! The settings of an agent: one table row per setting.
//!
//! A row makes the field of [`Settings`], its configuration keys, its flags and their help. Keys and flags without
//! effect are in the lists below the table.

pub mod environment;
pub mod flags;
pub mod go_flags;
pub mod keys;
pub mod load;
pub mod slot;

use std::collections::{BTreeMap, BTreeSet};

use crate::document::tree::Tree;
use crate::settings::flags::FlagEffect;
use crate::settings::go_flags::Flag;
use crate::settings::slot::Slot;
use proconsul_version::Behaviour;

/// Returns the field of [`Settings`] for a value.
pub type SettingField = fn(&mut Settings) -> Slot<'_>;

/// A setting with its keys and flags.
pub struct Setting {
    /// The field of [`Settings`].
    pub field: SettingField,
    /// The configuration keys, `group.key` within a group. Several keys are synonyms.
    pub keys: &'static [&'static str],
    /// The flags that set it.
    pub flags: &'static [Flag<FlagEffect>],
}

/// The type of the fields of a kind of [`Slot`].
macro_rules! field_type {
    (Text) => { Option<String> };
    (Bool) => { Option<bool> };
    (Integer) => { Option<i64> };
    (Unsigned) => { Option<u64> };
    (List) => { Vec<String> };
    (Map) => { BTreeMap<String, String> };
    (Tree) => { Vec<Tree> };
}

/// Makes [`Settings`] and [`SETTINGS`]. Each row is a kind of [`Slot`], a field, its keys in brackets, and for each
/// flag its [`FlagEffect`], its name and a sentence for the help. The rows of `also` add keys of another kind to a
/// field.
macro_rules! settings {
    ({ $($kind:ident $field:ident $keys:tt $($effect:ident $flag:literal $usage:literal)*;)* }
     also { $($also_kind:ident $also_field:ident $also_keys:tt;)* }) => {
        /// The settings of flags and configuration files before they are resolved. Unset ones are `None` or empty.
                ///
        /// Sources write into the same `Settings` in Consul's order (files, flags, `-hcl`): a later value replaces the
        /// former, lists are appended, maps are merged.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Settings {
            /// The format of the verb `version`.
            pub format: Option<String>,
            /// The flags of ours that a variable has set, and no flag has set again.
            pub by_variable: BTreeSet<&'static str>,
            $(
                #[doc = concat!("The setting `", stringify!($field), "`.")]
                pub $field: field_type!($kind),
            )*
        }

        /// All settings.
        pub const SETTINGS: &[Setting] = &[
            $(Setting {
                field: |settings| Slot::$kind(&mut settings.$field),
                keys: &$keys,
                flags: &[$(Flag {
                    name: $flag,
                    kind: FlagEffect::$effect(|settings| Slot::$kind(&mut settings.$field)),
                    usage: $usage,
                }),*],
            },)*
            $(Setting {
                field: |settings| Slot::$also_kind(&mut settings.$also_field),
                keys: &$also_keys,
                flags: &[],
            },)*
        ];
    };
}

settings! {
    {
        // Flags only.
        Text config_format [] Sets "config-format" "The language of all files whatever their names: hcl or json.";
        List config_paths []
            Sets "config-dir" "A directory whose .json and .hcl files are read in the order of their names. May be \
             repeated."
            Sets "config-file" "A .json or .hcl file to read. May be repeated.";
        Bool dev []
            Sets "dev" "Development mode: a server on 127.0.0.1 with pretty JSON, the web UI at /ui/ and a verbose log.";
        List hcl [] Sets "hcl" "A piece of configuration, which wins over all files and flags. May be repeated.";

        // Our own flags.
        Text acl []
            Own "acl" "Enable ACLs with a default policy of deny. The token with this secret may do everything \
             (proconsul only).";
        List allow_hosts []
            Own "allow-host" "A host name that clients may use for the control plane. Other names with a dot are \
             rejected, because a web page could have chosen them. May be repeated (proconsul only).";
        Text as_version [] Own "as-version" "The release of Consul that is emulated, such as 1.8.7 (proconsul only).";
        Text agents []
            Own "agents" "How many agents the datacenter has: servers, or servers and client agents, such as 3 or 3:1, or \
             the names of their nodes, such as a,b,c:d. Each has ports 10 higher than the one before it (proconsul only).";
        Text datacenters []
            Own "datacenters" "The names of datacenters that are joined, the first one's first, such as dc1,dc2. Each has \
             as many agents as -agents says (proconsul only).";
        Bool control []
            Own "control" "Let tests control the server under /proconsul/v1/: time, faults, history, state (proconsul \
             only).";
        Text control_addr []
            Own "control-addr" "The bind addresses of the control port (default: those of -client). Takes a free port \
             unless -control-port is set (proconsul only).";
        Unsigned control_port []
            Own "control-port" "Serve the controls at a separate port, which faults do not affect; 0 takes a free one \
             (proconsul only).";
        Text epoch []
            Own "epoch" "The wall clock at the start of the server, such as 2026-01-01T00:00:00Z (default: the \
             machine's). Dates and the times of tokens follow it (proconsul only).";
        Bool frozen []
            Own "frozen" "Start with a frozen clock, at 0, which a test moves. Requires -control (proconsul only).";
        Bool http_port_ephemeral []
            Own "http-port-ephemeral" "Serve HTTP at a free port, and print it in one line of JSON (proconsul only).";
        Bool https_dev []
            Own "https-dev" "Serve HTTPS with generated certificates. Writes those of the authority, the server and \
             one client into files, and prints where (proconsul only).";
        Text https_dev_dir []
            Own "https-dev-dir" "The folder for the generated certificates (default: a temporary one). Requires \
             -https-dev (proconsul only).";
        List kv_files []
            Own "kv-file" "A file of keys to start with, as \"consul kv export\" prints them; separate several with \
             commas. May be repeated (proconsul only).";
        List state_files []
            Own "load" "A file with the state to start with: a dump of the control plane, an archive of \"consul \
             snapshot save\", or keys as \"consul kv export\" prints them; separate several with commas. May be \
             repeated (proconsul only).";
        Text port_file []
            Own "port-file" "Write the HTTP port into this file, as one line of JSON. Takes a free port unless one is \
             set (proconsul only).";
        Unsigned seed [] Own "seed" "The seed of ids and jitter: the same seed gives the same values (proconsul only).";
        List service_files []
            Own "services" "A file of services and checks to start with, as \"consul services register\" takes it, or \
             a folder of such files; separate several with commas. May be repeated (proconsul only).";
        Bool strict []
            Own "strict" "Treat endpoints that are not emulated as unknown paths, instead of responding with 501 \
             (proconsul only).";

        // Consul's configuration keys.
        Text acl_datacenter ["acl_datacenter"];
        Text acl_default_policy ["acl.default_policy", "acl_default_policy"];
        Text acl_down_policy ["acl.down_policy", "acl_down_policy"];
        Bool acl_enable_key_list_policy ["acl.enable_key_list_policy", "acl_enable_key_list_policy"];
        Bool acl_enabled ["acl.enabled"];
        Text acl_token_agent ["acl.tokens.agent", "acl_agent_token"];
        Text acl_agent_master_token ["acl_agent_master_token"];
        Text acl_master_token ["acl_master_token"];
        Text acl_policy_ttl ["acl.policy_ttl"];
        Text acl_role_ttl ["acl.role_ttl"];
        Text acl_token_agent_master ["acl.tokens.agent_master"];
        Text acl_token_agent_recovery ["acl.tokens.agent_recovery"];
        Text acl_token_config_file_service_registration ["acl.tokens.config_file_service_registration"];
        Text acl_token_default ["acl.tokens.default", "acl_token"];
        Text acl_token_dns ["acl.tokens.dns"];
        Text acl_token_initial_management ["acl.tokens.initial_management"];
        Text acl_token_master ["acl.tokens.master"];
        Text acl_token_replication ["acl.tokens.replication", "acl_replication_token"];
        Text acl_token_ttl ["acl.token_ttl"];
        Text acl_ttl ["acl_ttl"];
        Text addresses_dns ["addresses.dns"];
        Text addresses_http ["addresses.http"];
        Text addresses_https ["addresses.https"];
        Text advertise_addr ["advertise_addr"] Sets "advertise" "The address that the node is registered with.";
        Text alt_domain ["alt_domain"] Sets "alt-domain" "A second domain that DNS answers.";
        List allow_write_http_from ["http_config.allow_write_http_from"]
            Sets "allow-write-http-from" "A network in CIDR form from which writing is allowed. May be repeated.";
        Text bind_addr ["bind_addr"] Sets "bind" "The address shown as that of the cluster.";
        List block_endpoints ["http_config.block_endpoints"];
        Bool bootstrap ["bootstrap"] Sets "bootstrap" "A server that elects itself.";
        Integer bootstrap_expect ["bootstrap_expect"]
            Sets "bootstrap-expect" "How many servers to wait for. There is one, and it does not wait.";
        Integer check_output_max_size ["check_output_max_size"];
        Text check_update_interval ["check_update_interval"];
        Tree checks ["check"];
        Text client_addr ["client_addr"] Sets "client" "The addresses at which HTTP is served.";
        Bool connect_enabled ["connect.enabled"];
        Text data_dir ["data_dir"]
            Sets "data-dir" "A folder, created if missing, in which a bootstrap of ACLs looks for acl-bootstrap-reset. Nothing is stored there.";
        Text datacenter ["datacenter"] Sets "datacenter" "The name of the datacenter.";
        Text default_query_time ["default_query_time"]
            Sets "default-query-time" "How long a blocking query waits that does not say.";
        Bool disable_http_unprintable_char_filter ["disable_http_unprintable_char_filter"];
        Bool disable_kv_key_validation ["disable_kv_key_validation"];
        Integer dns_a_record_limit ["dns_config.a_record_limit"];
        Bool dns_disable_compression ["dns_config.disable_compression"];
        Bool dns_enable_truncate ["dns_config.enable_truncate"];
        Bool dns_node_meta_txt ["dns_config.enable_additional_node_meta_txt"];
        Text dns_node_ttl ["dns_config.node_ttl"];
        Bool dns_only_passing ["dns_config.only_passing"];
        Map dns_service_ttl ["dns_config.service_ttl"];
        Unsigned dns_soa_expire ["dns_config.soa.expire"];
        Unsigned dns_soa_min_ttl ["dns_config.soa.min_ttl"];
        Unsigned dns_soa_refresh ["dns_config.soa.refresh"];
        Unsigned dns_soa_retry ["dns_config.soa.retry"];
        Integer dns_udp_answer_limit ["dns_config.udp_answer_limit"];
        Text domain ["domain"] Sets "domain" "The domain that DNS answers.";
        Bool enable_debug ["enable_debug"];
        Bool enable_local_script_checks ["enable_local_script_checks"]
            Sets "enable-local-script-checks" "Run the script checks of configuration files.";
        Bool enable_script_checks ["enable_script_checks"]
            Sets "enable-script-checks" "Run script checks, also those that clients register.";
        Text https_handshake_timeout ["limits.https_handshake_timeout"];
        Integer http_max_conns_per_client ["limits.http_max_conns_per_client"];
        Unsigned kv_max_value_size ["limits.kv_max_value_size"];
        Bool leave_on_terminate ["leave_on_terminate"];
        Bool log_json ["log_json"] Sets "log-json" "Print the log as JSON.";
        Text log_level ["log_level"] Sets "log-level" "The least important lines to print.";
        Integer max_header_bytes ["http_config.max_header_bytes"];
        Text max_query_time ["max_query_time"] Sets "max-query-time" "How long a blocking query may wait at most.";
        Text node_id ["node_id"] Sets "node-id" "The id of the node, a UUID.";
        Map node_meta ["node_meta"] Sets "node-meta" "A key:value that the node says of itself. May be repeated.";
        Text node_name ["node_name"] Sets "node" "The name of the node.";
        Text pid_file ["pid_file"] Sets "pid-file" "A file for the id of the process.";
        // HTTP, HTTPS and DNS are served. The ports between servers are shown where Consul shows them; the start names the others as
        // without effect.
        Integer ports_dns ["ports.dns"] Sets "dns-port" "The port at which DNS is served; 0 or less disables it.";
        Integer ports_grpc ["ports.grpc"] Sets "grpc-port" "Accepted; gRPC is not served.";
        Integer ports_grpc_tls ["ports.grpc_tls"] Sets "grpc-tls-port" "Accepted; gRPC is not served.";
        Integer ports_http ["ports.http"] Sets "http-port" "The port at which HTTP is served; 0 or less disables it.";
        Integer ports_https ["ports.https"] Sets "https-port" "The port at which HTTPS is served; 0 or less disables it.";
        Integer ports_serf_lan ["ports.serf_lan"] Sets "serf-lan-port" "Shown; nothing listens.";
        Integer ports_serf_wan ["ports.serf_wan"] Sets "serf-wan-port" "Shown; nothing listens.";
        Integer ports_server ["ports.server"] Sets "server-port" "Shown, by status/leader too; nothing listens.";
        Text primary_datacenter ["primary_datacenter"];
        Map response_headers ["http_config.response_headers"];
        Text http_write_timeout ["http_config.write_timeout"];
        Bool server ["server"] Sets "server" "A server and not a client agent.";
        Tree config_entries [];
        Tree services ["service"];
        Text session_ttl_min ["session_ttl_min"];
        Bool skip_leave_on_interrupt ["skip_leave_on_interrupt"];
        Bool telemetry_disable_hostname ["telemetry.disable_hostname"];
        Bool telemetry_filter_default ["telemetry.filter_default"];
        Text telemetry_metrics_prefix ["telemetry.metrics_prefix"];
        List telemetry_prefix_filter ["telemetry.prefix_filter"];
        Text telemetry_prometheus_retention_time ["telemetry.prometheus_retention_time"];
        // Each name without a group is an earlier one of the defaults of all protocols.
        Text tls_ca_file ["tls.defaults.ca_file", "ca_file"];
        Text tls_ca_path ["tls.defaults.ca_path", "ca_path"];
        Text tls_cert_file ["tls.defaults.cert_file", "cert_file"];
        Text tls_https_ca_file ["tls.https.ca_file"];
        Text tls_https_ca_path ["tls.https.ca_path"];
        Text tls_https_cert_file ["tls.https.cert_file"];
        Text tls_https_key_file ["tls.https.key_file"];
        Text tls_https_min_version ["tls.https.tls_min_version"];
        Bool tls_https_verify_incoming ["tls.https.verify_incoming"];
        Text tls_key_file ["tls.defaults.key_file", "key_file"];
        Text tls_min_version ["tls.defaults.tls_min_version", "tls_min_version"];
        Bool tls_verify_incoming ["tls.defaults.verify_incoming", "verify_incoming"];
        Bool translate_wan_addrs ["translate_wan_addrs"];
        Unsigned txn_max_req_len ["limits.txn_max_req_len"];
        Bool ui ["ui"] Sets "ui" "Serve the web UI at /ui/.";
        Bool ui_config_enabled ["ui_config.enabled"];
        Bool use_cache ["http_config.use_cache"];
        Bool use_streaming_backend ["use_streaming_backend"];
        Bool verify_incoming_https ["verify_incoming_https"];
    }
    also {
        Trees checks ["checks"];
        Trees config_entries ["config_entries.bootstrap"];
        Trees services ["services"];
    }
}

/// Flags of Consul that are not emulated: the start names them, and `--strict` refuses them. An equals sign
/// marks those with an argument.
pub const IGNORED_FLAGS: &str = "
    advertise-wan= auto-reload-config check_output_max_size= encrypt= log-file=
    non-voting-server read-replica recursor= segment= syslog ui-content-path= ui-dir=
";

/// Flags that change nothing for clients of a server without disk and peers. The start names them.
pub const MOOT_FLAGS: &str = "
    disable-host-node-id disable-keyring-file join-wan= join= log-rotate-bytes= log-rotate-duration=
    log-rotate-max-files= primary-gateway= protocol= raft-protocol= rejoin retry-interval-wan= retry-interval=
    retry-join-wan= retry-join= retry-max-wan= retry-max= serf-lan-allowed-cidrs= serf-lan-bind=
    serf-wan-allowed-cidrs= serf-wan-bind=
";

/// Keys of Consul that are not emulated. Their values are not checked.
pub const IGNORED_KEYS: &str = "
    addresses.grpc addresses.grpc_tls advertise_addr_ipv4 advertise_addr_ipv6
    advertise_addr_wan advertise_addr_wan_ipv4 advertise_addr_wan_ipv6 audit auto_config auto_encrypt
    auto_reload_config autopilot cache cloud connect.ca_config
    connect.ca_provider connect.enable_mesh_gateway_wan_federation connect.enable_serverless_plugin connect.test_ca_leaf_root_change_spread
    default_intention_policy disable_coordinates discard_check_output enable_agent_tls_for_checks
    enable_central_service_config enable_syslog encrypt encrypt_verify_incoming encrypt_verify_outgoing
    experiments feature_gates http_config.idle_timeout http_config.read_header_timeout http_config.read_timeout
    limits.request_limits limits.rpc_max_burst limits.rpc_max_conns_per_client
    limits.rpc_rate locality log_file non_voting_server partition peering read_replica recursors reporting rpc segment
    segments server_name syslog_facility tagged_addresses
    telemetry.circonus_api_app telemetry.circonus_api_token telemetry.circonus_api_url telemetry.circonus_broker_id
    telemetry.circonus_broker_select_tag telemetry.circonus_check_display_name telemetry.circonus_check_force_metric_activation
    telemetry.circonus_check_id telemetry.circonus_check_instance_id telemetry.circonus_check_search_tag telemetry.circonus_check_tags
    telemetry.circonus_submission_interval telemetry.circonus_submission_url telemetry.disable_per_tenancy_usage_metrics
    telemetry.dogstatsd_addr telemetry.dogstatsd_tags telemetry.enable_host_metrics telemetry.retry_failed_connection
    telemetry.statsd_address telemetry.statsite_address tls.defaults.tls_cipher_suites tls.defaults.verify_outgoing
    tls.defaults.verify_server_hostname tls.enable_agent_tls_for_checks tls.grpc tls.https.tls_cipher_suites
    tls.defaults.tls_ecdh_curves tls.https.tls_ecdh_curves
    tls.https.verify_outgoing tls.internal_rpc tls_cipher_suites tls_prefer_server_cipher_suites ui_config.content_path ui_config.dashboard_url_templates ui_config.dir
    ui_config.metrics_provider ui_config.metrics_provider_files ui_config.metrics_provider_options_json
    ui_config.metrics_proxy ui_content_path ui_dir unix_sockets verify_incoming_rpc verify_outgoing verify_server_hostname watches xds
";

/// Keys that change nothing for clients of a server without disk and peers. Their values are not checked.
pub const MOOT_KEYS: &str = "
    acl.disabled_ttl acl.enable_token_persistence acl.enable_token_replication acl_enforce_version_8
    advertise_reconnect_timeout
    disable_anonymous_signature disable_host_node_id disable_keyring_file disable_remote_exec disable_update_check discovery_max_stale
    dns_config.allow_stale dns_config.cache_max_age dns_config.max_stale dns_config.prefer_namespace
    dns_config.recursor_strategy dns_config.recursor_timeout dns_config.use_cache
    enable_acl_replication gossip_lan gossip_wan license_path limits.grpc_max_conns_per_client
    limits.rpc_client_timeout limits.rpc_handshake_timeout log_rotate_bytes log_rotate_duration log_rotate_max_files
    performance ports.expose_max_port ports.expose_min_port ports.proxy_max_port ports.proxy_min_port ports.rpc
    ports.sidecar_max_port ports.sidecar_min_port primary_gateways primary_gateways_interval protocol raft_logstore
    raft_prevote_disabled raft_protocol raft_snapshot_interval raft_snapshot_threshold raft_trailing_logs
    reconnect_timeout reconnect_timeout_wan rejoin_after_leave retry_interval retry_interval_wan retry_join
    retry_join_wan retry_max retry_max_wan serf_lan serf_lan_allowed_cidrs serf_wan serf_wan_allowed_cidrs
    server_rejoin_age_max start_join start_join_wan version
";

/// Keys that earlier releases refuse. The contract does not say which release added which key of the first row, so all
/// releases from 1.9 on accept all of them.
pub const LATER_KEYS: &[(Behaviour, &str)] = &[
    (
        Behaviour::CliLaterKeys,
        "acl.tokens.agent_recovery acl.tokens.config_file_service_registration acl.tokens.dns acl.tokens.initial_management
        addresses.grpc_tls advertise_addr_wan_ipv6 advertise_reconnect_timeout auto_reload_config cloud
        connect.enable_serverless_plugin default_intention_policy disable_kv_key_validation dns_config.recursor_strategy
        experiments http_config.max_header_bytes license_path limits.request_limits limits.rpc_client_timeout locality
        partition peering ports.grpc_tls raft_logstore raft_prevote_disabled read_replica reporting rpc
        server_rejoin_age_max telemetry.disable_per_tenancy_usage_metrics telemetry.enable_host_metrics
        telemetry.retry_failed_connection tls ui_config use_streaming_backend xds",
    ),
    (
        Behaviour::CliHttpTimeouts,
        "http_config.idle_timeout http_config.read_header_timeout http_config.read_timeout http_config.write_timeout",
    ),
    (Behaviour::CliGrpcLimit, "limits.grpc_max_conns_per_client"),
    (
        Behaviour::CliTwoOne,
        "feature_gates tls.defaults.tls_ecdh_curves tls.https.tls_ecdh_curves",
    ),
];
