//! Nodes, services and checks in answers (session.md 4.5, 1.22.md B4.5).

use serde::Serialize;

use crate::http::reply::table::{Look, Surface, table};
use proconsul_config::schema::show::Row;
use proconsul_gocompat::duration;
use proconsul_store::{self, CheckRow, Instance, NodeRow, ServiceRow};
use proconsul_version::Behaviour;

table! {
    /// A node.
    pub(crate) Node of row: NodeRow, look: Look<'a> {
        "ID" => text(row.node.id),
        "Node" => text(row.node.node),
        "Address" => text(row.node.address),
        "Datacenter" => text(row.node.datacenter),
        "TaggedAddresses" => labels(row.node.tagged_addresses)
            as look.labels(row.node.tagged_addresses.as_ref()),
        "Meta" => labels(row.node.meta) as look.labels(row.node.meta.as_ref()),
        "Locality" if row.node.locality.is_some() => json(locality(row.node.locality.as_ref())),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

/// A service instance as part of its node.
pub(crate) type NodeService<'a> = Row<'a, ServiceRow>;

/// Where a node or a service is. Filters do not know it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Locality<'a> {
    region: &'a str,
    zone: &'a str,
}

/// Shows where a node or a service is.
pub(crate) fn locality(place: Option<&proconsul_store::Locality>) -> Option<Locality<'_>> {
    place.map(|proconsul_store::Locality { region, zone }| Locality { region, zone })
}

table! {
    /// A check.
    pub(crate) Check of row: CheckRow, look: Look<'a> {
        "Node" => text(row.node),
        "CheckID" => text(row.check.check_id),
        "Name" => text(row.check.name),
        "Status" => text(row.check.status),
        "Notes" => text(row.check.notes),
        "Output" => text(row.check.output),
        "ServiceID" => text(row.check.service_id),
        "ServiceName" => text(row.service_name),
        "ServiceTags" => texts(row.service_tags()) as look.tags(row.service_tags.as_deref()),
        "Type" => text(row.check.kind),
        "Interval" if look.has(Behaviour::JsonCheckInterval) => json(row.check.interval),
        "Timeout" if look.has(Behaviour::JsonCheckInterval) => json(row.check.timeout),
        "ExposedPort" if look.has(Behaviour::JsonCheckExposedPort) => json(row.check.exposed_port),
        "Definition" => json(Definition::new(&row.check.definition, look)),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

table! {
    /// The definition of a check: durations as Go prints them, and the TTL as a number (session.md 4.2).
    Definition of definition: proconsul_store::HealthCheckDefinition {
        "Interval", omitempty => json(set(definition.interval_ns)),
        "OutputMaxSize", omitempty => json(definition.output_max_size),
        "Timeout", omitempty => json(set(definition.timeout_ns)),
        "DeregisterCriticalServiceAfter", omitempty =>
            json(set(definition.deregister_critical_service_after_ns)),
        "HTTP", omitempty => json(definition.http),
        "TLSServerName", omitempty => json(definition.tls_server_name),
        "TLSSkipVerify", omitempty => json(definition.tls_skip_verify),
        "Header", omitempty => json(definition.header),
        "Method", omitempty => json(definition.method),
        "Body", omitempty => json(definition.body),
        "DisableRedirects", omitempty => json(definition.disable_redirects),
        "TCP", omitempty => json(definition.tcp),
        "TCPUseTLS", omitempty => json(definition.tcp_use_tls),
        "UDP", omitempty => json(definition.udp),
        "H2PING", omitempty => json(definition.h2ping),
        "OSService", omitempty => json(definition.os_service),
        "H2PingUseTLS", omitempty => json(definition.h2ping_use_tls),
        "ScriptArgs", omitempty => json(definition.script_args),
        "DockerContainerID", omitempty => json(definition.docker_container_id),
        "Shell", omitempty => json(definition.shell),
        "GRPC", omitempty => json(definition.grpc),
        "GRPCUseTLS", omitempty => json(definition.grpc_use_tls),
        "AliasNode", omitempty => json(definition.alias_node),
        "AliasService", omitempty => json(definition.alias_service),
        "SessionName", omitempty => json(definition.session_name),
        "TTL", omitempty => json(definition.ttl_ns),
    }
}

/// Returns a duration as Go prints it; `None` for 0.
fn set(nanoseconds: i64) -> Option<String> {
    (nanoseconds != 0).then(|| duration::format(nanoseconds))
}

table! {
    /// A service instance with its node and all checks, as health and prepared queries show it.
    pub(crate) HealthEntry of instance: Instance, look: Look<'a> {
        "Node" => within(Node, *instance.node),
        "Service" => within(NodeService, *instance.service)
            as NodeService::new(&instance.service, look.with_default_port()),
        "Checks" => each(Check, instance.checks.iter().map(|row| &**row)) as checks(instance, look),
    }
}

/// Returns the checks of an instance; `None` for an empty list of a transaction, which is shown as `null`.
fn checks<'a>(instance: &'a Instance, look: Look<'a>) -> Option<Vec<Check<'a>>> {
    let rows = instance.checks.iter();
    let rows = rows.map(|row| Check::new(row, look)).collect();
    (look.surface != Surface::Txn || !instance.checks.is_empty()).then_some(rows)
}
