//! The bodies of the agent's registrations (session.md 4.4), as Consul's alias types decode them: names in two
//! spellings, durations as texts or as nanoseconds.

use std::collections::BTreeMap;

use super::registration_bodies::{AddressBody, WeightsBody};
use crate::definition::{CheckDefinition, ServiceDefinition, Timing};
use crate::go::duration::{self, DurationQuotes};
use crate::go::json::context::UnknownFields;
use crate::go::json::decode::{Decoder, Field, Object, field};
use crate::go::json::kinds::Any;
use crate::store::{ServiceAddress, Weights};

// The Go types that decode the bodies have no names: an error about a whole body prints all that is in them.
const CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
const SERVICE_CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; ServiceID string \"json:\\\"ServiceID\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
const SERVICE_TYPE: &str = "struct { EnableTagOverrideSnake bool \"json:\\\"enable_tag_override\\\"\"; TaggedAddressesSnake map[string]structs.ServiceAddress \"json:\\\"tagged_addresses\\\"\"; *structs.Alias }";

/// A check in either of its two forms.
#[derive(Default)]
struct CheckFields {
    definition: CheckDefinition,
    args: Vec<String>,
    interval: Any,
    timeout: Any,
    ttl: Any,
    deregister_after: Any,
    grpc_use_tls: bool,
    tls_skip_verify: bool,
    /// What is taken and means nothing here: the shell, the token, the ports of a proxy.
    ignored: [String; 4],
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
            field("TLSSkipVerify", &mut self.tls_skip_verify).or_named("tls_skip_verify"),
            field(
                "SuccessBeforePassing",
                &mut definition.success_before_passing,
            )
            .of_type("int"),
            field(
                "FailuresBeforeCritical",
                &mut definition.failures_before_critical,
            )
            .of_type("int"),
            field("OutputMaxSize", &mut definition.output_max_size).of_type("int"),
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
            field("Args", &mut self.args),
            field("Interval", &mut self.interval),
            field("Timeout", &mut self.timeout),
            field("TTL", &mut self.ttl),
            field("DeregisterCriticalServiceAfter", &mut self.deregister_after)
                .or_named("deregister_critical_service_after"),
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
            deregister_after_ns: nanoseconds(&self.deregister_after)?,
        };
        Ok(())
    }
}

/// A duration as a text of Go's or as a number of nanoseconds. Unlike the catalog, the agent minds an empty text.
fn nanoseconds(value: &Any) -> Result<i64, String> {
    match value {
        Any::Null | Any::Bool(_) | Any::Container => Ok(0),
        Any::String(text) => {
            duration::parse(text).map_err(|error| error.message(DurationQuotes::Escaped))
        }
        #[expect(clippy::cast_possible_truncation, reason = "as Consul truncates")]
        Any::Number(number) => Ok(*number as i64),
    }
}

/// The body of `agent/check/register`.
#[derive(Default)]
pub(super) struct CheckBody(CheckFields);

impl CheckBody {
    pub(super) fn into_definition(self) -> CheckDefinition {
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
pub(super) struct ServiceBody {
    definition: ServiceDefinition,
    tagged_addresses: BTreeMap<String, AddressBody>,
    weights: Option<WeightsBody>,
    check: Option<ServiceCheckBody>,
    checks: Vec<Option<ServiceCheckBody>>,
    proxy: ProxyBody,
    connect: Any,
    token: String,
}

impl Object for ServiceBody {
    const GO_TYPE: &'static str = SERVICE_TYPE;
    const DECODER: Decoder = Decoder::Own(UnknownFields::Refused);

    fn fields(&mut self) -> Vec<Field<'_>> {
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
        ];
        let aliased = fields.into_iter().map(|field| field.embedded_in("Alias"));
        aliased.collect()
    }
}

impl ServiceBody {
    /// What was defined; none where Consul's handler dies of a check that is null.
    pub(super) fn into_definition(self) -> Option<ServiceDefinition> {
        let mut definition = self.definition;
        let address = |(tag, body): (String, AddressBody)| (tag, ServiceAddress::from(body));
        definition.tagged_addresses = self.tagged_addresses.into_iter().map(address).collect();
        definition.weights = self.weights.map(Weights::from);
        definition.proxy_destination = self.proxy.destination;
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

/// A proxy's own settings: of account is only which service it stands for.
#[derive(Default)]
struct ProxyBody {
    destination: String,
    ignored: [Any; 8],
}

impl Object for ProxyBody {
    const GO_TYPE: &'static str = "structs.ConnectProxyConfig";

    fn fields(&mut self) -> Vec<Field<'_>> {
        let [id, address, port, config, upstreams, gateway, expose, mode] = &mut self.ignored;
        vec![
            field("DestinationServiceName", &mut self.destination)
                .or_named("destination_service_name"),
            field("DestinationServiceID", id).or_named("destination_service_id"),
            field("LocalServiceAddress", address).or_named("local_service_address"),
            field("LocalServicePort", port).or_named("local_service_port"),
            field("Config", config),
            field("Upstreams", upstreams),
            field("MeshGateway", gateway).or_named("mesh_gateway"),
            field("Expose", expose),
            field("Mode", mode),
        ]
    }
}

/// The body of `agent/check/update`.
#[derive(Default)]
pub(super) struct UpdateBody {
    pub(super) status: String,
    pub(super) output: String,
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
