//! Random commands to the agent, on whose node others register services and checks, too.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;

use super::steps::{CHECKS, NAME_OF_IDS, NODES, SERVICE_ID_OF_CHECKS, SERVICE_IDS, STATUSES};
use crate::tests::any::Command;
use crate::{
    AgentCommand, CheckSource, CheckSpec, NewCheck, NewNode, NewService, Registration, ServiceSpec,
    Start, Thresholds,
};

/// The id of the agent's node. Others may register it for their nodes.
pub(super) const OWN_ID: &str = "11111111-1111-1111-1111-111111111111";

/// A command of a client to the agent. Services and checks are given by their positions among the ids.
#[derive(Clone, Debug)]
pub(super) enum AgentStep {
    RegisterService {
        service: usize,
        check: Option<usize>,
        replace: bool,
    },
    DeregisterService(usize),
    RegisterCheck(usize, &'static str),
    DeregisterCheck(usize),
    Report(usize, &'static str),
    ServiceMaintenance(usize, bool),
    NodeMaintenance(bool),
    Reload {
        keep: bool,
    },
}

/// Starts the agent on the first node.
pub(in crate::tests) fn start() -> Command {
    let node = NewNode {
        node: NODES[0].to_owned(),
        id: OWN_ID.to_owned(),
        address: "127.0.0.1".to_owned(),
        ..NewNode::default()
    };
    let by_leader = Registration {
        node: node.clone(),
        service: Some(NewService {
            id: "consul".to_owned(),
            name: "consul".to_owned(),
            ..NewService::default()
        }),
        checks: vec![NewCheck {
            check_id: "serfHealth".to_owned(),
            status: "passing".to_owned(),
            ..NewCheck::default()
        }],
        ..Registration::default()
    };
    let by_agent = Registration {
        node,
        ..Registration::default()
    };
    command(AgentCommand::Start(Box::new(Start {
        by_leader,
        by_agent,
        seed: 1,
        output_interval: Duration::from_secs(300),
    })))
}

fn command(command: AgentCommand) -> Command {
    Command::Agent(Box::new(command))
}

impl AgentStep {
    /// Returns the agent's command.
    pub(super) fn command(&self) -> Command {
        let id = |service: &usize| SERVICE_IDS[*service].to_owned();
        let check_id = |check: &usize| CHECKS[*check].to_owned();
        let reason = |on: &bool| on.then(|| "a reason".to_owned());
        command(match self {
            Self::RegisterService {
                service,
                check,
                replace,
            } => AgentCommand::RegisterService {
                spec: Box::new(ServiceSpec {
                    service: NewService {
                        id: id(service),
                        name: NAME_OF_IDS[*service].to_owned(),
                        ..NewService::default()
                    },
                    sidecar: None,
                    checks: check.iter().map(|check| spec(*check, "passing")).collect(),
                }),
                replace_checks: *replace,
            },
            Self::DeregisterService(service) => AgentCommand::DeregisterService {
                id: id(service),
                stays: false,
            },
            Self::RegisterCheck(check, status) => {
                AgentCommand::RegisterCheck(Box::new(spec(*check, status)))
            }
            Self::DeregisterCheck(check) => AgentCommand::DeregisterCheck {
                id: check_id(check),
            },
            Self::Report(check, status) => AgentCommand::Report {
                id: check_id(check),
                status,
                output: (*status).to_owned(),
            },
            Self::ServiceMaintenance(service, on) => AgentCommand::ServiceMaintenance {
                id: id(service),
                reason: reason(on),
            },
            Self::NodeMaintenance(on) => AgentCommand::NodeMaintenance { reason: reason(on) },
            Self::Reload { keep } => AgentCommand::Reload {
                services: Vec::new(),
                checks: Vec::new(),
                keep: *keep,
            },
        })
    }
}

/// Returns a TTL check whose service is deregistered after a critical minute.
fn spec(check: usize, status: &str) -> CheckSpec {
    CheckSpec {
        check: NewCheck {
            check_id: CHECKS[check].to_owned(),
            service_id: SERVICE_ID_OF_CHECKS[check].to_owned(),
            status: status.to_owned(),
            kind: "ttl".to_owned(),
            ..NewCheck::default()
        },
        source: CheckSource::Ttl(Duration::from_secs(10)),
        output_limit: 4096,
        deregister_after: Some(Duration::from_secs(60)),
        thresholds: Thresholds::default(),
    }
}

/// Returns the check of a service.
fn check_of(service: usize) -> Option<usize> {
    let mut places = SERVICE_ID_OF_CHECKS.iter();
    places.position(|id| *id == SERVICE_IDS[service])
}

pub(super) fn agent_step() -> impl Strategy<Value = AgentStep> {
    let place = 0..3usize;
    let status = select(STATUSES.to_vec());
    let register = (place.clone(), any::<bool>(), any::<bool>());
    let register = register.prop_map(
        |(service, with_check, replace)| AgentStep::RegisterService {
            service,
            check: check_of(service).filter(|_| with_check),
            replace,
        },
    );
    prop_oneof![
        4 => register,
        1 => place.clone().prop_map(AgentStep::DeregisterService),
        4 => (place.clone(), status.clone())
            .prop_map(|(check, status)| AgentStep::RegisterCheck(check, status)),
        1 => place.clone().prop_map(AgentStep::DeregisterCheck),
        4 => (place.clone(), status).prop_map(|(check, status)| AgentStep::Report(check, status)),
        1 => (place, any::<bool>())
            .prop_map(|(service, on)| AgentStep::ServiceMaintenance(service, on)),
        1 => any::<bool>().prop_map(AgentStep::NodeMaintenance),
        1 => any::<bool>().prop_map(|keep| AgentStep::Reload { keep }),
    ]
}
