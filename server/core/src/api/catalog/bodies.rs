//! The bodies of `/v1/catalog/register` and `/v1/catalog/deregister` (session.md 4.2, 4.3).

use crate::body::check::{CheckBody, CheckId};
use crate::body::definition::{ConnectFields, ServiceBody};
use crate::body::durations::AnyDuration;
use crate::body::proxy::CatalogProxyFields;
use proconsul_config::schema::body::Part;
use proconsul_config::schema::{At, On};
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::Any;
use proconsul_store::{CheckRow, HealthCheckDefinition, NewCheck, NewNode, NewService};
use proconsul_version::Behaviour;

/// The body of `/v1/catalog/register`.
#[derive(Default)]
pub(crate) struct RegisterBody {
    pub(crate) node: NewNode,
    pub(crate) service: Option<ServiceBody>,
    pub(crate) check: Option<CheckBody>,
    pub(crate) checks: Vec<Option<CheckBody>>,
    pub(crate) skip_node_update: bool,
    pub(crate) peer_name: String,
}

/// The fields of the node.
const NODE: &Part<RegisterBody, NewNode> = &Part {
    at: At {
        get: |body| &body.node,
        place: |body| &mut body.node,
    },
    on: On::CATALOG_BODY,
};

go_struct! {
    /// The body of `/v1/catalog/register`.
    pub(crate) RegisterFields as "structs.RegisterRequest" for body: RegisterBody {
        "Service": Option<ServiceFields> => body.service,
        "Check": Option<CheckFields> => body.check,
        "Checks" is "structs.HealthChecks": Vec<Option<CheckFields>> => body.checks,
        "SkipNodeUpdate": bool => body.skip_node_update,
        "PeerName" since Behaviour::CatalogPeerNameRefused: String => body.peer_name,
        "Token": String,
        "CreateIndex": u64,
        "ModifyIndex": u64,
        ..NODE;
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
        "Definition": DefinitionFields => *body,
        "PeerName" since Behaviour::JsonNodeServicePeerName: String => body.peer_name,
        ..CHECK;
    }
}

const CHECK: &Part<CheckBody, CheckRow> = &CheckBody::fields(On::CATALOG_BODY);
const DEFINITION: &Part<CheckBody, HealthCheckDefinition> =
    &CheckBody::definition(On::CATALOG_BODY);

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
        *Alias of DEFINITION;
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
