//! The service in the body of a transaction, in the types of Consul's client, all of which have names (kv.md 7.5).
//! Consul checks the kinds of all fields, but keeps only those with a place here (seen on 1.8.7).

use std::collections::BTreeMap;

use crate::http::body::definition::{ServiceBody, WeightsBody};
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::{Any, Int};
use proconsul_gocompat::json::object::AnyObject;
use proconsul_store::{Labels, ServiceAddress};
use proconsul_version::Behaviour;

go_struct! {
    /// A service instance.
    pub(crate) ServiceFields as "api.AgentService" for body: ServiceBody {
        "Kind" is "api.ServiceKind": String,
        "ID": String => body.service.id,
        "Service": String => body.service.name,
        "Tags": Option<Vec<String>> => body.service.tags,
        "Meta": Option<Labels> => body.service.meta,
        "Port": Int => body.service.port,
        "Address": String => body.service.address,
        "TaggedAddresses":
            Option<BTreeMap<String, AddressFields>> => body.service.tagged_addresses,
        "Weights": WeightsFields => *body.weights.get_or_insert_default(),
        "EnableTagOverride": bool => body.service.enable_tag_override,
        "ContentHash": String,
        "Proxy": Option<ProxyBody>,
        "Connect": Option<ConnectBody>,
        "Namespace": String,
        "CreateIndex": u64,
        "ModifyIndex": u64 => body.modify_index,
        "Locality" since Behaviour::JsonLocality: Any,
        "SocketPath" since Behaviour::JsonCatalogServiceSocketPath: Any,
        "Ports" since Behaviour::JsonServicePorts: Any,
        "PeerName" since Behaviour::JsonNodeServicePeerName: Any,
        "Datacenter" since Behaviour::JsonAgentServiceDatacenter: String,
        "Partition" since Behaviour::JsonPartition: String,
    }
}

go_struct! {
    /// An address of a service.
    pub(crate) AddressFields as "api.ServiceAddress" for address: ServiceAddress {
        "Address": String => address.address,
        "Port": Int => address.port,
    }
}

go_struct! {
    /// The weights of a service.
    pub(crate) WeightsFields as "api.AgentWeights" for weights: WeightsBody {
        "Passing": Int => weights.passing,
        "Warning": Int => weights.warning,
    }
}

go_struct! {
    /// A proxy's settings.
    struct ProxyBody as "api.AgentServiceConnectProxyConfig" {
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
    /// The service's settings of Connect.
    struct ConnectBody as "api.AgentServiceConnect" {
        "Native": bool,
        "SidecarService": Option<SidecarBody>,
    }
}

go_struct! {
    /// The registration of a sidecar.
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
    /// A check of a sidecar. Its durations are not parsed.
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
