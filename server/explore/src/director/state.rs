//! What the director knows of a run: the requests of each contender, what it holds, and what is done to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use proconsul_core::control::Controls;
use proconsul_engine::faults::RequestKind;
use proconsul_engine::history::{Filter, Happened, Kind};
use proconsul_store::timestamp::Timestamp;

use super::End;
use crate::action::Action;
use crate::contender::Contender;
use crate::schedule::Place;

/// How many requests of a contender within [`BUSY_WITHIN`] are a busy loop, which is stopped: on a clock that only moves
/// when all wait, it would never end.
const BUSY: usize = 1000;
const BUSY_WITHIN: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct State {
    /// The number of the last record of the history that was looked at.
    pub(super) read: u64,
    /// The contenders that have sent a request, by the number of its record.
    pub(super) requests: BTreeMap<u64, Contender>,
    /// The sessions that contenders have made.
    pub(super) sessions: BTreeMap<String, Contender>,
    pub(super) contenders: Vec<Of>,
    /// The decisions that have been met, by their place in the schedule.
    pub(super) met: BTreeSet<usize>,
    /// What the world has to do, in order.
    pub(super) orders: VecDeque<Action>,
    /// The actions with a duration that are under way, and when each ends.
    pub(super) ends: Vec<(Timestamp, End)>,
    /// All requests so far, in order.
    pub(super) places: Vec<Place>,
    /// When the last decision was met.
    pub(super) last_met: Timestamp,
}

/// What the director knows of a contender.
#[derive(Default)]
pub(super) struct Of {
    pub(super) acquires: u32,
    pub(super) counts: BTreeMap<RequestKind, u32>,
    /// The keys that its sessions hold.
    pub(super) holds: BTreeSet<String>,
    /// How many actions silence its link, cut it, make it stand still and keep it killed.
    pub(super) silences: u32,
    pub(super) cuts: u32,
    pub(super) pauses: u32,
    pub(super) kills: u32,
    /// How many actions keep its agent from the others, make it stand still and keep it from applying entries.
    pub(super) agent_away: u32,
    pub(super) agent_pauses: u32,
    pub(super) agent_kills: u32,
    pub(super) agent_lags: u32,
    /// Whether a request of it waits until the world has acted.
    pub(super) waits: bool,
    pub(super) recent: VecDeque<Timestamp>,
    pub(super) is_busy: bool,
}

impl Of {
    /// Ends a pause. Returns whether it was the last one.
    pub(super) fn goes_on(&mut self) -> bool {
        self.silences -= 1;
        self.pauses -= 1;
        self.pauses == 0
    }

    /// Ends the time after a kill. Returns whether no other goes on.
    pub(super) fn starts(&mut self) -> bool {
        self.cuts -= 1;
        self.kills -= 1;
        self.kills == 0
    }

    /// Counts a request. Returns whether there have been too many of them in a short time.
    pub(super) fn is_busy_at(&mut self, now: Timestamp) -> bool {
        self.recent.push_back(now);
        while self
            .recent
            .front()
            .is_some_and(|first| now.since(*first) > BUSY_WITHIN)
        {
            self.recent.pop_front();
        }
        self.is_busy |= self.recent.len() > BUSY;
        self.is_busy
    }
}

impl State {
    /// Learns from the history who has made which session, and who has acquired what.
    pub(super) fn read_history(&mut self, controls: &Controls) {
        let wanted = [
            Kind::Request,
            Kind::SessionCreated,
            Kind::Acquired,
            Kind::Released,
        ];
        let filter = wanted.into_iter().fold(Filter::all(), Filter::or);
        let found = controls
            .engine()
            .read_on(self.read, &filter, u64::MAX, usize::MAX);
        self.read = found.passed;
        for record in found.records {
            match record.what {
                Happened::Request { client, .. } => {
                    let contender = client.and_then(Contender::at);
                    self.requests
                        .extend(contender.map(|one| (record.number, one)));
                }
                Happened::SessionCreated { session, .. } => {
                    let request = record.cause.and_then(|cause| self.requests.get(&cause));
                    self.sessions.extend(request.map(|one| (session, *one)));
                }
                Happened::Acquired {
                    key,
                    session,
                    again,
                } => {
                    if let Some(of) = self.of_session(&session) {
                        of.holds.insert(key.to_string());
                        if !again {
                            of.acquires += 1;
                            of.counts.clear();
                        }
                    }
                }
                Happened::Released { key, session, .. } => {
                    if let Some(of) = self.of_session(&session) {
                        of.holds.remove(&key.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn of_session(&mut self, session: &str) -> Option<&mut Of> {
        let contender = self.sessions.get(session)?;
        self.contenders.get_mut(contender.index())
    }
}
