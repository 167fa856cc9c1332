//! The settings of DNS.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// The settings of DNS (cluster.md 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsConfig {
    /// Where DNS is served, over UDP and TCP alike (`addresses.dns`, `ports.dns`). Default: nowhere.
    pub listeners: Vec<SocketAddr>,
    /// The domain that is answered (`domain`), in lower case, without a dot at its end. Default: `consul`.
    pub domain: String,
    /// A second domain (`alt_domain`), written in the same way. Default: empty, for none.
    pub alt_domain: String,
    /// How long the records of nodes may be kept (`dns_config.node_ttl`). Default: 0.
    pub node_ttl: Duration,
    /// How long the records of services may be kept (`dns_config.service_ttl`), by name, by prefix with a star behind it, or
    /// by the star alone. Default: none, for 0.
    pub service_ttl: BTreeMap<String, Duration>,
    /// The numbers of the record SOA (`dns_config.soa`).
    pub soa: Soa,
    /// Whether instances with a warning are left out, too (`dns_config.only_passing`). Default: false.
    pub only_passing: bool,
    /// How many records an answer over UDP to a client without EDNS has at most (`dns_config.udp_answer_limit`); 0 is no
    /// limit. Default: 3.
    pub udp_answer_limit: usize,
    /// How many addresses an answer has at most (`dns_config.a_record_limit`); 0 is no limit. Default: 0.
    pub a_record_limit: usize,
    /// Whether an answer that was cut says so (`dns_config.enable_truncate`). Default: false.
    pub enable_truncate: bool,
    /// Whether names are written whole each time (`dns_config.disable_compression`). Default: false.
    pub disable_compression: bool,
    /// Whether the metadata of nodes is added to answers of other types
    /// (`dns_config.enable_additional_node_meta_txt`). Default: true.
    pub node_meta_txt: bool,
}

/// The numbers of the record SOA, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soa {
    /// Default: 3600.
    pub refresh: u32,
    /// Default: 600.
    pub retry: u32,
    /// Default: 86400.
    pub expire: u32,
    /// Also the TTL of the record. Default: 0.
    pub min_ttl: u32,
}

impl Default for DnsConfig {
    fn default() -> Self {
        Self {
            listeners: Vec::new(),
            domain: "consul".to_owned(),
            alt_domain: String::new(),
            node_ttl: Duration::ZERO,
            service_ttl: BTreeMap::new(),
            soa: Soa {
                refresh: 3600,
                retry: 600,
                expire: 86400,
                min_ttl: 0,
            },
            only_passing: false,
            udp_answer_limit: 3,
            a_record_limit: 0,
            enable_truncate: false,
            disable_compression: false,
            node_meta_txt: true,
        }
    }
}
