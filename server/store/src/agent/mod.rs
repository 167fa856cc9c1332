//! The agent: its services and checks, and their registration in the catalog (session.md 4.4).
//!
//! The agent keeps its own tables and registers every change in the catalog, at once or as soon as it has a leader. Changes of
//! its node by others are undone at the next comparison.

mod chance;
mod check;
mod command;
mod due;
pub(crate) mod event;
#[cfg(feature = "dump")]
mod image;
mod local;
mod maintenance;
mod reload;
mod service;
mod shift;
mod sync;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

pub(super) use check::alias::Stirred;
pub use command::{AgentCommand, Due, Start};
#[cfg(feature = "dump")]
pub use image::AgentImage;
pub use local::{
    Alias, CheckSource, CheckSpec, InARow, LocalCheck, LocalService, ServiceSpec, Sidecar,
    Thresholds,
};

use crate::catalog::registration::Registration;
use crate::command::effects::Note;
use crate::command::entry::{self, LogEntry};
use crate::command::{Command, Refusal};
use crate::ordered::{OrderedMap, OrderedSet};
use crate::read::{Answer, Read, ReadResult, Subject, Watch};
use crate::timestamp::Timestamp;
use crate::{Change, Cluster, Store};
use chance::Chance;

/// The service that the leader registers on the agent's node. The agent ignores it.
const CONSUL: &str = "consul";
/// The check that the leader registers on the agent's node. The agent ignores it.
const SERF_HEALTH: &str = "serfHealth";

/// The state of the agent.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// The agent's registration; `None` before its start.
    own: Option<Arc<Own>>,
    chance: Chance,
    services: OrderedMap<String, Arc<LocalService>>,
    checks: check::table::Checks,
    /// The tasks, with their times.
    deadlines: OrderedSet<(Timestamp, Due)>,
    /// The services that stay in the catalog though the agent has deregistered them: it lacks the right.
    staying: OrderedSet<String>,
    /// The ids from the configuration.
    configured: Arc<reload::Configured>,
    /// The number of check registrations so far.
    registrations: u64,
    /// The time of the next comparison with the catalog.
    next_sync: Timestamp,
    /// The time of the next search for overdue critical services; `None` without critical services.
    next_reap: Option<Timestamp>,
}

/// The registration of the agent in the catalog.
#[derive(Clone, Debug)]
struct Own {
    by_leader: Registration,
    by_agent: Registration,
    /// The name of its node, in lower case.
    node: String,
    started: Timestamp,
    output_interval: Duration,
}

impl Agent {
    /// Returns the id of the agent's node.
    ///
    /// # Panics
    /// The agent has not started.
    pub fn node_id(&self) -> String {
        self.own().by_agent.node.id.clone()
    }

    /// Returns the services, in the order of their ids.
    pub fn services(&self) -> impl Iterator<Item = &Arc<LocalService>> {
        self.services.values()
    }

    /// Returns the ids of the services that stay in the catalog though the agent has deregistered them.
    pub fn staying(&self) -> impl Iterator<Item = &String> {
        self.staying.iter()
    }

    /// Returns the service with this id.
    #[must_use]
    pub fn service(&self, id: &str) -> Option<&Arc<LocalService>> {
        self.services.get(id)
    }

    /// Returns the checks, in the order of their ids.
    pub fn checks(&self) -> impl Iterator<Item = &Arc<LocalCheck>> {
        self.checks.all()
    }

    /// Returns the check with this id.
    #[must_use]
    pub fn check(&self, id: &str) -> Option<&Arc<LocalCheck>> {
        self.checks.get(id)
    }

    /// Returns the checks of a service and of the node, in the order of their ids.
    pub fn checks_on(&self, service: &str) -> impl Iterator<Item = &Arc<LocalCheck>> {
        self.checks.on(service).into_iter()
    }

    /// Returns the next task, with its time.
    pub(super) fn next_due(&self) -> Option<&(Timestamp, Due)> {
        self.deadlines.first()
    }

    /// Returns all tasks with their times, the next one first.
    pub(super) fn all_due(&self) -> impl Iterator<Item = &(Timestamp, Due)> {
        self.deadlines.iter()
    }

    /// Returns the number of pending tasks.
    pub(super) fn deadlines(&self) -> usize {
        self.deadlines.len()
    }

    fn own(&self) -> Arc<Own> {
        let own = self.own.as_ref();
        Arc::clone(own.expect("an agent comes up before it is told anything"))
    }
}

#[cfg(test)]
impl Agent {
    /// That what is kept beside the rows is what follows from them.
    pub(super) fn assert_consistent(&self) {
        let mut checks = check::table::Checks::default();
        for local in self.checks() {
            checks.insert(LocalCheck::clone(local));
        }
        assert_eq!(self.checks, checks);
        let reaps = self.deadlines.iter().filter(|(_, due)| *due == Due::Reap);
        let reaps: Vec<Timestamp> = reaps.map(|(at, _)| *at).collect();
        assert_eq!(reaps, Vec::from_iter(self.next_reap));
        for local in self.checks() {
            if let Some(overdue) = check::overdue_at(local) {
                assert!(
                    self.next_reap
                        .is_some_and(|at| at < overdue.plus(due::REAP_INTERVAL * 2))
                );
            }
        }
    }
}

impl Store {
    /// The state of the agent with this number, which has started.
    ///
    /// # Panics
    /// There is no such agent.
    #[must_use]
    pub fn agent(&self, number: usize) -> &Agent {
        let agent = self.agents().nth(number);
        agent.expect("an agent has a number that it started with")
    }

    /// The agents together.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The state of all agents, in the order of their numbers.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &Agent> {
        std::iter::once(&self.agent).chain(&self.others)
    }

    pub(crate) fn agents_mut(&mut self) -> impl Iterator<Item = &mut Agent> {
        std::iter::once(&mut self.agent).chain(&mut self.others)
    }

    /// Returns the next task of an agent, with its time and the agent's number. The tasks of an agent without a leader wait.
    pub(crate) fn next_agent_due(&self) -> Option<(Timestamp, usize, &Due)> {
        let each = self.agents().enumerate();
        let each = each.filter(|(number, _)| self.cluster.has_leader(*number));
        let next = each.filter_map(|(number, agent)| {
            let (at, due) = agent.next_due()?;
            Some((*at, number, due))
        });
        next.min_by_key(|(at, ..)| *at)
    }

    /// Puts the agent with this number where commands of an agent find it, or back.
    fn swap_agent(&mut self, number: usize) {
        if let Some(other) = number.checked_sub(1) {
            std::mem::swap(&mut self.agent, &mut self.others[other]);
        }
    }
}

/// Reads a service of the agent by its id. It has no index.
#[derive(Clone, Debug)]
pub struct AgentServiceInfo {
    /// The number of the agent.
    pub agent: usize,
    /// The id of the service.
    pub id: String,
}

impl Read for AgentServiceInfo {
    type Rows = Option<Arc<LocalService>>;
    type Refused = Infallible;

    const IS_SMALL: bool = true;

    fn subject(&self) -> Subject {
        Subject::other(format!("service {:?} of the agent", self.id))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let service = store.agent(self.agent).service(&self.id).map(Arc::clone);
        let reads = vec![Watch::AgentService(self.id.clone())];
        Ok(Answer::new(store.applied, service, reads))
    }
}

/// Changes the agent's services and checks, and the catalog with them (session.md 4.4). Each change of the
/// catalog is a raft entry.
impl Command for AgentCommand {
    type Reply = ();
    type Refused = Refusal;

    fn entry(&self) -> Option<LogEntry> {
        Some(match self {
            Self::DeregisterService { .. } | Self::DeregisterCheck { .. } => entry::DEREGISTER,
            _ => entry::REGISTER,
        })
    }

    fn is_of_agent(&self) -> bool {
        true
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Refusal> {
        let number = match &self {
            Self::Ran { registration, .. } => agent_of(*registration),
            _ => 0,
        };
        OfAgent(number, self).run(change)
    }
}

/// A command of the agent with this number.
#[derive(Clone, Debug)]
pub struct OfAgent(pub usize, pub AgentCommand);

impl Command for OfAgent {
    type Reply = ();
    type Refused = Refusal;

    fn entry(&self) -> Option<LogEntry> {
        self.1.entry()
    }

    fn is_of_agent(&self) -> bool {
        true
    }

    fn run(self, change: &mut Change<'_>) -> Result<(), Refusal> {
        let Self(number, command) = self;
        let words = command.words();
        if number > change.store.others.len() {
            change.store.others.resize_with(number, Agent::default);
        }
        change.as_agent(number, |change| {
            if matches!(command, AgentCommand::Start(_)) {
                change.store.agent.registrations = first_registration(number);
            }
            change.agent(command)?;
            change.effects.notes.push(Note::CatalogChanged(words));
            change.agent_aliases_follow();
            Ok(())
        })
    }
}

/// The bits of the number of a registration that do not name its agent.
const REGISTRATION_BITS: u32 = 48;

/// Returns the number before that of the first registration of an agent: no two agents have the same.
fn first_registration(agent: usize) -> u64 {
    (agent as u64) << REGISTRATION_BITS
}

/// Returns the number of the agent that made a registration.
fn agent_of(registration: u64) -> usize {
    usize::try_from(registration >> REGISTRATION_BITS).unwrap_or_default()
}

impl Change<'_> {
    /// Does something as the agent with this number.
    pub(crate) fn as_agent<T>(&mut self, number: usize, act: impl FnOnce(&mut Self) -> T) -> T {
        self.store.swap_agent(number);
        let before = self.agent.replace(number);
        let done = act(self);
        self.agent = before;
        self.store.swap_agent(number);
        done
    }

    /// Returns what the leader registers for the agent.
    pub(crate) fn registration_by_leader(&self) -> Registration {
        self.store.agent.own().by_leader.clone()
    }

    fn agent(&mut self, command: AgentCommand) -> Result<(), Refusal> {
        match command {
            AgentCommand::Start(start) => self.agent_start(*start),
            AgentCommand::RegisterService {
                spec,
                replace_checks,
            } => self.agent_register_service(*spec, replace_checks)?,
            AgentCommand::DeregisterService { id, stays } => {
                self.agent_deregister_service(&id, stays)?;
            }
            AgentCommand::UseToken { node, deregisters } => {
                self.agent_use_token(node, &deregisters);
            }
            AgentCommand::RegisterCheck(spec) => self.agent_register_check(*spec)?,
            AgentCommand::DeregisterCheck { id } => self.agent_deregister_check(&id)?,
            AgentCommand::Report { id, status, output } => {
                self.agent_report(&id, status, &output)?;
            }
            AgentCommand::Ran {
                id,
                registration,
                result,
            } => self.agent_ran(&id, registration, result),
            AgentCommand::ServiceMaintenance { id, reason } => {
                self.agent_service_maintenance(&id, reason)?;
            }
            AgentCommand::NodeMaintenance { reason } => self.agent_node_maintenance(reason),
            AgentCommand::Configure { services, checks } => self.agent_configure(services, checks),
            AgentCommand::Reload {
                services,
                checks,
                keep,
            } => self.agent_reload(services, checks, keep),
        }
        Ok(())
    }

    /// Schedules a task at `at`.
    fn agent_schedule(&mut self, at: Timestamp, due: Due) {
        self.store.agent.deadlines.insert((at, due));
    }

    /// Cancels a task at `at`.
    fn agent_cancel(&mut self, at: Option<Timestamp>, due: Due) {
        if let Some(at) = at {
            self.store.agent.deadlines.remove(&(at, due));
        }
    }

    /// Returns a registration on the agent's node that keeps the node's row.
    fn on_own_node(&self) -> Registration {
        Registration {
            node: self.store.agent.own().by_agent.node.clone(),
            skip_node_update: true,
            ..Registration::default()
        }
    }
}
