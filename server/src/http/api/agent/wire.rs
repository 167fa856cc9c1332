//! The JSON of the agent's own services and checks (session.md 4.4, 1.22.md B4.4).

use serde::Serialize;

use crate::http::body::wire::{Address, Connect, NO_LABELS, Port, Proxy, Weights, locality};
use crate::http::reply::table::{Look, Surface, table};
use crate::http::request::Request;
use proconsul_store::{CheckRow, Index, LocalCheck, NewService};
use proconsul_version::Behaviour;

/// How the agent shows its services.
#[derive(Clone, Copy)]
pub(crate) struct AgentLook<'a> {
    look: Look,
    datacenter: &'a str,
    node: &'a str,
    /// The hash of the content, if it is shown.
    pub(crate) content_hash: Option<&'a str>,
}

impl<'a> AgentLook<'a> {
    pub(crate) fn new(request: &'a Request) -> Self {
        Self {
            look: Look {
                surface: Surface::Agent,
                ..Look::from(request.version())
            },
            datacenter: &request.context.config.datacenter,
            node: &request.context.config.node_name,
            content_hash: None,
        }
    }
}

impl From<AgentLook<'_>> for Look {
    fn from(agent: AgentLook<'_>) -> Self {
        agent.look
    }
}

table! {
    /// A service of the agent.
    pub(crate) AgentService of service: NewService, agent: AgentLook<'a> {
        "Kind", omitempty => text(service.kind),
        "ID" => text(service.id),
        "Service" => text(service.name),
        "Tags" => texts(service.tags()),
        "Meta" => labels(service.meta) as service.meta.as_ref().unwrap_or(&NO_LABELS),
        "Port" => number(service.main_port()),
        "Ports" since Behaviour::JsonServicePorts, omitempty => each(Port, service.ports().iter()),
        "Address" => text(service.address),
        "SocketPath" since Behaviour::JsonCatalogServiceSocketPath, omitempty =>
            text(service.socket_path),
        "TaggedAddresses", omitempty => keyed(Address, service.tagged_addresses),
        "Weights" => within(Weights, service.weights),
        "EnableTagOverride" => flag(service.enable_tag_override),
        "ContentHash" if agent.content_hash.is_some() => json(agent.content_hash),
        "Proxy" if has_proxy(service) => within(Proxy, *service.proxy),
        "Connect" if service.connect_native => within(Connect, *service),
        "Datacenter" if agent.look.has(Behaviour::JsonAgentServiceDatacenter) =>
            json(agent.datacenter),
        "Locality" if service.locality.is_some() => json(locality(service.locality.as_ref())),
    }
}

/// Whether a service is a proxy or a gateway.
fn has_proxy(service: &NewService) -> bool {
    matches!(
        service.kind.as_str(),
        "connect-proxy" | "mesh-gateway" | "terminating-gateway" | "ingress-gateway"
    )
}

/// Returns a check of the agent as a row of the catalog, with zero indexes.
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

/// A service with its checks and their worst status.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ServiceHealth<'a> {
    pub(crate) aggregated_status: &'static str,
    pub(crate) service: Option<AgentService<'a>>,
    pub(crate) checks: Option<Vec<HealthCheck<'a>>>,
}

table! {
    /// A check as `agent/health/service` shows it: with all fields of a definition, but without their values.
    pub(crate) HealthCheck of local: LocalCheck, agent: AgentLook<'a> {
        "Node" => json(agent.node),
        "CheckID" => json(local.check.check_id),
        "Name" => json(local.check.name),
        "Status" => json(local.check.status),
        "Notes" => json(local.check.notes),
        "Output" => json(local.check.output),
        "ServiceID" => json(local.check.service_id),
        "ServiceName" => json(local.service_name),
        "ServiceTags" => json(local.service_tags),
        "Type" => json(""),
        "ExposedPort" if agent.look.has(Behaviour::JsonCheckExposedPort) => json(0),
        "Definition" => json(NoDefinition::new(&(), agent)),
        "CreateIndex" => json(0),
        "ModifyIndex" => json(0),
    }
}

table! {
    /// The fields of a definition without their values.
    NoDefinition of nothing: (), look: Look {
        "Interval" => json("0s"),
        "Timeout" => json("0s"),
        "DeregisterCriticalServiceAfter" => json("0s"),
        "HTTP" => json(""),
        "Header" => json(()),
        "Method" => json(""),
        "Body" => json(""),
        "TLSServerName" if look.has(Behaviour::JsonCheckTlsServerName) => json(""),
        "TLSSkipVerify" => json(false),
        "TCP" => json(""),
        "TCPUseTLS" if look.has(Behaviour::JsonCheckTcpUseTls) => json(false),
        "UDP" if look.has(Behaviour::JsonCheckUdp) => json(""),
        "GRPC" if look.has(Behaviour::JsonClientCheckGrpc) => json(""),
        "OSService" if look.has(Behaviour::JsonCheckOsService) => json(""),
        "GRPCUseTLS" if look.has(Behaviour::JsonClientCheckGrpc) => json(false),
    }
}
