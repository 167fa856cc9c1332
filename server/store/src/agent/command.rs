//! Changes of the agent's services and checks.

use std::fmt;
use std::time::Duration;

use super::local::{CheckSpec, ServiceSpec};
use crate::catalog::registration::{Labels, Registration};

/// A change of the agent's services and checks. The command also changes the catalog. Each change of the
/// catalog has its own index, because Consul's agent sends them one by one.
#[derive(Clone, Debug)]
pub enum AgentCommand {
    /// Start the agent: the leader registers it, then it registers itself (session.md 4.1).
    Start(Box<Start>),
    /// Register a service with its checks.
    RegisterService {
        /// What to register.
        spec: Box<ServiceSpec>,
        /// Whether to deregister other checks of the service.
        replace_checks: bool,
    },
    /// Deregister a service with its checks.
    DeregisterService {
        /// Its id.
        id: String,
        /// Whether it stays in the catalog with its checks, because the agent lacks the right (acl.md 11.4).
        stays: bool,
    },
    /// Register a check of the node or of one of the agent's services.
    RegisterCheck(Box<CheckSpec>),
    /// Deregister a check.
    DeregisterCheck {
        /// Its id.
        id: String,
    },
    /// Report the status of a TTL check.
    Report {
        /// The check's id.
        id: String,
        /// `passing`, `warning` or `critical`.
        status: &'static str,
        /// The output.
        output: String,
    },
    /// Record the result of a run of a check.
    Ran {
        /// The check's id.
        id: String,
        /// The registration of the check.
        registration: u64,
        /// `passing`, `warning` or `critical`, and the output; `None` if the run says nothing of either.
        result: Option<(&'static str, String)>,
    },
    /// Start or end maintenance of a service.
    ServiceMaintenance {
        /// The service's id.
        id: String,
        /// The reason; `None` ends maintenance.
        reason: Option<String>,
    },
    /// Start or end maintenance of the node.
    NodeMaintenance {
        /// The reason; `None` ends maintenance.
        reason: Option<String>,
    },
    /// Use another token from now on: tell the catalog what the agent could not tell it before (acl.md 11.5).
    UseToken {
        /// The tagged addresses and the metadata of the node; `None` if the agent still may not write its node.
        node: Option<(Labels, Labels)>,
        /// The services that it may deregister.
        deregisters: Vec<String>,
    },
    /// Come up with a configuration: register what it defines, beside what a loaded state has.
    Configure {
        /// The services of the configuration.
        services: Vec<ServiceSpec>,
        /// The checks of the configuration.
        checks: Vec<CheckSpec>,
    },
    /// Load the configuration again: register what it defines, deregister what it no longer defines. Registrations
    /// by clients survive only with a data directory, so not in development mode (session.md 4.4).
    Reload {
        /// The services of the configuration.
        services: Vec<ServiceSpec>,
        /// The checks of the configuration.
        checks: Vec<CheckSpec>,
        /// Whether registrations by clients stay.
        keep: bool,
    },
}

/// An agent at its start.
#[derive(Clone, Debug)]
pub struct Start {
    /// The leader's registration of the agent.
    pub by_leader: Registration,
    /// The agent's registration of itself.
    pub by_agent: Registration,
    /// The seed of its random waits, from the server's entropy.
    pub seed: u64,
    /// The delay of a changed output without a change of status in the catalog (`check_update_interval`).
    pub output_interval: Duration,
}

/// A task of the agent. At equal times the order of the variants decides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// Expire a TTL check.
    Expire(String),
    /// Run a check.
    Run(String),
    /// Send an output to the catalog.
    Output(String),
    /// Deregister services that have been critical for too long.
    Reap,
    /// Check, as the leader, that the agent is registered.
    Reconcile,
    /// Compare the agent's state with the catalog.
    FullSync,
}

impl fmt::Display for Due {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expire(check) => write!(formatter, "the TTL of check {check:?} runs out"),
            Self::Run(check) => write!(formatter, "check {check:?} is run"),
            Self::Output(check) => {
                write!(
                    formatter,
                    "the output of check {check:?} is sent to the catalog"
                )
            }
            Self::Reap => {
                formatter.write_str("services that are critical for too long are deregistered")
            }
            Self::Reconcile => {
                formatter.write_str("the leader checks that the agent is registered")
            }
            Self::FullSync => formatter.write_str("the agent compares itself with the catalog"),
        }
    }
}

impl AgentCommand {
    /// Prints the task in words.
    pub(super) fn words(&self) -> String {
        let switched = |reason: &Option<String>| if reason.is_some() { "into" } else { "out of" };
        match self {
            AgentCommand::Start(_) => "the agent came up".to_owned(),
            AgentCommand::RegisterService { spec, .. } => {
                format!("the agent registered service {:?}", spec.service.id)
            }
            AgentCommand::DeregisterService { id, .. } => {
                format!("the agent deregistered service {id:?}")
            }
            AgentCommand::RegisterCheck(spec) => {
                format!("the agent registered check {:?}", spec.check.check_id)
            }
            AgentCommand::DeregisterCheck { id } => format!("the agent deregistered check {id:?}"),
            AgentCommand::Report { id, status, .. } => {
                format!("check {id:?} was reported {status}")
            }
            AgentCommand::Ran { id, result, .. } => {
                let status = result.as_ref().map_or("no answer", |(status, _)| status);
                format!("check {id:?} was run: {status}")
            }
            AgentCommand::ServiceMaintenance { id, reason } => {
                format!("service {id:?} went {} maintenance", switched(reason))
            }
            AgentCommand::NodeMaintenance { reason } => {
                format!("the node went {} maintenance", switched(reason))
            }
            AgentCommand::UseToken { .. } => "the agent got a token".to_owned(),
            AgentCommand::Configure { .. } | AgentCommand::Reload { .. } => {
                "the agent read its configuration".to_owned()
            }
        }
    }
}
