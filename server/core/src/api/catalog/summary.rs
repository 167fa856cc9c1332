//! Services as Consul's own page lists them: the sum of the instances of each (operator.md 3.r12).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::reply::object::object;
use crate::request::Request;
use proconsul_store::{GatewayService, Instance};
use proconsul_version::Behaviour;

/// The metadata that says where an instance was registered from.
const SOURCE: &str = "external-source";
/// The domain of the cluster's names.
const DOMAIN: &str = "consul.";

/// The services by name.
#[derive(Default)]
pub(super) struct Summaries<'a>(BTreeMap<&'a str, Summary<'a>>);

/// The sum of the instances of a service.
#[derive(Default)]
struct Summary<'a> {
    /// The kind of the last instance; empty for a typical service.
    kind: &'a str,
    /// The datacenter of the instances; empty without any.
    datacenter: &'a str,
    tags: BTreeSet<&'a str>,
    /// The nodes of the instances, each as often as it has some.
    nodes: Vec<&'a str>,
    proxy_for: Vec<&'a str>,
    sources: Vec<&'a str>,
    passing: usize,
    warning: usize,
    critical: usize,
    /// Where a gateway serves the service.
    addresses: Vec<String>,
    is_transparent: bool,
    is_native: bool,
}

impl<'a> Summaries<'a> {
    /// Adds an instance to its service.
    pub(super) fn count(&mut self, instance: &'a Instance) {
        let service = &instance.service.service;
        let summary = self.0.entry(&service.name).or_default();
        summary.kind = &service.kind;
        summary.datacenter = &instance.node.node.datacenter;
        summary
            .tags
            .extend(service.tags().iter().map(String::as_str));
        summary.nodes.push(&instance.node.node.node);
        if service.kind == "connect-proxy" {
            add(&mut summary.proxy_for, &service.proxy.destination_name);
        }
        let source = service.meta.as_ref().and_then(|meta| meta.get(SOURCE));
        if let Some(source) = source.filter(|source| !source.is_empty()) {
            add(&mut summary.sources, source);
        }
        for row in &instance.checks {
            match row.check.status.as_str() {
                "passing" => summary.passing += 1,
                "warning" => summary.warning += 1,
                "critical" => summary.critical += 1,
                _ => {}
            }
        }
        summary.is_transparent |= service.proxy.mode == "transparent";
        summary.is_native |= service.connect_native;
    }

    /// Adds a service that a gateway serves, with its addresses there.
    pub(super) fn reach(&mut self, behind: &'a GatewayService, datacenter: &str) {
        let addresses = &mut self.0.entry(&behind.service).or_default().addresses;
        if behind.gateway_kind != "ingress-gateway" {
            return;
        }
        let port = behind.port;
        let known = addresses.len();
        addresses.extend(
            behind
                .fields
                .texts("Hosts")
                .map(|host| format!("{host}:{port}")),
        );
        if addresses.len() == known {
            let name = &behind.service;
            addresses.push(format!("{name}.ingress.{datacenter}.{DOMAIN}:{port}"));
        }
    }

    /// Returns the services with their sums.
    pub(super) fn shown(self, request: &Request) -> Vec<impl Serialize + use<>> {
        self.each(request, false)
    }

    /// Returns the services with their sums, as the list of all has them: in later releases with what leads to
    /// each.
    pub(super) fn listed(self, request: &Request) -> Vec<impl Serialize + use<>> {
        self.each(request, true)
    }

    fn each(self, request: &Request, is_list: bool) -> Vec<impl Serialize + use<>> {
        let is_late = request.has(Behaviour::PageSummaries);
        let has_ways = is_late && is_list;
        let proxied: BTreeSet<&str> = match has_ways {
            true => self
                .0
                .values()
                .flat_map(|it| &it.proxy_for)
                .copied()
                .collect(),
            false => BTreeSet::new(),
        };
        let services = self.0.into_iter();
        let shown = services.map(|(name, mut it)| {
            it.nodes.sort_unstable();
            let sources = list(it.sources);
            object! {
                "Kind" if !it.kind.is_empty() => it.kind.to_owned(),
                "Name" => name.to_owned(),
                "Datacenter" if is_late => it.datacenter.to_owned(),
                "Tags" => list(it.tags),
                "Nodes" => list(it.nodes.iter().copied()),
                "ExternalSources" if is_late => sources.clone(),
                "InstanceCount" => it.nodes.len(),
                "ProxyFor" if !is_late && !it.proxy_for.is_empty() => list(it.proxy_for),
                "ChecksPassing" => it.passing,
                "ChecksWarning" => it.warning,
                "ChecksCritical" => it.critical,
                "ExternalSources" if !is_late => sources,
                "GatewayConfig" => object! {
                    "Addresses" if !it.addresses.is_empty() => it.addresses,
                },
                "TransparentProxy" if is_late => it.is_transparent,
                "ConnectNative" if is_late => it.is_native,
                "ConnectedWithProxy" if has_ways => proxied.contains(name),
// Consul says so of no service (operator.md 3.r15).
                "ConnectedWithGateway" if has_ways => false,
            }
        });
        shown.collect()
    }
}

/// Adds a name to a list, unless it has it.
fn add<'a>(names: &mut Vec<&'a str>, name: &'a str) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// Returns a list as Go prints one that was never made if it is empty: `None`.
fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Vec<String>> {
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}
