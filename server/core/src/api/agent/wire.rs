//! The JSON of the agent's own services and checks (session.md 4.4, 1.22.md B4.4).

use serde::Serialize;

use crate::reply::table::{Look, Surface, table};
use crate::request::Request;
use proconsul_config::schema::look::AgentFacts;
use proconsul_config::schema::show::Row;
use proconsul_store::{CheckRow, Index, LocalCheck, NewService};
use proconsul_version::Behaviour;

/// A service of the agent.
pub(crate) type AgentService<'a> = Row<'a, NewService>;

/// Returns how the agent shows its services.
pub(crate) fn look(request: &Request) -> Look<'_> {
    let config = &request.context.config;
    Look {
        agent: AgentFacts {
            datacenter: &config.datacenter,
            node: &config.node_name,
            content_hash: None,
        },
        ..Look::of(Surface::Agent, request.version())
    }
}

/// Returns a check of the agent as a row of the catalog, with zero indexes.
pub(crate) fn as_row(local: &LocalCheck, node: &str) -> CheckRow {
    CheckRow {
        node: node.to_owned(),
        check: local.check.clone(),
        service_name: local.service_name.clone(),
        service_tags: local.service_tags.clone(),
        create_index: Index::ZERO,
        modify_index: Index::ZERO,
    }
}

/// A service with its checks and their worst status.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ServiceHealth<'a> {
    pub(crate) aggregated_status: &'static str,
    pub(crate) service: Option<AgentService<'a>>,
    pub(crate) checks: Option<Vec<HealthCheck<'a>>>,
}

table! {
    /// A check as `agent/health/service` shows it: with all fields of a definition, but without their values.
    pub(crate) HealthCheck of local: LocalCheck, look: Look<'a> {
        "Node" => json(look.agent.node),
        "CheckID" => json(local.check.check_id),
        "Name" => json(local.check.name),
        "Status" => json(local.check.status),
        "Notes" => json(local.check.notes),
        "Output" => json(local.check.output),
        "ServiceID" => json(local.check.service_id),
        "ServiceName" => json(local.service_name),
        "ServiceTags" => json(local.service_tags),
        "Type" => json(""),
        "ExposedPort" if look.has(Behaviour::JsonCheckExposedPort) => json(0),
        "Definition" => json(NoDefinition::new(&(), look)),
        "CreateIndex" => json(0),
        "ModifyIndex" => json(0),
    }
}

table! {
    /// The fields of a definition without their values.
    NoDefinition of nothing: (), look: Look<'a> {
        "Interval" => json("0s"),
        "Timeout" => json("0s"),
        "DeregisterCriticalServiceAfter" => json("0s"),
        "HTTP" => json(""),
        "Header" => json(()),
        "Method" => json(""),
        "Body" => json(""),
        "TLSServerName" if look.has(Behaviour::JsonCheckTlsServerName) => json(""),
        "TLSSkipVerify" => json(false),
        "TCP" => json(""),
        "TCPUseTLS" if look.has(Behaviour::JsonCheckTcpUseTls) => json(false),
        "UDP" if look.has(Behaviour::JsonCheckUdp) => json(""),
        "GRPC" if look.has(Behaviour::JsonClientCheckGrpc) => json(""),
        "OSService" if look.has(Behaviour::JsonCheckOsService) => json(""),
        "GRPCUseTLS" if look.has(Behaviour::JsonClientCheckGrpc) => json(false),
    }
}
