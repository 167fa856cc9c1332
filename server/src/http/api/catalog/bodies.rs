//! The bodies of `/v1/catalog/register` and `/v1/catalog/deregister` (session.md 4.2, 4.3).

use std::collections::BTreeMap;

use crate::http::body::check::{CheckBody, CheckId};
use crate::http::body::definition::{ConnectFields, ServiceBody};
use crate::http::body::durations::AnyDuration;
use crate::http::body::proxy::CatalogProxyFields;
use proconsul_config::schema::On;
use proconsul_config::schema::body::{In, Part};
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::{Any, Int};
use proconsul_store::{HealthCheckDefinition, Labels, Locality, NewCheck, NewService};
use proconsul_version::Behaviour;

go_struct! {
    /// The body of `/v1/catalog/register`.
    pub(crate) struct RegisterBody as "structs.RegisterRequest" {
        "Datacenter": String => datacenter,
        "ID" is "types.NodeID": String => id,
        "Node": String => node,
        "Address": String => address,
        "TaggedAddresses": Option<Labels> => tagged_addresses,
        "NodeMeta": Option<Labels> => node_meta,
        "Service": Option<ServiceFields> => service,
        "Check": Option<CheckFields> => check,
        "Checks" is "structs.HealthChecks": Vec<Option<CheckFields>> => checks,
        "SkipNodeUpdate": bool => skip_node_update,
        "PeerName" since Behaviour::CatalogPeerNameRefused: String => peer_name,
        "Token": String,
        "Locality" since Behaviour::JsonLocality: Option<In<Locality, false>> => locality,
        "CreateIndex": u64,
        "ModifyIndex": u64,
    }
}

go_struct! {
    /// A service instance.
    pub(crate) ServiceFields as "structs.NodeService" for body: ServiceBody {
        "Proxy": CatalogProxyFields => body.proxy,
        "Connect": ConnectFields => body.connect,
        "CreateIndex": u64,
        "ModifyIndex": u64,
        "PeerName" since Behaviour::JsonNodeServicePeerName: String => body.peer_name,
        ..SERVICE;
    }
}

/// The fields of the service itself.
const SERVICE: &Part<ServiceBody, NewService> = &ServiceBody::fields(On::CATALOG_BODY);

go_struct! {
    /// A check.
    pub(crate) CheckFields as "structs.HealthCheck" for body: CheckBody {
        "Node": String => body.node,
        "CheckID": CheckId => body.check.check_id,
        "Name": String => body.check.name,
        "Status": String => body.check.status,
        "Notes": String => body.check.notes,
        "Output": String => body.check.output,
        "ServiceID": String => body.check.service_id,
        "Type": String => body.check.kind,
        "Definition": DefinitionFields => *body,
        "ServiceName": String => body.check.named_service,
        "ServiceTags": Option<Vec<String>> => body.check.named_tags,
        "CreateIndex": u64,
        "ModifyIndex": u64,
        "ExposedPort" since Behaviour::JsonCheckExposedPort: Int => body.check.exposed_port,
        "Interval" since Behaviour::JsonCheckInterval: String => body.check.interval,
        "Timeout" since Behaviour::JsonCheckInterval: String => body.check.timeout,
        "PeerName" since Behaviour::JsonNodeServicePeerName: String => body.peer_name,
    }
}

/// Returns the check of a body. Without a type of its own, it has the type of its definition.
pub(crate) fn new_check(body: CheckBody) -> NewCheck {
    let mut check = body.into_check();
    if check.kind.is_empty() {
        check.kind = kind_of(&check.definition).to_owned();
    }
    check
}

/// Returns the type of check that a definition describes, in Consul's order; empty if it describes none (session.md 4.2).
fn kind_of(definition: &HealthCheckDefinition) -> &'static str {
    let runs = definition.interval_ns > 0;
    let has_script = !definition.script_args.is_empty();
    let follows = !definition.alias_node.is_empty() || !definition.alias_service.is_empty();
    let kinds = [
        ("grpc", runs && !definition.grpc.is_empty()),
        ("http", runs && !definition.http.is_empty()),
        ("ttl", definition.ttl_ns > 0),
        ("tcp", runs && !definition.tcp.is_empty()),
        ("udp", runs && !definition.udp.is_empty()),
        ("alias", follows),
        (
            "docker",
            runs && has_script && !definition.docker_container_id.is_empty(),
        ),
        ("script", has_script),
        ("h2ping", runs && !definition.h2ping.is_empty()),
        ("os_service", runs && !definition.os_service.is_empty()),
    ];
    let kind = kinds.iter().find(|(_, described)| *described);
    kind.map_or("", |(kind, _)| kind)
}

// Consul decodes into a type without a name (seen on 1.8.7).
const DEFINITION_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; DeregisterCriticalServiceAfter interface {}; TTL interface {}; *structs.Alias }";

go_struct! {
    /// The definition of a check.
    DefinitionFields as DEFINITION_TYPE for body: CheckBody,
    own decoder: Accepted, then: CheckBody::settle_durations {
        "Interval": AnyDuration => body.interval,
        "Timeout": AnyDuration => body.timeout,
        "DeregisterCriticalServiceAfter": AnyDuration => body.deregister_after,
        "TTL": AnyDuration => body.ttl,
        *Alias {
            "HTTP": String => body.check.definition.http,
            "TLSServerName" since Behaviour::JsonCheckTlsServerName:
                String => body.check.definition.tls_server_name,
            "TLSSkipVerify": bool => body.check.definition.tls_skip_verify,
            "Header":
                Option<BTreeMap<String, Option<Vec<String>>>> => body.check.definition.header,
            "Method": String => body.check.definition.method,
            "Body": String => body.check.definition.body,
            "DisableRedirects" since Behaviour::JsonCheckUdp:
                bool => body.check.definition.disable_redirects,
            "TCP": String => body.check.definition.tcp,
            "TCPUseTLS" since Behaviour::JsonCheckTcpUseTls:
                bool => body.check.definition.tcp_use_tls,
            "UDP" since Behaviour::JsonCheckUdp: String => body.check.definition.udp,
            "H2PING" since Behaviour::JsonCheckH2Ping: String => body.check.definition.h2ping,
            "H2PingUseTLS" since Behaviour::JsonCheckH2Ping:
                bool => body.check.definition.h2ping_use_tls,
            "OSService" since Behaviour::JsonCheckOsService:
                String => body.check.definition.os_service,
            "ScriptArgs": Vec<String> => body.check.definition.script_args,
            "OutputMaxSize" is "uint": u64 => body.check.definition.output_max_size,
            "DockerContainerID": String => body.check.definition.docker_container_id,
            "Shell": String => body.check.definition.shell,
            "GRPC": String => body.check.definition.grpc,
            "GRPCUseTLS": bool => body.check.definition.grpc_use_tls,
            "AliasNode": String => body.check.definition.alias_node,
            "AliasService": String => body.check.definition.alias_service,
            "SessionName" since Behaviour::SessionChecks:
                String => body.check.definition.session_name,
        }
    }
}

// Consul decodes into a type without a name, and ignores its address (seen on 1.8.7).
go_struct! {
    /// The body of `/v1/catalog/deregister`.
    pub(crate) struct DeregisterBody as "struct { Address string; *structs.Alias }" {
        "Address": String,
        *Alias {
            "Datacenter": String => datacenter,
            "Node": String => node,
            "ServiceID": String => service_id,
            "CheckID": CheckId => check_id,
            "Token": String,
            "PeerName" since Behaviour::CatalogPeerNameRefused: Any,
        }
    }
}
