//! What requests go through at an agent that has lost its leader.

use super::leadership::{LeaderLoss, SILENCE, silent};
use super::plan::{Hold, Plan, Shown};
use super::{Asked, Phase};
use crate::Engine;
use proconsul_store::Loss;

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
        let (since, loss) = self.contact(agent).lost?;
        if asked.method == "PUT" && OF_AGENT.iter().any(|path| asked.path.starts_with(path)) {
            return Some(Plan {
                name: "no leader to register at".to_owned(),
                hold: Hold::ForLeader,
                ..Plan::default()
            });
        }
        let loss = LeaderLoss::of_agent(loss);
        // A client agent that reaches nobody has nothing to answer from.
        let is_alone = !self.cluster().is_connected(agent);
        let asked = Asked {
            is_stale: asked.is_stale && !(is_alone && self.is_client(agent)),
            ..*asked
        };
        // Who was connected has been interrupted: what comes now is refused.
        loss.plan(&asked, since, self.clock().now(), &mut true)
    }

    fn is_client(&self, agent: usize) -> bool {
        let cluster = self.cluster();
        let member = cluster.members().get(agent);
        member.is_some_and(|member| !member.is_server)
    }

    /// Returns what a request goes through that waits at an agent when that loses its leader; `None` if it waits on.
    #[must_use]
    pub fn interrupts_at_agent(&self, agent: usize, is_stale: bool) -> Option<Plan> {
        let (since, loss) = self.contact(agent).lost?;
        let now = self.clock().now();
        match loss {
            Loss::Silent if is_stale => None,
            Loss::Silent => Some(silent(SILENCE.saturating_sub(now.since(since)))),
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
