//! What a service's body says of proxies and Connect: in the agent's definitions and in the catalog's registrations.

use std::sync::Arc;

use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::go::json::object::AnyObject;
use crate::store::{ExposedPath, Proxy, Upstream};
use crate::version::Behaviour;

// The Go types that decode the bodies have no names: an error about a whole body prints all that is in them.
const PROXY_TYPE: &str = "struct { DestinationServiceNameSnake string \"json:\\\"destination_service_name\\\"\"; DestinationServiceIDSnake string \"json:\\\"destination_service_id\\\"\"; LocalServiceAddressSnake string \"json:\\\"local_service_address\\\"\"; LocalServicePortSnake int \"json:\\\"local_service_port\\\"\"; *structs.Alias }";

const UPSTREAM_TYPE: &str = "struct { DestinationTypeSnake string \"json:\\\"destination_type\\\"\"; DestinationNamespaceSnake string \"json:\\\"destination_namespace\\\"\"; DestinationNameSnake string \"json:\\\"destination_name\\\"\"; LocalBindPortSnake int \"json:\\\"local_bind_port\\\"\"; LocalBindAddressSnake string \"json:\\\"local_bind_address\\\"\"; *structs.Alias }";
const PATH_TYPE: &str = "struct { LocalPathPortSnake int \"json:\\\"local_path_port\\\"\"; ListenerPortSnake int \"json:\\\"listener_port\\\"\"; *structs.Alias }";

/// A proxy's settings.
#[derive(Default)]
pub(crate) struct ProxyBody {
    proxy: Proxy,
    config: AnyObject,
    upstreams: Vec<Option<UpstreamBody>>,
    mesh_gateway: MeshGatewayBody,
    expose: ExposeBody,
    ignored: [Any; 5],
}

impl Object for ProxyBody {
    const GO_TYPE: &'static str = PROXY_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [mode, transparent, socket, extensions, logs] = &mut self.ignored;
        let proxy = &mut self.proxy;
        vec![
            field("DestinationServiceName", &mut proxy.destination_name)
                .or_named("destination_service_name"),
            field("DestinationServiceID", &mut proxy.destination_id)
                .or_named("destination_service_id"),
            field("LocalServiceAddress", &mut proxy.local_address)
                .or_named("local_service_address"),
            field("LocalServicePort", &mut proxy.local_port)
                .of_type("int")
                .or_named("local_service_port"),
            field("Config", &mut self.config),
            field("Upstreams", &mut self.upstreams).of_type("structs.Upstreams"),
            field("MeshGateway", &mut self.mesh_gateway).or_named("mesh_gateway"),
            field("Expose", &mut self.expose),
            field("Mode", mode).since(Behaviour::JsonNodeServiceMode),
            field("TransparentProxy", transparent).since(Behaviour::JsonNodeServiceMode),
            field("LocalServiceSocketPath", socket).since(Behaviour::JsonCatalogServiceSocketPath),
            field("EnvoyExtensions", extensions).since(Behaviour::JsonProxyExtensions),
            field("AccessLogs", logs).since(Behaviour::JsonProxyExtensions),
        ]
    }
}

impl ProxyBody {
    /// The settings; none where Consul's handler dies of an upstream that is null.
    pub(crate) fn into_proxy(self) -> Option<Arc<Proxy>> {
        let upstreams = self.upstreams.into_iter();
        let upstreams: Option<Vec<Upstream>> = upstreams
            .map(|upstream| upstream.map(UpstreamBody::into_upstream))
            .collect();
        let paths = self.expose.paths.into_iter();
        Some(Arc::new(Proxy {
            config: self.config.into_text(),
            upstreams: upstreams?,
            mesh_gateway_mode: self.mesh_gateway.mode,
            expose_checks: self.expose.checks,
            exposed_paths: paths.map(|path| path.0).collect(),
            ..self.proxy
        }))
    }
}

#[derive(Default)]
struct UpstreamBody {
    upstream: Upstream,
    config: AnyObject,
    mesh_gateway: MeshGatewayBody,
    ignored: [Any; 4],
}

impl Object for UpstreamBody {
    const GO_TYPE: &'static str = UPSTREAM_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [partition, peer, path, mode] = &mut self.ignored;
        let upstream = &mut self.upstream;
        vec![
            field("DestinationType", &mut upstream.destination_type).or_named("destination_type"),
            field("DestinationNamespace", &mut upstream.destination_namespace)
                .or_named("destination_namespace"),
            field("DestinationName", &mut upstream.destination_name).or_named("destination_name"),
            field("Datacenter", &mut upstream.datacenter),
            field("LocalBindAddress", &mut upstream.local_bind_address)
                .or_named("local_bind_address"),
            field("LocalBindPort", &mut upstream.local_bind_port)
                .of_type("int")
                .or_named("local_bind_port"),
            field("Config", &mut self.config),
            field("MeshGateway", &mut self.mesh_gateway).or_named("mesh_gateway"),
            field("DestinationPartition", partition).since(Behaviour::JsonPartition),
            field("DestinationPeer", peer).since(Behaviour::JsonNodeServicePeerName),
            field("LocalBindSocketPath", path).since(Behaviour::JsonCatalogServiceSocketPath),
            field("LocalBindSocketMode", mode).since(Behaviour::JsonCatalogServiceSocketPath),
        ]
    }
}

impl UpstreamBody {
    fn into_upstream(self) -> Upstream {
        let kind = self.upstream.destination_type;
        Upstream {
            // Shown so where it was not given (seen on 1.8.7).
            destination_type: if kind.is_empty() {
                "service".to_owned()
            } else {
                kind
            },
            config: self.config.into_text(),
            mesh_gateway_mode: self.mesh_gateway.mode,
            ..self.upstream
        }
    }
}

#[derive(Default)]
struct MeshGatewayBody {
    mode: String,
}

impl Object for MeshGatewayBody {
    const GO_TYPE: &'static str = "structs.MeshGatewayConfig";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![field("Mode", &mut self.mode).of_type("structs.MeshGatewayMode")]
    }
}

#[derive(Default)]
struct ExposeBody {
    checks: bool,
    paths: Vec<PathBody>,
}

impl Object for ExposeBody {
    const GO_TYPE: &'static str = "structs.ExposeConfig";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Checks", &mut self.checks),
            // Its name, too, for what the list itself is.
            field("Paths", &mut self.paths).of_type("[]structs.ExposePath"),
        ]
    }
}

#[derive(Default)]
struct PathBody(ExposedPath);

impl Object for PathBody {
    const GO_TYPE: &'static str = PATH_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let path = &mut self.0;
        vec![
            field("ListenerPort", &mut path.listener_port)
                .of_type("int")
                .or_named("listener_port"),
            field("Path", &mut path.path),
            field("LocalPathPort", &mut path.local_path_port)
                .of_type("int")
                .or_named("local_path_port"),
            field("Protocol", &mut path.protocol),
        ]
    }
}
