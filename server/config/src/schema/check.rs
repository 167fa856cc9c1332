//! Checks: their definitions, which the agent's bodies and configuration files have, and those of the catalog.

use super::field::{Field, GoType, Shape, Table, field};
use super::look::On;
use super::value::Shown;
use crate::definition::CheckDefinition;
use proconsul_gocompat::duration;
use proconsul_store::{CheckRow, HealthCheckDefinition};
use proconsul_version::Behaviour;

impl Shape for CheckDefinition {
    const SERVER: GoType = GoType::plain("structs.CheckType");
    const CLIENT: GoType = GoType::plain("api.AgentServiceCheck");
}

/// Durations and the id, which the agent's bodies and files call differently, stand beside this table. Checks that need the ports of a proxy are not run, and redirects are always followed.
impl Table for CheckDefinition {
    const FIELDS: &'static [Field<Self>] = &[
        field!(CheckDefinition, "Name", name),
        field!(CheckDefinition, "Notes", notes),
        field!(CheckDefinition, "Status", status),
        field!(CheckDefinition, "ServiceID", service_id).or_snake("service_id"),
        field!(CheckDefinition, "ScriptArgs", script_args).or_snake("script_args"),
        field!(CheckDefinition, "HTTP", http),
        field!(CheckDefinition, "Header", header),
        field!(CheckDefinition, "Method", method),
        field!(CheckDefinition, "Body", body),
        field!(CheckDefinition, "TCP", tcp),
        field!(CheckDefinition, "AliasNode", alias_node),
        field!(CheckDefinition, "AliasService", alias_service),
        field!(CheckDefinition, "DockerContainerID", docker_container_id)
            .or_snake("docker_container_id"),
        field!(CheckDefinition, "GRPC", grpc),
        field!(CheckDefinition, "GRPCUseTLS", grpc_use_tls),
        field!(CheckDefinition, "grpc_use_tls", grpc_use_tls)
            .on(On::AGENT_BODY)
            .since(Behaviour::JsonCheckGrpcUseTlsSnake),
        field!(CheckDefinition, "TLSSkipVerify", tls_skip_verify).or_snake("tls_skip_verify"),
        field!(
            CheckDefinition,
            "SuccessBeforePassing",
            success_before_passing
        ),
        field!(
            CheckDefinition,
            "FailuresBeforeCritical",
            failures_before_critical
        ),
        field!(CheckDefinition, "OutputMaxSize", output_max_size),
        field!(CheckDefinition, "TLSServerName", tls_server_name)
            .or_snake("tls_server_name")
            .since(Behaviour::JsonCheckTlsServerName),
        field!(CheckDefinition, "H2PING", h2ping).since(Behaviour::JsonCheckH2Ping),
        field!(CheckDefinition, "H2PingUseTLS", h2ping_use_tls)
            .or_snake("h2ping_use_tls")
            .since(Behaviour::JsonCheckH2Ping),
        field!(
            CheckDefinition,
            "FailuresBeforeWarning",
            failures_before_warning
        )
        .since(Behaviour::JsonCheckFailuresBeforeWarning),
        field!(CheckDefinition, "UDP", udp).since(Behaviour::JsonCheckUdp),
        field!(CheckDefinition, "OSService", os_service).since(Behaviour::JsonCheckOsService),
        field!(CheckDefinition, "TCPUseTLS", tcp_use_tls)
            .or_snake("tcp_use_tls")
            .since(Behaviour::JsonCheckTcpUseTls),
    ];
}

/// A check of the catalog. In bodies, its definition stands beside this table.
impl Shape for CheckRow {
    const SERVER: GoType = GoType::plain("structs.HealthCheck");
    const CLIENT: GoType = GoType::plain("api.HealthCheck");
}

impl Table for CheckRow {
    const FIELDS: &'static [Field<Self>] = &[
        field!(CheckRow, "Node", node),
        field!(CheckRow, "CheckID", check.check_id).of_type(Some("types.CheckID"), None),
        field!(CheckRow, "Name", check.name),
        field!(CheckRow, "Status", check.status),
        field!(CheckRow, "Notes", check.notes),
        field!(CheckRow, "Output", check.output),
        field!(CheckRow, "ServiceID", check.service_id),
        field!(CheckRow, "ServiceName", service_name),
        field!(CheckRow, "ServiceTags", service_tags).filled_if(|look| look.fills_tags()),
        field!(CheckRow, "Type", check.kind),
        field!(CheckRow, "Interval", check.interval)
            .on(NOT_TXN)
            .since(Behaviour::JsonCheckInterval)
            .unselected(),
        field!(CheckRow, "Timeout", check.timeout)
            .on(NOT_TXN)
            .since(Behaviour::JsonCheckInterval)
            .unselected(),
        field!(CheckRow, "ExposedPort", check.exposed_port)
            .since(Behaviour::JsonCheckExposedPort)
            .kept_by_txn()
            .unselected(),
        field!(CheckRow, "Definition", check.definition)
            .on(On::ANSWERS)
            .unselected(),
        field!(CheckRow, "CreateIndex", create_index.0).unselected(),
        field!(CheckRow, "ModifyIndex", modify_index.0).unselected(),
    ];
}

/// All surfaces but bodies of transactions.
const NOT_TXN: On = On::ALL.but(On::TXN_BODY);

/// How a check of the catalog is run. Its type decodes durations itself, which stand beside this table; they are shown as Go
/// prints them, and the TTL as a number (session.md 4.2). The client's type has fewer fields.
impl Shape for HealthCheckDefinition {
    const SERVER: GoType = GoType::plain("structs.HealthCheckDefinition");
    const CLIENT: GoType = GoType::plain("api.HealthCheckDefinition");
}

/// Makes the row of a duration that is shown if it is set.
macro_rules! duration {
    ($name:literal, $member:ident) => {
        Field::<HealthCheckDefinition>::shown($name, |definition, _, put| {
            put(Shown::Text(&duration::format(definition.$member)));
        })
        .shown_if(|definition, _| definition.$member != 0)
    };
}

impl Table for HealthCheckDefinition {
    const FIELDS: &'static [Field<Self>] = &[
        duration!("Interval", interval_ns),
        field!(HealthCheckDefinition, "OutputMaxSize", output_max_size)
            .of_type(Some("uint"), None)
            .on(NOT_TXN)
            .omitempty(),
        duration!("Timeout", timeout_ns),
        duration!(
            "DeregisterCriticalServiceAfter",
            deregister_critical_service_after_ns
        ),
        field!(HealthCheckDefinition, "HTTP", http).omitempty(),
        field!(HealthCheckDefinition, "TLSServerName", tls_server_name)
            .since(Behaviour::JsonCheckTlsServerName)
            .kept_by_txn()
            .omitempty(),
        field!(HealthCheckDefinition, "TLSSkipVerify", tls_skip_verify).omitempty(),
        field!(HealthCheckDefinition, "Header", header).omitempty(),
        field!(HealthCheckDefinition, "Method", method).omitempty(),
        field!(HealthCheckDefinition, "Body", body).omitempty(),
        field!(HealthCheckDefinition, "DisableRedirects", disable_redirects)
            .since(Behaviour::JsonCheckUdp)
            .on(NOT_TXN)
            .omitempty(),
        field!(HealthCheckDefinition, "TCP", tcp).omitempty(),
        field!(HealthCheckDefinition, "TCPUseTLS", tcp_use_tls)
            .since(Behaviour::JsonCheckTcpUseTls)
            .kept_by_txn()
            .omitempty(),
        field!(HealthCheckDefinition, "UDP", udp)
            .since(Behaviour::JsonCheckUdp)
            .kept_by_txn()
            .dropped_by_txn()
            .omitempty(),
        field!(HealthCheckDefinition, "H2PING", h2ping)
            .since(Behaviour::JsonCheckH2Ping)
            .on(NOT_TXN)
            .omitempty(),
        field!(HealthCheckDefinition, "OSService", os_service)
            .since(Behaviour::JsonCheckOsService)
            .kept_by_txn()
            .omitempty(),
        field!(HealthCheckDefinition, "H2PingUseTLS", h2ping_use_tls)
            .since(Behaviour::JsonCheckH2Ping)
            .on(NOT_TXN)
            .omitempty(),
        field!(HealthCheckDefinition, "ScriptArgs", script_args)
            .on(NOT_TXN)
            .omitempty(),
        field!(
            HealthCheckDefinition,
            "DockerContainerID",
            docker_container_id
        )
        .on(NOT_TXN)
        .omitempty(),
        field!(HealthCheckDefinition, "Shell", shell)
            .on(NOT_TXN)
            .omitempty(),
        GRPC.on(NOT_TXN),
        GRPC_USE_TLS.on(NOT_TXN),
        // The client's type has these later.
        GRPC.on(On::TXN_BODY)
            .since(Behaviour::JsonClientCheckGrpc)
            .kept_by_txn(),
        GRPC_USE_TLS
            .on(On::TXN_BODY)
            .since(Behaviour::JsonClientCheckGrpc)
            .kept_by_txn(),
        field!(HealthCheckDefinition, "AliasNode", alias_node)
            .on(NOT_TXN)
            .omitempty(),
        field!(HealthCheckDefinition, "AliasService", alias_service)
            .on(NOT_TXN)
            .omitempty(),
        field!(HealthCheckDefinition, "SessionName", session_name)
            .since(Behaviour::SessionChecks)
            .on(NOT_TXN)
            .omitempty(),
        Field::<HealthCheckDefinition>::shown("TTL", |definition, _, put| {
            put(Shown::Int(definition.ttl_ns));
        })
        .shown_if(|definition, _| definition.ttl_ns != 0),
    ];
}

const GRPC: Field<HealthCheckDefinition> = field!(HealthCheckDefinition, "GRPC", grpc).omitempty();
const GRPC_USE_TLS: Field<HealthCheckDefinition> =
    field!(HealthCheckDefinition, "GRPCUseTLS", grpc_use_tls).omitempty();
