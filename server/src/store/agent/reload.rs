//! A reload: the configuration once more.

use std::collections::BTreeSet;

use super::local::{CheckSpec, ServiceSpec};
use crate::store::Change;

impl Change<'_> {
    pub(super) fn agent_reload(
        &mut self,
        services: Vec<ServiceSpec>,
        checks: Vec<CheckSpec>,
        keep: bool,
    ) {
        if !keep {
            self.agent_drop_all_but(&services, &checks);
        }
        for spec in services {
            self.agent_register_service(spec, false);
        }
        for spec in checks {
            // The configuration is checked when it is read; a service may have gone since.
            let _ = self.agent_register_check(spec);
        }
    }

    /// Drops what is not in the configuration.
    fn agent_drop_all_but(&mut self, services: &[ServiceSpec], checks: &[CheckSpec]) {
        let service_ids: BTreeSet<&str> = services
            .iter()
            .map(|spec| spec.service.id.as_str())
            .collect();
        let of_services = services.iter().flat_map(|spec| &spec.checks);
        let check_ids: BTreeSet<&str> = of_services
            .chain(checks)
            .map(|spec| spec.check.check_id.as_str())
            .collect();
        let gone: Vec<String> = self.store.agent.services.keys().cloned().collect();
        for id in gone.iter().filter(|id| !service_ids.contains(id.as_str())) {
            self.agent_drop_service(id);
        }
        let gone: Vec<String> = self.store.agent.checks.keys().cloned().collect();
        for id in gone.iter().filter(|id| !check_ids.contains(id.as_str())) {
            self.agent_drop_check(id);
        }
    }
}
