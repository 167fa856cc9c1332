//! The bodies of operations of `/v1/txn` on nodes, services and checks (kv.md 7.5).

use std::collections::BTreeMap;

use crate::http::api::txn::service_body::ServiceFields;
use crate::http::body::check::CheckBody;
use crate::http::body::durations::{AnyDuration, ReadableDuration};
use crate::http::request::Request;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::{Any, Int};
use proconsul_store::{CatalogOperation, CatalogSubject, CatalogVerb, Index, Labels, NewNode};
use proconsul_version::Behaviour;

/// Returns a verb. Verbs are case-sensitive.
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

go_struct! {
    pub(crate) struct NodeOperation as "api.NodeTxnOp" {
        "Verb" is "api.NodeOp": String => verb,
        "Node": NodeFields => body,
    }
}

impl NodeOperation {
    pub(crate) fn into_operation(self, request: &Request) -> CatalogOperation {
        let NodeBody {
            mut node,
            modify_index,
        } = self.body;
        if node.datacenter.is_empty() {
            node.datacenter
                .clone_from(&request.context.config.datacenter);
        }
        CatalogOperation {
            verb: verb(self.verb),
            index: Index(modify_index),
            subject: CatalogSubject::Node(node),
        }
    }
}

#[derive(Default)]
pub(crate) struct NodeBody {
    node: NewNode,
    modify_index: u64,
}

go_struct! {
    pub(crate) NodeFields as "api.Node" for body: NodeBody {
        "ID": String => body.node.id,
        "Node": String => body.node.node,
        "Address": String => body.node.address,
        "TaggedAddresses": Option<Labels> => body.node.tagged_addresses,
        "Meta": Option<Labels> => body.node.meta,
        "ModifyIndex": u64 => body.modify_index,
        "Datacenter": String => body.node.datacenter,
        "CreateIndex": u64,
        "Partition" since Behaviour::JsonPartition: Any,
        "PeerName" since Behaviour::JsonNodeServicePeerName: Any,
        "Locality" since Behaviour::JsonLocality: Any,
    }
}

go_struct! {
    pub(crate) struct ServiceOperation as "api.ServiceTxnOp" {
        "Verb" is "api.ServiceOp": String => verb,
        "Node": String => node,
        "Service": ServiceFields => body,
    }
}

impl ServiceOperation {
    pub(crate) fn into_operation(self, request: &Request) -> CatalogOperation {
        let body = self.body;
        let index = Index(body.modify_index);
        let sent_id = body.service.id.clone();
        let service = body.into_service();
        let mut service = service.expect("the body of a transaction keeps no upstreams");
        let verb = verb(self.verb);
        if verb == CatalogVerb::Get {
            // A read uses the sent id, even an empty one.
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

go_struct! {
    pub(crate) struct CheckOperation as "api.CheckTxnOp" {
        "Verb" is "api.CheckOp": String => verb,
        "Check": CheckFields => body,
    }
}

impl CheckOperation {
    pub(crate) fn into_operation(mut self, request: &Request) -> CatalogOperation {
        let verb = verb(self.verb);
        let index = Index(self.body.modify_index);
        let node = match self.body.peer_name.as_str() {
            "" => std::mem::take(&mut self.body.node),
            // No node of a peer is here.
            _ => String::new(),
        };
        let sent_id = self.body.check.check_id.clone();
        let mut check = self.body.into_check();
        if verb == CatalogVerb::Get {
            check.check_id = sent_id;
        }
        if !request.has(Behaviour::TxnCheckType) {
            check.kind.clear();
        }
        CatalogOperation {
            verb,
            index,
            subject: CatalogSubject::Check {
                node,
                check: Box::new(check),
            },
        }
    }
}

go_struct! {
    pub(crate) CheckFields as "api.HealthCheck" for body: CheckBody {
        "Node": String => body.node,
        "CheckID": String => body.check.check_id,
        "Name": String => body.check.name,
        "Status": String => body.check.status,
        "Notes": String => body.check.notes,
        "Output": String => body.check.output,
        "ServiceID": String => body.check.service_id,
        "Type": String => body.check.kind,
        "Definition": DefinitionFields => *body,
        "ModifyIndex": u64 => body.modify_index,
        "ServiceName": String => body.check.named_service,
        "ServiceTags": Option<Vec<String>> => body.check.named_tags,
        "CreateIndex": u64,
        "Namespace": String,
        "ExposedPort" since Behaviour::JsonCheckExposedPort: Int => body.check.exposed_port,
        "PeerName" since Behaviour::JsonNodeServicePeerName: String => body.peer_name,
        "Partition" since Behaviour::JsonPartition: Any,
    }
}

// Consul decodes into a type without a name (seen on 1.8.7).
const DEFINITION_TYPE: &str = "struct { IntervalDuration interface {}; TimeoutDuration interface {}; DeregisterCriticalServiceAfterDuration interface {}; *api.Alias }";

go_struct! {
    /// The definition of a check in the client's type: fewer fields than the catalog's, and two spellings of durations.
    /// The deprecated spelling counts if the other one is missing. A field without a place is only checked for its kind.
    DefinitionFields as DEFINITION_TYPE for body: CheckBody,
    own decoder: Accepted, then: CheckBody::settle_durations {
        "IntervalDuration": AnyDuration => body.interval,
        "TimeoutDuration": AnyDuration => body.timeout,
        "DeregisterCriticalServiceAfterDuration": AnyDuration => body.deregister_after,
        *Alias {
            "HTTP": String => body.check.definition.http,
            "TLSSkipVerify": bool => body.check.definition.tls_skip_verify,
            "Header":
                Option<BTreeMap<String, Option<Vec<String>>>> => body.check.definition.header,
            "Method": String => body.check.definition.method,
            "Body": String => body.check.definition.body,
            "TLSServerName" since Behaviour::JsonCheckTlsServerName:
                String => body.check.definition.tls_server_name,
            "TCP": String => body.check.definition.tcp,
            "TCPUseTLS" since Behaviour::JsonCheckTcpUseTls:
                bool => body.check.definition.tcp_use_tls,
            "UDP" since Behaviour::JsonCheckUdp: String,
            "OSService" since Behaviour::JsonCheckOsService:
                String => body.check.definition.os_service,
            "GRPC" since Behaviour::JsonClientCheckGrpc: String => body.check.definition.grpc,
            "GRPCUseTLS" since Behaviour::JsonClientCheckGrpc:
                bool => body.check.definition.grpc_use_tls,
            "Interval": ReadableDuration => body.check.definition.interval_ns,
            "Timeout": ReadableDuration => body.check.definition.timeout_ns,
            "DeregisterCriticalServiceAfter": ReadableDuration =>
                body.check.definition.deregister_critical_service_after_ns,
        }
    }
}
