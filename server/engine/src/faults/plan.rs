//! The plan for a request that a fault hits.

use std::sync::Arc;
use std::time::Duration;

use super::consul_error::ConsulError;
use super::effect::{AclChange, Cut, Effect, ReportedIndex};
use super::response::Response;

use proconsul_store::Store;
use proconsul_store::timestamp::Timestamp;

/// The steps of a request that is hit, in their order. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The fault in words.
    pub name: String,
    /// How long the request is held first.
    pub hold: Hold,
    /// What is done in place of the handler.
    pub stop: Option<Stop>,
    /// The state that a stale read is answered from.
    pub read_from: Option<Past>,
    /// Whether an acquire waits until its key has lost its holder, and is then applied whatever the lock-delay.
    pub in_flight: bool,
    /// What changes of ACLs before or while the request is handled.
    pub acl: Option<AclChange>,
    /// How long the answer is held, on the server's clock.
    pub hold_answer: Option<Duration>,
    /// How the answer is cut short.
    pub cut: Option<Cut>,
    /// What the headers of a read say in place of the truth.
    pub shown: Shown,
}

/// A state that no longer changes.
#[derive(Clone, Debug)]
pub struct Past(Arc<Store>);

impl Past {
    /// Returns the state of this store, whose deadlines never come.
    pub fn new(mut store: Store) -> Self {
        store.drop_deadlines();
        Self(store.into())
    }

    /// Returns the state.
    pub fn store(&self) -> &Store {
        &self.0
    }
}

impl PartialEq for Past {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// How long something is held, on the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// Not at all.
    #[default]
    None,
    /// For this duration.
    For(Duration),
    /// As long as the emulated release waits for a leader, whether there is one or not.
    AsForLeader,
    /// As long as the emulated release waits for a leader, or until there is one: then the request goes on as if
    /// there had always been one.
    ForLeader,
    /// As [`Hold::ForLeader`], if there will be a leader after this duration.
    ForElection(Duration),
    /// Until this time, or until the leader that the request was sent to is heard of again: then it goes on as if nothing had
    /// happened. Another leader does not know of it.
    UntilHeard(Timestamp),
    /// Until the client gives up.
    Forever,
}

/// What is done in place of the handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An error of Consul's.
    Error(ConsulError),
    /// The answer of `status/leader` without a leader.
    NoLeaderName,
    /// The answer of `status/peers` without servers.
    NoPeers,
    /// Any response.
    Respond(Response),
    /// No answer.
    Cut(Cut),
}

/// What the headers of a read say in place of the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// `X-Consul-Index`.
    pub index: Option<ReportedIndex>,
    /// `X-Consul-KnownLeader: false`.
    pub leader_unknown: bool,
    /// `X-Consul-LastContact`, in milliseconds on the wire.
    pub last_contact: Option<Duration>,
}

impl Plan {
    /// Returns the plan of an effect, under a name for the history.
    #[must_use]
    pub fn of(effect: &Effect, name: String) -> Self {
        let mut plan = Self {
            name,
            ..Self::default()
        };
        match effect {
            Effect::Error(error) => {
                plan.stop = Some(Stop::Error(error.clone()));
                plan.hold = match error.hold() {
                    _ if *error == ConsulError::NoClusterLeader => Hold::AsForLeader,
                    Duration::ZERO => Hold::None,
                    hold => Hold::For(hold),
                };
            }
            Effect::ErrorAfter(error, hold) => {
                plan.stop = Some(Stop::Error(error.clone()));
                plan.hold = Hold::For(*hold);
            }
            Effect::Respond(response) => plan.stop = Some(Stop::Respond(response.clone())),
            Effect::DelayBefore(delay) => plan.hold = Hold::For(*delay),
            Effect::DelayAfter(delay) => plan.hold_answer = Some(*delay),
            Effect::Hang => plan.hold = Hold::Forever,
            Effect::Cut(cut) => plan.stop = Some(Stop::Cut(*cut)),
            Effect::AppliedThen(cut) => plan.cut = Some(*cut),
            Effect::AcquireInFlight => plan.in_flight = true,
            Effect::ChangeAcls(change) => plan.acl = Some(change.clone()),
            Effect::ReportIndex(index) => plan.shown.index = Some(*index),
            // The state was looked up when the rule was installed.
            Effect::ReadFrom { last_contact, .. } => {
                plan.shown.last_contact = Some(*last_contact);
            }
            // No request is hit.
            Effect::Dns(_) => {}
        }
        plan
    }
}
