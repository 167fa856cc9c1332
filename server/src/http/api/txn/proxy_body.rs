//! What a service in a transaction's body says of proxies and Connect, in the client's types. Consul minds the kinds of the
//! values, and no more (seen on 1.8.7).

use std::collections::BTreeMap;

use crate::go::json::decode::{Field, Object, field};
use crate::go::json::kinds::Any;
use crate::go::json::object::AnyObject;
use crate::http::api::txn::service_body::{AddressBody, WeightsBody};
use crate::store::Labels;
use crate::version::Behaviour;

/// A proxy's settings.
#[derive(Default)]
pub(crate) struct ProxyBody {
    texts: [String; 3],
    port: i64,
    config: AnyObject,
    upstreams: Vec<UpstreamBody>,
    mesh_gateway: MeshGatewayBody,
    expose: ExposeBody,
    later: [Any; 5],
}

impl Object for ProxyBody {
    const GO_TYPE: &'static str = "api.AgentServiceConnectProxyConfig";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [name, id, address] = &mut self.texts;
        let [mode, transparent, socket, extensions, logs] = &mut self.later;
        vec![
            field("DestinationServiceName", name),
            field("DestinationServiceID", id),
            field("LocalServiceAddress", address),
            field("LocalServicePort", &mut self.port).of_type("int"),
            field("Config", &mut self.config),
            field("Upstreams", &mut self.upstreams),
            field("MeshGateway", &mut self.mesh_gateway),
            field("Expose", &mut self.expose),
            field("Mode", mode).since(Behaviour::JsonNodeServiceMode),
            field("TransparentProxy", transparent).since(Behaviour::JsonNodeServiceMode),
            field("LocalServiceSocketPath", socket).since(Behaviour::JsonCatalogServiceSocketPath),
            field("EnvoyExtensions", extensions).since(Behaviour::JsonProxyExtensions),
            field("AccessLogs", logs).since(Behaviour::JsonProxyExtensions),
        ]
    }
}

#[derive(Default)]
struct UpstreamBody {
    kind: String,
    texts: [String; 4],
    port: i64,
    config: AnyObject,
    mesh_gateway: MeshGatewayBody,
    later: [Any; 4],
}

impl Object for UpstreamBody {
    const GO_TYPE: &'static str = "api.Upstream";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [namespace, name, datacenter, address] = &mut self.texts;
        let [partition, peer, path, mode] = &mut self.later;
        vec![
            field("DestinationType", &mut self.kind).of_type("api.UpstreamDestType"),
            field("DestinationNamespace", namespace),
            field("DestinationName", name),
            field("Datacenter", datacenter),
            field("LocalBindAddress", address),
            field("LocalBindPort", &mut self.port).of_type("int"),
            field("Config", &mut self.config),
            field("MeshGateway", &mut self.mesh_gateway),
            field("DestinationPartition", partition).since(Behaviour::JsonPartition),
            field("DestinationPeer", peer).since(Behaviour::JsonNodeServicePeerName),
            field("LocalBindSocketPath", path).since(Behaviour::JsonCatalogServiceSocketPath),
            field("LocalBindSocketMode", mode).since(Behaviour::JsonCatalogServiceSocketPath),
        ]
    }
}

#[derive(Default)]
struct MeshGatewayBody {
    mode: String,
}

impl Object for MeshGatewayBody {
    const GO_TYPE: &'static str = "api.MeshGatewayConfig";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![field("Mode", &mut self.mode).of_type("api.MeshGatewayMode")]
    }
}

#[derive(Default)]
struct ExposeBody {
    checks: bool,
    paths: Vec<PathBody>,
}

impl Object for ExposeBody {
    const GO_TYPE: &'static str = "api.ExposeConfig";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Checks", &mut self.checks),
            field("Paths", &mut self.paths),
        ]
    }
}

#[derive(Default)]
struct PathBody {
    texts: [String; 2],
    ports: [i64; 2],
    parsed_from_check: bool,
}

impl Object for PathBody {
    const GO_TYPE: &'static str = "api.ExposePath";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [path, protocol] = &mut self.texts;
        let [listener, local] = &mut self.ports;
        vec![
            field("ListenerPort", listener).of_type("int"),
            field("Path", path),
            field("LocalPathPort", local).of_type("int"),
            field("Protocol", protocol),
            field("ParsedFromCheck", &mut self.parsed_from_check),
        ]
    }
}

/// What the service says of Connect.
#[derive(Default)]
pub(crate) struct ConnectBody {
    native: bool,
    sidecar: Option<Box<SidecarBody>>,
}

impl Object for ConnectBody {
    const GO_TYPE: &'static str = "api.AgentServiceConnect";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Native", &mut self.native),
            field("SidecarService", &mut self.sidecar),
        ]
    }
}

/// A sidecar, which is a whole registration.
#[derive(Default)]
struct SidecarBody {
    kind: String,
    texts: [String; 4],
    tags: Vec<String>,
    port: i64,
    tagged_addresses: BTreeMap<String, AddressBody>,
    enable_tag_override: bool,
    meta: Labels,
    weights: WeightsBody,
    check: CheckBody,
    checks: Vec<CheckBody>,
    proxy: Option<Box<ProxyBody>>,
    connect: Option<Box<ConnectBody>>,
    later: [Any; 4],
}

impl Object for SidecarBody {
    const GO_TYPE: &'static str = "api.AgentServiceRegistration";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [id, name, address, namespace] = &mut self.texts;
        let [partition, locality, socket, ports] = &mut self.later;
        vec![
            field("Kind", &mut self.kind).of_type("api.ServiceKind"),
            field("ID", id),
            field("Name", name),
            field("Tags", &mut self.tags),
            field("Port", &mut self.port).of_type("int"),
            field("Address", address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("EnableTagOverride", &mut self.enable_tag_override),
            field("Meta", &mut self.meta),
            field("Weights", &mut self.weights),
            field("Check", &mut self.check),
            field("Checks", &mut self.checks).of_type("api.AgentServiceChecks"),
            field("Proxy", &mut self.proxy),
            field("Connect", &mut self.connect),
            field("Namespace", namespace),
            field("Partition", partition).since(Behaviour::JsonPartition),
            field("Locality", locality).since(Behaviour::JsonLocality),
            field("SocketPath", socket).since(Behaviour::JsonCatalogServiceSocketPath),
            field("Ports", ports).since(Behaviour::JsonServicePorts),
        ]
    }
}

/// A check of a sidecar, whose durations are texts that nobody reads.
#[derive(Default)]
struct CheckBody {
    texts: [String; 17],
    flags: [bool; 2],
    counts: [i64; 2],
    script: Vec<String>,
    header: BTreeMap<String, Vec<String>>,
    later: [Any; 8],
}

impl CheckBody {
    const TEXTS: [&str; 17] = [
        "CheckID",
        "Name",
        "DockerContainerID",
        "Shell",
        "Interval",
        "Timeout",
        "TTL",
        "HTTP",
        "Method",
        "Body",
        "TCP",
        "Status",
        "Notes",
        "GRPC",
        "AliasNode",
        "AliasService",
        "DeregisterCriticalServiceAfter",
    ];
}

impl Object for CheckBody {
    const GO_TYPE: &'static str = "api.AgentServiceCheck";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [skip_verify, grpc_tls] = &mut self.flags;
        let [successes, failures] = &mut self.counts;
        let [
            server_name,
            h2ping,
            h2ping_tls,
            warnings,
            udp,
            redirects,
            os_service,
            tcp_tls,
        ] = &mut self.later;
        let texts = Self::TEXTS.into_iter().zip(&mut self.texts);
        let others = [
            field("ScriptArgs", &mut self.script),
            field("Header", &mut self.header),
            field("TLSSkipVerify", skip_verify),
            field("GRPCUseTLS", grpc_tls),
            field("SuccessBeforePassing", successes).of_type("int"),
            field("FailuresBeforeCritical", failures).of_type("int"),
            field("TLSServerName", server_name).since(Behaviour::JsonCheckTlsServerName),
            field("H2PING", h2ping).since(Behaviour::JsonCheckH2Ping),
            field("H2PingUseTLS", h2ping_tls).since(Behaviour::JsonCheckH2Ping),
            field("FailuresBeforeWarning", warnings)
                .since(Behaviour::JsonCheckFailuresBeforeWarning),
            field("UDP", udp).since(Behaviour::JsonCheckUdp),
            field("DisableRedirects", redirects).since(Behaviour::JsonCheckUdp),
            field("OSService", os_service).since(Behaviour::JsonCheckOsService),
            field("TCPUseTLS", tcp_tls).since(Behaviour::JsonCheckTcpUseTls),
        ];
        let texts = texts.map(|(name, place)| field(name, place));
        texts.chain(others).collect()
    }
}
