//! The bodies of operations of `/v1/txn` on nodes, services and checks (kv.md 7.5).

use crate::api::txn::service_body::ServiceFields;
use crate::body::check::CheckBody;
use crate::body::durations::{AnyDuration, ReadableDuration};
use crate::request::Request;
use proconsul_config::schema::body::Part;
use proconsul_config::schema::{At, On};
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::Any;
use proconsul_store::{
    CatalogOperation, CatalogSubject, CatalogVerb, CheckRow, HealthCheckDefinition, Index, NewNode,
};
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
            node.datacenter.clone_from(&request.asked.config.datacenter);
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
        "ModifyIndex": u64 => body.modify_index,
        "CreateIndex": u64,
        "Partition" since Behaviour::JsonPartition: Any,
        "PeerName" since Behaviour::JsonNodeServicePeerName: Any,
        ..NODE;
    }
}

const NODE: &Part<NodeBody, NewNode> = &Part {
    at: At {
        get: |body| &body.node,
        place: |body| &mut body.node,
    },
    on: On::TXN_BODY,
};

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
        let index = self.body.row.modify_index;
        let node = match self.body.peer_name.as_str() {
            "" => std::mem::take(&mut self.body.row.node),
            // No node of a peer is here.
            _ => String::new(),
        };
        let sent_id = self.body.row.check.check_id.clone();
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
        "Definition": DefinitionFields => *body,
        "Namespace": String,
        "PeerName" since Behaviour::JsonNodeServicePeerName: String => body.peer_name,
        "Partition" since Behaviour::JsonPartition: Any,
        ..CHECK;
    }
}

const CHECK: &Part<CheckBody, CheckRow> = &CheckBody::fields(On::TXN_BODY);
const DEFINITION: &Part<CheckBody, HealthCheckDefinition> = &CheckBody::definition(On::TXN_BODY);

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
        *Alias of DEFINITION;
        *Alias {
            "Interval": ReadableDuration => body.row.check.definition.interval_ns,
            "Timeout": ReadableDuration => body.row.check.definition.timeout_ns,
            "DeregisterCriticalServiceAfter": ReadableDuration =>
                body.row.check.definition.deregister_critical_service_after_ns,
        }
    }
}
