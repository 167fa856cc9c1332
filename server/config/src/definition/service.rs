//! Definitions of services.

use super::instance::{check_specs, complete_addresses};
use super::proxy::name_destination_types;
use super::reach::forget_unknown;
use super::{CheckDefinition, DefinitionError, DefinitionRules, problems};
use proconsul_store::{NewService, ServiceSpec, Weights, meta};

/// The definition of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceDefinition {
    /// The service itself. Empty and zero fields are unset; the id defaults to the name.
    pub service: NewService,
    /// The proxy to register beside the service.
    pub sidecar: Option<Box<ServiceDefinition>>,
    /// A single check.
    pub check: CheckDefinition,
    /// More checks.
    pub checks: Vec<CheckDefinition>,
}

impl ServiceDefinition {
    /// Returns the specification of the service and its checks.
    pub fn into_spec(self, rules: DefinitionRules) -> Result<ServiceSpec, DefinitionError> {
        let given = &self.service;
        if given.name.is_empty() {
            return Err(DefinitionError::ServiceName);
        }
        if given.address_is_unspecified() {
            return Err(DefinitionError::ServiceAddress);
        }
        check_weights(given.weights)?;
        if let Some(flaw) = given.meta.as_ref().and_then(meta::flaw) {
            return Err(DefinitionError::Meta(flaw));
        }
        let (mut service, checks, sidecar) = self.into_parts();
        forget_unknown(&mut service, rules.version);
        service.proxy = name_destination_types(service.proxy);
        if service.id.is_empty() {
            service.id.clone_from(&service.name);
        }
        let mut problems = problems(&service, sidecar.is_some(), rules.version);
        if let Some(sidecar) = &sidecar {
            problems.extend(sidecar.sidecar_problems());
        }
        if !problems.is_empty() {
            return Err(DefinitionError::Service(problems));
        }
        if sidecar.is_some() && !service.ports().is_empty() {
            return Err(DefinitionError::Ports);
        }
        for check in &checks {
            check.validate()?;
        }
        for check in &checks {
            check.check_scripts(rules)?;
        }
        let checks = check_specs(checks, &service, rules)?;
        let sidecar = sidecar.map(|sidecar| sidecar.into_sidecar(&service, rules));
        let sidecar = sidecar.transpose()?.map(Box::new);
        complete_addresses(&mut service);
        Ok(ServiceSpec {
            service,
            checks,
            sidecar,
        })
    }

    /// Splits the definition into the service, its checks and its sidecar.
    pub(super) fn into_parts(
        self,
    ) -> (
        NewService,
        Vec<CheckDefinition>,
        Option<Box<ServiceDefinition>>,
    ) {
        let single = Some(self.check).filter(|check| !check.is_empty());
        let checks = single.into_iter().chain(self.checks).collect();
        (self.service, checks, self.sidecar)
    }
}

fn check_weights(weights: Weights) -> Result<(), DefinitionError> {
    let problem = if weights.passing < 1 {
        "Passing must be greater than 0"
    } else if weights.warning < 0 {
        "Warning must be greater or equal than 0"
    } else if weights.passing.max(weights.warning) > Weights::LARGEST {
        "DNS Weight must be between 0 and 65535"
    } else {
        return Ok(());
    };
    Err(DefinitionError::Weights(problem))
}
