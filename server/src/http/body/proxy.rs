//! Settings of proxies in the bodies of services.

use std::borrow::Cow;
use std::sync::Arc;

use proconsul_gocompat::json::context::DecodeContext;
use proconsul_gocompat::json::decode::{Decode, go_struct};
use proconsul_gocompat::json::kinds::Int;
use proconsul_gocompat::json::object::AnyObject;
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_store::{AccessLogs, EnvoyExtension, ExposedPath, Proxy, TransparentProxy, Upstream};
use proconsul_version::Behaviour;

// The Go types of these bodies have no names, so an error about a whole body prints their fields.
const PROXY_TYPE: &str = "struct { DestinationServiceNameSnake string \"json:\\\"destination_service_name\\\"\"; DestinationServiceIDSnake string \"json:\\\"destination_service_id\\\"\"; LocalServiceAddressSnake string \"json:\\\"local_service_address\\\"\"; LocalServicePortSnake int \"json:\\\"local_service_port\\\"\"; *structs.Alias }";

const UPSTREAM_TYPE: &str = "struct { DestinationTypeSnake string \"json:\\\"destination_type\\\"\"; DestinationNamespaceSnake string \"json:\\\"destination_namespace\\\"\"; DestinationNameSnake string \"json:\\\"destination_name\\\"\"; LocalBindPortSnake int \"json:\\\"local_bind_port\\\"\"; LocalBindAddressSnake string \"json:\\\"local_bind_address\\\"\"; *structs.Alias }";
const PATH_TYPE: &str = "struct { LocalPathPortSnake int \"json:\\\"local_path_port\\\"\"; ListenerPortSnake int \"json:\\\"listener_port\\\"\"; *structs.Alias }";

/// The decoded settings of a proxy.
#[derive(Default)]
pub(crate) struct ProxyBody {
    /// Whether the catalog was given `null` for them, on which Consul's decoder panics.
    pub(crate) is_null: bool,
    proxy: Proxy,
    upstreams: Option<Vec<Option<Upstream>>>,
}

impl ProxyBody {
    /// Returns the settings; `None` for a null upstream, on which Consul's handler panics.
    pub(crate) fn into_proxy(self) -> Option<Arc<Proxy>> {
        let upstreams = match self.upstreams {
            Some(upstreams) => Some(upstreams.into_iter().collect::<Option<_>>()?),
            None => None,
        };
        Some(Arc::new(Proxy {
            upstreams,
            ..self.proxy
        }))
    }
}

/// A proxy's settings in the catalog.
pub(crate) struct CatalogProxyFields;

impl Decode for CatalogProxyFields {
    type Place = ProxyBody;

    fn decode(place: &mut ProxyBody, value: Value<'_>, context: &mut DecodeContext) {
        if matches!(value.kind(), ValueKind::Null) {
            place.is_null = true;
        } else {
            ProxyFields::decode(place, value, context);
        }
    }

    fn go_type() -> Cow<'static, str> {
        ProxyFields::go_type()
    }
}

go_struct! {
    /// A proxy's settings.
    pub(crate) ProxyFields as PROXY_TYPE for body: ProxyBody, own decoder: Refused {
        "DestinationServiceName" | "destination_service_name":
            String => body.proxy.destination_name,
        "DestinationServiceID" | "destination_service_id": String => body.proxy.destination_id,
        "LocalServiceAddress" | "local_service_address": String => body.proxy.local_address,
        "LocalServicePort" | "local_service_port": Int => body.proxy.local_port,
        "Config": AnyObject => body.proxy.config,
        "Upstreams" is "structs.Upstreams": Option<Vec<Option<UpstreamFields>>> => body.upstreams,
        "MeshGateway": MeshGatewayFields => body.proxy.mesh_gateway_mode,
        "Expose": ExposeFields => body.proxy,
        "Mode" is "structs.ProxyMode" since Behaviour::JsonNodeServiceMode:
            String => body.proxy.mode,
        "TransparentProxy" | "transparent_proxy" since Behaviour::JsonNodeServiceMode:
            TransparentFields => body.proxy.transparent,
        "LocalServiceSocketPath" | "local_service_socket_path"
            since Behaviour::JsonCatalogServiceSocketPath: String => body.proxy.local_socket_path,
        "EnvoyExtensions" | "envoy_extensions" since Behaviour::JsonProxyExtensions:
            Vec<ExtensionFields> => body.proxy.envoy_extensions,
        "AccessLogs" | "access_logs" since Behaviour::JsonProxyExtensions:
            AccessLogsFields => body.proxy.access_logs,
    }
}

go_struct! {
    /// The access logs of a proxy.
    AccessLogsFields as "structs.AccessLogsConfig" for logs: AccessLogs {
        "Enabled": bool => logs.enabled,
        "DisableListenerLogs" | "disable_listener_logs": bool => logs.disable_listener_logs,
        "Type" is "structs.LogSinkType": String => logs.kind,
        "Path": String => logs.path,
        "JSONFormat" | "json_format": String => logs.json_format,
        "TextFormat" | "text_format": String => logs.text_format,
    }
}

go_struct! {
    /// An extension of a proxy.
    ExtensionFields as "structs.EnvoyExtension" for extension: EnvoyExtension {
        "Name": String => extension.name,
        "Required": bool => extension.required,
        "Arguments": AnyObject => extension.arguments,
        "ConsulVersion": String => extension.consul_version,
        "EnvoyVersion": String => extension.envoy_version,
    }
}

go_struct! {
    /// The settings of a transparent proxy.
    TransparentFields as "structs.TransparentProxyConfig" for transparent: TransparentProxy {
        "OutboundListenerPort" | "outbound_listener_port":
            Int => transparent.outbound_listener_port,
        "DialedDirectly" | "dialed_directly": bool => transparent.dialed_directly,
    }
}

go_struct! {
    /// An upstream: a service that a proxy reaches.
    UpstreamFields as UPSTREAM_TYPE for upstream: Upstream,
    own decoder: Refused {
        "DestinationType" | "destination_type": String => upstream.destination_type,
        "DestinationNamespace" | "destination_namespace": String => upstream.destination_namespace,
        "DestinationName" | "destination_name": String => upstream.destination_name,
        "Datacenter": String => upstream.datacenter,
        "LocalBindAddress" | "local_bind_address": String => upstream.local_bind_address,
        "LocalBindPort" | "local_bind_port": Int => upstream.local_bind_port,
        "Config": AnyObject => upstream.config,
        "MeshGateway": MeshGatewayFields => upstream.mesh_gateway_mode,
        "CentrallyConfigured" since Behaviour::JsonUpstreamCentral:
            bool => upstream.centrally_configured,
        "DestinationPartition" | "destination_partition" since Behaviour::JsonPartition:
            String => upstream.destination_partition,
        "DestinationPeer" | "destination_peer" since Behaviour::JsonNodeServicePeerName:
            String => upstream.destination_peer,
        "LocalBindSocketPath" | "local_bind_socket_path"
            since Behaviour::JsonCatalogServiceSocketPath: String => upstream.local_bind_socket_path,
        "LocalBindSocketMode" | "local_bind_socket_mode"
            since Behaviour::JsonCatalogServiceSocketPath: String => upstream.local_bind_socket_mode,
    }
}

go_struct! {
    /// The gateways to other datacenters.
    MeshGatewayFields as "structs.MeshGatewayConfig" for mode: String {
        "Mode" is "structs.MeshGatewayMode": String => *mode,
    }
}

go_struct! {
    /// Paths and checks that can be reached without Connect.
    ExposeFields as "structs.ExposeConfig" for proxy: Proxy {
        "Checks": bool => proxy.expose_checks,
        // Errors name the list's type as well.
        "Paths" is "[]structs.ExposePath": Option<Vec<PathFields>> => proxy.exposed_paths,
    }
}

go_struct! {
    /// A path that can be reached without Connect.
    PathFields as PATH_TYPE for path: ExposedPath, own decoder: Refused {
        "ListenerPort" | "listener_port": Int => path.listener_port,
        "Path": String => path.path,
        "LocalPathPort" | "local_path_port": Int => path.local_path_port,
        "Protocol": String => path.protocol,
        "ParsedFromCheck": bool => path.parsed_from_check,
    }
}
