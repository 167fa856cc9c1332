//! Sidecars: proxies that are registered together with their service (seen on 1.8.7).

use std::sync::Arc;

use super::instance::{check_specs, complete_addresses};
use super::proxy::name_destination_types;
use super::reach::forget_unknown;
use super::{DefinitionError, DefinitionRules, ServiceDefinition, SidecarError};
use proconsul_store::{NewService, Proxy, Sidecar, meta};

/// The default address of the service behind a sidecar.
const LOOPBACK: &str = "127.0.0.1";

impl ServiceDefinition {
    /// Returns the problems of a definition as a sidecar.
    pub(super) fn sidecar_problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.service.id.is_empty() {
            let problem = "A SidecarService cannot specify an ID as this is managed by the agent";
            problems.push(problem.to_owned());
        }
        if self.sidecar.is_some() {
            problems.push("A SidecarService cannot have a nested SidecarService".to_owned());
        }
        problems
    }

    /// Returns the specification of the sidecar of a service. Missing fields are those of the service; a missing port
    /// is assigned at registration.
    pub(super) fn into_sidecar(
        self,
        of: &NewService,
        rules: DefinitionRules,
    ) -> Result<Sidecar, DefinitionError> {
        if let Some(flaw) = self.service.meta.as_ref().and_then(meta::flaw) {
            return Err(DefinitionError::Sidecar(SidecarError::Meta(flaw)));
        }
        let (given, checks, _) = self.into_parts();
        // Without tags it has those of the service. If the service has none either, an empty list stays an empty list
        // (seen on 1.8.7).
        let tags = if given.tags().is_empty() && !of.tags().is_empty() {
            of.tags.clone()
        } else {
            given.tags
        };
        let mut service = NewService {
            id: format!("{}-sidecar-proxy", of.id),
            name: or(given.name, || format!("{}-sidecar-proxy", of.name)),
            kind: or(given.kind, || "connect-proxy".to_owned()),
            tags,
            meta: given.meta.or_else(|| of.meta.clone()),
            address: or(given.address, || of.address.clone()),
            proxy: name_destination_types(Arc::new(settings(&given.proxy, of))),
            ..given
        };
        let wrong = |error| DefinitionError::Sidecar(SidecarError::Check(Box::new(error)));
        for check in &checks {
            check.validate().map_err(wrong)?;
            check.check_scripts(rules).map_err(wrong)?;
        }
        forget_unknown(&mut service, rules.version);
        complete_addresses(&mut service);
        Ok(Sidecar {
            checks: check_specs(checks, &service, rules).map_err(wrong)?,
            output_limit: rules.output_limit,
            service,
        })
    }
}

/// Returns the settings of a sidecar, whose destination is the instance `of`.
fn settings(given: &Proxy, of: &NewService) -> Proxy {
    let mut proxy = given.clone();
    proxy.destination_name = or(proxy.destination_name, || of.name.clone());
    proxy.destination_id = or(proxy.destination_id, || of.id.clone());
    if proxy.local_socket_path.is_empty() {
        proxy.local_address = or(proxy.local_address, || LOOPBACK.to_owned());
        if proxy.local_port <= 0 {
            proxy.local_port = of.port;
        }
    }
    proxy
}

fn or(given: String, default: impl FnOnce() -> String) -> String {
    if given.is_empty() { default() } else { given }
}
