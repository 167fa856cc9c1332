//! The operations of `/v1/txn` on nodes, services and checks, as their bodies have them (kv.md 7.5).

use super::check_durations::CheckDurations;
use super::registration_bodies::{CRITICAL, ServiceBody};
use super::request::Request;
use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::store::{
    CatalogOperation, CatalogSubject, CatalogVerb, CheckDefinition, Index, Labels, NewCheck,
    NewNode,
};
use crate::version::Behaviour;

/// The members of an operation beside `KV`; of several the first in this order counts.
#[derive(Default)]
pub(super) struct CatalogBodies {
    pub(super) node: Option<NodeOperation>,
    pub(super) service: Option<ServiceOperation>,
    pub(super) check: Option<CheckOperation>,
}

impl CatalogBodies {
    /// The operation that the body asks for; none where it asks for none.
    pub(super) fn into_operation(self, request: &Request) -> Option<CatalogOperation> {
        if let Some(operation) = self.node {
            return Some(operation.into_operation(request));
        }
        if let Some(operation) = self.service {
            return Some(operation.into_operation(request));
        }
        Some(self.check?.into_operation(request))
    }
}

/// The verbs are case-sensitive.
fn verb(text: String) -> CatalogVerb {
    match text.as_str() {
        "get" => CatalogVerb::Get,
        "set" => CatalogVerb::Set,
        "cas" => CatalogVerb::Cas,
        "delete" => CatalogVerb::Delete,
        "delete-cas" => CatalogVerb::DeleteCas,
        _ => CatalogVerb::Unknown(text),
    }
}

#[derive(Default)]
pub(super) struct NodeOperation {
    verb: String,
    node: NodeBody,
}

impl Object for NodeOperation {
    const GO_TYPE: &'static str = "api.NodeTxnOp";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Verb", &mut self.verb).of_type("api.NodeOp"),
            field("Node", &mut self.node),
        ]
    }
}

impl NodeOperation {
    fn into_operation(self, request: &Request) -> CatalogOperation {
        CatalogOperation {
            verb: verb(self.verb),
            index: Index(self.node.modify_index),
            subject: CatalogSubject::Node(NewNode {
                node: self.node.node,
                id: self.node.id,
                address: self.node.address,
                datacenter: request.context.config.datacenter.clone(),
                tagged_addresses: self.node.tagged_addresses,
                meta: self.node.meta,
            }),
        }
    }
}

#[derive(Default)]
struct NodeBody {
    id: String,
    node: String,
    address: String,
    tagged_addresses: Option<Labels>,
    meta: Option<Labels>,
    modify_index: u64,
    ignored: [Any; 5],
}

impl Object for NodeBody {
    const GO_TYPE: &'static str = "api.Node";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [datacenter, create, partition, peer, locality] = &mut self.ignored;
        vec![
            field("ID", &mut self.id),
            field("Node", &mut self.node),
            field("Address", &mut self.address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("Meta", &mut self.meta),
            field("ModifyIndex", &mut self.modify_index),
            field("Datacenter", datacenter),
            field("CreateIndex", create),
            field("Partition", partition).since(Behaviour::JsonPartition),
            field("PeerName", peer).since(Behaviour::JsonNodeServicePeerName),
            field("Locality", locality).since(Behaviour::JsonLocality),
        ]
    }
}

#[derive(Default)]
pub(super) struct ServiceOperation {
    verb: String,
    node: String,
    service: ClientServiceBody,
}

impl Object for ServiceOperation {
    const GO_TYPE: &'static str = "api.ServiceTxnOp";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Verb", &mut self.verb).of_type("api.ServiceOp"),
            field("Node", &mut self.node),
            field("Service", &mut self.service),
        ]
    }
}

/// A service as the client's type has it, which knows of namespaces.
#[derive(Default)]
struct ClientServiceBody {
    service: ServiceBody,
    namespace: Any,
}

impl Object for ClientServiceBody {
    const GO_TYPE: &'static str = "api.AgentService";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let mut fields = self.service.fields();
        fields.push(field("Namespace", &mut self.namespace));
        fields
    }
}

impl ServiceOperation {
    /// The operation. Consul copies no more of the service than what stands here: not its kind, proxy and Connect.
    fn into_operation(self, request: &Request) -> CatalogOperation {
        let body = self.service.service;
        let index = Index(body.modify_index);
        let sent_id = body.id.clone();
        let mut service = body.into_service();
        let verb = verb(self.verb);
        if verb == CatalogVerb::Get {
            // What is read goes by the id alone, also by an empty one.
            service.id = sent_id;
        }
        if !request.has(Behaviour::TxnServiceTaggedAddresses) {
            service.tagged_addresses = None;
        }
        CatalogOperation {
            verb,
            index,
            subject: CatalogSubject::Service {
                node: self.node,
                service,
            },
        }
    }
}

#[derive(Default)]
pub(super) struct CheckOperation {
    verb: String,
    check: CheckBody,
}

impl Object for CheckOperation {
    const GO_TYPE: &'static str = "api.CheckTxnOp";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Verb", &mut self.verb).of_type("api.CheckOp"),
            field("Check", &mut self.check),
        ]
    }
}

impl CheckOperation {
    fn into_operation(self, request: &Request) -> CatalogOperation {
        let verb = verb(self.verb);
        let body = self.check;
        let check_id = if body.check_id.is_empty() && verb != CatalogVerb::Get {
            body.name.clone()
        } else {
            body.check_id
        };
        let kind = if request.has(Behaviour::TxnCheckType) {
            body.kind
        } else {
            String::new()
        };
        let status = if body.status.is_empty() {
            CRITICAL.to_owned()
        } else {
            body.status
        };
        CatalogOperation {
            verb,
            index: Index(body.modify_index),
            subject: CatalogSubject::Check {
                node: body.node,
                check: Box::new(NewCheck {
                    check_id,
                    name: body.name,
                    status,
                    notes: body.notes,
                    output: body.output,
                    service_id: body.service_id,
                    kind,
                    definition: body.definition.definition,
                    ..NewCheck::default()
                }),
            },
        }
    }
}

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
    modify_index: u64,
    ignored: [Any; 7],
}

impl Object for CheckBody {
    const GO_TYPE: &'static str = "api.HealthCheck";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [name, tags, create, namespace, port, peer, partition] = &mut self.ignored;
        vec![
            field("Node", &mut self.node),
            field("CheckID", &mut self.check_id),
            field("Name", &mut self.name),
            field("Status", &mut self.status),
            field("Notes", &mut self.notes),
            field("Output", &mut self.output),
            field("ServiceID", &mut self.service_id),
            field("Type", &mut self.kind),
            field("Definition", &mut self.definition),
            field("ModifyIndex", &mut self.modify_index),
            field("ServiceName", name),
            field("ServiceTags", tags),
            field("CreateIndex", create),
            field("Namespace", namespace),
            field("ExposedPort", port).since(Behaviour::JsonCheckExposedPort),
            field("PeerName", peer).since(Behaviour::JsonNodeServicePeerName),
            field("Partition", partition).since(Behaviour::JsonPartition),
        ]
    }
}

/// A definition as the client's type has it: fewer fields than the catalog's, and two spellings of durations.
#[derive(Default)]
struct DefinitionBody {
    definition: CheckDefinition,
    durations: CheckDurations,
}

impl Object for DefinitionBody {
    const GO_TYPE: &'static str = "api.HealthCheckDefinition";
    const DECODER: Decoder = Decoder::Own(UnknownFields::Accepted);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let definition = &mut self.definition;
        let mut fields = vec![
            field("HTTP", &mut definition.http),
            field("TLSSkipVerify", &mut definition.tls_skip_verify),
            field("Header", &mut definition.header),
            field("Method", &mut definition.method),
            field("Body", &mut definition.body),
            field("TCP", &mut definition.tcp),
        ];
        fields.extend(self.durations.fields());
        fields
    }

    fn complete(&mut self) -> Result<(), String> {
        self.durations.put_into(&mut self.definition)
    }
}
