//! Loads of the configuration, at the start and on request (seen on 1.8.7).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::local::{CheckSpec, ServiceSpec};
use super::service::sidecar::sidecar_id;
use crate::Change;

/// The ids that a configuration defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Configured {
    pub(super) services: BTreeSet<String>,
    pub(super) checks: BTreeSet<String>,
}

impl Configured {
    fn of(services: &[ServiceSpec], checks: &[CheckSpec]) -> Self {
        let of_services = services.iter().flat_map(|spec| &spec.checks);
        let own = services.iter().map(|spec| spec.service.id.clone());
        let sidecars = services.iter().filter(|spec| spec.sidecar.is_some());
        let sidecars = sidecars.map(|spec| sidecar_id(&spec.service.id));
        let checks = of_services.chain(checks);
        Self {
            services: own.chain(sidecars).collect(),
            checks: checks.map(|spec| spec.check.check_id.clone()).collect(),
        }
    }
}

impl Change<'_> {
    /// Registers what the configuration defines, beside what is there.
    pub(super) fn agent_configure(&mut self, services: Vec<ServiceSpec>, checks: Vec<CheckSpec>) {
        let mut all = Configured::of(&services, &checks);
        let before = Configured::clone(&self.store.agent.configured);
        all.services.extend(before.services);
        all.checks.extend(before.checks);
        self.store.agent.configured = Arc::new(all);
        self.agent_register_configured(services, checks);
    }

    /// Registers what the configuration defines, and deregisters what it no longer defines; without `keep`,
    /// also everything else.
    pub(super) fn agent_reload(
        &mut self,
        services: Vec<ServiceSpec>,
        checks: Vec<CheckSpec>,
        keep: bool,
    ) {
        let now = Configured::of(&services, &checks);
        let configured = Arc::new(now);
        let now = Arc::clone(&configured);
        let before = std::mem::replace(&mut self.store.agent.configured, configured);
        self.agent_drop_all_but(&now, keep.then_some(&before));
        self.agent_register_configured(services, checks);
    }

    fn agent_register_configured(&mut self, services: Vec<ServiceSpec>, checks: Vec<CheckSpec>) {
        for spec in services {
            // A service is skipped if no port is left for its sidecar.
            let _ = self.agent_register_service(spec, false);
        }
        for spec in checks {
            // The service may have been skipped.
            let _ = self.agent_register_check(spec);
        }
    }

    /// Deregisters what the configuration does not define; with `before`, only what that one defined.
    fn agent_drop_all_but(&mut self, now: &Configured, before: Option<&Configured>) {
        let agent = &self.store.agent;
        let of_sidecar = |service: &str| {
            let local = agent.service(service);
            now.services.contains(service) && local.is_some_and(|local| local.is_sidecar)
        };
        let checks = agent.checks().map(|local| &local.check);
        let checks: Vec<String> = checks
            .filter(|check| !now.checks.contains(&check.check_id))
            .filter(|check| before.is_none_or(|before| before.checks.contains(&check.check_id)))
            .filter(|check| !of_sidecar(&check.service_id))
            .map(|check| check.check_id.clone())
            .collect();
        let services = agent.services().map(|local| local.service.id.clone());
        let services: Vec<String> = services
            .filter(|id| !now.services.contains(id))
            .filter(|id| before.is_none_or(|before| before.services.contains(id)))
            .collect();
        for id in services {
            self.agent_drop_service(&id);
        }
        for id in checks {
            self.agent_drop_check(&id);
        }
    }
}
