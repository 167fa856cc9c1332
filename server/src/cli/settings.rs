//! What flags and configuration files have said so far, before it is resolved.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;

/// One field per thing that can be said; what nobody said is `None` or empty.
///
/// Sources are laid over each other by writing into the same `Settings` in Consul's order (files, flags, `-hcl`): a
/// later value takes the place of the former, lists are appended to, maps are merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    // Flags only.
    pub(super) config_format: Option<String>,
    pub(super) config_paths: Vec<String>,
    pub(super) dev: Option<bool>,
    /// Of the verb `version`.
    pub(super) format: Option<String>,
    pub(super) hcl: Vec<String>,

    // Our own flags.
    /// Which of them a variable has set, and no flag has set again.
    pub(super) by_variable: BTreeSet<&'static str>,
    pub(super) allow_hosts: Vec<String>,
    pub(super) as_version: Option<String>,
    pub(super) control: Option<bool>,
    pub(super) control_addr: Option<String>,
    pub(super) control_port: Option<u64>,
    pub(super) http_port_ephemeral: Option<bool>,
    pub(super) port_file: Option<String>,
    pub(super) seed: Option<u64>,
    pub(super) strict: Option<bool>,

    // Consul's configuration keys, under their names.
    pub(super) acl_datacenter: Option<String>,
    pub(super) acl_default_policy: Option<String>,
    pub(super) acl_enabled: Option<bool>,
    pub(super) addresses_http: Option<String>,
    pub(super) advertise_addr: Option<String>,
    pub(super) allow_write_http_from: Vec<String>,
    pub(super) bind_addr: Option<String>,
    pub(super) block_endpoints: Vec<String>,
    pub(super) bootstrap: Option<bool>,
    pub(super) bootstrap_expect: Option<i64>,
    pub(super) check_output_max_size: Option<i64>,
    pub(super) check_update_interval: Option<String>,
    pub(super) checks: Vec<Tree>,
    pub(super) client_addr: Option<String>,
    pub(super) datacenter: Option<String>,
    pub(super) default_query_time: Option<String>,
    pub(super) disable_http_unprintable_char_filter: Option<bool>,
    pub(super) disable_kv_key_validation: Option<bool>,
    pub(super) enable_local_script_checks: Option<bool>,
    pub(super) enable_script_checks: Option<bool>,
    pub(super) http_max_conns_per_client: Option<i64>,
    pub(super) kv_max_value_size: Option<u64>,
    pub(super) leave_on_terminate: Option<bool>,
    pub(super) log_json: Option<bool>,
    pub(super) log_level: Option<String>,
    pub(super) max_header_bytes: Option<i64>,
    pub(super) max_query_time: Option<String>,
    pub(super) node_id: Option<String>,
    pub(super) node_meta: BTreeMap<String, String>,
    pub(super) node_name: Option<String>,
    pub(super) pid_file: Option<String>,
    pub(super) ports: Ports,
    pub(super) primary_datacenter: Option<String>,
    pub(super) response_headers: BTreeMap<String, String>,
    pub(super) server: Option<bool>,
    pub(super) services: Vec<Tree>,
    pub(super) session_ttl_min: Option<String>,
    pub(super) skip_leave_on_interrupt: Option<bool>,
    pub(super) translate_wan_addrs: Option<bool>,
    pub(super) txn_max_req_len: Option<u64>,
    pub(super) ui: Option<bool>,
    pub(super) use_cache: Option<bool>,
    pub(super) use_streaming_backend: Option<bool>,
}

/// `ports`: only HTTP is served. Those of the servers among each other are shown where Consul shows them; the others are
/// accepted, and named as without effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ports {
    pub(super) dns: Option<i64>,
    pub(super) grpc: Option<i64>,
    pub(super) grpc_tls: Option<i64>,
    pub(super) http: Option<i64>,
    pub(super) https: Option<i64>,
    pub(super) serf_lan: Option<i64>,
    pub(super) serf_wan: Option<i64>,
    pub(super) server: Option<i64>,
}
