//! Several clients that take turns with one lock: what they see of it must be safe.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::case::Case;
use crate::case::trial::Trial;
use crate::cases::support::txn::{op, txn};
use crate::history::chance::{Chance, new_seed};
use crate::history::lock::{End, Locking, Observation, Span, Tenure, Violation};
use crate::runner::verdict::fail;
use crate::time::Stopwatch;

/// Each round has a key of its own.
const ROUNDS: usize = 4;
const HOLDERS: usize = 5;
/// Of each holder.
const TURNS: usize = 3;
/// Of all of a round: the turn that ends with the session, and not with a release. Only a key's first lock-delay can be relied on.
const DESTROYED: usize = 4;
const OBSERVERS: usize = 2;
const DELAY: Duration = Duration::from_millis(120);
/// How long a client may wait for its turn.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "concurrent/lock/never-two-holders",
        claim: "However many sessions ask for a lock, no two hold it at the same time",
        source: "kv.md 2.5, 8",
        run: |t| {
            none(t, |violation| {
                matches!(violation, Violation::TwoHolders(..))
            });
        },
        ..Case::MUST
    },
    Case {
        id: "concurrent/lock/nobody-within-the-delay",
        claim: "However many sessions ask, nobody gets the lock who asks for it within the lock-delay after its holder's session was destroyed",
        source: "kv.md 8",
        run: |t| {
            none(t, |violation| {
                matches!(violation, Violation::WithinDelay(..))
            });
        },
        ..Case::MUST
    },
    Case {
        id: "concurrent/lock/lock-index-grows",
        claim: "While the key is only acquired and released, each holder has a greater LockIndex than those before it",
        source: "kv.md 2.5",
        run: |t| {
            none(t, |violation| {
                matches!(violation, Violation::LockIndexStands(..))
            });
        },
        ..Case::MUST
    },
    Case {
        id: "concurrent/lock/reads-show-the-holder",
        claim: "Whoever reads the key, waiting or not, is shown the session that holds it, and none that cannot",
        source: "kv.md 2.5, 5.2",
        run: |t| {
            none(t, |violation| {
                matches!(
                    violation,
                    Violation::HolderNotShown(..) | Violation::NotAHolder(_)
                )
            });
        },
        ..Case::MUST
    },
];

/// Lets clients contend for locks and fails if something came about that must not.
#[track_caller]
fn none(t: &Trial, must_not: impl Fn(&Violation) -> bool) {
    let seed = new_seed();
    for round in 0..ROUNDS {
        let locking = contention(t, seed, round);
        t.same("turns", locking.tenures.len(), HOLDERS * TURNS);
        t.check(
            locking.observations.len() > locking.tenures.len(),
            "hardly anybody read the key",
        );
        if let Some(violation) = locking.violations().iter().find(|found| must_not(found)) {
            fail(format!("{violation}\n(seed {seed}, round {round})"));
        }
    }
}

/// One lock and those who want it.
struct Contest<'t> {
    t: &'t Trial,
    key: String,
    watch: Stopwatch,
    /// A session's number is its place.
    sessions: Mutex<Vec<String>>,
    /// How many turns have begun.
    turns: AtomicUsize,
    /// Holders that have had all their turns.
    finished: AtomicUsize,
}

#[track_caller]
fn contention(t: &Trial, seed: u64, round: usize) -> Locking {
    let contest = Contest {
        t,
        key: t.key(&format!("lock-{round}")),
        watch: Stopwatch::start(),
        sessions: Mutex::default(),
        turns: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
    };
    let parts = t.together(HOLDERS + OBSERVERS, |client| {
        if client < HOLDERS {
            let stream = u64::try_from(round * HOLDERS + client).expect("a small number");
            contest.take_turns(Chance::new(seed, stream))
        } else {
            contest.observe()
        }
    });
    let mut locking = Locking {
        delay: DELAY,
        ..Locking::default()
    };
    for part in parts {
        locking.tenures.extend(part.tenures);
        locking.observations.extend(part.observations);
    }
    locking
}

impl Contest<'_> {
    /// Does something between asking and being told.
    fn timed<T>(&self, call: impl FnOnce() -> T) -> (Span, T) {
        let asked = self.watch.elapsed();
        let told = call();
        let span = Span {
            asked,
            told: self.watch.elapsed(),
        };
        (span, told)
    }

    fn number_of(&self, session: &str) -> usize {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let place = sessions.iter().position(|known| known == session);
        place.unwrap_or_else(|| {
            sessions.push(session.to_owned());
            sessions.len() - 1
        })
    }

    /// Waits for the lock, holds it for a moment and gives it up in one way or another, again and again.
    #[track_caller]
    fn take_turns(&self, mut chance: Chance) -> Locking {
        let mut seen = Locking::default();
        // Counts also when a claim fails here, so that the observers end.
        let _finish = Finish(&self.finished);
        let body =
            json!({"LockDelay": format!("{}ms", DELAY.as_millis()), "NodeChecks": []}).to_string();
        let mut session = self.t.session(&body);
        for _ in 0..TURNS {
            let (acquired, lock_index) = self.acquire(&session, chance.once_in(2), &mut seen);
            for _ in 0..chance.below(3) {
                seen.observations.push(self.read("").0);
            }
            let end = if self.turns.fetch_add(1, Ordering::SeqCst) == DESTROYED {
                let (span, ()) = self.timed(|| self.t.destroy(&session));
                End::Destroyed(span)
            } else {
                End::Released(self.release(&session, chance.once_in(2)))
            };
            seen.tenures.push(Tenure {
                session: self.number_of(&session),
                acquired,
                lock_index,
                end,
            });
            if matches!(end, End::Destroyed(_)) {
                session = self.t.session(&body);
            }
        }
        seen
    }

    /// When the lock was acquired, and its LockIndex.
    #[track_caller]
    fn acquire(&self, session: &str, in_txn: bool, seen: &mut Locking) -> (Span, u64) {
        let query = format!("acquire={session}");
        let span = self.t.eventually("a turn with the lock", PATIENCE, || {
            let (span, done) = self.timed(|| {
                if in_txn {
                    let lock = op("lock", &self.key).session(session).value("held");
                    txn(self.t, [lock]).status_is_one_of(&[200, 409]).status() == 200
                } else {
                    self.t.put(&self.key, &query, "held").status_is(200).json() == json!(true)
                }
            });
            done.then_some(span)
        });
        let (read, entry) = self.timed(|| self.t.get(&self.key, "").entry());
        seen.observations.push(Observation {
            read,
            holder: entry.session.as_deref().map(|id| self.number_of(id)),
        });
        (span, entry.lock_index)
    }

    #[track_caller]
    fn release(&self, session: &str, in_txn: bool) -> Span {
        let (span, ()) = self.timed(|| {
            if in_txn {
                let unlock = op("unlock", &self.key).session(session).value("free");
                txn(self.t, [unlock]).status_is(200);
            } else {
                self.t
                    .put(&self.key, &format!("release={session}"), "free")
                    .is(200, "true");
            }
        });
        span
    }

    /// What a read showed, and the index that it came with.
    #[track_caller]
    fn read(&self, query: &str) -> (Observation, u64) {
        let (read, answer) =
            self.timed(|| self.t.get(&self.key, query).status_is_one_of(&[200, 404]));
        let session = (answer.status() == 200)
            .then(|| answer.entry().session)
            .flatten();
        let holder = session.as_deref().map(|id| self.number_of(id));
        (Observation { read, holder }, answer.index())
    }

    /// Reads, each time waiting for a change, until the holders have finished.
    #[track_caller]
    fn observe(&self) -> Locking {
        let mut seen = Locking::default();
        let mut index = 0;
        while self.finished.load(Ordering::SeqCst) < HOLDERS {
            let (observation, shown) = self.read(&format!("index={index}&wait=100ms"));
            seen.observations.push(observation);
            index = shown;
        }
        seen
    }
}

/// Counts one more when dropped.
struct Finish<'a>(&'a AtomicUsize);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
