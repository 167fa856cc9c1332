//! `DebugConfig` of `/v1/agent/self`: the settings of the running agent (operator.md 8).

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::pipeline::context::Context;
use proconsul_config::{Config, Listener, TelemetryConfig};
use proconsul_gocompat::duration;
use proconsul_gocompat::json::maps;
use proconsul_version::{BUILD_DATE, Behaviour};

/// The settings that this server lacks, with their values in a `-dev` agent. All of 1.8.7's are there; of 1.22's those
/// that the contract names.
static FIXED: LazyLock<Fixed> = LazyLock::new(|| {
    let mut sections: Map<String, Value> =
        serde_json::from_str(include_str!("config.json")).expect("the file is JSON");
    let mut section = |name| match sections.remove(name) {
        Some(Value::Object(section)) => section,
        _ => panic!("the file has no section {name}"),
    };
    Fixed {
        always: section("every release"),
        before: section("before"),
        after: section("after"),
    }
});

/// The sections of `config.json`.
struct Fixed {
    always: Map<String, Value>,
    /// The settings of releases before [`Behaviour::JsonDebugConfigNested`].
    before: Map<String, Value>,
    /// The settings since then.
    after: Map<String, Value>,
}

/// Returns all settings. Like Consul's maps, a [`Value`] is printed in the order of its names.
pub(in crate::api::agent) fn debug_config(context: &Context) -> Value {
    let is_nested = context.has(Behaviour::JsonDebugConfigNested);
    let fixed = if is_nested {
        &FIXED.after
    } else {
        &FIXED.before
    };
    let by_release = if is_nested { nested } else { flat };
    let config = &context.config;
    let own = [
        addresses(config),
        settings(config),
        dns(config),
        by_release(config),
    ];
    let own = own.into_iter().filter_map(|part| match part {
        Value::Object(part) => Some(part),
        _ => None,
    });
    let mut all = FIXED.always.clone();
    all.extend(fixed.clone());
    all.extend(own.flatten());
    all.insert("NodeID".to_owned(), context.node_id().into());
    Value::Object(all)
}

/// The addresses and ports of the agent.
fn addresses(config: &Config) -> Value {
    let (http, https) = (&config.listeners, &config.https.listeners);
    let (bound, advertised) = (config.bind_address, config.advertise_address);
    let wan = |ip: IpAddr| {
        config
            .serf_wan_port
            .map_or_else(String::new, |port| tcp(ip, port))
    };
    json!({
        "AdvertiseAddrLAN": advertised,
        "AdvertiseAddrWAN": advertised,
        "BindAddr": bound,
        "ClientAddrs": config.http_addresses(),
        "HTTPAddrs": urls(http),
        "HTTPPort": port(http),
        "HTTPSAddrs": urls(https),
        "HTTPSPort": port(https),
        "RPCAdvertiseAddr": tcp(advertised, config.server_port),
        "RPCBindAddr": tcp(bound, config.server_port),
        "SerfAdvertiseAddrLAN": tcp(advertised, config.serf_lan_port),
        "SerfAdvertiseAddrWAN": wan(advertised),
        "SerfBindAddrLAN": tcp(bound, config.serf_lan_port),
        "SerfBindAddrWAN": wan(bound),
        "SerfPortLAN": config.serf_lan_port,
        "SerfPortWAN": config.serf_wan_port.map_or(-1, i32::from),
        "ServerPort": config.server_port,
        "TaggedAddresses": config.tagged_addresses(),
    })
}

fn urls(listeners: &[Listener]) -> Vec<String> {
    let urls = listeners.iter().map(|listener| match listener {
        Listener::Tcp(address) => format!("tcp://{address}"),
        Listener::Unix(path) => format!("unix://{}", path.display()),
    });
    urls.collect()
}

fn port(listeners: &[Listener]) -> i32 {
    let port = listeners.iter().find_map(|listener| match listener {
        Listener::Tcp(address) => Some(i32::from(address.port())),
        Listener::Unix(_) => None,
    });
    port.unwrap_or(-1)
}

/// The settings of DNS, as far as there are any here (cluster.md 6, 1.8.7).
fn dns(config: &Config) -> Value {
    let dns = &config.dns;
    let networks = ["tcp", "udp"].into_iter();
    let addresses = networks.flat_map(|network| {
        let listeners = dns.listeners.iter();
        listeners.map(move |address| format!("{network}://{address}"))
    });
    let ttls = dns.service_ttl.iter();
    json!({
        "DNSAddrs": addresses.collect::<Vec<_>>(),
        "DNSARecordLimit": dns.a_record_limit,
        "DNSAltDomain": dns.alt_domain,
        "DNSDisableCompression": dns.disable_compression,
        "DNSDomain": format!("{}.", dns.domain),
        "DNSEnableTruncate": dns.enable_truncate,
        "DNSNodeMetaTXT": dns.node_meta_txt,
        "DNSNodeTTL": text(dns.node_ttl),
        "DNSOnlyPassing": dns.only_passing,
        "DNSPort": dns.listeners.first().map_or(-1, |address| i32::from(address.port())),
        "DNSSOA": {
            "Expire": dns.soa.expire,
            "Minttl": dns.soa.min_ttl,
            "Refresh": dns.soa.refresh,
            "Retry": dns.soa.retry,
        },
        "DNSServiceTTL": maps::collect(ttls.map(|(name, ttl)| (name.clone(), text(*ttl)))),
        "DNSUDPAnswerLimit": dns.udp_answer_limit,
    })
}

/// The other settings that this server has.
fn settings(config: &Config) -> Value {
    // A minimum that was not set shows as zero.
    let is_default = config.session_ttl_min == Config::default().session_ttl_min;
    let ttl_min = if is_default {
        Duration::ZERO
    } else {
        config.session_ttl_min
    };
    json!({
        "ACLsEnabled": config.acl.enabled,
        "AllowWriteHTTPFrom": texts(&config.allow_write_http_from),
        "CheckOutputMaxSize": config.check_output_max_size,
        "CheckUpdateInterval": text(config.check_update_interval),
        "ConnectEnabled": config.connect,
        "Datacenter": config.datacenter,
        "DefaultQueryTime": text(config.default_query_time),
        "DevMode": config.dev,
        "DisableHTTPUnprintableCharFilter": config.disable_http_unprintable_char_filter,
        "EnableDebug": config.enable_debug,
        "EnableLocalScriptChecks": config.enable_local_script_checks || config.enable_script_checks,
        "EnableRemoteScriptChecks": config.enable_script_checks,
        "HTTPBlockEndpoints": config.block_endpoints,
        "HTTPMaxConnsPerClient": config.http_max_conns_per_client,
        "HTTPSHandshakeTimeout": text(config.https.handshake_timeout),
        "HTTPResponseHeaders": maps::collect(config.response_headers.iter().cloned()),
        "HTTPUseCache": config.use_cache,
        "KVMaxValueSize": config.kv_max_value_size,
        "Logging": {
            "EnableSyslog": false,
            "LogFilePath": "",
            "LogJSON": config.log_json,
            "LogLevel": config.log_level.name(),
            "LogRotateBytes": 0,
            "LogRotateDuration": "0s",
            "LogRotateMaxFiles": 0,
            "Name": "",
            "SyslogFacility": "LOCAL0",
        },
        "MaxQueryTime": text(config.max_query_time),
        "NodeMeta": config.node_meta,
        "NodeName": config.node_name,
        "PidFile": config.pid_file.clone().unwrap_or_default(),
        "PrimaryDatacenter": config.primary_datacenter,
        "Revision": config.version.revision(),
        "ServerMode": config.server,
        "SessionTTLMin": text(ttl_min),
        "TranslateWANAddrs": config.translate_wan_addrs,
        "TxnMaxReqLen": config.txn_max_req_len,
        "Version": config.version.to_string(),
    })
}

/// The settings of metrics, with those of sinks that this server has not.
fn telemetry(telemetry: &TelemetryConfig) -> Value {
    let mut all = FIXED.before["Telemetry"].clone();
    all["AllowedPrefixes"] = json!(telemetry.allowed_prefixes);
    all["BlockedPrefixes"] = json!(telemetry.blocked_prefixes);
    all["DisableHostname"] = json!(telemetry.disable_hostname);
    all["FilterDefault"] = json!(telemetry.filter_default);
    all["MetricsPrefix"] = json!(telemetry.metrics_prefix);
    all["PrometheusRetentionTime"] = json!(text(telemetry.prometheus_retention_time));
    all
}

/// The settings that earlier releases show by themselves.
fn flat(config: &Config) -> Value {
    let https = &config.https;
    let path = |path: &Option<PathBuf>| path.clone().unwrap_or_default();
    json!({
        "CAFile": path(&https.ca_file),
        "CAPath": path(&https.ca_path),
        "CertFile": path(&https.cert_file),
        "TLSMinVersion": https.min_version.early_name(),
        "Telemetry": telemetry(&config.telemetry),
        "ACLDatacenter": config.primary_datacenter,
        "ACLDefaultPolicy": config.acl.default_policy,
        "ACLDownPolicy": config.acl.down_policy,
        "ACLEnableKeyListPolicy": config.acl.enable_key_list_policy,
        "EnableUI": config.ui,
    })
}

/// The settings that later releases show inside others, and those that they added.
fn nested(config: &Config) -> Value {
    // A maximum that was not set shows as zero.
    let is_default = config.max_header_bytes == Config::default().max_header_bytes;
    let max_header_bytes = if is_default {
        0
    } else {
        config.max_header_bytes
    };
    json!({
        "ACLResolverSettings": {
            "ACLDefaultPolicy": config.acl.default_policy,
            "ACLsEnabled": config.acl.enabled,
            "Datacenter": config.datacenter,
            "NodeName": config.node_name,
        },
        "BuildDate": BUILD_DATE.replace('T', " ").replace('Z', " +0000 UTC"),
        "DisableKVKeyValidation": config.disable_kv_key_validation,
        "HTTPMaxHeaderBytes": max_header_bytes,
        "UIConfig": { "Enabled": config.ui },
        "UseStreamingBackend": config.use_streaming_backend,
    })
}

fn tcp(ip: IpAddr, port: u16) -> String {
    format!("tcp://{}", SocketAddr::new(ip, port))
}

fn text(time: Duration) -> String {
    duration::format(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

fn texts(values: &[impl Display]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}
