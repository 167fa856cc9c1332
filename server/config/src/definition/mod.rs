//! Definitions of services and checks from clients and configuration files: their validation, and the specifications
//! that the store registers.

mod check;
mod instance;
pub mod node_id;
mod proxy;
mod reach;
mod service;
mod sidecar;

pub use check::CheckOwner;
pub use check::{CheckDefinition, Timing};
pub use service::ServiceDefinition;

pub use proconsul_store::{
    AccessLogs, CheckSpec, EnvoyExtension, ExposedPath, Locality, NewService, Proxy,
    ServiceAddress, ServicePort, ServiceSpec, TransparentProxy, Upstream, Weights,
};
use proconsul_version::{Behaviour, Version};

/// The rules for all definitions of an agent.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionRules {
    /// The release whose rules hold.
    pub version: Version,
    /// The default of the longest output of a check in bytes (`check_output_max_size`).
    pub output_limit: usize,
    /// Whether checks may run scripts (`enable_script_checks`).
    pub scripts: bool,
}

/// The specifications of the definitions of a configuration, up to the first invalid one, where Consul stops (seen on
/// 1.8.7).
#[derive(Debug, Default)]
pub struct Defined {
    /// The services, in order.
    pub services: Vec<ServiceSpec>,
    /// The checks that belong to no service of the configuration.
    pub checks: Vec<CheckSpec>,
    /// The first definition that cannot be registered.
    pub wrong: Option<WrongDefinition>,
}

/// Why a definition of a configuration cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongDefinition {
    /// `services` or `checks`.
    pub part: &'static str,
    /// Consul's text.
    pub text: String,
}

/// Returns the specifications of all definitions of a configuration.
pub fn defined(
    services: &[ServiceDefinition],
    checks: &[CheckDefinition],
    rules: DefinitionRules,
) -> Defined {
    let mut defined = Defined::default();
    let wrong = |part, text| Some(WrongDefinition { part, text });
    for service in services {
        match service.clone().into_spec(rules) {
            Ok(spec) => defined.services.push(spec),
            Err(error) => {
                let text = of_service(&service.service.name, &error, rules.version);
                defined.wrong = wrong("services", text);
                return defined;
            }
        }
    }
    for check in checks {
        match check_spec(check, &defined.services, rules) {
            Ok(spec) => defined.checks.push(spec),
            Err(text) => {
                defined.wrong = wrong("checks", text);
                return defined;
            }
        }
    }
    defined
}

fn check_spec(
    check: &CheckDefinition,
    services: &[ServiceSpec],
    rules: DefinitionRules,
) -> Result<CheckSpec, String> {
    let refused = |why: &str| format!("Failed to register check '{}': {why}", check.name);
    let spec = check.clone().alone(rules).map_err(|error| match error {
        DefinitionError::CheckName => refused("CheckID missing"),
        other => refused(&format!(
            "Check is not valid: {}",
            other.bare(rules.version)
        )),
    })?;
    let service = &spec.check.service_id;
    if !service.is_empty() && !services.iter().any(|known| known.service.id == *service) {
        return Err(refused(&format!("ServiceID \"{service}\" does not exist")));
    }
    Ok(spec)
}

fn of_service(name: &str, error: &DefinitionError, version: Version) -> String {
    match error {
        DefinitionError::ServiceName => {
            format!("Failed to register service \"{name}\": Service name missing")
        }
        DefinitionError::Check(_) | DefinitionError::Interval => {
            let why = error.bare(version);
            format!("Failed to validate checks for service \"{name}\": {why}")
        }
        other => format!(
            "Failed to register service \"{name}\": {}",
            other.text(version)
        ),
    }
}

/// Why a definition is invalid. The texts are Consul's (seen on 1.8.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionError {
    /// A service without a name.
    ServiceName,
    /// A check without a name.
    CheckName,
    /// A service with an unspecified address, such as `0.0.0.0`.
    ServiceAddress,
    /// Weights out of range.
    Weights(&'static str),
    /// Invalid metadata, with the reason.
    Meta(String),
    /// What is invalid of a service, of a proxy or of a gateway, with all problems.
    Service(Vec<String>),
    /// A service with several ports and a sidecar.
    Ports,
    /// An invalid sidecar, with the reason.
    Sidecar(SidecarError),
    /// A check with too many or too few settings of how it is run, with the reason.
    Check(&'static str),
    /// A check that is run has no interval.
    Interval,
    /// A check of the node with an unknown status.
    CheckStatus,
    /// A check of a service with an unknown status.
    ServiceCheckStatus,
    /// A script check while scripts are disabled.
    Scripts,
    /// A check of a service of the operating system.
    NotImplemented,
}

impl DefinitionError {
    /// Returns the text of the answer.
    pub fn text(&self, version: Version) -> String {
        match self {
            DefinitionError::ServiceName => "Missing service name".into(),
            DefinitionError::CheckName => "Missing check name".into(),
            DefinitionError::ServiceAddress => "Invalid service address".into(),
            DefinitionError::Weights(why) => format!("Invalid Weights: {why}"),
            DefinitionError::Meta(why) => format!("Invalid Service Meta: {why}"),
            DefinitionError::Service(problems) => problems_text(problems),
            DefinitionError::Ports => "MultiPort cannot be used with Consul Connect.".into(),
            // Before 1.13 Consul does not recognize this error as the client's.
            DefinitionError::Sidecar(error) if version.has(Behaviour::HttpNamespaceErrorUnprefixed) => {
                error.text(version)
            }
            DefinitionError::Sidecar(error) => format!("Bad request: {}", error.text(version)),
            DefinitionError::Check(why) => format!("Invalid check: {why}"),
            DefinitionError::Interval if version.has(Behaviour::AgentCheckIntervalText) => {
                "Invalid check: Interval must be > 0 for Script, HTTP, H2PING, TCP, UDP or OSService checks".into()
            }
            DefinitionError::Interval => {
                "Invalid check: Interval must be > 0 for Script, HTTP, or TCP checks".into()
            }
            DefinitionError::CheckStatus => "Bad check status".into(),
            DefinitionError::ServiceCheckStatus => {
                "Status for checks must 'passing', 'warning', 'critical'".into()
            }
            DefinitionError::NotImplemented => "not implemented".into(),
            DefinitionError::Scripts => "Scripts are disabled on this agent from remote calls; \
                to enable, configure 'enable_script_checks' to true"
                .into(),
        }
    }

    /// Returns the text without the prefix of an answer.
    fn bare(&self, version: Version) -> String {
        let text = self.text(version);
        match text.strip_prefix("Invalid check: ") {
            Some(bare) => bare.to_owned(),
            None => text,
        }
    }
}

/// Why a sidecar is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SidecarError {
    /// Invalid metadata, with the reason.
    Meta(String),
    /// An invalid check.
    Check(Box<DefinitionError>),
}

impl SidecarError {
    fn text(&self, version: Version) -> String {
        match self {
            SidecarError::Meta(why) => format!("Invalid SidecarService: {why}"),
            SidecarError::Check(error) => match **error {
                DefinitionError::ServiceCheckStatus => error.text(version),
                _ => format!("Invalid check in sidecar_service: {}", error.bare(version)),
            },
        }
    }
}

/// Returns the problems of a service in one text; `None` if there are none.
pub fn service_problems(service: &NewService, version: Version) -> Option<String> {
    text_of(&problems(service, false, version))
}

/// Returns the problems of a service, a proxy or a gateway.
fn problems(service: &NewService, has_sidecar: bool, version: Version) -> Vec<String> {
    let mut problems = reach::problems(service, version);
    problems.extend(proxy::problems(service, has_sidecar, version));
    problems
}

fn text_of(problems: &[String]) -> Option<String> {
    (!problems.is_empty()).then(|| problems_text(problems))
}

/// Prints several problems in one text, as Consul's library does.
fn problems_text(problems: &[String]) -> String {
    let head = match problems.len() {
        1 => "1 error occurred:".to_owned(),
        count => format!("{count} errors occurred:"),
    };
    let lines: String = problems
        .iter()
        .map(|problem| format!("\n\t* {problem}"))
        .collect();
    format!("{head}{lines}\n\n")
}
