//! What requests go through at an agent that has lost its leader.

use super::leadership::{LeaderLoss, at_once, silent};
use super::plan::{Hold, Plan, Shown, Stop};
use super::{Asked, ConsulError, Phase};
use crate::Engine;
use proconsul_store::{Cluster, Loss};

/// What an agent does for itself: it waits for a leader to tell, and goes on without one (cluster.md 4.4).
const OF_AGENT: [&[u8]; 3] = [
    b"/v1/agent/service/",
    b"/v1/agent/check/",
    b"/v1/agent/maintenance",
];

impl Engine {
    /// Returns what happens to a request at the agent with this number; `None` if it has a leader.
    #[must_use]
    pub fn plan_of_agent(&self, agent: usize, asked: &Asked<'_>) -> Option<Plan> {
        let is_told =
            asked.method == "PUT" && OF_AGENT.iter().any(|path| asked.path.starts_with(path));
        if let Some(plan) = self.without_servers(agent) {
            return match asked.path.starts_with(b"/v1/agent/") {
                true if is_told => Some(Plan { stop: None, ..plan }),
                true => None,
                false => Some(plan),
            };
        }
        let (since, loss) = self.contact(agent).lost?;
        if is_told {
            return Some(Plan {
                name: "no leader to register at".to_owned(),
                hold: Hold::ForLeader,
                ..Plan::default()
            });
        }
        // Who was connected has been interrupted: what comes now is refused.
        LeaderLoss::of_agent(loss).plan(asked, since, self.clock().now(), &mut true)
    }

    /// Returns what happens at a client agent that reaches no server, and has nothing to answer from; `None` at any other.
    #[must_use]
    pub fn without_servers(&self, agent: usize) -> Option<Plan> {
        let (given_up, loss) = self.cluster().without_servers(agent)?;
        let plan = match loss {
            _ if given_up <= self.clock().now() => at_once(ConsulError::NoKnownServers),
            Loss::Refused => at_once(ConsulError::RpcConnectionRefused),
            Loss::Silent | Loss::Deposed => silent(given_up),
        };
        Some(Plan {
            name: "no server".to_owned(),
            ..plan
        })
    }

    /// Returns what a request goes through that waits at an agent when that loses its leader; `None` if it waits on.
    #[must_use]
    pub fn interrupts_at_agent(&self, agent: usize, is_stale: bool) -> Option<Plan> {
        if let Some(plan) = self.without_servers(agent) {
            return Some(Plan {
                stop: Some(Stop::Error(ConsulError::RpcEof)),
                ..plan
            });
        }
        let (since, loss) = self.contact(agent).lost?;
        let now = self.clock().now();
        match loss {
            Loss::Silent if is_stale => None,
            Loss::Silent => Some(silent(since.plus(Cluster::SILENCE))),
            _ => LeaderLoss::of_agent(loss).interrupts(is_stale, since, now),
        }
    }

    /// Returns what stale reads say of the leader of the agent with this number.
    #[must_use]
    pub fn shown_by_agent(&self, agent: usize) -> Shown {
        let contact = self.contact(agent);
        let phase = contact.lost.and_then(|(since, loss)| {
            LeaderLoss::of_agent(loss).phase_at(since, self.clock().now())
        });
        Shown {
            index: None,
            leader_unknown: matches!(phase, Some((Phase::NoLeader, _))),
            last_contact: Some(contact.last),
        }
    }
}
