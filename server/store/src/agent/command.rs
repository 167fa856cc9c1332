//! What can happen to the agent's own state.

use std::time::Duration;

use super::local::{CheckSpec, ServiceSpec};
use crate::catalog::registration::Registration;

/// One change of the agent's own state. What it means for the catalog is done in the same command, each change
/// of the catalog with an index of its own, as Consul's agent sends them one after the other.
#[derive(Clone, Debug)]
pub enum AgentCommand {
    /// The agent comes up: the leader enters it, then it enters itself (session.md 4.1).
    Start(Box<Start>),
    /// Register a service with its checks.
    RegisterService {
        /// What to register.
        spec: Box<ServiceSpec>,
        /// Whether checks of the service that are not among the new ones go.
        replace_checks: bool,
    },
    /// Deregister a service with its checks.
    DeregisterService {
        /// Its id.
        id: String,
    },
    /// Register a check, of a service that the agent knows or of the node.
    RegisterCheck(Box<CheckSpec>),
    /// Deregister a check.
    DeregisterCheck {
        /// Its id.
        id: String,
    },
    /// A client reports how a TTL check does.
    Report {
        /// The check's id.
        id: String,
        /// `passing`, `warning` or `critical`.
        status: &'static str,
        /// What it has to say.
        output: String,
    },
    /// A run of a check has ended.
    Ran {
        /// The check's id.
        id: String,
        /// The registration that was run.
        registration: u64,
        /// `passing`, `warning` or `critical`.
        status: &'static str,
        /// What it has to say.
        output: String,
    },
    /// Put a service in maintenance, or take it out.
    ServiceMaintenance {
        /// The service's id.
        id: String,
        /// Why; none to take it out.
        reason: Option<String>,
    },
    /// Put the node in maintenance, or take it out.
    NodeMaintenance {
        /// Why; none to take it out.
        reason: Option<String>,
    },
    /// Read the configuration: what it defines is registered, what it no longer defines goes; what clients registered
    /// stays if there is a place where it was kept, as there is not in development mode (session.md 4.4).
    Reload {
        /// The services of the configuration.
        services: Vec<ServiceSpec>,
        /// The checks of the configuration.
        checks: Vec<CheckSpec>,
        /// Whether what clients registered stays.
        keep: bool,
    },
}

/// What an agent is when it comes up.
#[derive(Clone, Debug)]
pub struct Start {
    /// How the leader enters the agent.
    pub by_leader: Registration,
    /// How the agent enters itself.
    pub by_agent: Registration,
    /// What its waits are spread by: drawn from the server's entropy.
    pub seed: u64,
    /// How long the catalog may not know an output that came without a change of status
    /// (`check_update_interval`); zero tells it at once.
    pub output_interval: Duration,
}

/// What the agent does by itself. The order is that of two things at the same moment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A TTL check expires.
    Expire(String),
    /// A check is run.
    Run(String),
    /// The catalog is told of an output.
    Output(String),
    /// Services that have been critical for too long are deregistered.
    Reap,
    /// The leader looks whether the agent is entered.
    Reconcile,
    /// The agent compares its own state with the catalog's.
    FullSync,
}

impl AgentCommand {
    /// What is done, for people.
    pub(super) fn words(&self) -> String {
        let switched = |reason: &Option<String>| if reason.is_some() { "into" } else { "out of" };
        match self {
            AgentCommand::Start(_) => "the agent came up".to_owned(),
            AgentCommand::RegisterService { spec, .. } => {
                format!("the agent registered service {:?}", spec.service.id)
            }
            AgentCommand::DeregisterService { id } => {
                format!("the agent deregistered service {id:?}")
            }
            AgentCommand::RegisterCheck(spec) => {
                format!("the agent registered check {:?}", spec.check.check_id)
            }
            AgentCommand::DeregisterCheck { id } => format!("the agent deregistered check {id:?}"),
            AgentCommand::Report { id, status, .. } => {
                format!("check {id:?} was reported {status}")
            }
            AgentCommand::Ran { id, status, .. } => format!("check {id:?} was run: {status}"),
            AgentCommand::ServiceMaintenance { id, reason } => {
                format!("service {id:?} went {} maintenance", switched(reason))
            }
            AgentCommand::NodeMaintenance { reason } => {
                format!("the node went {} maintenance", switched(reason))
            }
            AgentCommand::Reload { .. } => "the agent read its configuration".to_owned(),
        }
    }
}
