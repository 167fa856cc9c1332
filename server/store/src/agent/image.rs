//! The agent's state as plain data, and its restoration.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::check::next_of;
use crate::agent::reload::Configured;
use crate::agent::{Agent, Chance, CheckSource, Due, LocalCheck, LocalService, Own};
use crate::catalog::registration::NewService;
use crate::image::value::{text, unset};
use crate::image::{Flaw, HIGHEST, all_different};
use crate::timestamp::Timestamp;

/// The agent's state. Its own registration comes from the configuration, except for the node id.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentImage {
    /// The node id; if empty, the restored store keeps its own.
    #[serde(default, skip_serializing_if = "unset")]
    pub node_id: String,
    /// The state of the sequence of its random waits.
    #[serde(with = "text")]
    pub chance: u64,
    /// The number of check registrations so far.
    pub registrations: u64,
    /// The agent's start. Periodic tasks run at whole and half minutes after it.
    pub started: Timestamp,
    /// The time of the next comparison with the catalog, if one is needed.
    pub next_sync: Timestamp,
    /// The time of the next search for overdue critical services.
    pub looks_for_critical: Vec<Timestamp>,
    /// The time at which the leader checks the agent's registration.
    pub looks_for_agent: Vec<Timestamp>,
    /// The time of the scheduled comparison with the catalog.
    pub syncs: Vec<Timestamp>,
    /// The services, in the order of their ids.
    pub services: Vec<NewService>,
    /// The ids of sidecars, in their order.
    #[serde(default, skip_serializing_if = "unset")]
    pub sidecars: BTreeSet<String>,
    /// The services that stay in the catalog though the agent has deregistered them.
    #[serde(default, skip_serializing_if = "unset")]
    pub staying: BTreeSet<String>,
    /// The ids of services from the configuration.
    #[serde(default, skip_serializing_if = "unset")]
    pub configured_services: BTreeSet<String>,
    /// The ids of checks from the configuration.
    #[serde(default, skip_serializing_if = "unset")]
    pub configured_checks: BTreeSet<String>,
    /// The checks, in the order of their ids.
    pub checks: Vec<LocalCheck>,
}

impl Agent {
    pub(crate) fn image(&self) -> AgentImage {
        let due = |what: Due| {
            let deadlines = self.deadlines.iter();
            let same = deadlines.filter(move |(_, due)| *due == what);
            same.map(|(at, _)| *at).collect()
        };
        let services = self.services().map(|local| local.service.clone());
        let sidecars = self.services().filter(|local| local.is_sidecar);
        let own = self.own.as_ref();
        AgentImage {
            node_id: own.map_or_else(String::new, |own| own.by_agent.node.id.clone()),
            sidecars: sidecars.map(|local| local.service.id.clone()).collect(),
            staying: self.staying.iter().cloned().collect(),
            configured_services: self.configured.services.clone(),
            configured_checks: self.configured.checks.clone(),
            chance: self.chance.state(),
            registrations: self.registrations,
            started: own.map_or(Timestamp::ZERO, |own| own.started),
            next_sync: self.next_sync,
            looks_for_critical: due(Due::Reap),
            looks_for_agent: due(Due::Reconcile),
            syncs: due(Due::FullSync),
            services: services.collect(),
            checks: self
                .checks()
                .map(|local| LocalCheck::clone(local))
                .collect(),
        }
    }

    /// Creates an agent with the state of `image` and the registration of `like`.
    pub(crate) fn of(image: AgentImage, like: &Agent) -> Agent {
        let own = like.own.as_ref().map(|own| {
            let (mut by_leader, mut by_agent) = (own.by_leader.clone(), own.by_agent.clone());
            if !image.node_id.is_empty() {
                by_leader.node.id.clone_from(&image.node_id);
                by_agent.node.id = image.node_id;
            }
            Arc::new(Own {
                by_leader,
                by_agent,
                node: own.node.clone(),
                started: image.started,
                output_interval: own.output_interval,
            })
        });
        let mut agent = Agent {
            own,
            chance: Chance::seeded(image.chance),
            registrations: image.registrations,
            next_sync: image.next_sync,
            staying: image.staying.into_iter().collect(),
            next_reap: image.looks_for_critical.iter().min().copied(),
            configured: Arc::new(Configured {
                services: image.configured_services,
                checks: image.configured_checks,
            }),
            ..Agent::default()
        };
        for (due, times) in [
            (Due::Reap, image.looks_for_critical),
            (Due::Reconcile, image.looks_for_agent),
            (Due::FullSync, image.syncs),
        ] {
            for at in times {
                agent.deadlines.insert((at, due.clone()));
            }
        }
        for service in image.services {
            let id = service.id.clone();
            let is_sidecar = image.sidecars.contains(&id);
            let local = LocalService {
                service,
                is_sidecar,
            };
            agent.services.insert(id, Arc::new(local));
        }
        for local in image.checks {
            let id = local.check.check_id.clone();
            if let Some((at, due)) = local.next.zip(next_of(&local)) {
                agent.deadlines.insert((at, due));
            }
            if let Some(at) = local.output_due {
                agent.deadlines.insert((at, Due::Output(id.clone())));
            }
            agent.checks.insert(local);
        }
        agent
    }
}

impl AgentImage {
    /// Checks that an agent can be in this state.
    pub(crate) fn check(&self) -> Result<(), Flaw> {
        let ids = self.services.iter().map(|service| service.id.as_str());
        let services = all_different(ids, |id| format!("service {id:?} of the agent"))?;
        let ids = self.checks.iter().map(|local| &local.check.check_id);
        all_different(ids, |id| format!("check {id:?} of the agent"))?;
        Flaw::unless(self.registrations <= HIGHEST, || {
            "the number of registrations is too high".to_owned()
        })?;
        for local in &self.checks {
            self.check_one(local, &services)?;
        }
        Ok(())
    }

    fn check_one(&self, local: &LocalCheck, services: &BTreeSet<&str>) -> Result<(), Flaw> {
        let (id, service) = (&local.check.check_id, local.check.service_id.as_str());
        Flaw::unless(service.is_empty() || services.contains(service), || {
            format!("check {id:?} is of service {service:?}, which the agent does not have")
        })?;
        Flaw::unless(local.registration <= self.registrations, || {
            format!("check {id:?} was registered after the last registration")
        })?;
        Flaw::unless(local.in_a_row.is_small(), || {
            format!("check {id:?} has passed or failed too often")
        })?;
        let by_itself = match &local.source {
            CheckSource::Ttl(_) => true,
            CheckSource::Probe { interval, .. } => {
                Flaw::unless(*interval > Duration::ZERO, || {
                    format!("check {id:?} would be run all the time")
                })?;
                true
            }
            CheckSource::Alias(_) | CheckSource::Fixed => false,
        };
        Flaw::unless(by_itself || local.next.is_none(), || {
            format!("check {id:?} does nothing by itself")
        })
    }
}
