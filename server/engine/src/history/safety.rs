//! Whether a lock was safe: over what the server did, and over what the holders believed.

use std::fmt;

use super::{Happened, Record};
use proconsul_store::Key;
use proconsul_store::timestamp::Timestamp;

/// A time during which a program believed that it held a lock: from before its first work to after its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The session with which the program had acquired the lock.
    pub session: String,
    /// When the belief began, on the server's clock.
    pub from: Timestamp,
    /// When it ended.
    pub to: Timestamp,
}

impl fmt::Display for Interval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (seconds(self.from), seconds(self.to));
        write!(formatter, "{} from {from:.3}s to {to:.3}s", self.session)
    }
}

fn seconds(at: Timestamp) -> f64 {
    at.since(Timestamp::ZERO).as_secs_f64()
}

/// A way in which a lock was not safe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsafe {
    /// A session acquired the lock while another held it.
    TwoHolders {
        /// The session that held it.
        first: String,
        /// The session that acquired it.
        second: String,
        /// When.
        at: Timestamp,
    },
    /// A session acquired the lock during its lock-delay: its acquire was in flight when that began
    /// ([`Effect::AcquireInFlight`](crate::faults::Effect::AcquireInFlight)), as it happens on a real Consul, too.
    AcquiredInLockDelay {
        /// The session that acquired it.
        session: String,
        /// When.
        at: Timestamp,
    },
    /// Two programs believed that they held the lock at the same time.
    TwoBelievers {
        /// The belief that began first.
        first: Interval,
        /// The belief that began before the first ended.
        second: Interval,
    },
    /// A program believed that it held the lock while its session did not.
    BelievedWithoutHolding {
        /// What it believed.
        belief: Interval,
        /// When it began to be wrong: after the lock was lost, or before it was acquired.
        wrong_from: Timestamp,
    },
}

impl fmt::Display for Unsafe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoHolders { first, second, at } => write!(
                formatter,
                "at {:.3}s {second} acquired what {first} held",
                seconds(*at)
            ),
            Self::AcquiredInLockDelay { session, at } => write!(
                formatter,
                "at {:.3}s {session} acquired during the lock-delay",
                seconds(*at)
            ),
            Self::TwoBelievers { first, second } => {
                write!(formatter, "two believed to hold it: {first}, and {second}")
            }
            Self::BelievedWithoutHolding { belief, wrong_from } => write!(
                formatter,
                "{belief} believed to hold it, and did not from {:.3}s on",
                seconds(*wrong_from)
            ),
        }
    }
}

/// A time during which a session really held the lock; `to` is `None` while it still does.
struct Hold {
    session: String,
    from: Timestamp,
    to: Option<Timestamp>,
}

/// Returns the violations of the safety of the lock `key`: in the records, and in what programs believed.
pub fn violations<'a>(
    records: impl Iterator<Item = &'a Record>,
    key: &Key,
    beliefs: &[Interval],
) -> Vec<Unsafe> {
    let mut found = Vec::new();
    let holds = holds(records, key, &mut found);
    let mut beliefs: Vec<&Interval> = beliefs.iter().collect();
    beliefs.sort_by_key(|belief| (belief.from, belief.to));
    for (place, first) in beliefs.iter().enumerate() {
        let later = beliefs.iter().skip(place + 1);
        for second in later.filter(|later| later.from < first.to && later.session != first.session)
        {
            found.push(Unsafe::TwoBelievers {
                first: (*first).clone(),
                second: (*second).clone(),
            });
        }
    }
    for belief in beliefs {
        if let Some(wrong_from) = wrong_from(belief, &holds) {
            found.push(Unsafe::BelievedWithoutHolding {
                belief: belief.clone(),
                wrong_from,
            });
        }
    }
    found
}

fn holds<'a>(
    records: impl Iterator<Item = &'a Record>,
    key: &Key,
    found: &mut Vec<Unsafe>,
) -> Vec<Hold> {
    let mut holds: Vec<Hold> = Vec::new();
    let mut guarded_until = Timestamp::ZERO;
    for record in records.filter(|record| record.what.key() == Some(key)) {
        let at = record.at;
        let open = holds.last_mut().filter(|hold| hold.to.is_none());
        match &record.what {
            Happened::Acquired {
                session,
                again: false,
                ..
            } => {
                if let Some(open) = open {
                    found.push(Unsafe::TwoHolders {
                        first: open.session.clone(),
                        second: session.clone(),
                        at,
                    });
                }
                if at < guarded_until {
                    found.push(Unsafe::AcquiredInLockDelay {
                        session: session.clone(),
                        at,
                    });
                }
                holds.push(Hold {
                    session: session.clone(),
                    from: at,
                    to: None,
                });
            }
            Happened::Released { .. } => {
                if let Some(open) = open {
                    open.to = Some(at);
                }
            }
            Happened::LockDelayBegan { lasts, .. } => guarded_until = at.plus(*lasts),
            _ => {}
        }
    }
    holds
}

/// Returns when a belief began to be wrong; `None` if it was right.
fn wrong_from(belief: &Interval, holds: &[Hold]) -> Option<Timestamp> {
    let own = holds.iter().filter(|hold| hold.session == belief.session);
    // The last hold: on a frozen clock, a session can release and acquire again at one moment.
    let started_in = own
        .filter(|hold| hold.from <= belief.from)
        .rfind(|hold| hold.to.is_none_or(|to| belief.from <= to));
    match started_in {
        None => Some(belief.from),
        Some(hold) => hold.to.filter(|to| *to < belief.to),
    }
}
