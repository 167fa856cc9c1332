//! The open requests of an observed engine: which of them are blocked and on what, and which were woken and have not
//! been answered yet.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::engine::cause::Cause;
use crate::history::CallId;
use crate::sync::{Event, Signal};
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Index, Store, Subject};

/// The signal that wakes a waiter.
#[derive(Debug, Default)]
pub(crate) struct WakeSignal {
    signal: Signal,
    /// Whether the waiter was woken since its last read. Changed under the engine's lock only.
    pending: AtomicBool,
    /// Whether the next read is the answer, whatever it finds.
    at_once: AtomicBool,
    /// The state that the waiter is answered with, once the restore of a snapshot has superseded it.
    before: OnceLock<Arc<Store>>,
    /// Whether the waiter is answered from a stream, which goes on when a snapshot is restored.
    pub(crate) is_streamed: bool,
    /// The request, if the engine is observed.
    pub(crate) call: Option<CallId>,
}

impl WakeSignal {
    pub(crate) fn new(call: Option<CallId>, is_streamed: bool) -> Self {
        Self {
            call,
            is_streamed,
            ..Self::default()
        }
    }

    /// Wakes the waiter. Called after the lock is dropped.
    pub(crate) fn tell(&self) {
        self.signal.set();
    }

    pub(crate) async fn notified(&self) {
        self.signal.wait().await;
    }

    pub(crate) fn is_at_once(&self) -> bool {
        self.at_once.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_pending(&self) {
        self.pending.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take_pending(&self) -> bool {
        self.pending.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn mark_at_once(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }

    /// Keeps the state that a restored snapshot supersedes, the first one of several.
    #[cfg(feature = "dump")]
    pub(crate) fn supersede(&self, before: &Arc<Store>) {
        if !self.is_streamed {
            self.before.get_or_init(|| Arc::clone(before));
        }
    }

    pub(crate) fn before(&self) -> Option<&Store> {
        self.before.get().map(Arc::as_ref)
    }
}

/// A request that is blocked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Blocked {
    /// The request.
    pub call: CallId,
    /// The client's address; `None` for a Unix socket.
    pub client: Option<IpAddr>,
    /// Path and query of the request, as sent.
    pub target: String,
    /// What it reads.
    pub read: Subject,
    /// The index that the read has to pass.
    pub min_index: Index,
    /// When it arrived.
    pub since: Timestamp,
    /// The number of the record of its arrival.
    pub record: u64,
    /// When the wait times out.
    pub until: Timestamp,
}

/// A request that a fault holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Held {
    /// The request.
    pub call: CallId,
    /// The client's address; `None` for a Unix socket.
    pub client: Option<IpAddr>,
    /// Path and query of the request, as sent.
    pub target: String,
    /// The fault, in words.
    pub fault: String,
    /// When it arrived.
    pub since: Timestamp,
    /// The number of the record of its arrival.
    pub record: u64,
    /// When it goes on, on the server's clock; `None` if it is held until the client gives up.
    pub until: Option<Timestamp>,
}

impl fmt::Display for Held {
    /// `request 3 on /v1/kv/job until 7.100s (rule 1: no-cluster-leader)`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "request {} on {}", self.call.0, self.target)?;
        if let Some(until) = self.until {
            let until = until.since(Timestamp::ZERO).as_secs_f64();
            write!(formatter, " until {until:.3}s")?;
        }
        write!(formatter, " ({})", self.fault)
    }
}

/// A wait, as the waiter describes it.
#[derive(Clone, Debug)]
pub(crate) struct Parked {
    pub(crate) read: Subject,
    pub(crate) min_index: Index,
    pub(crate) until: Timestamp,
    pub(crate) told: Arc<WakeSignal>,
    /// The waiter was woken, and reads again only at this point in time.
    pub(crate) delayed_to: Option<Timestamp>,
}

#[derive(Debug)]
enum CallState {
    /// Being handled.
    Running,
    /// Waits for a write or a timeout.
    Blocked(Parked),
    /// Held by a fault until this point in time; `None` until the client gives up.
    Held(Option<Timestamp>),
    /// Was blocked or held, and can go on.
    Woken,
}

#[derive(Debug)]
struct Call {
    client: Option<IpAddr>,
    target: String,
    since: Timestamp,
    /// The number of the record of its arrival.
    record: u64,
    state: CallState,
    /// When it was first blocked or held.
    waits_since: Option<Timestamp>,
    /// What it waits for, if it was held while it was blocked, and not woken since.
    blocked_before: Option<Parked>,
    /// The fault that has hit it.
    fault: Option<String>,
    /// The number of the last record that the state of a follower shows which the request has read.
    read_at: Option<u64>,
    /// Whether a fault is to change something as soon as it blocks. Until that is done, it is being handled.
    is_to_change: bool,
    /// Whether another datacenter has passed it on, where it is open, too.
    is_passed_on: bool,
    /// How many changes of the cluster there were when it last looked, if it looks at each while it waits.
    looked_at: Option<u64>,
}

impl Call {
    /// Returns the wait of a request that is blocked.
    fn parked(&self) -> Option<&Parked> {
        match &self.state {
            CallState::Blocked(parked) if !self.is_to_change => Some(parked),
            _ => None,
        }
    }
}

/// All requests that are being answered.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    last: u64,
    /// Boxed: a map with room for eleven calls in itself takes 2 KB, which each of a thousand servers in a test would have.
    open: BTreeMap<CallId, Box<Call>>,
    /// Notified when the cluster changes.
    changes: Arc<Event>,
}

impl Calls {
    pub(crate) fn new(changes: Arc<Event>) -> Self {
        Self {
            changes,
            ..Self::default()
        }
    }

    /// Opens a request that arrives at `since`, which is the record with the number `record`.
    pub(crate) fn begin(
        &mut self,
        client: Option<IpAddr>,
        target: &str,
        since: Timestamp,
        record: u64,
    ) -> CallId {
        self.last += 1;
        let id = CallId(self.last);
        let call = Box::new(Call {
            client,
            target: target.to_owned(),
            since,
            record,
            state: CallState::Running,
            waits_since: None,
            blocked_before: None,
            fault: None,
            read_at: None,
            is_to_change: false,
            is_passed_on: false,
            looked_at: None,
        });
        self.open.insert(id, call);
        id
    }

    /// The number of the record of a request's arrival, while the request is open.
    pub(crate) fn record_of(&self, id: CallId) -> Option<u64> {
        self.open.get(&id).map(|call| call.record)
    }

    /// What a blocked request reads.
    pub(crate) fn read_of(&self, id: CallId) -> Option<&Subject> {
        match &self.open.get(&id)?.state {
            CallState::Blocked(parked) => Some(&parked.read),
            _ => None,
        }
    }

    /// When a request was first blocked or held.
    pub(crate) fn waits_since(&self, id: CallId) -> Option<Timestamp> {
        self.open.get(&id)?.waits_since
    }

    pub(crate) fn end(&mut self, id: CallId) {
        self.open.remove(&id);
    }

    pub(crate) fn note_fault(&mut self, id: CallId, fault: &str) {
        if let Some(call) = self.open.get_mut(&id) {
            call.fault = Some(fault.to_owned());
        }
    }

    pub(crate) fn fault_of(&self, id: CallId) -> Option<&str> {
        self.open.get(&id)?.fault.as_deref()
    }

    pub(crate) fn take_fault(&mut self, id: CallId) -> Option<String> {
        self.open.get_mut(&id)?.fault.take()
    }

    pub(crate) fn note_read(&mut self, id: CallId, last: u64) {
        if let Some(call) = self.open.get_mut(&id) {
            call.read_at = Some(last);
        }
    }

    pub(crate) fn read_at(&self, id: CallId) -> Option<u64> {
        self.open.get(&id)?.read_at
    }

    /// Sets the state of a request that waits from `now` on. Returns the state before.
    fn wait(&mut self, id: CallId, now: Timestamp, state: CallState) -> Option<CallState> {
        let call = self.open.get_mut(&id)?;
        call.waits_since.get_or_insert(now);
        Some(std::mem::replace(&mut call.state, state))
    }

    pub(crate) fn park(&mut self, id: CallId, now: Timestamp, parked: Parked) {
        self.wait(id, now, CallState::Blocked(parked));
    }

    pub(crate) fn hold(&mut self, id: CallId, now: Timestamp, until: Option<Timestamp>) {
        let before = self.wait(id, now, CallState::Held(until));
        if let (Some(CallState::Blocked(parked)), Some(call)) = (before, self.open.get_mut(&id)) {
            call.blocked_before = Some(parked);
        }
    }

    /// Notes how many changes of the cluster a request has looked at; `None` if it looks at none. Returns what was noted before.
    pub(crate) fn looked_at(&mut self, id: CallId, changes: Option<u64>) -> Option<u64> {
        let call = self.open.get_mut(&id)?;
        std::mem::replace(&mut call.looked_at, changes)
    }

    /// Whether a request has looked at all changes of the cluster that it looks at. Until then it may go on at any moment.
    pub(crate) fn is_up_to_date(&self, id: CallId) -> bool {
        self.open.get(&id).is_none_or(|call| self.has_looked(call))
    }

    fn has_looked(&self, call: &Call) -> bool {
        call.looked_at
            .is_none_or(|changes| changes == self.changes.count())
    }

    /// Whether a request is blocked or held, and stays so until something happens.
    fn is_blocked(&self, call: &Call) -> bool {
        let is_held = matches!(call.state, CallState::Held(_));
        (is_held || call.parked().is_some()) && self.has_looked(call)
    }

    /// Marks a held request as able to go on.
    pub(crate) fn release(&mut self, id: CallId) {
        if let Some(call) = self.open.get_mut(&id)
            && matches!(call.state, CallState::Held(_))
        {
            call.state = CallState::Woken;
        }
    }

    /// Marks a request that was held while it was blocked as blocked again, unless it has been woken since.
    pub(crate) fn block_again(&mut self, id: CallId) {
        if let Some(call) = self.open.get_mut(&id)
            && let Some(parked) = call.blocked_before.take()
        {
            call.state = CallState::Blocked(parked);
        }
    }

    /// Marks a blocked request as able to go on. Returns whether it was blocked.
    pub(crate) fn wake(&mut self, id: CallId) -> bool {
        let Some(call) = self.open.get_mut(&id) else {
            return false;
        };
        call.blocked_before = None;
        let was_blocked = matches!(call.state, CallState::Blocked(_));
        if was_blocked {
            call.state = CallState::Woken;
        }
        was_blocked
    }

    /// Delays the wake of a blocked request. Returns whether it was blocked.
    pub(crate) fn delay(&mut self, id: CallId, to: Timestamp) -> bool {
        match self.open.get_mut(&id).map(|call| &mut call.state) {
            Some(CallState::Blocked(parked)) => {
                parked.delayed_to = Some(to);
                true
            }
            _ => false,
        }
    }

    /// Returns whether the wake of a request is delayed and not due yet.
    pub(crate) fn is_delayed(&self, id: CallId) -> bool {
        let state = self.open.get(&id).map(|call| &call.state);
        matches!(state, Some(CallState::Blocked(parked)) if parked.delayed_to.is_some())
    }

    /// Returns the blocked requests, oldest first.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = Blocked> {
        self.parked().map(|(call, parked)| Blocked {
            call,
            client: self.open[&call].client,
            target: self.open[&call].target.clone(),
            read: parked.read.clone(),
            min_index: parked.min_index,
            since: self.open[&call].since,
            record: self.open[&call].record,
            until: parked.until,
        })
    }

    /// Returns the requests that faults hold, oldest first; not those that wait in another datacenter.
    pub(crate) fn held(&self) -> impl Iterator<Item = Held> {
        self.open.iter().filter_map(|(id, call)| {
            let CallState::Held(until) = call.state else {
                return None;
            };
            Some(Held {
                call: *id,
                client: call.client,
                target: call.target.clone(),
                fault: call.fault.clone()?,
                since: call.since,
                record: call.record,
                until,
            })
        })
    }

    /// Returns the waits of all blocked requests, oldest first.
    pub(crate) fn parked(&self) -> impl Iterator<Item = (CallId, &Parked)> {
        let open = self.open.iter();
        open.filter_map(|(id, call)| Some((*id, call.parked()?)))
    }

    /// Sets whether a fault is to change something as soon as a request blocks.
    pub(crate) fn set_to_change(&mut self, id: CallId, is_to_change: bool) {
        if let Some(call) = self.open.get_mut(&id) {
            call.is_to_change = is_to_change;
        }
    }

    /// Whether a request has blocked, and a fault is to change something now.
    pub(crate) fn is_ripe(&self, id: CallId) -> bool {
        let call = self.open.get(&id);
        call.is_some_and(|call| matches!(call.state, CallState::Blocked(_)))
    }

    /// Returns the targets of the requests that are neither blocked nor held.
    pub(crate) fn at_work(&self) -> Vec<String> {
        let at_work = self.open.values().filter(|call| !self.is_blocked(call));
        at_work.map(|call| call.target.clone()).collect()
    }

    /// Notes that another datacenter has passed on a request.
    pub(crate) fn pass_on(&mut self, id: CallId) {
        if let Some(call) = self.open.get_mut(&id) {
            call.is_passed_on = true;
        }
    }

    /// Returns the path and query of a request.
    pub(crate) fn target_of(&self, id: CallId) -> Option<&str> {
        Some(&self.open.get(&id)?.target)
    }

    /// Returns the number of open requests that came here from clients, and whether all are blocked or held.
    pub(crate) fn all_blocked(&self) -> (usize, bool) {
        let of_clients = self.open.values().filter(|call| !call.is_passed_on);
        (
            of_clients.count(),
            self.open.values().all(|call| self.is_blocked(call)),
        )
    }

    /// Returns whether a request was woken and has neither been answered nor blocked again, or waits with a change to look at.
    pub(crate) fn any_woken(&self) -> bool {
        let mut calls = self.open.values();
        calls.any(|call| match call.state {
            CallState::Running => false,
            CallState::Woken => true,
            CallState::Blocked(_) | CallState::Held(_) => !self.has_looked(call),
        })
    }

    /// The next request that goes on by itself, and when.
    pub(crate) fn next_cause(&self) -> Option<(Timestamp, Cause)> {
        let causes = self.open.iter().filter_map(|(id, call)| match &call.state {
            CallState::Blocked(parked) => match parked.delayed_to {
                Some(to) if to < parked.until => Some((to, Cause::DelayedWake(*id))),
                _ => Some((parked.until, Cause::Wait(*id))),
            },
            CallState::Held(until) => until.map(|until| (until, Cause::Held(*id))),
            CallState::Running | CallState::Woken => None,
        });
        causes.min_by_key(|(at, _)| *at)
    }

    /// The next point in time at which a request goes on by itself.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
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
    pub(crate) fn next_delayed(&self) -> Option<Timestamp> {
        self.parked()
            .filter_map(|(_, parked)| parked.delayed_to)
            .min()
    }

    /// Marks everything that goes on by itself at `now` as able to. Returns the blocked ones: whether their time is
    /// up, else a wake that was put off is due.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Vec<(CallId, Arc<WakeSignal>, bool)> {
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
pub(crate) struct WakeDelay {
    pub(crate) prefix: Vec<u8>,
    pub(crate) by: Duration,
    /// The number of wakes that still come late; `None` for all.
    pub(crate) left: Option<u64>,
}
