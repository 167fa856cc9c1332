//! Definitions of services and checks in bodies: in the agent's registrations, and in the catalog's settings of
//! Connect. Consul decodes them into alias types (session.md 4.4): names in two spellings, durations as texts or as
//! nanoseconds. The bodies of the agent, the catalog and transactions share the instance of a service.

use super::check::CheckId;
use super::durations::AnyDuration;
use super::proxy::{ProxyBody, ProxyFields};
use proconsul_config::definition::{CheckDefinition, ServiceDefinition};
use proconsul_config::schema::body::Part;
use proconsul_config::schema::{At, On, given_weights, ungiven_service};
use proconsul_gocompat::json::decode::{BodyFields, FieldSet, fields, go_struct};
use proconsul_store::NewService;
use proconsul_version::Behaviour;

// The Go types of these bodies have no names, so an error about a whole body prints their fields.
const CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
/// The type of a check by itself in late 2025. Where the later fields stand is inferred.
pub(crate) const LATE_CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSServerNameSnake string \"json:\\\"tls_server_name\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; TCPUseTLSSnake bool \"json:\\\"tcp_use_tls\\\"\"; GRPCUseTLSSnake bool \"json:\\\"grpc_use_tls\\\"\"; H2PingUseTLSSnake bool \"json:\\\"h2ping_use_tls\\\"\"; DisableRedirectsSnake bool \"json:\\\"disable_redirects\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
const SERVICE_CHECK_TYPE: &str = "struct { Interval interface {}; Timeout interface {}; TTL interface {}; DeregisterCriticalServiceAfter interface {}; Args []string \"json:\\\"args\\\"\"; ScriptArgsSnake []string \"json:\\\"script_args\\\"\"; DeregisterCriticalServiceAfterSnake interface {} \"json:\\\"deregister_critical_service_after\\\"\"; DockerContainerIDSnake string \"json:\\\"docker_container_id\\\"\"; TLSSkipVerifySnake bool \"json:\\\"tls_skip_verify\\\"\"; ServiceID string \"json:\\\"ServiceID\\\"\"; ServiceIDSnake string \"json:\\\"service_id\\\"\"; *structs.Alias }";
const SERVICE_TYPE: &str = "struct { EnableTagOverrideSnake bool \"json:\\\"enable_tag_override\\\"\"; TaggedAddressesSnake map[string]structs.ServiceAddress \"json:\\\"tagged_addresses\\\"\"; *structs.Alias }";
const CONNECT_TYPE: &str = "struct { SidecarServiceSnake *structs.ServiceDefinition \"json:\\\"sidecar_service\\\"\"; *structs.Alias }";

/// A check in either of its two forms.
#[derive(Default)]
pub(crate) struct AgentCheckBody {
    pub(crate) definition: CheckDefinition,
    args: Vec<String>,
    interval: AnyDuration,
    timeout: AnyDuration,
    ttl: AnyDuration,
    deregister_after: AnyDuration,
    /// Counts if the other spelling is missing.
    deregister_snake: AnyDuration,
}

impl AgentCheckBody {
    /// Moves the durations into the definition. Unlike the catalog, the agent keeps negative ones.
    fn settle(&mut self) -> Result<(), String> {
        if !self.args.is_empty() {
            self.definition.script_args = std::mem::take(&mut self.args);
        }
        let timing = &mut self.definition.timing;
        self.interval.settle(&mut timing.interval_ns)?;
        self.timeout.settle(&mut timing.timeout_ns)?;
        self.ttl.settle(&mut timing.ttl_ns)?;
        let snake = std::mem::take(&mut self.deregister_snake);
        if self.deregister_after.nanoseconds()?.is_none() {
            self.deregister_after = snake;
        }
        self.deregister_after
            .settle(&mut timing.deregister_after_ns)
    }
}

/// The fields of the type's own decoder.
const OWN_FIELDS: &BodyFields<AgentCheckBody> = fields!(check: AgentCheckBody {
    "args": Vec<String> => check.args,
    "Interval": AnyDuration => check.interval,
    "Timeout": AnyDuration => check.timeout,
    "TTL": AnyDuration => check.ttl,
    "DeregisterCriticalServiceAfter": AnyDuration => check.deregister_after,
    "deregister_critical_service_after": AnyDuration => check.deregister_snake,
});

/// The fields that both forms share.
const COMMON_FIELDS: &dyn FieldSet<AgentCheckBody> = &Part {
    at: At {
        get: |check: &AgentCheckBody| &check.definition,
        place: |check: &mut AgentCheckBody| &mut check.definition,
    },
    on: On::AGENT_BODY,
};

go_struct! {
    /// A check by itself, as the body of `agent/check/register`.
    pub(crate) CheckFields as CHECK_TYPE for check: AgentCheckBody,
    own decoder: Refused, then: AgentCheckBody::settle {
        ..OWN_FIELDS;
        *Alias of COMMON_FIELDS;
        *Alias {
            "ID": CheckId => check.definition.id,
            "Shell": String,
            "Token": String,
            "DisableRedirects" | "disable_redirects" since Behaviour::JsonCheckUdp: bool,
        }
    }
}

go_struct! {
    /// A check in the definition of a service.
    ServiceCheckFields as SERVICE_CHECK_TYPE for check: AgentCheckBody,
    own decoder: Refused, then: AgentCheckBody::settle {
        ..OWN_FIELDS;
        *Alias of COMMON_FIELDS;
        *Alias {
            "CheckID": CheckId => check.definition.id,
            "Shell": String,
            "DisableRedirects" since Behaviour::JsonCheckUdp: bool,
            "ProxyHTTP": String,
            "ProxyGRPC": String,
        }
    }
}

/// The body of `agent/service/register`.
#[derive(Default)]
pub(crate) struct DefinitionBody {
    given: ServiceBody,
    check: Option<AgentCheckBody>,
    checks: Vec<Option<AgentCheckBody>>,
}

go_struct! {
    /// A service.
    pub(crate) ServiceFields as SERVICE_TYPE for body: DefinitionBody, own decoder: Refused {
        *Alias of SERVICE_FIELDS;
        *Alias {
            "Check": Option<ServiceCheckFields> => body.check,
            "Checks" is "structs.CheckTypes": Vec<Option<ServiceCheckFields>> => body.checks,
            "Token": String,
            "Proxy": ProxyFields => body.given.proxy,
            "Connect": ConnectFields => body.given.connect,
        }
    }
}

/// The fields of the service itself.
const SERVICE_FIELDS: &dyn FieldSet<DefinitionBody> = &Part {
    at: At {
        get: |body: &DefinitionBody| &body.given.service,
        place: |body: &mut DefinitionBody| &mut body.given.service,
    },
    on: On::AGENT_BODY,
};

/// A service's settings of Connect.
#[derive(Default)]
pub(crate) struct ConnectBody {
    pub(crate) native: bool,
    sidecar: Option<Box<DefinitionBody>>,
}

go_struct! {
    /// A service's settings of Connect.
    pub(crate) ConnectFields as CONNECT_TYPE for connect: ConnectBody, own decoder: Accepted {
        "Native": bool => connect.native,
        "SidecarService" | "sidecar_service": Option<Box<ServiceFields>> => connect.sidecar,
    }
}

impl DefinitionBody {
    /// Returns the definition; `None` for a null check or upstream, on which Consul's handler panics.
    pub(crate) fn into_definition(mut self) -> Option<ServiceDefinition> {
        let sidecar = match self.given.connect.sidecar.take() {
            Some(sidecar) => Some(Box::new(sidecar.into_definition()?)),
            None => None,
        };
        let checks = self.checks.into_iter();
        let checks = checks.map(|check| check.map(|check| check.definition));
        Some(ServiceDefinition {
            service: self.given.into_given()?,
            sidecar,
            check: self.check.unwrap_or_default().definition,
            checks: checks.collect::<Option<_>>()?,
        })
    }
}

/// A decoded service instance, whichever of Go's types the body has.
pub(crate) struct ServiceBody {
    pub(crate) service: NewService,
    pub(crate) proxy: ProxyBody,
    pub(crate) connect: ConnectBody,
    pub(crate) peer_name: String,
    pub(crate) modify_index: u64,
}

impl Default for ServiceBody {
    fn default() -> Self {
        Self {
            service: ungiven_service(),
            proxy: ProxyBody::default(),
            connect: ConnectBody::default(),
            peer_name: String::new(),
            modify_index: 0,
        }
    }
}

impl ServiceBody {
    /// The fields of a service in a kind of body.
    pub(crate) const fn fields(on: On) -> Part<Self, NewService> {
        let at = At {
            get: |body: &Self| &body.service,
            place: |body: &mut Self| &mut body.service,
        };
        Part { at, on }
    }

    /// Returns the service as sent; `None` for a null upstream, on which Consul's handler panics.
    pub(crate) fn into_given(self) -> Option<NewService> {
        Some(NewService {
            weights: given_weights(self.service.weights),
            proxy: self.proxy.into_proxy()?,
            connect_native: self.connect.native,
            ..self.service
        })
    }

    /// Returns the service with the defaults of the catalog and transactions; `None` as in [`Self::into_given`].
    pub(crate) fn into_service(self) -> Option<NewService> {
        let mut service = self.into_given()?;
        if service.id.is_empty() {
            service.id.clone_from(&service.name);
        }
        service.weights = service.weights.valid();
        Some(service)
    }
}
