//! The settings of proxies.

use super::field::{At, Field, GoType, Shape, Table, field};
use super::kind::{Group, Opaque};
use super::look::{Look, On};
use proconsul_store::{AccessLogs, EnvoyExtension, ExposedPath, Proxy, TransparentProxy, Upstream};
use proconsul_version::Behaviour;

// The Go types of these bodies have no names, so an error about a whole body prints their fields.
const PROXY_TYPE: &str = "struct { DestinationServiceNameSnake string \"json:\\\"destination_service_name\\\"\"; DestinationServiceIDSnake string \"json:\\\"destination_service_id\\\"\"; LocalServiceAddressSnake string \"json:\\\"local_service_address\\\"\"; LocalServicePortSnake int \"json:\\\"local_service_port\\\"\"; *structs.Alias }";
const UPSTREAM_TYPE: &str = "struct { DestinationTypeSnake string \"json:\\\"destination_type\\\"\"; DestinationNamespaceSnake string \"json:\\\"destination_namespace\\\"\"; DestinationNameSnake string \"json:\\\"destination_name\\\"\"; LocalBindPortSnake int \"json:\\\"local_bind_port\\\"\"; LocalBindAddressSnake string \"json:\\\"local_bind_address\\\"\"; *structs.Alias }";
const PATH_TYPE: &str = "struct { LocalPathPortSnake int \"json:\\\"local_path_port\\\"\"; ListenerPortSnake int \"json:\\\"listener_port\\\"\"; *structs.Alias }";

/// The surfaces but the agent's answers.
const NOT_AGENT: On = On::ALL.but(On::AGENT);

/// Where Go has no pointers to upstreams, on which Consul panics if they are null.
const NOT_POINTED: On = On::ANSWERS.and(On::FILES).and(On::CLIENT);

/// Makes the row of opaque settings.
macro_rules! opaque {
    ($row:ty, $name:literal, $member:ident) => {
        Field::<$row>::new(
            $name,
            $name,
            &Opaque(At {
                get: |row: &$row| &row.$member,
                place: |row: &mut $row| &mut row.$member,
            }),
        )
        .unselected()
    };
}

/// Makes the row of the gateways to other datacenters.
macro_rules! mesh_gateway {
    ($row:ty) => {
        Field::<$row>::new(
            "MeshGateway",
            "MeshGateway",
            &Group {
                server: GoType::plain("structs.MeshGatewayConfig"),
                client: GoType::plain("api.MeshGatewayConfig"),
                fields: &[field!($row, "Mode", mesh_gateway_mode)
                    .of_type(Some("structs.MeshGatewayMode"), Some("api.MeshGatewayMode"))
                    .omitempty()],
            },
        )
    };
}

/// Whether upstreams and paths without settings leave them out.
fn hides_unset(look: &Look<'_>) -> bool {
    look.is_agent() || look.has(Behaviour::JsonProxyUnsetHidden)
}

// The agent shows these two elsewhere.
const TRANSPARENT: Field<Proxy> = field!(Proxy, "TransparentProxy", transparent)
    .or_snake("transparent_proxy")
    .since(Behaviour::JsonNodeServiceMode)
    .omitempty();
const ACCESS_LOGS: Field<Proxy> = field!(Proxy, "AccessLogs", access_logs)
    .unsent()
    .or_snake("access_logs")
    .since(Behaviour::JsonProxyExtensions)
    .omitempty()
    .unselected();

impl Shape for Proxy {
    const SERVER: GoType = GoType::strict(PROXY_TYPE);
    const CLIENT: GoType = GoType::plain("api.AgentServiceConnectProxyConfig");
}

impl Table for Proxy {
    const FIELDS: &'static [Field<Self>] = &[
        TRANSPARENT.on(NOT_AGENT),
        ACCESS_LOGS.on(NOT_AGENT),
        field!(Proxy, "EnvoyExtensions", envoy_extensions)
            .unsent()
            .or_snake("envoy_extensions")
            .since(Behaviour::JsonProxyExtensions)
            .omitempty()
            .unselected(),
        field!(Proxy, "DestinationServiceName", destination_name)
            .or_snake("destination_service_name")
            .omitempty(),
        field!(Proxy, "DestinationServiceID", destination_id)
            .or_snake("destination_service_id")
            .omitempty(),
        field!(Proxy, "LocalServiceAddress", local_address)
            .or_snake("local_service_address")
            .omitempty(),
        field!(Proxy, "LocalServicePort", local_port)
            .or_snake("local_service_port")
            .omitempty(),
        field!(Proxy, "LocalServiceSocketPath", local_socket_path)
            .unsent()
            .or_snake("local_service_socket_path")
            .since(Behaviour::JsonCatalogServiceSocketPath)
            .omitempty(),
        field!(Proxy, "Mode", mode)
            .of_type(Some("structs.ProxyMode"), None)
            .since(Behaviour::JsonNodeServiceMode)
            .omitempty_if(|look| look.is_agent()),
        TRANSPARENT.on(On::AGENT),
        opaque!(Proxy, "Config", config).omitempty(),
        field!(Proxy, "Upstreams", upstreams)
            .on(NOT_POINTED)
            .omitempty(),
        mesh_gateway!(Proxy),
        Field::new(
            "Expose",
            "Expose",
            &Group {
                server: GoType::plain("structs.ExposeConfig"),
                client: GoType::plain("api.ExposeConfig"),
                fields: &[
                    field!(Proxy, "Checks", expose_checks).omitempty(),
                    // Errors name the list's type as well.
                    field!(Proxy, "Paths", exposed_paths)
                        .of_type(Some("[]structs.ExposePath"), None)
                        .omitempty(),
                ],
            },
        ),
        ACCESS_LOGS.on(On::AGENT),
    ];
}

impl Shape for AccessLogs {
    const SERVER: GoType = GoType::plain("structs.AccessLogsConfig");
    const CLIENT: GoType = Self::SERVER;
}

impl Table for AccessLogs {
    const FIELDS: &'static [Field<Self>] = &[
        field!(AccessLogs, "Enabled", enabled).omitempty(),
        field!(AccessLogs, "DisableListenerLogs", disable_listener_logs)
            .or_snake("disable_listener_logs")
            .omitempty(),
        field!(AccessLogs, "Type", kind)
            .of_type(Some("structs.LogSinkType"), None)
            .omitempty(),
        field!(AccessLogs, "Path", path).omitempty(),
        field!(AccessLogs, "JSONFormat", json_format)
            .or_snake("json_format")
            .omitempty(),
        field!(AccessLogs, "TextFormat", text_format)
            .or_snake("text_format")
            .omitempty(),
    ];
}

impl Shape for EnvoyExtension {
    const SERVER: GoType = GoType::plain("structs.EnvoyExtension");
    const CLIENT: GoType = Self::SERVER;
}

impl Table for EnvoyExtension {
    const FIELDS: &'static [Field<Self>] = &[
        field!(EnvoyExtension, "Name", name),
        field!(EnvoyExtension, "Required", required),
        opaque!(EnvoyExtension, "Arguments", arguments),
        field!(EnvoyExtension, "ConsulVersion", consul_version),
        field!(EnvoyExtension, "EnvoyVersion", envoy_version),
    ];
}

impl Shape for TransparentProxy {
    const SERVER: GoType = GoType::plain("structs.TransparentProxyConfig");
    const CLIENT: GoType = Self::SERVER;
}

impl Table for TransparentProxy {
    const FIELDS: &'static [Field<Self>] = &[
        field!(
            TransparentProxy,
            "OutboundListenerPort",
            outbound_listener_port
        )
        .or_snake("outbound_listener_port")
        .omitempty(),
        field!(TransparentProxy, "DialedDirectly", dialed_directly)
            .or_snake("dialed_directly")
            .omitempty(),
    ];
}

impl Shape for Upstream {
    const SERVER: GoType = GoType::strict(UPSTREAM_TYPE);
    const CLIENT: GoType = GoType::plain("api.Upstream");
}

impl Table for Upstream {
    const FIELDS: &'static [Field<Self>] = &[
        field!(Upstream, "DestinationType", destination_type)
            .or_snake("destination_type")
            .of_type(None, Some("api.UpstreamDestType")),
        field!(Upstream, "DestinationPartition", destination_partition)
            .unsent()
            .or_snake("destination_partition")
            .since(Behaviour::JsonPartition)
            .omitempty(),
        field!(Upstream, "DestinationNamespace", destination_namespace)
            .or_snake("destination_namespace")
            .omitempty(),
        field!(Upstream, "DestinationPeer", destination_peer)
            .unsent()
            .or_snake("destination_peer")
            .since(Behaviour::JsonNodeServicePeerName)
            .omitempty(),
        field!(Upstream, "DestinationName", destination_name).or_snake("destination_name"),
        field!(Upstream, "Datacenter", datacenter).omitempty_if(|look| look.is_agent()),
        field!(Upstream, "LocalBindAddress", local_bind_address)
            .or_snake("local_bind_address")
            .omitempty(),
        field!(Upstream, "LocalBindPort", local_bind_port)
            .or_snake("local_bind_port")
            .omitempty(),
        field!(Upstream, "LocalBindSocketPath", local_bind_socket_path)
            .unsent()
            .or_snake("local_bind_socket_path")
            .since(Behaviour::JsonCatalogServiceSocketPath)
            .omitempty(),
        field!(Upstream, "LocalBindSocketMode", local_bind_socket_mode)
            .unsent()
            .or_snake("local_bind_socket_mode")
            .since(Behaviour::JsonCatalogServiceSocketPath)
            .omitempty(),
        opaque!(Upstream, "Config", config).omitempty_if(hides_unset),
        mesh_gateway!(Upstream),
        field!(Upstream, "CentrallyConfigured", centrally_configured)
            .on(On::ANSWERS.and(On::AGENT_BODY))
            .since(Behaviour::JsonUpstreamCentral)
            .omitempty()
            .unselected(),
    ];
}

impl Shape for ExposedPath {
    const SERVER: GoType = GoType::strict(PATH_TYPE);
    const CLIENT: GoType = GoType::plain("api.ExposePath");
}

impl Table for ExposedPath {
    const FIELDS: &'static [Field<Self>] = &[
        field!(ExposedPath, "ListenerPort", listener_port)
            .or_snake("listener_port")
            .omitempty(),
        field!(ExposedPath, "Path", path).omitempty(),
        field!(ExposedPath, "LocalPathPort", local_path_port)
            .or_snake("local_path_port")
            .omitempty(),
        field!(ExposedPath, "Protocol", protocol).omitempty(),
        field!(ExposedPath, "ParsedFromCheck", parsed_from_check)
            .on(On::ALL.but(On::FILES))
            .omitempty_if(|look| !look.is_agent() && hides_unset(look)),
    ];
}
