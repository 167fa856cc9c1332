//! The JSON of the agent's own services and checks (session.md 4.4, 1.22.md B4.4).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::http::api::catalog::wire::{Address, NO_LABELS, Weights, addresses};
use crate::http::body::proxy_wire::{Connect, Proxy};
use crate::store::{CheckRow, Index, Labels, LocalCheck, LocalService, NewService, ServiceRow};
use crate::version::{Behaviour, Version};

/// A service of the agent's.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct AgentService<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'a str,
    #[serde(rename = "ID")]
    id: &'a str,
    service: &'a str,
    tags: &'a [String],
    meta: &'a Labels,
    port: i64,
    address: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tagged_addresses: Option<BTreeMap<&'a str, Address<'a>>>,
    weights: Weights,
    enable_tag_override: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<Proxy<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect: Option<Connect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    datacenter: Option<&'a str>,
}

impl<'a> AgentService<'a> {
    pub(crate) fn new(service: &'a NewService, datacenter: &'a str, version: Version) -> Self {
        Self {
            kind: &service.kind,
            id: &service.id,
            service: &service.name,
            tags: service.tags(),
            meta: service.meta.as_ref().unwrap_or(&NO_LABELS),
            port: service.port,
            address: &service.address,
            tagged_addresses: addresses(service),
            weights: Weights::new(service),
            enable_tag_override: service.enable_tag_override,
            content_hash: None,
            proxy: Proxy::of_agent(service, version),
            connect: service.connect_native.then(|| Connect::new(service)),
            datacenter: version
                .has(Behaviour::JsonAgentServiceDatacenter)
                .then_some(datacenter),
        }
    }
}

/// A check of the agent's in the form of the catalog's, where it has no indexes.
pub(crate) fn as_row(local: &LocalCheck, node: &str) -> CheckRow {
    CheckRow {
        node: node.to_owned(),
        check: local.check.clone(),
        service_name: local.service_name.clone(),
        service_tags: local.service_tags.clone(),
        create_index: Index::ZERO,
        modify_index: Index::ZERO,
    }
}

/// A service of the agent's in the form of the catalog's, where it has no indexes.
pub(crate) fn as_service_row(local: &LocalService, node: &str) -> ServiceRow {
    ServiceRow {
        node: node.to_owned(),
        service: local.service.clone(),
        create_index: Index::ZERO,
        modify_index: Index::ZERO,
    }
}

/// A service with its checks, and what they come to.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ServiceHealth<'a> {
    pub(crate) aggregated_status: &'static str,
    pub(crate) service: Option<AgentService<'a>>,
    pub(crate) checks: Option<Vec<HealthCheck<'a>>>,
}

/// A check as `agent/health/service` shows it: nothing of how it is run, but all the fields for it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct HealthCheck<'a> {
    node: &'a str,
    #[serde(rename = "CheckID")]
    check_id: &'a str,
    name: &'a str,
    status: &'a str,
    notes: &'a str,
    output: &'a str,
    #[serde(rename = "ServiceID")]
    service_id: &'a str,
    service_name: &'a str,
    service_tags: Option<&'a [String]>,
    r#type: &'static str,
    definition: NoDefinition,
    create_index: u64,
    modify_index: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct NoDefinition {
    interval: &'static str,
    timeout: &'static str,
    deregister_critical_service_after: &'static str,
    #[serde(rename = "HTTP")]
    http: &'static str,
    header: Option<()>,
    method: &'static str,
    body: &'static str,
    #[serde(rename = "TLSSkipVerify")]
    tls_skip_verify: bool,
    #[serde(rename = "TCP")]
    tcp: &'static str,
}

impl<'a> HealthCheck<'a> {
    pub(crate) fn new(local: &'a LocalCheck, node: &'a str) -> Self {
        let check = &local.check;
        Self {
            node,
            check_id: &check.check_id,
            name: &check.name,
            status: &check.status,
            notes: &check.notes,
            output: &check.output,
            service_id: &check.service_id,
            service_name: &local.service_name,
            service_tags: local.service_tags.as_deref(),
            r#type: "",
            definition: NoDefinition {
                interval: "0s",
                timeout: "0s",
                deregister_critical_service_after: "0s",
                http: "",
                header: None,
                method: "",
                body: "",
                tls_skip_verify: false,
                tcp: "",
            },
            create_index: 0,
            modify_index: 0,
        }
    }
}
