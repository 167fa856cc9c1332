//! Nodes, services, checks and settings of proxies in answers (session.md 4.5, 1.22.md B4.5). The agent leaves out
//! empty fields that the catalog shows (seen on 1.8.7).

use serde::Serialize;

use crate::http::reply::table::{Empty, Look, Surface, table};
use proconsul_gocompat::duration;
use proconsul_gocompat::json::encode::Json;
use proconsul_store::{
    self, CheckRow, Instance, Labels, NewService, NodeRow, ServiceAddress, ServicePort, ServiceRow,
};
use proconsul_version::Behaviour;

/// Missing metadata, shown as `{}`.
pub(crate) static NO_LABELS: Labels = Labels::new();

table! {
    /// A node.
    pub(crate) Node of row: NodeRow, look: Look {
        "ID" => text(row.node.id),
        "Node" => text(row.node.node),
        "Address" => text(row.node.address),
        "Datacenter" => text(row.node.datacenter),
        "TaggedAddresses" => labels(row.node.tagged_addresses)
            as look.labels(row.node.tagged_addresses.as_ref()),
        "Meta" => labels(row.node.meta) as look.labels(row.node.meta.as_ref()),
        "Locality" if row.node.locality.is_some() => json(locality(row.node.locality.as_ref())),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

table! {
    /// A service instance as part of its node.
    pub(crate) NodeService of row: ServiceRow, look: Look {
        "Kind", omitempty => text(row.service.kind),
        "ID" => text(row.service.id),
        "Service" => text(row.service.name),
        "Tags" => texts(row.service.tags()) as look.tags(row.service.tags.as_deref()),
        "Address" => text(row.service.address),
        "TaggedAddresses", omitempty => keyed(Address, row.service.tagged_addresses),
        "Meta" => labels(row.service.meta) as look.labels(row.service.meta.as_ref()),
        "Port" if port(&row.service, look) != 0 || !look.has(Behaviour::JsonNodeServiceMode) =>
            number(row.service.main_port()) as port(&row.service, look),
        "Ports" since Behaviour::JsonServicePorts, omitempty =>
            each(Port, row.service.ports().iter()),
        "SocketPath" since Behaviour::JsonCatalogServiceSocketPath, omitempty =>
            text(row.service.socket_path),
        "Weights" => within(Weights, row.service.weights),
        "EnableTagOverride" => flag(row.service.enable_tag_override),
        "Locality" if row.service.locality.is_some() =>
            json(locality(row.service.locality.as_ref())),
        "Proxy" => within(Proxy, *row.service.proxy),
        "Connect" => within(Connect, row.service),
        "PeerName" if look.has(Behaviour::JsonNodeServicePeerName) => json(""),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

/// Returns the port that a service shows beside its ports.
fn port(service: &NewService, look: Look) -> i64 {
    if look.shows_default_port {
        service.main_port()
    } else {
        service.port
    }
}

table! {
    /// One of several ports of a service.
    pub(crate) Port of port: ServicePort {
        "Name" => text(port.name),
        "Port" => number(port.port),
        "Default" => flag(port.default),
    }
}

/// Where a node or a service is. Filters do not know it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Locality<'a> {
    region: &'a str,
    zone: &'a str,
}

/// Shows where a node or a service is.
pub(crate) fn locality(place: Option<&proconsul_store::Locality>) -> Option<Locality<'_>> {
    place.map(|proconsul_store::Locality { region, zone }| Locality { region, zone })
}

table! {
    /// The weights of a service in DNS.
    pub(crate) Weights of weights: proconsul_store::Weights {
        "Passing" => number(weights.passing),
        "Warning" => number(weights.warning),
    }
}

table! {
    /// An address of a service.
    pub(crate) Address of address: ServiceAddress {
        "Address" => text(address.address),
        "Port" => number(address.port),
    }
}

table! {
    /// A service's settings of Connect.
    pub(crate) Connect of service: NewService {
        "Native", omitempty => flag(service.connect_native),
    }
}

table! {
    /// The settings of a proxy.
    pub(crate) Proxy of proxy: proconsul_store::Proxy, look: Look {
        "TransparentProxy" since Behaviour::JsonNodeServiceMode
            if keeps_empty(look) && is_set(&proxy.transparent) =>
            within(TransparentProxy, proxy.transparent),
        "AccessLogs" if keeps_empty(look) && is_set(&proxy.access_logs) =>
            json(AccessLogs::new(&proxy.access_logs, look)),
        "EnvoyExtensions" if is_set(&proxy.envoy_extensions) => json(extensions(proxy, look)),
        "DestinationServiceName", omitempty => text(proxy.destination_name),
        "DestinationServiceID", omitempty => text(proxy.destination_id),
        "LocalServiceAddress", omitempty => text(proxy.local_address),
        "LocalServicePort", omitempty => number(proxy.local_port),
        "LocalServiceSocketPath" since Behaviour::JsonCatalogServiceSocketPath, omitempty =>
            text(proxy.local_socket_path),
        "Mode" since Behaviour::JsonNodeServiceMode if keeps_empty(look) || !proxy.mode.is_empty() =>
            text(proxy.mode),
        "TransparentProxy" if !keeps_empty(look) && is_set(&proxy.transparent) =>
            json(TransparentProxy::new(&proxy.transparent, look)),
        "Config", omitempty => json(proxy.config.as_deref().map(Json)),
        "Upstreams", omitempty => each(Upstream, proxy.upstreams().iter()),
        "MeshGateway" => within(MeshGateway, proxy.mesh_gateway_mode),
        "Expose" => within(Expose, *proxy),
        "AccessLogs" if !keeps_empty(look) && is_set(&proxy.access_logs) =>
            json(AccessLogs::new(&proxy.access_logs, look)),
    }
}

fn is_set<T: Default + PartialEq>(settings: &T) -> bool {
    *settings != T::default()
}

fn extensions(proxy: &proconsul_store::Proxy, look: Look) -> Vec<EnvoyExtension<'_>> {
    let extensions = proxy.envoy_extensions.iter();
    extensions
        .map(|extension| EnvoyExtension::new(extension, look))
        .collect()
}

table! {
    /// The access logs of a proxy.
    AccessLogs of logs: proconsul_store::AccessLogs {
        "Enabled", omitempty => json(logs.enabled),
        "DisableListenerLogs", omitempty => json(logs.disable_listener_logs),
        "Type", omitempty => json(logs.kind),
        "Path", omitempty => json(logs.path),
        "JSONFormat", omitempty => json(logs.json_format),
        "TextFormat", omitempty => json(logs.text_format),
    }
}

table! {
    /// An extension of a proxy.
    EnvoyExtension of extension: proconsul_store::EnvoyExtension {
        "Name" => json(extension.name),
        "Required" => json(extension.required),
        "Arguments" => json(extension.arguments.as_deref().map(Json)),
        "ConsulVersion" => json(extension.consul_version),
        "EnvoyVersion" => json(extension.envoy_version),
    }
}

table! {
    /// The settings of a transparent proxy.
    TransparentProxy of transparent: proconsul_store::TransparentProxy {
        "OutboundListenerPort", omitempty => number(transparent.outbound_listener_port),
        "DialedDirectly", omitempty => flag(transparent.dialed_directly),
    }
}

table! {
    /// An upstream: a service that a proxy reaches.
    Upstream of upstream: proconsul_store::Upstream, look: Look {
        "DestinationType" => text(upstream.destination_type),
        "DestinationPartition" since Behaviour::JsonPartition, omitempty =>
            text(upstream.destination_partition),
        "DestinationNamespace", omitempty => text(upstream.destination_namespace),
        "DestinationPeer" since Behaviour::JsonNodeServicePeerName, omitempty =>
            text(upstream.destination_peer),
        "DestinationName" => text(upstream.destination_name),
        "Datacenter" if keeps_empty(look) || !upstream.datacenter.is_empty() =>
            text(upstream.datacenter),
        "LocalBindAddress", omitempty => text(upstream.local_bind_address),
        "LocalBindPort", omitempty => number(upstream.local_bind_port),
        "LocalBindSocketPath" since Behaviour::JsonCatalogServiceSocketPath, omitempty =>
            text(upstream.local_bind_socket_path),
        "LocalBindSocketMode" since Behaviour::JsonCatalogServiceSocketPath, omitempty =>
            text(upstream.local_bind_socket_mode),
        "Config" if shows_unset(look) || !upstream.config.as_deref().map(Json).is_empty() =>
            json(upstream.config.as_deref().map(Json)),
        "MeshGateway" => within(MeshGateway, upstream.mesh_gateway_mode),
        "CentrallyConfigured" if upstream.centrally_configured =>
            json(upstream.centrally_configured),
    }
}

fn keeps_empty(look: Look) -> bool {
    look.surface != Surface::Agent
}

/// Whether upstreams without settings show this.
fn shows_unset(look: Look) -> bool {
    keeps_empty(look) && !look.has(Behaviour::JsonProxyUnsetHidden)
}

table! {
    /// The gateways to other datacenters.
    MeshGateway of mode: String {
        "Mode", omitempty => text(*mode),
    }
}

table! {
    /// Paths and checks that can be reached without Connect.
    Expose of proxy: proconsul_store::Proxy, look: Look {
        "Checks", omitempty => flag(proxy.expose_checks),
        "Paths", omitempty => each(Path, proxy.exposed_paths().iter()),
    }
}

table! {
    /// A path that can be reached without Connect.
    Path of path: proconsul_store::ExposedPath, look: Look {
        "ListenerPort", omitempty => number(path.listener_port),
        "Path", omitempty => text(path.path),
        "LocalPathPort", omitempty => number(path.local_path_port),
        "Protocol", omitempty => text(path.protocol),
        "ParsedFromCheck"
            if path.parsed_from_check || look.surface == Surface::Agent || shows_unset(look) =>
            flag(path.parsed_from_check),
    }
}

table! {
    /// A check.
    pub(crate) Check of row: CheckRow, look: Look {
        "Node" => text(row.node),
        "CheckID" => text(row.check.check_id),
        "Name" => text(row.check.name),
        "Status" => text(row.check.status),
        "Notes" => text(row.check.notes),
        "Output" => text(row.check.output),
        "ServiceID" => text(row.check.service_id),
        "ServiceName" => text(row.service_name),
        "ServiceTags" => texts(row.service_tags()) as look.tags(row.service_tags.as_deref()),
        "Type" => text(row.check.kind),
        "Interval" if look.has(Behaviour::JsonCheckInterval) => json(row.check.interval),
        "Timeout" if look.has(Behaviour::JsonCheckInterval) => json(row.check.timeout),
        "ExposedPort" if look.has(Behaviour::JsonCheckExposedPort) => json(row.check.exposed_port),
        "Definition" => json(Definition::new(&row.check.definition, look)),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

table! {
    /// The definition of a check: durations as Go prints them, and the TTL as a number (session.md 4.2).
    Definition of definition: proconsul_store::HealthCheckDefinition {
        "Interval", omitempty => json(set(definition.interval_ns)),
        "OutputMaxSize", omitempty => json(definition.output_max_size),
        "Timeout", omitempty => json(set(definition.timeout_ns)),
        "DeregisterCriticalServiceAfter", omitempty =>
            json(set(definition.deregister_critical_service_after_ns)),
        "HTTP", omitempty => json(definition.http),
        "TLSServerName", omitempty => json(definition.tls_server_name),
        "TLSSkipVerify", omitempty => json(definition.tls_skip_verify),
        "Header", omitempty => json(definition.header),
        "Method", omitempty => json(definition.method),
        "Body", omitempty => json(definition.body),
        "DisableRedirects", omitempty => json(definition.disable_redirects),
        "TCP", omitempty => json(definition.tcp),
        "TCPUseTLS", omitempty => json(definition.tcp_use_tls),
        "UDP", omitempty => json(definition.udp),
        "H2PING", omitempty => json(definition.h2ping),
        "OSService", omitempty => json(definition.os_service),
        "H2PingUseTLS", omitempty => json(definition.h2ping_use_tls),
        "ScriptArgs", omitempty => json(definition.script_args),
        "DockerContainerID", omitempty => json(definition.docker_container_id),
        "Shell", omitempty => json(definition.shell),
        "GRPC", omitempty => json(definition.grpc),
        "GRPCUseTLS", omitempty => json(definition.grpc_use_tls),
        "AliasNode", omitempty => json(definition.alias_node),
        "AliasService", omitempty => json(definition.alias_service),
        "SessionName", omitempty => json(definition.session_name),
        "TTL", omitempty => json(definition.ttl_ns),
    }
}

/// Returns a duration as Go prints it; `None` for 0.
fn set(nanoseconds: i64) -> Option<String> {
    (nanoseconds != 0).then(|| duration::format(nanoseconds))
}

table! {
    /// A service instance with its node and all checks, as health and prepared queries show it.
    pub(crate) HealthEntry of instance: Instance, look: Look {
        "Node" => within(Node, *instance.node),
        "Service" => within(NodeService, *instance.service)
            as NodeService::new(&instance.service, look.with_default_port()),
        "Checks" => each(Check, instance.checks.iter().map(|row| &**row)) as checks(instance, look),
    }
}

/// Returns the checks of an instance; `None` for an empty list of a transaction, which is shown as `null`.
fn checks(instance: &Instance, look: Look) -> Option<Vec<Check<'_>>> {
    let rows = instance.checks.iter();
    let rows = rows.map(|row| Check::new(row, look)).collect();
    (look.surface != Surface::Txn || !instance.checks.is_empty()).then_some(rows)
}
