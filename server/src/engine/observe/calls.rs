//! The requests that are being answered, as far as somebody observes them: who is blocked on what, and who was
//! woken and has not been answered yet.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::history::CallId;
use crate::store::{Index, Subject};
use crate::timestamp::Timestamp;

/// How a waiter is told.
#[derive(Debug, Default)]
pub(in crate::engine) struct Told {
    notify: Notify,
    /// Told since the last look. Changed under the engine's lock only.
    pending: AtomicBool,
    /// The next look is the answer, whatever it finds.
    at_once: AtomicBool,
    /// Whose request it is, if anybody observes.
    pub(in crate::engine) call: Option<CallId>,
}

impl Told {
    pub(in crate::engine) fn new(call: Option<CallId>) -> Self {
        Self {
            call,
            ..Self::default()
        }
    }

    /// Lets the waiter go on. Called after the lock was dropped.
    pub(in crate::engine) fn tell(&self) {
        self.notify.notify_one();
    }

    pub(in crate::engine) async fn notified(&self) {
        self.notify.notified().await;
    }

    pub(in crate::engine) fn is_at_once(&self) -> bool {
        self.at_once.load(Ordering::Relaxed)
    }

    pub(in crate::engine) fn mark_pending(&self) {
        self.pending.store(true, Ordering::Relaxed);
    }

    pub(in crate::engine) fn take_pending(&self) -> bool {
        self.pending.swap(false, Ordering::Relaxed)
    }

    pub(in crate::engine) fn mark_at_once(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }
}

/// What a blocking query waits for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Blocked {
    /// The request.
    pub call: CallId,
    /// Where it came from; none for a Unix socket.
    pub client: Option<IpAddr>,
    /// Path and query of the request, as sent.
    pub target: String,
    /// What it reads.
    pub read: Subject,
    /// The index that it has to pass.
    pub min_index: Index,
    /// When its time is up.
    pub until: Timestamp,
}

/// A wait, as the waiter describes it.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Parked {
    pub(in crate::engine) read: Subject,
    pub(in crate::engine) min_index: Index,
    pub(in crate::engine) until: Timestamp,
    pub(in crate::engine) told: Arc<Told>,
    /// It was told, and looks only when this point in time is reached.
    pub(in crate::engine) delayed_to: Option<Timestamp>,
}

#[derive(Debug)]
enum CallState {
    /// Being worked on.
    Running,
    /// Nothing happens to it before something is written, or time passes.
    Blocked(Parked),
    /// A fault holds it; without an end, until the client gives up.
    Held(Option<Timestamp>),
    /// It was blocked or held and can go on.
    Woken,
}

#[derive(Debug)]
struct Call {
    client: Option<IpAddr>,
    target: String,
    state: CallState,
    /// The fault that has hit it.
    fault: Option<String>,
}

/// All requests that are being answered.
#[derive(Debug, Default)]
pub(in crate::engine) struct Calls {
    last: u64,
    open: BTreeMap<CallId, Call>,
}

impl Calls {
    pub(in crate::engine) fn begin(&mut self, client: Option<IpAddr>, target: &str) -> CallId {
        self.last += 1;
        let id = CallId(self.last);
        let call = Call {
            client,
            target: target.to_owned(),
            state: CallState::Running,
            fault: None,
        };
        self.open.insert(id, call);
        id
    }

    pub(in crate::engine) fn end(&mut self, id: CallId) {
        self.open.remove(&id);
    }

    pub(in crate::engine) fn note_fault(&mut self, id: CallId, fault: &str) {
        if let Some(call) = self.open.get_mut(&id) {
            call.fault = Some(fault.to_owned());
        }
    }

    pub(in crate::engine) fn take_fault(&mut self, id: CallId) -> Option<String> {
        self.open.get_mut(&id)?.fault.take()
    }

    fn set(&mut self, id: CallId, state: CallState) {
        if let Some(call) = self.open.get_mut(&id) {
            call.state = state;
        }
    }

    pub(in crate::engine) fn park(&mut self, id: CallId, parked: Parked) {
        self.set(id, CallState::Blocked(parked));
    }

    pub(in crate::engine) fn hold(&mut self, id: CallId, until: Option<Timestamp>) {
        self.set(id, CallState::Held(until));
    }

    /// Marks a blocked or held request as able to go on. Whether it was blocked or held.
    pub(in crate::engine) fn wake(&mut self, id: CallId) -> bool {
        let Some(call) = self.open.get_mut(&id) else {
            return false;
        };
        let stood = matches!(call.state, CallState::Blocked(_) | CallState::Held(_));
        if stood {
            call.state = CallState::Woken;
        }
        stood
    }

    /// Puts off the wake of a blocked request. Whether it was blocked.
    pub(in crate::engine) fn delay(&mut self, id: CallId, to: Timestamp) -> bool {
        match self.open.get_mut(&id).map(|call| &mut call.state) {
            Some(CallState::Blocked(parked)) => {
                parked.delayed_to = Some(to);
                true
            }
            _ => false,
        }
    }

    /// Whether the wake of a request was put off and is not due yet.
    pub(in crate::engine) fn is_delayed(&self, id: CallId) -> bool {
        let state = self.open.get(&id).map(|call| &call.state);
        matches!(state, Some(CallState::Blocked(parked)) if parked.delayed_to.is_some())
    }

    /// The blocked requests, oldest first.
    pub(in crate::engine) fn blocked(&self) -> impl Iterator<Item = Blocked> {
        self.parked().map(|(call, parked)| Blocked {
            call,
            client: self.open[&call].client,
            target: self.open[&call].target.clone(),
            read: parked.read.clone(),
            min_index: parked.min_index,
            until: parked.until,
        })
    }

    /// The waits of all blocked requests, oldest first.
    pub(in crate::engine) fn parked(&self) -> impl Iterator<Item = (CallId, &Parked)> {
        self.open.iter().filter_map(|(id, call)| match &call.state {
            CallState::Blocked(parked) => Some((*id, parked)),
            CallState::Running | CallState::Held(_) | CallState::Woken => None,
        })
    }

    /// What the requests that are neither blocked nor held ask for.
    pub(in crate::engine) fn at_work(&self) -> Vec<String> {
        let calls = self.open.values();
        let at_work =
            calls.filter(|call| matches!(call.state, CallState::Running | CallState::Woken));
        at_work.map(|call| call.target.clone()).collect()
    }

    /// How many requests are open, and whether all of them are blocked or held.
    pub(in crate::engine) fn all_stand(&self) -> (usize, bool) {
        let stand = |call: &Call| matches!(call.state, CallState::Blocked(_) | CallState::Held(_));
        (self.open.len(), self.open.values().all(stand))
    }

    /// Whether a request was woken and has neither been answered nor blocked again.
    pub(in crate::engine) fn any_woken(&self) -> bool {
        let mut calls = self.open.values();
        calls.any(|call| matches!(call.state, CallState::Woken))
    }

    /// The next point in time at which a request goes on by itself.
    pub(in crate::engine) fn next_deadline(&self) -> Option<Timestamp> {
        let deadlines = self.open.values().filter_map(|call| match &call.state {
            CallState::Blocked(parked) => {
                Some(parked.delayed_to.unwrap_or(parked.until).min(parked.until))
            }
            CallState::Held(until) => *until,
            CallState::Running | CallState::Woken => None,
        });
        deadlines.min()
    }

    /// The next point in time at which a wake that was put off is due.
    pub(in crate::engine) fn next_delayed(&self) -> Option<Timestamp> {
        self.parked()
            .filter_map(|(_, parked)| parked.delayed_to)
            .min()
    }

    /// Marks everything that goes on by itself at `now` as able to. Returns the blocked ones: whether their time is
    /// up, else a wake that was put off is due.
    pub(in crate::engine) fn expire(&mut self, now: Timestamp) -> Vec<(CallId, Arc<Told>, bool)> {
        let mut expired = Vec::new();
        for (id, call) in &mut self.open {
            match &call.state {
                CallState::Blocked(parked) => {
                    let timed_out = parked.until <= now;
                    if timed_out || parked.delayed_to.is_some_and(|to| to <= now) {
                        expired.push((*id, Arc::clone(&parked.told), timed_out));
                        call.state = CallState::Woken;
                    }
                }
                CallState::Held(Some(until)) if *until <= now => call.state = CallState::Woken,
                CallState::Held(_) | CallState::Running | CallState::Woken => {}
            }
        }
        expired
    }
}

/// Wakes that come late: for the blocking queries that read something under a prefix.
#[derive(Clone, Debug)]
pub(in crate::engine) struct WakeDelay {
    pub(in crate::engine) prefix: Vec<u8>,
    pub(in crate::engine) by: Duration,
    /// How many more wakes come late; none for all.
    pub(in crate::engine) left: Option<u64>,
}
