//! Losing the leader, as it was measured on clusters of real Consuls of 1.8.7: what each phase answers, with which
//! text, and after how long.

use std::time::Duration;

use super::Asked;
use super::consul_error::ConsulError;
use super::plan::{Hold, Plan, Shown, Stop};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Cluster, Loss};

crate::named! {
    /// What a cluster without its leader is going through.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Phase {
        NeverElected "never-elected" "There never was a leader: everything but the agent's own endpoints waits 7 s for one (from 1.15 on up to 13.5 s) and fails, reads with `?stale` too.",
        Unreachable "unreachable" "The leader, another server, is dead, and this one does not know it yet: calls fail at once. Reads with `?stale` go on.",
        Silent "silent" "The leader, another server, does not answer, and this one does not know it yet: calls hang for 28 s and fail, unless there is a leader again. Reads with `?stale` go on.",
        Electing "electing" "A leader is being elected: calls are held until the phase is over, and then go on; for as long as Consul waits for a leader at all. Reads with `?stale` go on.",
        QuorumLost "quorum-lost" "This server is the leader and has just lost the others: writes fail after half a second, reads go on.",
        NoLeader "no-leader" "There is no leader and no election succeeds: calls wait 7 s for one and fail; reads with `?stale` say that there is none, and how long ago there was one.",
    }
}

/// A loss of the leader: phases, and how long each lasts on the server's clock. When the last one is over there is a
/// leader again; one without an end lasts until the test ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a loss is begun by `Server::lose_leader`"]
pub struct LeaderLoss {
    phases: Vec<(Phase, Option<Duration>)>,
}

impl LeaderLoss {
    /// A cluster that never had a leader, until the test gives it one.
    pub fn never_elected() -> Self {
        Self::in_phase(Phase::NeverElected)
    }

    /// The leader, another server, dies: two seconds of failures at once, then an election of 1.16 s.
    pub fn leader_killed() -> Self {
        Self::begins(Phase::Unreachable, Duration::from_secs(2))
            .then(Phase::Electing, Duration::from_millis(1160))
    }

    /// This server is the leader and loses its quorum, until the test gives it back.
    pub fn quorum_lost() -> Self {
        Self::begins(Phase::QuorumLost, Duration::from_millis(500)).then_for_good(Phase::NoLeader)
    }

    /// What an agent of several goes through that has lost its leader (cluster.md 2.5, 3.2, 3.11).
    pub(crate) fn of_agent(loss: Loss) -> Self {
        match loss {
            Loss::Refused => Self::begins(Phase::Unreachable, Duration::from_secs(2))
                .then_for_good(Phase::NoLeader),
            Loss::Silent => Self::begins(Phase::Silent, Duration::from_millis(1500))
                .then_for_good(Phase::NoLeader),
            Loss::Deposed => Self::quorum_lost(),
        }
    }

    /// An agent that has just been started: calls are held for a quarter of a second.
    pub fn starting() -> Self {
        Self::begins(Phase::Electing, Duration::from_millis(250))
    }

    /// Returns a loss of one phase, until the test ends it.
    pub fn in_phase(phase: Phase) -> Self {
        Self {
            phases: vec![(phase, None)],
        }
    }

    /// Returns a loss that begins with a phase of this length.
    pub fn begins(phase: Phase, lasts: Duration) -> Self {
        Self {
            phases: vec![(phase, Some(lasts))],
        }
    }

    /// Adds a phase of this length.
    pub fn then(mut self, phase: Phase, lasts: Duration) -> Self {
        self.phases.push((phase, Some(lasts)));
        self
    }

    /// Adds a last phase, until the test ends it.
    pub fn then_for_good(mut self, phase: Phase) -> Self {
        self.phases.push((phase, None));
        self
    }

    /// Returns the phases, and how long each lasts.
    #[must_use]
    pub fn phases(&self) -> &[(Phase, Option<Duration>)] {
        &self.phases
    }

    /// Returns the phase at `now`, and how long it goes on; `None` when the loss is over.
    pub(super) fn phase_at(
        &self,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<(Phase, Option<Duration>)> {
        let mut passed = now.since(since);
        for (phase, lasts) in &self.phases {
            match lasts {
                None => return Some((*phase, None)),
                Some(lasts) if passed < *lasts => return Some((*phase, Some(*lasts - passed))),
                Some(lasts) => passed -= *lasts,
            }
        }
        None
    }

    /// Returns what to do with a request; `None` to handle it as always.
    pub(super) fn plan(
        &self,
        asked: &Asked<'_>,
        since: Timestamp,
        now: Timestamp,
        told: &mut bool,
    ) -> Option<Plan> {
        let (phase, left) = self.phase_at(since, now)?;
        // What is not kept in the log (cluster.md 4.4.r1).
        let of_gossip = [&b"/v1/catalog/datacenters"[..], b"/v1/event/"];
        let is_of_gossip = of_gossip.iter().any(|path| asked.path.starts_with(path));
        if asked.path.starts_with(b"/v1/agent/") || is_of_gossip && phase != Phase::NeverElected {
            return None;
        }
        if let Some(about) = asked.path.strip_prefix(b"/v1/status/") {
            return status(phase, about);
        }
        match phase {
            Phase::NeverElected => Some(no_leader()),
            Phase::Unreachable | Phase::Silent if asked.is_stale => None,
            Phase::Unreachable => Some(at_once(if std::mem::replace(told, true) {
                ConsulError::RpcConnectionRefused
            } else {
                ConsulError::RpcEof
            })),
            Phase::Silent => Some(silent(now.plus(Cluster::SILENCE))),
            Phase::Electing if asked.is_stale => None,
            Phase::Electing => Some(Plan {
                name: "a leader is being elected".to_owned(),
                hold: left.map_or(Hold::ForLeader, Hold::ForElection),
                stop: Some(Stop::Error(ConsulError::NoClusterLeader)),
                ..Plan::default()
            }),
            Phase::QuorumLost if asked.is_stale || asked.method == "GET" => None,
            Phase::QuorumLost => Some(Plan {
                name: "quorum lost".to_owned(),
                hold: Hold::For(ConsulError::LeadershipLost.hold()),
                stop: Some(Stop::Error(ConsulError::LeadershipLost)),
                ..Plan::default()
            }),
            Phase::NoLeader if asked.is_stale => Some(Plan {
                name: "no leader, stale read".to_owned(),
                shown: Shown {
                    leader_unknown: true,
                    last_contact: Some(now.since(since)),
                    ..Shown::default()
                },
                ..Plan::default()
            }),
            Phase::NoLeader => Some(no_leader()),
        }
    }

    /// Returns the answer to a blocked request when the loss begins; `None` if it waits on.
    pub(super) fn interrupts(
        &self,
        is_stale: bool,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<Plan> {
        let (phase, _) = self.phase_at(since, now)?;
        // A follower's waits are the leader's, and end with it; waits on the former leader keep running.
        (phase == Phase::Unreachable && !is_stale).then(|| at_once(ConsulError::RpcEof))
    }
}

/// Returns the plan for `/v1/status/`. `status/leader` names a dead leader until its death is noticed.
fn status(phase: Phase, about: &[u8]) -> Option<Plan> {
    let stop = match (phase, about) {
        (Phase::NeverElected, b"peers") => Stop::NoPeers,
        (Phase::NeverElected | Phase::NoLeader, b"leader") => Stop::NoLeaderName,
        _ => return None,
    };
    Some(Plan {
        name: "no leader".to_owned(),
        stop: Some(stop),
        ..Plan::default()
    })
}

fn no_leader() -> Plan {
    Plan {
        name: "no leader".to_owned(),
        hold: Hold::ForLeader,
        stop: Some(Stop::Error(ConsulError::NoClusterLeader)),
        ..Plan::default()
    }
}

/// What waits for a leader that is silent, until the connection to it is given up.
pub(super) fn silent(given_up: Timestamp) -> Plan {
    Plan {
        name: "the leader is silent".to_owned(),
        hold: Hold::UntilHeard(given_up),
        stop: Some(Stop::Error(ConsulError::RpcEof)),
        ..Plan::default()
    }
}

pub(super) fn at_once(error: ConsulError) -> Plan {
    Plan {
        name: "the leader is dead".to_owned(),
        stop: Some(Stop::Error(error)),
        ..Plan::default()
    }
}
