//! Who held a lock when, as the holders themselves saw it, and whether that was safe.
//!
//! A client knows when it asked and when it was told, not when the server acted in between. So it *surely* held the lock from being
//! told that it has it until asking to end that, and *possibly* from asking for it until being told that it ended. Every judgement
//! here holds for each course of events that fits: a server is never blamed for what a slow client saw.

use std::fmt;
use std::time::Duration;

/// A call by its two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When the client asked.
    pub asked: Duration,
    /// When it was told.
    pub told: Duration,
}

/// How a tenure ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It had not, when the history ended.
    Open,
    /// By a release.
    Released(Span),
    /// By the destruction of its session.
    Destroyed(Span),
}

/// A session's time with the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenure {
    /// Whose; sessions are told apart by number.
    pub session: usize,
    /// The acquire that succeeded.
    pub acquired: Span,
    /// The key's LockIndex meanwhile.
    pub lock_index: u64,
    /// How it ended.
    pub end: End,
}

/// What somebody read about the holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// When.
    pub read: Span,
    /// The session that was shown.
    pub holder: Option<usize>,
}

/// What clients saw of one lock. Nobody wrote to its key but by acquire and release, and nobody deleted it (kv.md 2.5).
#[derive(Debug, Clone, Default)]
pub struct Locking {
    /// Every acquire that succeeded, in any order.
    pub tenures: Vec<Tenure>,
    /// Every read.
    pub observations: Vec<Observation>,
    /// The lock-delay of all sessions.
    pub delay: Duration,
}

/// What must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// Two sessions surely held the lock at the same time.
    TwoHolders(Tenure, Tenure),
    /// The second asked for the lock after the end of the first's session and got it before the lock-delay was over.
    WithinDelay(Tenure, Tenure),
    /// The second came after the first, and its LockIndex is not greater.
    LockIndexStands(Tenure, Tenure),
    /// A read showed another holder, or none, while this session surely held the lock.
    HolderNotShown(Observation, Tenure),
    /// A read showed a session that could not hold the lock at that time.
    NotAHolder(Observation),
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoHolders(one, other) => {
                write!(formatter, "two holders at once:\n  {one:?}\n  {other:?}")
            }
            Self::WithinDelay(one, other) => {
                write!(
                    formatter,
                    "acquired within the lock-delay of the one before:\n  {one:?}\n  {other:?}"
                )
            }
            Self::LockIndexStands(one, other) => {
                write!(
                    formatter,
                    "the LockIndex has not grown from one holder to a later one:\n  {one:?}\n  {other:?}"
                )
            }
            Self::HolderNotShown(read, holder) => {
                write!(
                    formatter,
                    "a read does not show the holder:\n  {read:?}\n  {holder:?}"
                )
            }
            Self::NotAHolder(read) => write!(
                formatter,
                "a read shows a session that cannot hold the lock:\n  {read:?}"
            ),
        }
    }
}

impl Tenure {
    /// From when to when the session surely held the lock.
    fn surely(&self) -> Stretch {
        let end = match self.end {
            End::Open => None,
            End::Released(span) | End::Destroyed(span) => Some(span.asked),
        };
        (self.acquired.told, end)
    }

    /// From when to when the session possibly held the lock.
    fn possibly(&self) -> Stretch {
        let end = match self.end {
            End::Open => None,
            End::Released(span) | End::Destroyed(span) => Some(span.told),
        };
        (self.acquired.asked, end)
    }

    fn destroyed(&self) -> Option<Span> {
        match self.end {
            End::Destroyed(span) => Some(span),
            End::Open | End::Released(_) => None,
        }
    }

    /// Whether the other asked only when this one had the lock, so that it came after it.
    fn came_before(&self, other: &Self) -> bool {
        self.acquired.told <= other.acquired.asked
    }
}

/// A stretch of time; the end may be open.
type Stretch = (Duration, Option<Duration>);

/// Whether two stretches of time have more than a point in common.
fn overlap(one: Stretch, other: Stretch) -> bool {
    let begins_before = |begin: Duration, end: Option<Duration>| end.is_none_or(|end| begin < end);
    begins_before(one.0, other.1) && begins_before(other.0, one.1)
}

/// Whether two stretches of time have at least a point in common.
fn touch(one: Stretch, other: Stretch) -> bool {
    let begins_by = |begin: Duration, end: Option<Duration>| end.is_none_or(|end| begin <= end);
    begins_by(one.0, other.1) && begins_by(other.0, one.1)
}

impl Locking {
    /// Everything that must not be, each once.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for (number, one) in self.tenures.iter().enumerate() {
            for other in &self.tenures[number + 1..] {
                found.extend(two_holders(one, other));
                found.extend(
                    self.within_delay(one, other)
                        .or_else(|| self.within_delay(other, one)),
                );
                found.extend(
                    lock_index_stands(one, other).or_else(|| lock_index_stands(other, one)),
                );
            }
        }
        for read in &self.observations {
            found.extend(self.not_shown(read));
            found.extend(self.not_a_holder(read));
        }
        found
    }

    /// The lock was given to `next` too early: it asked when the end of `first`'s session was known, and was told before the delay,
    /// which cannot have begun before somebody asked for that end, was over.
    ///
    /// Two things that Consul does are left out (both seen on 1.8.7). An acquire that was already on its way may slip through: Consul
    /// looks at the delay before its log brings the acquire and the end of the session into an order. And a delay on a key that had
    /// one before may end with the remains of that: only the first delay counts.
    fn within_delay(&self, first: &Tenure, next: &Tenure) -> Option<Violation> {
        let destroy = first.destroyed()?;
        let had_one_before = |tenure: &Tenure| {
            let earlier = tenure.destroyed();
            tenure != first && earlier.is_some_and(|earlier| earlier.asked <= destroy.told)
        };
        let asked_within = destroy.told <= next.acquired.asked;
        let told_within = next.acquired.told < destroy.asked + self.delay;
        (asked_within && told_within && !self.tenures.iter().any(had_one_before))
            .then_some(Violation::WithinDelay(*first, *next))
    }

    fn not_shown(&self, read: &Observation) -> Option<Violation> {
        let throughout = |tenure: &&Tenure| {
            let (begin, end) = tenure.surely();
            begin <= read.read.asked && end.is_none_or(|end| read.read.told <= end)
        };
        let holder = self.tenures.iter().find(throughout)?;
        (read.holder != Some(holder.session)).then_some(Violation::HolderNotShown(*read, *holder))
    }

    fn not_a_holder(&self, read: &Observation) -> Option<Violation> {
        let shown = read.holder?;
        let reading = (read.read.asked, Some(read.read.told));
        let possible =
            |tenure: &Tenure| tenure.session == shown && touch(tenure.possibly(), reading);
        (!self.tenures.iter().any(possible)).then_some(Violation::NotAHolder(*read))
    }
}

fn two_holders(one: &Tenure, other: &Tenure) -> Option<Violation> {
    overlap(one.surely(), other.surely()).then_some(Violation::TwoHolders(*one, *other))
}

fn lock_index_stands(first: &Tenure, next: &Tenure) -> Option<Violation> {
    (first.came_before(next) && next.lock_index <= first.lock_index)
        .then_some(Violation::LockIndexStands(*first, *next))
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
