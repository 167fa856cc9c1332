//! Registration and deregistration of the agent's services.

pub(super) mod sidecar;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Change;
use crate::agent::local::{CheckSpec, LocalService, ServiceSpec};
use crate::catalog::registration::{Deregistration, Registration};
use crate::command::Refusal;
use crate::command::effects::Touched;

impl Change<'_> {
    /// Registers a service, and then its sidecar.
    pub(super) fn agent_register_service(
        &mut self,
        mut spec: ServiceSpec,
        replace_checks: bool,
    ) -> Result<(), Refusal> {
        let sidecar = spec.sidecar.take();
        let rules = self.store.rules;
        let of = &spec.service.id;
        let sidecar = sidecar.map(|it| self.store.agent.sidecar(of, *it, rules));
        let sidecar = sidecar.transpose()?;
        self.agent_keep_service(spec, replace_checks, false);
        if let Some(sidecar) = sidecar {
            self.agent_keep_service(sidecar, replace_checks, true);
        }
        Ok(())
    }

    /// Registers a service and its checks with one raft entry. Replaced checks are deregistered after it, with
    /// an entry each (seen on 1.8.7).
    fn agent_keep_service(&mut self, spec: ServiceSpec, replace_checks: bool, is_sidecar: bool) {
        let ServiceSpec {
            service, checks, ..
        } = spec;
        let id = service.id.clone();
        self.store.agent.staying.remove(&id);
        let name = service.name.clone();
        let tags = service.tags.clone();
        let replaced = if replace_checks {
            self.checks_not_in(&id, &checks)
        } else {
            Vec::new()
        };
        let local = LocalService {
            service: service.clone(),
            is_sidecar,
        };
        self.stirred.service(&id);
        let services = &mut self.store.agent.services;
        services.insert(id.clone(), Arc::new(local));
        self.effects.touched.push(Touched::AgentService(id));
        let mut registration = Registration {
            service: Some(service),
            ..self.on_own_node()
        };
        for check in checks {
            let check = self.agent_keep_check(check, name.clone(), tags.clone());
            registration.checks.push(check);
        }
        self.enter(registration);
        for check in replaced {
            self.agent_drop_check(&check);
        }
    }

    /// Returns the ids of a service's checks that are not among the new ones.
    fn checks_not_in(&self, service: &str, checks: &[CheckSpec]) -> Vec<String> {
        let new: BTreeSet<&str> = checks
            .iter()
            .map(|spec| spec.check.check_id.as_str())
            .collect();
        self.checks_of_service(service)
            .into_iter()
            .filter(|id| !new.contains(id.as_str()))
            .collect()
    }

    fn checks_of_service(&self, service: &str) -> Vec<String> {
        let checks = self.store.agent.checks.of_service(service);
        checks.map(str::to_owned).collect()
    }

    pub(super) fn agent_deregister_service(
        &mut self,
        id: &str,
        stays: bool,
    ) -> Result<(), Refusal> {
        if self.store.agent.service(id).is_none() {
            return Err(Refusal::AgentServiceUnknown(id.to_owned()));
        }
        if stays {
            self.store.agent.staying.insert(id.to_owned());
        }
        self.agent_drop_service(id);
        Ok(())
    }

    /// Deregisters a service, then its sidecar.
    pub(super) fn agent_drop_service(&mut self, id: &str) {
        self.agent_forget_service(id);
        let sidecar = sidecar::sidecar_id(id);
        let local = self.store.agent.service(&sidecar);
        if local.is_some_and(|local| local.is_sidecar) {
            self.agent_forget_service(&sidecar);
        }
    }

    /// Deregisters a service and its checks with one raft entry.
    fn agent_forget_service(&mut self, id: &str) {
        self.stirred.service(id);
        for check in self.checks_of_service(id) {
            self.agent_forget_check(&check);
        }
        self.store.agent.services.remove(id);
        let touched = Touched::AgentService(id.to_owned());
        self.effects.touched.push(touched);
        if self.store.agent.staying.contains(id) {
            return;
        }
        let node = self.store.agent.own().node.clone();
        self.take_out(&Deregistration::Service {
            node,
            id: id.to_owned(),
        });
    }
}
