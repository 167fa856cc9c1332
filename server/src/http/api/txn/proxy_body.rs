//! What a service in a transaction's body says of proxies and Connect, in the client's types. Consul minds the kinds of the
//! values, and no more (seen on 1.8.7).

use std::collections::BTreeMap;

use crate::go::json::decode::go_struct;
use crate::go::json::kinds::{Any, Int};
use crate::go::json::object::AnyObject;
use crate::http::api::txn::service_body::{AddressFields, WeightsFields};
use crate::store::Labels;
use crate::version::Behaviour;

go_struct! {
    /// A proxy's settings.
    pub(crate) struct ProxyBody as "api.AgentServiceConnectProxyConfig" {
        "DestinationServiceName": String,
        "DestinationServiceID": String,
        "LocalServiceAddress": String,
        "LocalServicePort": Int,
        "Config": AnyObject,
        "Upstreams": Vec<UpstreamBody>,
        "MeshGateway": MeshGatewayBody,
        "Expose": ExposeBody,
        "Mode" since Behaviour::JsonNodeServiceMode: Any,
        "TransparentProxy" since Behaviour::JsonNodeServiceMode: Any,
        "LocalServiceSocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "EnvoyExtensions" since Behaviour::JsonProxyExtensions: Any,
        "AccessLogs" since Behaviour::JsonProxyExtensions: Any,
    }
}

go_struct! {
    struct UpstreamBody as "api.Upstream" {
        "DestinationType" is "api.UpstreamDestType": String,
        "DestinationNamespace": String,
        "DestinationName": String,
        "Datacenter": String,
        "LocalBindAddress": String,
        "LocalBindPort": Int,
        "Config": AnyObject,
        "MeshGateway": MeshGatewayBody,
        "DestinationPartition" since Behaviour::JsonPartition: Any,
        "DestinationPeer" since Behaviour::JsonNodeServicePeerName: Any,
        "LocalBindSocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "LocalBindSocketMode" since Behaviour::JsonCatalogServiceSocketPath: Any,
    }
}

go_struct! {
    struct MeshGatewayBody as "api.MeshGatewayConfig" {
        "Mode" is "api.MeshGatewayMode": String,
    }
}

go_struct! {
    struct ExposeBody as "api.ExposeConfig" {
        "Checks": bool,
        "Paths": Vec<PathBody>,
    }
}

go_struct! {
    struct PathBody as "api.ExposePath" {
        "ListenerPort": Int,
        "Path": String,
        "LocalPathPort": Int,
        "Protocol": String,
        "ParsedFromCheck": bool,
    }
}

go_struct! {
    /// What the service says of Connect.
    pub(crate) struct ConnectBody as "api.AgentServiceConnect" {
        "Native": bool,
        "SidecarService": Option<SidecarBody>,
    }
}

go_struct! {
    /// A sidecar, which is a whole registration.
    struct SidecarBody as "api.AgentServiceRegistration" {
        "Kind" is "api.ServiceKind": String,
        "ID": String,
        "Name": String,
        "Tags": Vec<String>,
        "Port": Int,
        "Address": String,
        "TaggedAddresses": BTreeMap<String, AddressFields>,
        "EnableTagOverride": bool,
        "Meta": Labels,
        "Weights": WeightsFields,
        "Check": CheckBody,
        "Checks" is "api.AgentServiceChecks": Vec<CheckBody>,
        "Proxy": Option<ProxyBody>,
        "Connect": Option<ConnectBody>,
        "Namespace": String,
        "Partition" since Behaviour::JsonPartition: Any,
        "Locality" since Behaviour::JsonLocality: Any,
        "SocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "Ports" since Behaviour::JsonServicePorts: Any,
    }
}

go_struct! {
    /// A check of a sidecar, whose durations are texts that nobody reads.
    struct CheckBody as "api.AgentServiceCheck" {
        "CheckID": String,
        "Name": String,
        "DockerContainerID": String,
        "Shell": String,
        "Interval": String,
        "Timeout": String,
        "TTL": String,
        "HTTP": String,
        "Method": String,
        "Body": String,
        "TCP": String,
        "Status": String,
        "Notes": String,
        "GRPC": String,
        "AliasNode": String,
        "AliasService": String,
        "DeregisterCriticalServiceAfter": String,
        "ScriptArgs": Vec<String>,
        "Header": BTreeMap<String, Vec<String>>,
        "TLSSkipVerify": bool,
        "GRPCUseTLS": bool,
        "SuccessBeforePassing": Int,
        "FailuresBeforeCritical": Int,
        "TLSServerName" since Behaviour::JsonCheckTlsServerName: Any,
        "H2PING" since Behaviour::JsonCheckH2Ping: Any,
        "H2PingUseTLS" since Behaviour::JsonCheckH2Ping: Any,
        "FailuresBeforeWarning" since Behaviour::JsonCheckFailuresBeforeWarning: Any,
        "UDP" since Behaviour::JsonCheckUdp: Any,
        "DisableRedirects" since Behaviour::JsonCheckUdp: Any,
        "OSService" since Behaviour::JsonCheckOsService: Any,
        "TCPUseTLS" since Behaviour::JsonCheckTcpUseTls: Any,
    }
}
