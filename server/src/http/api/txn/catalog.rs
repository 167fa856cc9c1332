//! The operations of `/v1/txn` on nodes, services and checks, as their bodies have them (kv.md 7.5).

use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::http::api::catalog::bodies::{CRITICAL, named};
use crate::http::api::txn::service_body::ServiceBody;
use crate::http::body::durations::{AnyDuration, ReadableDuration};
use crate::http::request::Request;
use crate::store::{
    CatalogOperation, CatalogSubject, CatalogVerb, CheckDefinition, Index, Labels, NewCheck,
    NewNode,
};
use crate::version::Behaviour;

/// The members of an operation beside `KV`; of several the first in this order counts.
#[derive(Default)]
pub(crate) struct CatalogBodies {
    pub(crate) node: Option<NodeOperation>,
    pub(crate) service: Option<ServiceOperation>,
    pub(crate) check: Option<CheckOperation>,
}

impl CatalogBodies {
    /// The operation that the body asks for; none where it asks for none.
    pub(crate) fn into_operation(self, request: &Request) -> Option<CatalogOperation> {
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
pub(crate) struct NodeOperation {
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
                datacenter: if self.node.datacenter.is_empty() {
                    request.context.config.datacenter.clone()
                } else {
                    self.node.datacenter
                },
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
    datacenter: String,
    /// Taken, and of no account.
    create_index: u64,
    later: [Any; 3],
}

impl Object for NodeBody {
    const GO_TYPE: &'static str = "api.Node";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [partition, peer, locality] = &mut self.later;
        vec![
            field("ID", &mut self.id),
            field("Node", &mut self.node),
            field("Address", &mut self.address),
            field("TaggedAddresses", &mut self.tagged_addresses),
            field("Meta", &mut self.meta),
            field("ModifyIndex", &mut self.modify_index),
            field("Datacenter", &mut self.datacenter),
            field("CreateIndex", &mut self.create_index),
            field("Partition", partition).since(Behaviour::JsonPartition),
            field("PeerName", peer).since(Behaviour::JsonNodeServicePeerName),
            field("Locality", locality).since(Behaviour::JsonLocality),
        ]
    }
}

#[derive(Default)]
pub(crate) struct ServiceOperation {
    verb: String,
    node: String,
    service: ServiceBody,
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

impl ServiceOperation {
    /// The operation.
    fn into_operation(self, request: &Request) -> CatalogOperation {
        let body = self.service;
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
pub(crate) struct CheckOperation {
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
        let (named_service, named_tags) =
            named(&body.service_id, body.service_name, body.service_tags);
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
                    named_service,
                    named_tags,
                    kind,
                    definition: body.definition.definition,
                    ..NewCheck::default()
                }),
            },
        }
    }
}

/// What is taken and means nothing here.
#[derive(Default)]
struct IgnoredInCheck {
    create_index: u64,
    namespace: String,
    later: [Any; 3],
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
    service_name: String,
    service_tags: Option<Vec<String>>,
    kind: String,
    definition: DefinitionBody,
    modify_index: u64,
    ignored: IgnoredInCheck,
}

impl Object for CheckBody {
    const GO_TYPE: &'static str = "api.HealthCheck";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let ignored = &mut self.ignored;
        let [port, peer, partition] = &mut ignored.later;
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
            field("ServiceName", &mut self.service_name),
            field("ServiceTags", &mut self.service_tags),
            field("CreateIndex", &mut ignored.create_index),
            field("Namespace", &mut ignored.namespace),
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
    interval: TwiceNamed,
    timeout: TwiceNamed,
    deregister_after: TwiceNamed,
}

/// A duration in both of its spellings.
#[derive(Default)]
struct TwiceNamed {
    given: AnyDuration,
    deprecated: ReadableDuration,
}

impl TwiceNamed {
    fn kept(&self) -> Result<i64, String> {
        let given = self.given.nanoseconds()?;
        Ok(given.unwrap_or(self.deprecated.nanoseconds))
    }
}

impl Object for DefinitionBody {
    // Consul decodes into a type of the moment (seen on 1.8.7).
    const GO_TYPE: &'static str = "struct { IntervalDuration interface {}; TimeoutDuration interface {}; DeregisterCriticalServiceAfterDuration interface {}; *api.Alias }";
    const DECODER: Decoder = Decoder::Own(UnknownFields::Accepted);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let definition = &mut self.definition;
        let (interval, timeout) = (&mut self.interval, &mut self.timeout);
        let deregister = &mut self.deregister_after;
        let aliased = [
            field("HTTP", &mut definition.http),
            field("TLSSkipVerify", &mut definition.tls_skip_verify),
            field("Header", &mut definition.header),
            field("Method", &mut definition.method),
            field("Body", &mut definition.body),
            field("TCP", &mut definition.tcp),
            field("Interval", &mut interval.deprecated),
            field("Timeout", &mut timeout.deprecated),
            field("DeregisterCriticalServiceAfter", &mut deregister.deprecated),
        ];
        let own = [
            field("IntervalDuration", &mut interval.given),
            field("TimeoutDuration", &mut timeout.given),
            field(
                "DeregisterCriticalServiceAfterDuration",
                &mut deregister.given,
            ),
        ];
        let aliased = aliased.map(|field| field.embedded_in("Alias"));
        own.into_iter().chain(aliased).collect()
    }

    fn complete(&mut self) -> Result<(), String> {
        let definition = &mut self.definition;
        definition.interval_ns = self.interval.kept()?;
        definition.timeout_ns = self.timeout.kept()?;
        definition.deregister_critical_service_after_ns = self.deregister_after.kept()?;
        Ok(())
    }
}
