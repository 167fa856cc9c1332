//! Schedules that have broken clients before, as far as these send such requests.

use std::time::Duration;

use proconsul_engine::faults::{ConsulError, RequestKind};

use super::draw::{ERRORS, lengths, slight_delay};
use crate::action::Action;
use crate::contender::Contender;
use crate::schedule::{Decision, Place, Schedule};

/// How many schedules let an empty server answer a read.
const READS: usize = 6;

/// The requests of a plain run, as the known schedules need them.
struct Seen<'a> {
    places: &'a [Place],
    /// The contender that acquires the lock first, and one that waits for it.
    holder: Contender,
    waiter: Contender,
    plain: &'a Schedule,
}

impl Seen<'_> {
    fn has(&self, place: Place) -> bool {
        self.places.contains(&place)
    }

    /// Returns the nth request of a kind of the holder, after it has acquired the lock; or before.
    fn holders(&self, kind: RequestKind, nth: u32, acquires: u32) -> Option<Place> {
        let place = Place {
            contender: self.holder,
            kind,
            nth,
            acquires,
        };
        self.has(place).then_some(place)
    }

    fn waiters(&self, kind: RequestKind, nth: u32) -> Option<Place> {
        let place = Place {
            contender: self.waiter,
            kind,
            nth,
            acquires: 0,
        };
        self.has(place).then_some(place)
    }

    fn of(&self, decisions: impl IntoIterator<Item = (Option<Place>, Action)>) -> Option<Schedule> {
        let mut schedule = self.plain.clone();
        for (place, action) in decisions {
            schedule.decisions.push(Decision {
                place: place?,
                action,
            });
        }
        Some(schedule)
    }
}

/// Returns the known schedules for what was seen in a plain run, those first that break most.
pub(super) fn schedules(
    places: &[Place],
    plain: &Schedule,
    ttl: Duration,
    lock_delay: Duration,
) -> Vec<Schedule> {
    let first = places.iter().find(|place| place.acquires > 0);
    let holder = first.map_or(Contender(0), |place| place.contender);
    let waiter = Contender::all(plain.contenders).find(|one| *one != holder);
    let seen = Seen {
        places,
        holder,
        waiter: waiter.unwrap_or(holder),
        plain,
    };
    let found = of_the_holder(&seen, ttl, lock_delay).into_iter();
    let found = found.chain(of_responses(&seen)).chain(of_watches(&seen));
    let found = found.chain(of_agents(&seen, ttl, lock_delay));
    found.flatten().collect()
}

/// Returns schedules in which a read with `?stale` is answered by a server that has nothing yet: the last ones that were
/// seen, before which most has been written.
pub(super) fn of_reads<'a>(
    places: &'a [Place],
    plain: &'a Schedule,
) -> impl Iterator<Item = Schedule> + 'a {
    let reads = places
        .iter()
        .rev()
        .filter(|place| place.kind == RequestKind::Read);
    reads.take(READS).map(|place| {
        let mut schedule = plain.clone();
        schedule.decisions.push(Decision {
            place: *place,
            action: Action::Empty,
        });
        schedule
    })
}

/// The agent of the holder, or of one that waits or watches, is lost or late.
fn of_agents(seen: &Seen<'_>, ttl: Duration, lock_delay: Duration) -> Vec<Option<Schedule>> {
    let lasts = lengths(ttl, lock_delay);
    let [.., beyond] = lasts[..] else {
        return Vec::new();
    };
    if seen.plain.agents == 1 {
        return Vec::new();
    }
    let (holder, waiter) = (seen.holder, seen.waiter);
    let kinds = [RequestKind::Watch, RequestKind::Renew, RequestKind::Write];
    let mut of_holder = kinds.iter().map(|kind| seen.holders(*kind, 1, 1));
    let any = of_holder.find_map(|place| place);
    let read = seen.waiters(RequestKind::Read, 1);
    let watch = seen.waiters(RequestKind::Watch, 1).or(read);
    vec![
        seen.of([(any, Action::CutAgent(holder, Some(beyond)))]),
        seen.of([(any, Action::PauseAgent(holder, beyond))]),
        seen.of([(any, Action::RestartAgent(holder, beyond))]),
        seen.of([(any, Action::CutAgent(holder, None))]),
        // hashicorp/consul#3975: a server that is late has nothing, and its client believes it.
        seen.of([(watch, Action::LagAgent(waiter, beyond))]),
        seen.of([(any, Action::LagAgent(holder, beyond))]),
    ]
}

/// The holder is cut off, stands still, or loses its session while it does not look.
fn of_the_holder(seen: &Seen<'_>, ttl: Duration, lock_delay: Duration) -> Vec<Option<Schedule>> {
    let holder = seen.holder;
    let lasts = lengths(ttl, lock_delay);
    let [.., beyond] = lasts[..] else {
        return Vec::new();
    };
    let watch = seen.holders(RequestKind::Watch, 1, 1);
    let renew = seen.holders(RequestKind::Renew, 1, 1);
    let write = seen.holders(RequestKind::Write, 2, 1);
    let any = watch.or(renew).or(write);
    let mut schedules = vec![
        // hashicorp/consul#18271: the result of a renewal that never comes.
        seen.of([(any, Action::Silence(holder, None))]),
        seen.of([(write.or(any), Action::Pause(holder, beyond))]),
        seen.of([(watch, Action::Hold), (renew, Action::Hold)]),
        // hashicorp/vault#23013: the watch is late, and the writes go on.
        seen.of([
            (watch, Action::Hold),
            (write.or(renew), Action::DestroySessions(holder)),
        ]),
        seen.of([(any, Action::Cut(holder, None))]),
        seen.of([(any, Action::Cut(holder, Some(beyond)))]),
        seen.of([(any, Action::Silence(holder, Some(beyond)))]),
        seen.of([(any, Action::DestroySessions(holder))]),
        seen.of([(any, Action::DeleteLock(holder))]),
        seen.of([(any, Action::FailNode)]),
        seen.of([(any, Action::LoseLeader)]),
        seen.of([(any, Action::Restart(holder, ttl / 2))]),
    ];
    // The first watches and renewals after the acquire, each of which decides about a lease.
    for nth in 1..=2 {
        // silas/node-consul#16: a watch that lasts as long as a lease, and a little longer.
        let watch = seen.holders(RequestKind::Watch, nth, 1);
        schedules.push(seen.of([(watch, Action::DelayResponse(slight_delay(ttl)))]));
        let renew = seen.holders(RequestKind::Renew, nth, 1);
        schedules.push(seen.of([(renew, Action::Hold)]));
        schedules.push(seen.of([(renew, Action::Delay(beyond))]));
        schedules.push(seen.of([(renew, Action::LoseResponse)]));
    }
    schedules
}

/// Responses that are errors, or are lost.
fn of_responses(seen: &Seen<'_>) -> Vec<Option<Schedule>> {
    let mut schedules = Vec::new();
    let before = [RequestKind::Acquire, RequestKind::Create, RequestKind::Txn];
    for kind in before {
        let place = seen.holders(kind, 1, 0);
        schedules.push(seen.of([(place, Action::LoseResponse)]));
        schedules.push(seen.of([(place, Action::LoseRequest)]));
        schedules.push(seen.of([(place, Action::Error(ConsulError::RateLimited))]));
    }
    for error in ERRORS {
        for kind in [RequestKind::Watch, RequestKind::Renew] {
            let place = seen.holders(kind, 1, 1);
            schedules.push(seen.of([(place, Action::Error(error.clone()))]));
        }
    }
    schedules
}

/// Watches of those who wait, and indexes that go back.
fn of_watches(seen: &Seen<'_>) -> Vec<Option<Schedule>> {
    let mut schedules = Vec::new();
    // While the watches of others are parked: a watch that begins with the old index blocks with a right client, too.
    for nth in 1..=2 {
        let mut places = seen.places.iter();
        let write = places.find(|place| place.kind == RequestKind::Write && place.nth == nth);
        schedules.push(seen.of([(write.copied(), Action::Rebuild)]));
    }
    for nth in 1..=2 {
        let watches = [
            seen.waiters(RequestKind::Watch, nth),
            seen.holders(RequestKind::Watch, nth, 1),
            seen.holders(RequestKind::Watch, nth, 0),
        ];
        for watch in watches {
            for action in [
                Action::Rebuild,
                Action::Wake,
                Action::Error(ConsulError::NoClusterLeader),
                Action::LoseRequest,
            ] {
                schedules.push(seen.of([(watch, action)]));
            }
        }
    }
    schedules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_first_watches_of_the_holder_is_a_little_late() {
        let place = |text: &str| text.parse::<Place>().expect("a place");
        let places = [
            place("a acquire 1"),
            place("a watch 1 after acquire 1"),
            place("a watch 2 after acquire 1"),
        ];
        let plain = "contenders 2\n".parse().expect("a schedule");
        let ttl = Duration::from_secs(1);
        let known: Vec<_> = schedules(&places, &plain, ttl, ttl)
            .iter()
            .map(ToString::to_string)
            .collect();
        for nth in 1..=2 {
            let late = format!("a watch {nth} after acquire 1: delay-response 100ms");
            assert!(known.iter().any(|text| text.contains(&late)), "{late}");
        }
    }
}
