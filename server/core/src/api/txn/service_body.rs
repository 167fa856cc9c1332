//! The service in the body of a transaction, in the types of Consul's client, all of which have names (kv.md 7.5).
//! Consul checks the kinds of all fields, but keeps only those with a place here (seen on 1.8.7).

use std::collections::BTreeMap;

use crate::body::definition::ServiceBody;
use proconsul_config::schema::On;
use proconsul_config::schema::body::Part;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::{Any, Int};
use proconsul_store::NewService;
use proconsul_version::Behaviour;

go_struct! {
    /// A service instance.
    pub(crate) ServiceFields as "api.AgentService" for body: ServiceBody {
        "ContentHash": String,
        "Connect": Option<ConnectBody>,
        "Namespace": String,
        "CreateIndex": u64,
        "ModifyIndex": u64 => body.modify_index,
        "PeerName" since Behaviour::JsonNodeServicePeerName: Any,
        "Datacenter" since Behaviour::JsonAgentServiceDatacenter: String,
        "Partition" since Behaviour::JsonPartition: String,
        ..SERVICE;
    }
}

const SERVICE: &Part<ServiceBody, NewService> = &ServiceBody::fields(On::TXN_BODY);
const SIDECAR: &Part<ServiceBody, NewService> = &ServiceBody::fields(On::TXN_SIDECAR);

go_struct! {
    /// The service's settings of Connect.
    struct ConnectBody as "api.AgentServiceConnect" {
        "Native": bool,
        "SidecarService": Option<SidecarFields>,
    }
}

go_struct! {
    /// The registration of a sidecar.
    SidecarFields as "api.AgentServiceRegistration" for _body: ServiceBody {
        "Check": CheckBody,
        "Checks" is "api.AgentServiceChecks": Vec<CheckBody>,
        "Connect": Option<ConnectBody>,
        "Namespace": String,
        "Partition" since Behaviour::JsonPartition: Any,
        ..SIDECAR;
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
