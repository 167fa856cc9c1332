//! Anti-entropy: registers the agent's state in the catalog and compares the two.

use std::sync::Arc;

use super::{CONSUL, Due, SERF_HEALTH};
use crate::Change;
use crate::catalog::registration::{Deregistration, Labels, NewCheck, NewService, Registration};
use crate::command::Refusal;

impl Change<'_> {
    /// Registers in the catalog, unless the agent has no leader.
    pub(crate) fn enter(&mut self, registration: Registration) {
        if self.is_put_off() {
            return;
        }
        self.take_indexes(1);
        match self.register(registration) {
            // Another living node has the agent's name. The agent tries again at the next comparison.
            Ok(()) | Err(Refusal::NodeNameTaken { .. }) => {}
            Err(other) => {
                unreachable!("an agent enters checks with their services, and yet it is {other}")
            }
        }
    }

    /// Deregisters from the catalog, unless the agent has no leader.
    pub(super) fn take_out(&mut self, what: &Deregistration) {
        if self.is_put_off() {
            return;
        }
        self.take_indexes(1);
        self.deregister(what);
    }

    /// Whether the agent that acts has no leader to tell: then it compares itself with the catalog as soon as it has one again
    /// (cluster.md 4.4).
    fn is_put_off(&mut self) -> bool {
        let cluster = &self.store.cluster;
        let member = self.agent.and_then(|agent| cluster.members().get(agent));
        let Some((since, _)) = member.and_then(|member| member.lost) else {
            return false;
        };
        // Its tasks are carried from there to the return of the leader.
        self.agent_schedule(since, Due::FullSync);
        true
    }

    /// Compares with the catalog by the rights of another token.
    pub(super) fn agent_use_token(
        &mut self,
        node: Option<(Labels, Labels)>,
        deregisters: &[String],
    ) {
        let agent = &mut self.store.agent;
        for id in deregisters {
            agent.staying.remove(id);
        }
        if let Some((tagged_addresses, meta)) = node
            && let Some(own) = &mut agent.own
        {
            let row = &mut Arc::make_mut(own).by_agent.node;
            row.tagged_addresses = Some(tagged_addresses);
            row.meta = Some(meta);
        }
        self.agent_full_sync();
    }

    /// Makes the catalog agree with the agent: deregisters what the agent does not have, registers what is
    /// missing or different (session.md 4.3).
    pub(crate) fn agent_full_sync(&mut self) {
        let own = self.store.agent.own();
        let row = self.store.catalog.nodes.get(&own.node);
        if row.is_none_or(|row| row.node != own.by_agent.node) {
            self.enter(own.by_agent.clone());
        }
        self.take_out_foreign(&own.node);
        self.adopt_tags(&own.node);
        self.enter_differing(&own.node);
    }

    fn take_out_foreign(&mut self, node: &str) {
        for row in self.store.catalog.services_of(node) {
            let id = &row.service.id;
            let stays = self.store.agent.staying.contains(id);
            if id != CONSUL && !stays && self.store.agent.service(id).is_none() {
                self.take_out(&Deregistration::Service {
                    node: node.to_owned(),
                    id: id.clone(),
                });
            }
        }
        for row in self.store.catalog.checks.of_node(node) {
            let id = &row.check.check_id;
            let stays = self.store.agent.staying.contains(&row.check.service_id);
            if id != SERF_HEALTH && !stays && self.store.agent.check(id).is_none() {
                self.take_out(&Deregistration::Check {
                    node: node.to_owned(),
                    id: id.clone(),
                });
            }
        }
    }

    /// Copies the tags of the catalog to a service with `EnableTagOverride`.
    fn adopt_tags(&mut self, node: &str) {
        for row in self.store.catalog.services_of(node) {
            let id = &row.service.id;
            if let Some(local) = self.store.agent.services.get_mut(id)
                && local.service.enable_tag_override
                && local.service.tags != row.service.tags
            {
                let local = Arc::make_mut(local);
                local.service.tags.clone_from(&row.service.tags);
            }
        }
    }

    fn enter_differing(&mut self, node: &str) {
        for service in self.services_that_differ(node) {
            self.enter(Registration {
                service: Some(service),
                ..self.on_own_node()
            });
        }
        for check in self.checks_that_differ(node) {
            self.enter_check(check);
        }
    }

    fn services_that_differ(&self, node: &str) -> Vec<NewService> {
        let services = self.store.agent.services();
        let differs = |service: &&NewService| {
            let row = self.store.catalog.service(node, &service.id);
            row.is_none_or(|row| row.service != *service.with_virtual_addresses_of(&row.service))
        };
        let services = services.map(|local| &local.service);
        services.filter(differs).cloned().collect()
    }

    /// Whether a check differs from the catalog's by more than a delayed output.
    fn checks_that_differ(&self, node: &str) -> Vec<NewCheck> {
        let checks = self.store.agent.checks().filter(|local| {
            let id = local.check.check_id.to_lowercase();
            let Some(row) = self.store.catalog.checks.get(node, &id) else {
                return true;
            };
            let mut known = row.check.clone();
            if local.output_due.is_some() {
                known.output.clone_from(&local.check.output);
            }
            known != local.check
        });
        checks.map(|local| local.check.clone()).collect()
    }
}
