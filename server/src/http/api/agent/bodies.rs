//! The bodies of the agent's registrations (session.md 4.4), as Consul's alias types decode them: names in two
//! spellings, durations as texts or as nanoseconds.

use std::collections::BTreeMap;

use crate::definition::{CheckDefinition, ServiceDefinition, Timing};
use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::http::api::catalog::bodies::{AddressBody, WeightsBody};
use crate::http::body::durations::AnyDuration;
use crate::http::body::proxy::ProxyBody;
use crate::store::{ServiceAddress, Weights};
use crate::version::Behaviour;

// The Go types that decode the bodies have no names: an error about a whole body prints all that is in them.
const CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
const SERVICE_CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; ServiceID string \"json:\\\"ServiceID\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
const SERVICE_TYPE: &str = "struct { EnableTagOverrideSnake bool \"json:\\\"enable_tag_override\\\"\"; TaggedAddressesSnake map[string]structs.ServiceAddress \"json:\\\"tagged_addresses\\\"\"; *structs.Alias }";
const CONNECT_TYPE: &str = "struct { SidecarServiceSnake *structs.ServiceDefinition \"json:\\\"sidecar_service\\\"\"; *structs.Alias }";

/// A check in either of its two forms.
#[derive(Default)]
struct CheckFields {
    definition: CheckDefinition,
    args: Vec<String>,
    interval: AnyDuration,
    timeout: AnyDuration,
    ttl: AnyDuration,
    deregister_after: AnyDuration,
    /// Read where the other spelling has nothing.
    deregister_snake: AnyDuration,
    grpc_use_tls: bool,
    /// What is taken and means nothing here: the shell, the token, the ports of a proxy.
    ignored: [String; 4],
    /// What is taken and means nothing here: how checks ask that are not run, and a redirect is always followed.
    ignored_flags: [bool; 3],
    failures_before_warning: i64,
}

/// Where a check stands.
#[derive(Clone, Copy)]
enum Form {
    /// By itself, as the body of `agent/check/register`.
    Alone,
    /// In the definition of a service.
    InService,
}

impl CheckFields {
    fn fields(&mut self, form: Form) -> Vec<Field<'_>> {
        let definition = &mut self.definition;
        let [shell, token, proxy_http, proxy_grpc] = &mut self.ignored;
        let [h2ping_tls, tcp_tls, no_redirects] = &mut self.ignored_flags;
        let successes = &mut definition.success_before_passing;
        let failures = &mut definition.failures_before_critical;
        let mut fields = vec![
            field("Name", &mut definition.name),
            field("Notes", &mut definition.notes),
            field("Status", &mut definition.status),
            field("ServiceID", &mut definition.service_id).or_named("service_id"),
            field("ScriptArgs", &mut definition.script_args).or_named("script_args"),
            field("HTTP", &mut definition.http),
            field("Header", &mut definition.header),
            field("Method", &mut definition.method),
            field("Body", &mut definition.body),
            field("TCP", &mut definition.tcp),
            field("AliasNode", &mut definition.alias_node),
            field("AliasService", &mut definition.alias_service),
            field("DockerContainerID", &mut definition.docker_container_id)
                .or_named("docker_container_id"),
            field("Shell", shell),
            field("GRPC", &mut definition.grpc),
            field("GRPCUseTLS", &mut self.grpc_use_tls),
            field("TLSSkipVerify", &mut definition.tls_skip_verify).or_named("tls_skip_verify"),
            field("SuccessBeforePassing", successes).of_type("int"),
            field("FailuresBeforeCritical", failures).of_type("int"),
            field("OutputMaxSize", &mut definition.output_max_size).of_type("int"),
            field("TLSServerName", &mut definition.tls_server_name)
                .or_named("tls_server_name")
                .since(Behaviour::JsonCheckTlsServerName),
            field("H2PING", &mut definition.h2ping).since(Behaviour::JsonCheckH2Ping),
            field("H2PingUseTLS", h2ping_tls).since(Behaviour::JsonCheckH2Ping),
            field("FailuresBeforeWarning", &mut self.failures_before_warning)
                .of_type("int")
                .since(Behaviour::JsonCheckFailuresBeforeWarning),
            field("UDP", &mut definition.udp).since(Behaviour::JsonCheckUdp),
            field("DisableRedirects", no_redirects).since(Behaviour::JsonCheckUdp),
            field("OSService", &mut definition.os_service).since(Behaviour::JsonCheckOsService),
            field("TCPUseTLS", tcp_tls).since(Behaviour::JsonCheckTcpUseTls),
        ];
        match form {
            Form::Alone => fields.extend([
                field("ID", &mut definition.id).of_type("types.CheckID"),
                field("Token", token),
            ]),
            Form::InService => fields.extend([
                field("CheckID", &mut definition.id).of_type("types.CheckID"),
                field("ProxyHTTP", proxy_http),
                field("ProxyGRPC", proxy_grpc),
            ]),
        }
        let aliased = fields.into_iter().map(|field| field.embedded_in("Alias"));
        let own = [
            field("args", &mut self.args),
            field("Interval", &mut self.interval),
            field("Timeout", &mut self.timeout),
            field("TTL", &mut self.ttl),
            field("DeregisterCriticalServiceAfter", &mut self.deregister_after),
            field(
                "deregister_critical_service_after",
                &mut self.deregister_snake,
            ),
        ];
        aliased.chain(own).collect()
    }

    fn complete(&mut self) -> Result<(), String> {
        if !self.args.is_empty() {
            self.definition.script_args = std::mem::take(&mut self.args);
        }
        self.definition.timing = Timing {
            interval_ns: nanoseconds(&self.interval)?,
            timeout_ns: nanoseconds(&self.timeout)?,
            ttl_ns: nanoseconds(&self.ttl)?,
            deregister_after_ns: match self.deregister_after.nanoseconds()? {
                Some(given) => given,
                None => nanoseconds(&self.deregister_snake)?,
            },
        };
        Ok(())
    }
}

/// No time at all where nothing is said. Unlike the catalog, the agent keeps what is negative.
fn nanoseconds(given: &AnyDuration) -> Result<i64, String> {
    given.nanoseconds().map(Option::unwrap_or_default)
}

/// The body of `agent/check/register`.
#[derive(Default)]
pub(crate) struct CheckBody(CheckFields);

impl CheckBody {
    pub(crate) fn into_definition(self) -> CheckDefinition {
        self.0.definition
    }
}

impl Object for CheckBody {
    const GO_TYPE: &'static str = CHECK_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
        self.0.fields(Form::Alone)
    }

    fn complete(&mut self) -> Result<(), String> {
        self.0.complete()
    }
}

/// A check in the definition of a service.
#[derive(Default)]
struct ServiceCheckBody(CheckFields);

impl Object for ServiceCheckBody {
    const GO_TYPE: &'static str = SERVICE_CHECK_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
        self.0.fields(Form::InService)
    }

    fn complete(&mut self) -> Result<(), String> {
        self.0.complete()
    }
}

/// The body of `agent/service/register`.
#[derive(Default)]
pub(crate) struct ServiceBody {
    definition: ServiceDefinition,
    tagged_addresses: BTreeMap<String, AddressBody>,
    weights: Option<WeightsBody>,
    check: Option<ServiceCheckBody>,
    checks: Vec<Option<ServiceCheckBody>>,
    proxy: ProxyBody,
    connect: ConnectBody,
    token: String,
    ignored: [Any; 3],
}

impl Object for ServiceBody {
    const GO_TYPE: &'static str = SERVICE_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [locality, socket, ports] = &mut self.ignored;
        let definition = &mut self.definition;
        let fields = vec![
            field("Kind", &mut definition.kind).of_type("structs.ServiceKind"),
            field("ID", &mut definition.id),
            field("Name", &mut definition.name),
            field("Tags", &mut definition.tags),
            field("Address", &mut definition.address),
            field("TaggedAddresses", &mut self.tagged_addresses).or_named("tagged_addresses"),
            field("Meta", &mut definition.meta),
            field("Port", &mut definition.port).of_type("int"),
            field("Check", &mut self.check),
            field("Checks", &mut self.checks).of_type("structs.CheckTypes"),
            field("Weights", &mut self.weights),
            field("Token", &mut self.token),
            field("EnableTagOverride", &mut definition.enable_tag_override)
                .or_named("enable_tag_override"),
            field("Proxy", &mut self.proxy),
            field("Connect", &mut self.connect),
            field("Locality", locality).since(Behaviour::JsonLocality),
            field("SocketPath", socket).since(Behaviour::JsonCatalogServiceSocketPath),
            field("Ports", ports).since(Behaviour::JsonServicePorts),
        ];
        let aliased = fields.into_iter().map(|field| field.embedded_in("Alias"));
        aliased.collect()
    }
}

impl ServiceBody {
    /// What was defined; none where Consul's handler dies of a check or an upstream that is null.
    pub(crate) fn into_definition(self) -> Option<ServiceDefinition> {
        let mut definition = self.definition;
        let address = |(tag, body): (String, AddressBody)| (tag, ServiceAddress::from(body));
        definition.tagged_addresses = self.tagged_addresses.into_iter().map(address).collect();
        definition.weights = self.weights.map(Weights::from);
        definition.proxy = self.proxy.into_proxy()?;
        definition.connect_native = self.connect.native;
        if let Some(sidecar) = self.connect.sidecar {
            definition.sidecar = Some(Box::new(sidecar.into_definition()?));
        }
        if let Some(check) = self.check {
            definition.check = check.0.definition;
        }
        let checks = self.checks.into_iter();
        let checks: Option<Vec<CheckDefinition>> = checks
            .map(|check| check.map(|check| check.0.definition))
            .collect();
        definition.checks = checks?;
        Some(definition)
    }
}

/// What a service says of Connect.
#[derive(Default)]
pub(crate) struct ConnectBody {
    pub(crate) native: bool,
    sidecar: Option<Box<ServiceBody>>,
}

impl Object for ConnectBody {
    const GO_TYPE: &'static str = CONNECT_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Accepted);

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Native", &mut self.native),
            field("SidecarService", &mut self.sidecar).or_named("sidecar_service"),
        ]
    }
}

/// The body of `agent/check/update`.
#[derive(Default)]
pub(crate) struct UpdateBody {
    pub(crate) status: String,
    pub(crate) output: String,
}

impl Object for UpdateBody {
    const GO_TYPE: &'static str = "agent.checkUpdate";

    fn fields(&mut self) -> Vec<Field<'_>> {
        vec![
            field("Status", &mut self.status),
            field("Output", &mut self.output),
        ]
    }
}
