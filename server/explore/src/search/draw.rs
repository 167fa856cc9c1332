//! Draws schedules from a seed.

use std::collections::BTreeSet;
use std::time::Duration;

use fastrand::Rng;
use proconsul_engine::faults::ConsulError;

use super::Purpose;
use crate::action::{Action, SLIGHT};
use crate::contender::Contender;
use crate::schedule::{Decision, Place, Schedule};

/// The errors of a Consul that is well or about to be.
pub(super) const ERRORS: [ConsulError; 6] = [
    ConsulError::NoClusterLeader,
    ConsulError::RpcEof,
    ConsulError::LeadershipLost,
    ConsulError::RateLimited,
    ConsulError::ServerRateLimited,
    ConsulError::RpcConnectionRefused,
];

/// The highest number of a request of one kind that is drawn: later ones are like it.
const MOST: u32 = 6;

/// What can be drawn: each action at each request.
#[derive(Debug)]
pub(super) struct Draw {
    pairs: Vec<Decision>,
    /// Those soon after a change of the holder.
    near: Vec<Decision>,
    /// Those that make the first holder lose the lock.
    losses: Vec<Decision>,
}

/// Returns the lengths that matter with this TTL and lock-delay: within a lease, beyond it, beyond the session, and beyond
/// the lock-delay that follows.
pub(super) fn lengths(ttl: Duration, lock_delay: Duration) -> Vec<Duration> {
    let ttl = or_one_second(ttl);
    let expired = ttl * 2 + ttl / 10;
    vec![
        ttl / 2,
        ttl + ttl / 10,
        expired,
        expired + lock_delay + ttl / 2,
    ]
}

/// Returns the longest delay with this TTL that no client may take for a fault.
pub(super) fn slight_delay(ttl: Duration) -> Duration {
    or_one_second(ttl) / SLIGHT
}

fn or_one_second(ttl: Duration) -> Duration {
    if ttl.is_zero() {
        Duration::from_secs(1)
    } else {
        ttl
    }
}

impl Draw {
    pub(super) fn new(
        seen: &[Place],
        plain: &Schedule,
        ttl: Duration,
        lock_delay: Duration,
    ) -> Self {
        let contenders = plain.contenders;
        let mut places = BTreeSet::new();
        for place in seen
            .iter()
            .filter(|place| place.nth <= MOST && place.acquires <= 2)
        {
            // Any contender may come to hold the lock, in another run.
            for contender in Contender::all(contenders) {
                let of = |acquires| Place {
                    contender,
                    acquires,
                    ..*place
                };
                places.extend([of(place.acquires), of(1)]);
            }
        }
        let lengths = lengths(ttl, lock_delay);
        let at = |place: &Place| {
            let place = *place;
            let mut actions = actions(place, &lengths, plain.agents > 1);
            actions.push(Action::DelayResponse(slight_delay(ttl)));
            let actions = actions.into_iter();
            actions.map(move |action| Decision { place, action })
        };
        let pairs: Vec<Decision> = places.iter().flat_map(at).collect();
        let is_near = |pair: &&Decision| pair.place.nth <= 3 && pair.place.acquires >= 1;
        let beyond = lengths.last().copied();
        let is_loss = |pair: &&Decision| {
            let Place { nth, acquires, .. } = pair.place;
            let lasts = match &pair.action {
                Action::DestroySessions(_) | Action::FailNode | Action::DeleteLock(_) => true,
                Action::Pause(..) | Action::Restart(..) => pair.action.lasts() == beyond,
                Action::Silence(_, lasts) | Action::Cut(_, lasts) | Action::CutAgent(_, lasts) => {
                    lasts.is_none() || *lasts == beyond
                }
                _ => false,
            };
            nth == 1 && acquires == 1 && lasts
        };
        Self {
            losses: pairs.iter().filter(is_loss).cloned().collect(),
            near: pairs.iter().filter(is_near).cloned().collect(),
            pairs,
        }
    }

    /// Returns how many pairs of a request and an action there are.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// Draws a schedule. Half of them have decisions that are drawn alike. The rest begin with one that makes the holder lose the
    /// lock, and have the others near a change of the holder.
    pub(super) fn schedule(&self, rng: &mut Rng, plain: &Schedule) -> Option<(Schedule, Purpose)> {
        let count = [1, 2, 2, 3][rng.usize(..4)];
        let is_steered = !self.near.is_empty() && rng.bool();
        let from = if is_steered { &self.near } else { &self.pairs };
        let mut schedule = plain.clone();
        for number in 0..count {
            let loss = rng
                .choice(&self.losses)
                .filter(|_| is_steered && number == 0);
            let decision = loss.or_else(|| rng.choice(from));
            schedule.decisions.push(decision?.clone());
        }
        if rng.bool() {
            schedule.order = Contender::all(plain.contenders).collect();
            rng.shuffle(&mut schedule.order);
        }
        let purpose = if is_steered {
            Purpose::Steered
        } else {
            Purpose::Drawn(count)
        };
        Some((schedule, purpose))
    }
}

/// Returns what can happen at a request.
fn actions(place: Place, lengths: &[Duration], has_own_agent: bool) -> Vec<Action> {
    let one = place.contender;
    let mut actions = vec![
        Action::Hold,
        Action::LoseRequest,
        Action::LoseResponse,
        Action::Wake,
        Action::Empty,
        Action::Rebuild,
        Action::FailNode,
        Action::LoseLeader,
        Action::DestroySessions(one),
        Action::DeleteLock(one),
        Action::Silence(one, None),
        Action::Cut(one, None),
    ];
    actions.extend(ERRORS.map(Action::Error));
    actions.extend([false, true].map(|ends_lock_delays| Action::ChangeLeader { ends_lock_delays }));
    for length in lengths {
        actions.extend([
            Action::Delay(*length),
            Action::DelayResponse(*length),
            Action::Silence(one, Some(*length)),
            Action::Cut(one, Some(*length)),
            Action::Pause(one, *length),
            Action::Restart(one, *length),
            Action::CutAgent(one, Some(*length)),
            Action::PauseAgent(one, *length),
            Action::RestartAgent(one, *length),
            Action::LagAgent(one, *length),
        ]);
    }
    actions.push(Action::CutAgent(one, None));
    actions.retain(|action| has_own_agent || !action.is_of_agent());
    actions.retain(|action| action.fits(place.kind));
    actions
}
