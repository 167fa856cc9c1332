//! What autopilot does with the servers of a datacenter: it removes one that has failed, and lets one vote again that is back
//! (cluster.md 2.7).

use std::time::Duration;

use super::{Cluster, ClusterDue, Member};
use crate::Change;
use crate::config::autopilot::AutopilotSettings;
use crate::timestamp::Timestamp;

/// How often the leader looks at the servers.
const EACH: Duration = Duration::from_secs(10);

impl Member {
    /// Whether autopilot takes the server for one that has left.
    fn is_dead(&self, settings: &AutopilotSettings) -> bool {
        let is_gone = self.has_failed && self.away.is_some() && !self.has_left;
        settings.cleanup_dead_servers && self.is_server && is_gone
    }

    /// Whether the server is to vote once it has been healthy for long enough.
    fn is_candidate(&self) -> bool {
        self.is_server && !self.votes && !self.has_failed && self.away.is_none()
    }
}

impl Cluster {
    /// Whether an agent is a server that counts for majorities.
    #[must_use]
    pub fn votes(&self, agent: usize) -> bool {
        self.members.get(agent).is_none_or(|member| member.votes)
    }

    /// Returns when the leader looks at the servers next.
    fn next_look(&self, now: Timestamp) -> Timestamp {
        let leads_for = now.since(self.elected).as_nanos();
        let looks = u32::try_from(leads_for / EACH.as_nanos() + 1).unwrap_or(u32::MAX);
        self.elected.plus(EACH.saturating_mul(looks))
    }
}

impl Change<'_> {
    /// Schedules the next look at the servers, if it would change something.
    pub(crate) fn autopilot_later(&mut self) {
        let settings = self.store.autopilot_row().settings;
        let cluster = &mut self.store.cluster;
        let mut members = cluster.members.iter();
        if members.any(|member| member.is_dead(&settings) || member.is_candidate()) {
            cluster.schedule(cluster.next_look(self.now), ClusterDue::Autopilot);
        }
    }

    /// Removes dead servers, and lets healthy ones vote again, if there is a leader. Returns a note for the history.
    pub(super) fn autopilot(&mut self) -> Option<String> {
        self.store.cluster.leader?;
        let settings = self.store.autopilot_row().settings;
        let stable = Duration::from_nanos(
            u64::try_from(settings.server_stabilization_time_ns).unwrap_or_default(),
        );
        let mut done = Vec::new();
        for agent in 0..self.store.cluster.members.len() {
            let member = &mut self.store.cluster.members[agent];
            if member.is_dead(&settings) {
                member.is_to_leave = true;
                let removed = format!("autopilot has removed {}", member.node);
                done.extend(self.notice(agent).map(|_| removed));
            } else if member.is_candidate() && self.now.since(member.alive) >= stable {
                member.votes = true;
                done.push(format!("{} votes", member.node));
                self.store.cluster.changes += 1;
            }
        }
        self.autopilot_later();
        (!done.is_empty()).then(|| done.join(", "))
    }
}
