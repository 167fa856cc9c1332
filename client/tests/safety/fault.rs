//! What goes wrong in a run, and when.

use std::time::Duration;

use fastrand::Rng;
use proconsul::control::{Restart, Server};
use proconsul::faults::{ConsulError, Cut, Effect, LeaderLoss, ReportedIndex, Rule};
use proconsul::history::{Interval, Unsafe};

use super::world::{KEY, TTL};

macro_rules! faults {
    ($($fault:ident $doc:literal,)*) => {
        /// One kind of trouble.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fault {
            $(#[doc = $doc] $fault,)*
        }

        impl Fault {
            pub(crate) const ALL: &[Self] = &[$(Self::$fault),*];
        }
    };
}

faults! {
    NoClusterLeader "Some calls fail after 7 s, with Consul's text.",
    RpcEof "Some calls fail at once, with Consul's text.",
    LateToCome "Some calls are applied late.",
    LateToReturn "Some calls are applied, and answered late.",
    AppliedThenReset "Some calls are applied, and the answer is lost.",
    Hangs "Some calls are never answered.",
    Reset "Some connections are reset.",
    EmptyReply "Some connections are closed without an answer.",
    Truncated "Some answers are cut off, of calls that are applied.",
    RateLimited "Some calls are refused with 429.",
    ConnectionsRefused "Nobody listens for a time.",
    LeaderLost "The leader is lost and found again.",
    Restarts "The server restarts, now and then, with its state.",
    IndexGoesBack "The index is lowered, now and then, or said to be lower.",
    SpuriousWakes "Those who wait are woken for nothing.",
    SessionExpires "The holder's session ends, now and then.",
    ClockJumps "The whole machine stands still, now and then, and goes on later.",
}

impl Fault {
    /// Begins. What it installs stays until the faults are cleared.
    pub(crate) fn begin(self, control: &Server, rng: &mut Rng) {
        if self == Self::ConnectionsRefused {
            control.refuse_connections().expect("its sockets close");
        }
        if self == Self::LeaderLost {
            control.lose_leader(match rng.u8(0..3) {
                0 => LeaderLoss::leader_killed(),
                1 => LeaderLoss::quorum_lost(),
                _ => LeaderLoss::never_elected(),
            });
        }
        if let Some(effect) = self.effect(rng) {
            let chance = [0.2, 0.5, 0.9][rng.usize(0..3)];
            let mut rule = Rule::new(effect).chance(chance, rng.u64(..));
            rule = match rng.u8(0..4) {
                0 => rule.path("/v1/session/"),
                1 => rule.path("/v1/kv/"),
                2 if self != Self::IndexGoesBack => rule.method("PUT"),
                _ => rule,
            };
            control.fault(rule).expect("it can match").keep();
        }
    }

    fn effect(self, rng: &mut Rng) -> Option<Effect> {
        let delay = Duration::from_millis(rng.u64(100..15_000));
        Some(match self {
            Self::NoClusterLeader => Effect::Error(ConsulError::NoClusterLeader),
            Self::RpcEof => Effect::Error(ConsulError::RpcEof),
            Self::LateToCome => Effect::DelayBefore(delay),
            Self::LateToReturn => Effect::DelayAfter(delay),
            Self::AppliedThenReset => Effect::AppliedThen(Cut::Reset),
            Self::Hangs => Effect::Hang,
            Self::Reset => Effect::Cut(Cut::Reset),
            Self::EmptyReply => Effect::Cut(Cut::Close),
            Self::Truncated => Effect::AppliedThen(Cut::After(rng.usize(0..6))),
            Self::RateLimited => Effect::Error(ConsulError::RateLimited),
            Self::IndexGoesBack => Effect::ReportIndex(ReportedIndex::Back(rng.u64(1..20))),
            Self::ConnectionsRefused
            | Self::LeaderLost
            | Self::Restarts
            | Self::SpuriousWakes
            | Self::SessionExpires
            | Self::ClockJumps => return None,
        })
    }

    /// What happens now and then while it lasts. Returns for how long the machine stood still.
    pub(crate) fn strike(self, control: &Server, rng: &mut Rng) -> Duration {
        match self {
            Self::Restarts => control
                .restart(Restart::KeepState)
                .expect("its port stays its own"),
            Self::IndexGoesBack => control.lower_indexes(rng.u64(1..30)),
            Self::SpuriousWakes => {
                control.wake("");
            }
            Self::SessionExpires => {
                let row = control.kv().get(KEY);
                if let Some(holder) = row.and_then(|row| row.session().map(str::to_owned)) {
                    control.sessions().expire(&holder).expect("it holds a key");
                }
            }
            Self::ClockJumps => {
                let stood = Duration::from_millis(rng.u64(100..60_000));
                control.jump(stood);
                return stood;
            }
            _ => {}
        }
        Duration::ZERO
    }

    /// Ends, whatever it was.
    pub(crate) fn end(self, control: &Server) {
        control.clear_faults();
        if self == Self::ConnectionsRefused {
            control
                .accept_connections()
                .expect("its port stays its own");
        }
    }

    /// Whether something that would be wrong otherwise is in the nature of this fault.
    pub(crate) fn explains(self, found: &Unsafe) -> bool {
        match (self, found) {
            // A server that ends a session tells its holder after that. The holder hears it by its watch, or knows
            // at the end of its TTL; the lock-delay keeps the others out so long.
            (Self::SessionExpires, Unsafe::BelievedWithoutHolding { belief, wrong_from }) => {
                let Interval { from, to, .. } = belief;
                from <= wrong_from && to.since(*wrong_from) <= TTL
            }
            // session.md 3.4: a restart forgets the lock-delays.
            (Self::Restarts, Unsafe::AcquiredInLockDelay { .. }) => true,
            _ => false,
        }
    }
}
