//! `/v1/catalog/register` and `/v1/catalog/deregister`: what is put into the catalog and taken out of it
//! (session.md 4.2, 4.3; 1.22.md B4.2).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use super::errors::Failure;
use super::errors_catalog::RegisterFailure;
use super::reply::Reply;
use super::request::Request;
use super::session::embedded_names;
use crate::go::duration::{self, DurationQuotes};
use crate::go::json::context::{Context as DecodeContext, Rules, UnknownFields};
use crate::go::json::decode::{Decode, Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::go::json::value::Value;
use crate::store::{
    CheckDefinition, Command, Deregistration, Labels, NewCheck, NewNode, NewService, Registration,
    ServiceAddress, Weights,
};
use crate::version::Behaviour;

/// The status of a check that is registered without one (session.md trap 26).
pub(super) const CRITICAL: &str = "critical";

#[derive(Default)]
struct RegisterBody {
    datacenter: String,
    id: String,
    node: String,
    address: String,
    tagged_addresses: Option<Labels>,
    node_meta: Option<Labels>,
    service: Option<ServiceBody>,
    check: Option<CheckBody>,
    checks: Vec<Option<CheckBody>>,
    skip_node_update: bool,
    peer_name: String,
    ignored: [Any; 3],
}

impl Object for RegisterBody {
    const GO_TYPE: &'static str = "structs.RegisterRequest";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [token, partition, locality] = &mut self.ignored;
        vec![
            field("Datacenter", &mut self.datacenter),
            field("ID", &mut self.id).of_type("types.NodeID"),
            field("Node", &mut self.node),
            field("Address", &mut self.address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("NodeMeta", &mut self.node_meta),
            field("Service", &mut self.service),
            field("Check", &mut self.check),
            field("Checks", &mut self.checks),
            field("SkipNodeUpdate", &mut self.skip_node_update),
            field("PeerName", &mut self.peer_name),
            field("Token", token),
            field("Partition", partition),
            field("Locality", locality),
        ]
    }
}

/// A service instance, as the catalog's and the transaction's bodies have it.
#[derive(Default)]
pub(super) struct ServiceBody {
    pub(super) id: String,
    pub(super) service: String,
    kind: String,
    tags: Vec<String>,
    address: String,
    tagged_addresses: Option<BTreeMap<String, AddressBody>>,
    meta: Option<Labels>,
    port: i64,
    weights: Option<WeightsBody>,
    enable_tag_override: bool,
    pub(super) modify_index: u64,
    ignored: [Any; 7],
}

impl Object for ServiceBody {
    const GO_TYPE: &'static str = "structs.NodeService";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [proxy, connect, create, namespace, locality, socket, peer] = &mut self.ignored;
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
            field("ModifyIndex", &mut self.modify_index),
            field("Proxy", proxy),
            field("Connect", connect),
            field("CreateIndex", create),
            field("Namespace", namespace),
            field("Locality", locality),
            field("SocketPath", socket),
            field("PeerName", peer),
        ]
    }
}

impl ServiceBody {
    pub(super) fn into_service(self) -> NewService {
        let address = |(tag, body): (String, AddressBody)| (tag, ServiceAddress::from(body));
        NewService {
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
            weights: self.weights.map(Weights::from).unwrap_or_default(),
            enable_tag_override: self.enable_tag_override,
            kind: self.kind,
            tagged_addresses: self
                .tagged_addresses
                .map(|addresses| addresses.into_iter().map(address).collect()),
        }
    }
}

#[derive(Default)]
pub(super) struct AddressBody {
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
pub(super) struct WeightsBody {
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
struct CheckBody {
    node: String,
    check_id: String,
    name: String,
    status: String,
    notes: String,
    output: String,
    service_id: String,
    kind: String,
    definition: DefinitionBody,
    ignored: [Any; 7],
}

impl Object for CheckBody {
    const GO_TYPE: &'static str = "structs.HealthCheck";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [name, tags, create, modify, namespace, port, peer] = &mut self.ignored;
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
            field("ServiceName", name),
            field("ServiceTags", tags),
            field("CreateIndex", create),
            field("ModifyIndex", modify),
            field("Namespace", namespace),
            field("ExposedPort", port),
            field("PeerName", peer),
        ]
    }
}

impl CheckBody {
    fn into_check(self) -> NewCheck {
        let definition = self.definition.definition;
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
            definition,
        }
    }
}

/// The kind of check that a definition makes; empty where it makes none.
fn kind_of(definition: &CheckDefinition) -> &'static str {
    let runs = !definition.interval.is_zero();
    if runs && !definition.http.is_empty() {
        "http"
    } else if runs && !definition.tcp.is_empty() {
        "tcp"
    } else if !definition.script_args.is_empty() {
        "script"
    } else if !definition.ttl.is_zero() {
        "ttl"
    } else {
        ""
    }
}

/// A duration that may be written as Go's text or as nanoseconds.
#[derive(Default)]
pub(super) struct AnyDuration(Any);

impl Decode for AnyDuration {
    fn decode(&mut self, value: Value<'_>, context: &mut DecodeContext) {
        self.0.decode(value, context);
    }

    fn go_type() -> Cow<'static, str> {
        Any::go_type()
    }
}

impl AnyDuration {
    /// The duration; negative ones are none.
    pub(super) fn take(&self) -> Result<Duration, String> {
        let nanoseconds = match &self.0 {
            Any::Null | Any::Bool(_) | Any::Container => 0,
            Any::String(text) if text.is_empty() => 0,
            Any::String(text) => {
                duration::parse(text).map_err(|error| error.message(DurationQuotes::Escaped))?
            }
            #[expect(clippy::cast_possible_truncation, reason = "as Consul truncates")]
            Any::Number(number) => *number as i64,
        };
        Ok(Duration::from_nanos(
            u64::try_from(nanoseconds).unwrap_or_default(),
        ))
    }
}

#[derive(Default)]
struct DefinitionBody {
    definition: CheckDefinition,
    interval: AnyDuration,
    timeout: AnyDuration,
    deregister: AnyDuration,
    ttl: AnyDuration,
}

impl Object for DefinitionBody {
    const GO_TYPE: &'static str = "structs.HealthCheckDefinition";
    const DECODER: Decoder = Decoder::Own(UnknownFields::Accepted);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let definition = &mut self.definition;
        vec![
            field("HTTP", &mut definition.http),
            field("TLSSkipVerify", &mut definition.tls_skip_verify),
            field("Header", &mut definition.header),
            field("Method", &mut definition.method),
            field("Body", &mut definition.body),
            field("TCP", &mut definition.tcp),
            field("ScriptArgs", &mut definition.script_args),
            field("SessionName", &mut definition.session_name),
            field("Interval", &mut self.interval),
            field("Timeout", &mut self.timeout),
            field("DeregisterCriticalServiceAfter", &mut self.deregister),
            field("TTL", &mut self.ttl),
        ]
    }

    fn complete(&mut self) -> Result<(), String> {
        let definition = &mut self.definition;
        definition.interval = self.interval.take()?;
        definition.timeout = self.timeout.take()?;
        definition.deregister_critical_service_after = self.deregister.take()?;
        definition.ttl = self.ttl.take()?;
        Ok(())
    }
}

#[derive(Default)]
struct DeregisterBody {
    datacenter: String,
    node: String,
    service_id: String,
    check_id: String,
    ignored: [Any; 4],
}

impl Object for DeregisterBody {
    const GO_TYPE: &'static str = "structs.DeregisterRequest";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [address, namespace, token, peer] = &mut self.ignored;
        vec![
            field("Datacenter", &mut self.datacenter),
            field("Node", &mut self.node),
            field("ServiceID", &mut self.service_id),
            field("CheckID", &mut self.check_id).of_type("types.CheckID"),
            field("Address", address),
            field("Namespace", namespace),
            field("Token", token),
            field("PeerName", peer),
        ]
    }
}

/// Registers a node with what is on it.
pub(crate) async fn register(mut request: Request) -> Result<Reply, Failure> {
    let mut body = RegisterBody::default();
    read_strictly(&mut request, &mut body).await?;
    request.check_datacenter_is(&body.datacenter)?;
    let registration = registration(&request, body)?;
    let command = Command::Register(Box::new(registration));
    let applied = request.context.engine.apply(command);
    applied.map_err(Failure::CatalogRefused)?;
    Ok(Reply::boolean(&request, true))
}

/// Takes a node, a service or a check out of the catalog; of a service and a check the service counts.
pub(crate) async fn deregister(mut request: Request) -> Result<Reply, Failure> {
    let mut body = DeregisterBody::default();
    read_strictly(&mut request, &mut body).await?;
    request.check_datacenter_is(&body.datacenter)?;
    if body.node.is_empty() {
        return Err(Failure::Register(RegisterFailure::Node));
    }
    let node = body.node;
    let what = if !body.service_id.is_empty() {
        Deregistration::Service {
            node,
            id: body.service_id,
        }
    } else if !body.check_id.is_empty() {
        Deregistration::Check {
            node,
            id: body.check_id,
        }
    } else {
        Deregistration::Node(node)
    };
    let applied = request.context.engine.apply(Command::Deregister(what));
    applied.map_err(Failure::CatalogRefused)?;
    Ok(Reply::boolean(&request, true))
}

/// Decodes a body that must not have fields that nobody knows.
pub(super) async fn read_strictly<T: Decode + Send>(
    request: &mut Request,
    target: &mut T,
) -> Result<(), Failure> {
    let body = request.read_whole().await;
    let rules = Rules {
        unknown_fields: UnknownFields::Refused,
        embedded_names: embedded_names(request),
        go_type: None,
    };
    request.decode(body, target, rules).map_err(Failure::Decode)
}

/// What is checked before raft (session.md 4.2).
fn registration(request: &Request, body: RegisterBody) -> Result<Registration, Failure> {
    if body.node.is_empty() {
        return Err(Failure::Register(RegisterFailure::Node));
    }
    if body.address.is_empty() && !body.skip_node_update {
        return Err(Failure::Register(RegisterFailure::Address));
    }
    if !body.id.is_empty() && uuid::Uuid::try_parse(&body.id).is_err() {
        return Err(Failure::Register(RegisterFailure::NodeId));
    }
    if !body.peer_name.is_empty() && request.has(Behaviour::CatalogPeerNameRefused) {
        return Err(Failure::Register(RegisterFailure::PeerName));
    }
    let service = body
        .service
        .map(|service| checked_service(request, service));
    let service = service.transpose()?;
    let mut checks = Vec::new();
    for check in body.check.map(Some).into_iter().chain(body.checks) {
        // Consul's handler dies of a check that is null, and the connection with it.
        let check = check.ok_or(Failure::Dropped)?;
        checks.push(checked_check(request, &body.node, check)?);
    }
    Ok(Registration {
        node: NewNode {
            node: body.node,
            id: body.id,
            address: body.address,
            datacenter: request.context.config.datacenter.clone(),
            tagged_addresses: body.tagged_addresses,
            meta: body.node_meta,
        },
        skip_node_update: body.skip_node_update,
        service,
        checks,
    })
}

fn checked_service(request: &Request, service: ServiceBody) -> Result<NewService, Failure> {
    match (service.id.is_empty(), service.service.is_empty()) {
        (false, true) => Err(Failure::Register(RegisterFailure::ServiceName)),
        (true, true) if request.has(Behaviour::CatalogServiceEmptyText) => {
            Err(Failure::Register(RegisterFailure::ServiceEmpty))
        }
        (true, true) => Err(Failure::Register(RegisterFailure::ServiceKey)),
        (_, false) => Ok(service.into_service()),
    }
}

fn checked_check(request: &Request, node: &str, check: CheckBody) -> Result<NewCheck, Failure> {
    let of_this_node = if request.has(Behaviour::CatalogRegisterTexts) {
        check.node.eq_ignore_ascii_case(node)
    } else {
        check.node == node
    };
    if !check.node.is_empty() && !of_this_node {
        return Err(Failure::Register(RegisterFailure::CheckNode {
            named: check.node.clone(),
            check: check.into_check().check_id,
            node: node.to_owned(),
        }));
    }
    let check = check.into_check();
    if check.check_id.is_empty() {
        return Err(Failure::Register(RegisterFailure::CheckKey(
            node.to_owned(),
        )));
    }
    Ok(check)
}
