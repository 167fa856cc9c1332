//! Settings of proxies in the bodies of services.

use std::sync::Arc;

use crate::go::json::decode::go_struct;
use crate::go::json::kinds::{Any, Int};
use crate::go::json::object::AnyObject;
use crate::store::{ExposedPath, Proxy, TransparentProxy, Upstream};
use crate::version::Behaviour;

// The Go types of these bodies have no names, so an error about a whole body prints their fields.
const PROXY_TYPE: &str = "struct { DestinationServiceNameSnake string \"json:\\\"destination_service_name\\\"\"; DestinationServiceIDSnake string \"json:\\\"destination_service_id\\\"\"; LocalServiceAddressSnake string \"json:\\\"local_service_address\\\"\"; LocalServicePortSnake int \"json:\\\"local_service_port\\\"\"; *structs.Alias }";

const UPSTREAM_TYPE: &str = "struct { DestinationTypeSnake string \"json:\\\"destination_type\\\"\"; DestinationNamespaceSnake string \"json:\\\"destination_namespace\\\"\"; DestinationNameSnake string \"json:\\\"destination_name\\\"\"; LocalBindPortSnake int \"json:\\\"local_bind_port\\\"\"; LocalBindAddressSnake string \"json:\\\"local_bind_address\\\"\"; *structs.Alias }";
const PATH_TYPE: &str = "struct { LocalPathPortSnake int \"json:\\\"local_path_port\\\"\"; ListenerPortSnake int \"json:\\\"listener_port\\\"\"; *structs.Alias }";

/// The decoded settings of a proxy.
#[derive(Default)]
pub(crate) struct ProxyBody {
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
        "MeshGateway" | "mesh_gateway": MeshGatewayFields => body.proxy.mesh_gateway_mode,
        "Expose": ExposeFields => body.proxy,
        "Mode" is "structs.ProxyMode" since Behaviour::JsonNodeServiceMode:
            String => body.proxy.mode,
        "TransparentProxy" | "transparent_proxy" since Behaviour::JsonNodeServiceMode:
            TransparentFields => body.proxy.transparent,
        "LocalServiceSocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "EnvoyExtensions" since Behaviour::JsonProxyExtensions: Any,
        "AccessLogs" since Behaviour::JsonProxyExtensions: Any,
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
        "MeshGateway" | "mesh_gateway": MeshGatewayFields => upstream.mesh_gateway_mode,
        "CentrallyConfigured" since Behaviour::JsonUpstreamCentral: bool,
        "DestinationPartition" since Behaviour::JsonPartition: Any,
        "DestinationPeer" since Behaviour::JsonNodeServicePeerName: Any,
        "LocalBindSocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "LocalBindSocketMode" since Behaviour::JsonCatalogServiceSocketPath: Any,
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
