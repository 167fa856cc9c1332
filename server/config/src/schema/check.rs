//! Definitions of checks. The agent's bodies and configuration files read them; durations and the id, which they call
//! differently, stand beside this table.

use super::field::{Field, GoType, On, Shape, Table, field};
use crate::definition::CheckDefinition;
use proconsul_version::Behaviour;

impl Shape for CheckDefinition {
    const SERVER: GoType = GoType::plain("structs.CheckType");
    const CLIENT: GoType = GoType::plain("api.AgentServiceCheck");
}

/// Checks that need the ports of a proxy are not run, and redirects are always followed.
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
