//! Definitions of services and checks, as clients send them and configuration files have them: what is wrong with
//! them, and what becomes of them.

mod check;
mod service;

pub(crate) use check::CheckOwner;
pub use check::{CheckDefinition, Timing};
pub use service::ServiceDefinition;

pub use crate::store::{CheckSpec, ServiceAddress, ServiceSpec, Weights};
use crate::version::{Behaviour, Version};

/// What holds for all definitions of one agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) version: Version,
    /// The longest output in bytes of a check that does not say (`check_output_max_size`).
    pub(crate) output_limit: usize,
    /// Whether checks may run scripts (`enable_script_checks`). They are registered and never run.
    pub(crate) scripts: bool,
}

/// What becomes of all definitions of a configuration.
///
/// # Errors
/// Consul's sentence about the first one that cannot be registered, with which it ends (seen on 1.8.7).
pub(crate) fn all(
    services: &[ServiceDefinition],
    checks: &[CheckDefinition],
    rules: Rules,
) -> Result<(Vec<ServiceSpec>, Vec<CheckSpec>), String> {
    let mut specs = Vec::new();
    for service in services {
        let spec = service.clone().into_spec(rules);
        specs.push(spec.map_err(|error| of_service(&service.name, &error, rules.version))?);
    }
    let mut check_specs = Vec::new();
    for check in checks {
        let refused = |why: &str| format!("Failed to register check '{}': {why}", check.name);
        let spec = check.clone().alone(rules).map_err(|error| match error {
            DefinitionError::CheckName => refused("CheckID missing"),
            other => refused(&format!(
                "Check is not valid: {}",
                other.bare(rules.version)
            )),
        })?;
        let service = &spec.check.service_id;
        if !service.is_empty() && !specs.iter().any(|known| known.service.id == *service) {
            return Err(refused(&format!("ServiceID \"{service}\" does not exist")));
        }
        check_specs.push(spec);
    }
    Ok((specs, check_specs))
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

/// Why a definition is refused. The texts are Consul's (seen on 1.8.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionError {
    /// A service without a name.
    ServiceName,
    /// A check without a name.
    CheckName,
    /// A service at an address that stands for all addresses.
    ServiceAddress,
    /// Weights out of range.
    Weights(&'static str),
    /// Meta data out of form: the pair that is, if it is one, and why.
    Meta(Option<(String, String)>, &'static str),
    /// A proxy or gateway without what it needs.
    Kind(Vec<&'static str>),
    /// A check that says too much or too little of how it is run.
    Check(&'static str),
    /// A check that is run says nothing of how often.
    Interval,
    /// A check of the node with an unknown status.
    CheckStatus,
    /// A check of a service with an unknown status.
    ServiceCheckStatus,
    /// A script, where scripts are not allowed.
    Scripts,
}

impl DefinitionError {
    /// The text of the answer.
    pub(crate) fn text(&self, version: Version) -> String {
        match self {
            DefinitionError::ServiceName => "Missing service name".into(),
            DefinitionError::CheckName => "Missing check name".into(),
            DefinitionError::ServiceAddress => "Invalid service address".into(),
            DefinitionError::Weights(why) => format!("Invalid Weights: {why}"),
            DefinitionError::Meta(None, why) => format!("Invalid Service Meta: {why}"),
            DefinitionError::Meta(Some((key, value)), why) => format!(
                "Invalid Service Meta: Couldn't load metadata pair ('{key}', '{value}'): {why}"
            ),
            DefinitionError::Kind(problems) => problems_text(problems),
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
            DefinitionError::Scripts => "Scripts are disabled on this agent from remote calls; \
                to enable, configure 'enable_script_checks' to true"
                .into(),
        }
    }
}

impl DefinitionError {
    /// The text without what an answer puts before it.
    fn bare(&self, version: Version) -> String {
        let text = self.text(version);
        match text.strip_prefix("Invalid check: ") {
            Some(bare) => bare.to_owned(),
            None => text,
        }
    }
}

/// Several problems in one text, as Consul's library for that prints them.
fn problems_text(problems: &[&str]) -> String {
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
