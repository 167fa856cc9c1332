//! The bodies of `/v1/catalog/register` and `/v1/catalog/deregister` (session.md 4.2, 4.3), and what of them the
//! transactions' bodies have as well.

use std::collections::BTreeMap;

use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::http::api::agent::bodies::ConnectBody;
use crate::http::body::durations::AnyDuration;
use crate::http::body::proxy::ProxyBody;
use crate::store::{CheckDefinition, Labels, NewCheck, NewService, ServiceAddress, Weights};
use crate::version::Behaviour;

/// The status of a check that is registered without one (session.md trap 26).
pub(crate) const CRITICAL: &str = "critical";

/// The body of `/v1/catalog/register`.
#[derive(Default)]
pub(crate) struct RegisterBody {
    pub(crate) datacenter: String,
    pub(crate) id: String,
    pub(crate) node: String,
    pub(crate) address: String,
    pub(crate) tagged_addresses: Option<Labels>,
    pub(crate) node_meta: Option<Labels>,
    pub(crate) service: Option<ServiceBody>,
    pub(crate) check: Option<CheckBody>,
    pub(crate) checks: Vec<Option<CheckBody>>,
    pub(crate) skip_node_update: bool,
    pub(crate) peer_name: String,
    token: String,
    indexes: Indexes,
    later: [Any; 2],
}

impl Object for RegisterBody {
    const GO_TYPE: &'static str = "structs.RegisterRequest";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [partition, locality] = &mut self.later;
        vec![
            field("Datacenter", &mut self.datacenter),
            field("ID", &mut self.id).of_type("types.NodeID"),
            field("Node", &mut self.node),
            field("Address", &mut self.address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("NodeMeta", &mut self.node_meta),
            field("Service", &mut self.service),
            field("Check", &mut self.check),
            field("Checks", &mut self.checks).of_type("structs.HealthChecks"),
            field("SkipNodeUpdate", &mut self.skip_node_update),
            field("PeerName", &mut self.peer_name).since(Behaviour::CatalogPeerNameRefused),
            field("Token", &mut self.token),
            field("Partition", partition).since(Behaviour::JsonPartition),
            field("Locality", locality).since(Behaviour::JsonLocality),
            field("CreateIndex", &mut self.indexes.create),
            field("ModifyIndex", &mut self.indexes.modify),
        ]
    }
}

/// The indexes that a row has in the store: clients that send them back need not take them out.
#[derive(Default)]
struct Indexes {
    create: u64,
    modify: u64,
}

/// A service instance, as the catalog's body has it.
#[derive(Default)]
pub(crate) struct ServiceBody {
    pub(crate) id: String,
    pub(crate) service: String,
    kind: String,
    tags: Option<Vec<String>>,
    address: String,
    tagged_addresses: Option<BTreeMap<String, AddressBody>>,
    meta: Option<Labels>,
    port: i64,
    weights: Option<WeightsBody>,
    enable_tag_override: bool,
    proxy: ProxyBody,
    connect: ConnectBody,
    indexes: Indexes,
    pub(crate) peer_name: String,
    later: [Any; 3],
}

impl Object for ServiceBody {
    const GO_TYPE: &'static str = "structs.NodeService";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [ports, locality, socket] = &mut self.later;
        vec![
            field("Kind", &mut self.kind).of_type("structs.ServiceKind"),
            field("ID", &mut self.id),
            field("Service", &mut self.service),
            field("Tags", &mut self.tags),
            field("Address", &mut self.address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("Meta", &mut self.meta),
            field("Port", &mut self.port).of_type("int"),
            field("Weights", &mut self.weights),
            field("EnableTagOverride", &mut self.enable_tag_override),
            field("ModifyIndex", &mut self.indexes.modify),
            field("Proxy", &mut self.proxy),
            field("Connect", &mut self.connect),
            field("CreateIndex", &mut self.indexes.create),
            field("Locality", locality).since(Behaviour::JsonLocality),
            field("SocketPath", socket).since(Behaviour::JsonCatalogServiceSocketPath),
            field("Ports", ports).since(Behaviour::JsonServicePorts),
            field("PeerName", &mut self.peer_name).since(Behaviour::JsonNodeServicePeerName),
        ]
    }
}

impl ServiceBody {
    /// The service; none where Consul's handler dies of an upstream that is null.
    pub(crate) fn into_service(mut self) -> Option<NewService> {
        let proxy = std::mem::take(&mut self.proxy).into_proxy()?;
        let address = |(tag, body): (String, AddressBody)| (tag, ServiceAddress::from(body));
        Some(NewService {
            proxy,
            connect_native: self.connect.native,
            kind: self.kind,
            id: if self.id.is_empty() {
                self.service.clone()
            } else {
                self.id
            },
            name: self.service,
            tags: self.tags,
            address: self.address,
            meta: self.meta,
            port: self.port,
            weights: self.weights.map(Weights::from).unwrap_or_default().valid(),
            enable_tag_override: self.enable_tag_override,
            tagged_addresses: self
                .tagged_addresses
                .map(|addresses| addresses.into_iter().map(address).collect()),
        })
    }
}

#[derive(Default)]
pub(crate) struct AddressBody {
    address: String,
    port: i64,
}

impl From<AddressBody> for ServiceAddress {
    fn from(body: AddressBody) -> Self {
        Self {
            address: body.address,
            port: body.port,
        }
    }
}

impl Object for AddressBody {
    const GO_TYPE: &'static str = "structs.ServiceAddress";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Address", &mut self.address),
            field("Port", &mut self.port).of_type("int"),
        ]
    }
}

#[derive(Default)]
pub(crate) struct WeightsBody {
    passing: i64,
    warning: i64,
}

impl From<WeightsBody> for Weights {
    fn from(body: WeightsBody) -> Self {
        Self {
            passing: body.passing,
            warning: body.warning,
        }
    }
}

impl Object for WeightsBody {
    const GO_TYPE: &'static str = "structs.Weights";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Passing", &mut self.passing).of_type("int"),
            field("Warning", &mut self.warning).of_type("int"),
        ]
    }
}

/// A check, as the catalog's body has it.
#[derive(Default)]
pub(crate) struct CheckBody {
    pub(crate) node: String,
    check_id: String,
    name: String,
    status: String,
    notes: String,
    output: String,
    service_id: String,
    kind: String,
    interval: String,
    timeout: String,
    definition: DefinitionBody,
    service_name: String,
    service_tags: Option<Vec<String>>,
    indexes: Indexes,
    pub(crate) peer_name: String,
    port: Any,
}

impl Object for CheckBody {
    const GO_TYPE: &'static str = "structs.HealthCheck";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Node", &mut self.node),
            field("CheckID", &mut self.check_id).of_type("types.CheckID"),
            field("Name", &mut self.name),
            field("Status", &mut self.status),
            field("Notes", &mut self.notes),
            field("Output", &mut self.output),
            field("ServiceID", &mut self.service_id),
            field("Type", &mut self.kind),
            field("Definition", &mut self.definition),
            field("ServiceName", &mut self.service_name),
            field("ServiceTags", &mut self.service_tags),
            field("CreateIndex", &mut self.indexes.create),
            field("ModifyIndex", &mut self.indexes.modify),
            field("ExposedPort", &mut self.port).since(Behaviour::JsonCheckExposedPort),
            field("Interval", &mut self.interval).since(Behaviour::JsonCheckInterval),
            field("Timeout", &mut self.timeout).since(Behaviour::JsonCheckInterval),
            field("PeerName", &mut self.peer_name).since(Behaviour::JsonNodeServicePeerName),
        ]
    }
}

impl CheckBody {
    pub(crate) fn into_check(self) -> NewCheck {
        let definition = self.definition.definition;
        let (named_service, named_tags) =
            named(&self.service_id, self.service_name, self.service_tags);
        NewCheck {
            check_id: if self.check_id.is_empty() {
                self.name.clone()
            } else {
                self.check_id
            },
            kind: if self.kind.is_empty() {
                kind_of(&definition).to_owned()
            } else {
                self.kind
            },
            name: self.name,
            status: if self.status.is_empty() {
                CRITICAL.to_owned()
            } else {
                self.status
            },
            notes: self.notes,
            output: self.output,
            service_id: self.service_id,
            named_service,
            named_tags,
            interval: self.interval,
            timeout: self.timeout,
            definition,
        }
    }
}

/// The name and the tags of a service, as a body has them for a check: Consul takes both from the service where it is
/// given one, and keeps them as they are for a check of the node (seen on 1.8.7).
pub(crate) fn named(
    service_id: &str,
    name: String,
    tags: Option<Vec<String>>,
) -> (String, Option<Vec<String>>) {
    if service_id.is_empty() {
        (name, tags)
    } else {
        Default::default()
    }
}

/// The kind of check that a definition makes; empty where it makes none.
fn kind_of(definition: &CheckDefinition) -> &'static str {
    let runs = definition.interval_ns > 0;
    if runs && !definition.http.is_empty() {
        "http"
    } else if runs && !definition.tcp.is_empty() {
        "tcp"
    } else if !definition.script_args.is_empty() {
        "script"
    } else if definition.ttl_ns > 0 {
        "ttl"
    } else {
        ""
    }
}

#[derive(Default)]
struct DefinitionBody {
    definition: CheckDefinition,
    interval: AnyDuration,
    timeout: AnyDuration,
    deregister_after: AnyDuration,
    ttl: AnyDuration,
    /// What is taken and means nothing here: the alias, the container, the shell, gRPC.
    ignored: [String; 5],
    grpc_use_tls: bool,
    output_max_size: u64,
}

impl Object for DefinitionBody {
    // Consul decodes into a type of the moment (seen on 1.8.7).
    const GO_TYPE: &'static str = "struct { Interval interface {}; Timeout interface {}; DeregisterCriticalServiceAfter interface {}; TTL interface {}; *structs.Alias }";
    const DECODER: Decoder = Decoder::Own(UnknownFields::Accepted);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let definition = &mut self.definition;
        let [alias_node, alias_service, docker, shell, grpc] = &mut self.ignored;
        let aliased = [
            field("HTTP", &mut definition.http),
            field("TLSSkipVerify", &mut definition.tls_skip_verify),
            field("Header", &mut definition.header),
            field("Method", &mut definition.method),
            field("Body", &mut definition.body),
            field("TCP", &mut definition.tcp),
            field("ScriptArgs", &mut definition.script_args),
            field("OutputMaxSize", &mut self.output_max_size).of_type("uint"),
            field("AliasNode", alias_node),
            field("AliasService", alias_service),
            field("DockerContainerID", docker),
            field("Shell", shell),
            field("GRPC", grpc),
            field("GRPCUseTLS", &mut self.grpc_use_tls),
            field("SessionName", &mut definition.session_name).since(Behaviour::SessionChecks),
        ];
        let own = [
            field("Interval", &mut self.interval),
            field("Timeout", &mut self.timeout),
            field("DeregisterCriticalServiceAfter", &mut self.deregister_after),
            field("TTL", &mut self.ttl),
        ];
        let aliased = aliased.map(|field| field.embedded_in("Alias"));
        own.into_iter().chain(aliased).collect()
    }

    fn complete(&mut self) -> Result<(), String> {
        let kept = |given: &AnyDuration| -> Result<i64, String> {
            Ok(given.nanoseconds()?.unwrap_or_default())
        };
        let definition = &mut self.definition;
        definition.interval_ns = kept(&self.interval)?;
        definition.timeout_ns = kept(&self.timeout)?;
        definition.deregister_critical_service_after_ns = kept(&self.deregister_after)?;
        definition.ttl_ns = kept(&self.ttl)?;
        Ok(())
    }
}

/// The body of `/v1/catalog/deregister`.
#[derive(Default)]
pub(crate) struct DeregisterBody {
    pub(crate) datacenter: String,
    pub(crate) node: String,
    pub(crate) service_id: String,
    pub(crate) check_id: String,
    address: String,
    token: String,
    peer_name: Any,
}

impl Object for DeregisterBody {
    // Consul decodes into a type of the moment, which has an address that nobody looks at (seen on 1.8.7).
    const GO_TYPE: &'static str = "struct { Address string; *structs.Alias }";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let aliased = [
            field("Datacenter", &mut self.datacenter),
            field("Node", &mut self.node),
            field("ServiceID", &mut self.service_id),
            field("CheckID", &mut self.check_id).of_type("types.CheckID"),
            field("Token", &mut self.token),
            field("PeerName", &mut self.peer_name).since(Behaviour::CatalogPeerNameRefused),
        ];
        let aliased = aliased.map(|field| field.embedded_in("Alias"));
        let address = field("Address", &mut self.address);
        [address].into_iter().chain(aliased).collect()
    }
}
