//! Directs a server by a schedule: counts the requests of each contender, and acts where the schedule names one.

mod state;

use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use proconsul_core::control::{AgentHandle, Controls, Lag};
use proconsul_engine::faults::{
    AclChange, Asked, Cut, Director, Effect, LeaderLoss, Link, Moment, Past, Phase, Plan,
};
use proconsul_engine::sync::{Event, either};
use proconsul_store::Store;
use proconsul_store::timestamp::Timestamp;

use self::state::{Of, State};
use crate::action::{Action, REBUILT_AFTER};
use crate::contender::Contender;
use crate::schedule::{Decision, Place, Schedule};

/// How long after a request has arrived a blocking query is answered by [`Action::Wake`].
const WAKE_AFTER: Duration = Duration::from_millis(20);
/// How far indexes go back.
const INDEXES_BACK: u64 = 1_000_000;

/// What begins the records of what a schedule does.
pub(crate) const NOTE: &str = "schedule: ";

/// What a schedule does to the state of Consul, from outside of all contenders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A session is destroyed.
    DestroySession(String),
    /// A key is deleted.
    DeleteKey(String),
    /// The check `serfHealth` of the node turns critical, and then passing.
    FailNode,
}

/// What only a driver can do to the contenders, which it runs.
pub trait Contenders: Send + Sync {
    /// Stops the process of a contender where it is, as SIGSTOP does, or lets it go on. Its link is silent meanwhile.
    fn pause(&self, contender: Contender, paused: bool);

    /// Kills the process of a contender, or starts it anew.
    fn run(&self, contender: Contender, runs: bool);

    /// Returns the future that changes the Consul which the contenders use; `None` if that is the server of the stage, which
    /// then changes it.
    fn change(&self, _change: &Change) -> Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> {
        None
    }
}

/// Directs one server for one run.
pub struct Stage {
    schedule: Schedule,
    controls: Controls,
    /// The state in which the run began.
    empty: Past,
    state: Mutex<State>,
    changed: Event,
}

/// Something that ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Silence(Contender),
    Cut(Contender),
    Rebuild,
    Pause(Contender),
    Restart(Contender),
    CutAgent(Contender),
    PauseAgent(Contender),
    RestartAgent(Contender),
    LagAgent(Contender),
    Wake,
    NewLeader,
}

impl fmt::Debug for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stage({:?})", self.schedule)
    }
}

impl Stage {
    /// Lets the schedule direct the server for as long as the stage exists.
    #[must_use]
    pub fn new(schedule: &Schedule, controls: &Controls) -> Arc<Self> {
        let contenders = Contender::all(schedule.contenders);
        let stage = Arc::new(Self {
            schedule: schedule.clone(),
            controls: controls.clone(),
            empty: Past::new(Store::clone(&controls.engine().snapshot())),
            state: Mutex::new(State {
                contenders: contenders.map(|_| Of::default()).collect(),
                ..State::default()
            }),
            changed: Event::default(),
        });
        controls.direct(Some(Arc::new(Directed(Arc::downgrade(&stage)))));
        stage
    }

    /// Does what the schedule wants of the world, until the future is dropped.
    pub async fn play(&self, contenders: &dyn Contenders) {
        loop {
            let changed = self.changed.next();
            let order = self.state.lock().orders.pop_front();
            if let Some(action) = order {
                for change in self.changes(&action) {
                    match contenders.change(&change) {
                        Some(changing) => changing.await,
                        None => self.change(&change),
                    }
                }
                self.act(&action, contenders);
                self.go_on();
                continue;
            }
            let next = self.state.lock().ends.iter().map(|(at, _)| *at).min();
            let Some(next) = next else {
                changed.await;
                continue;
            };
            either(changed, self.controls.engine().clock().sleep_until(next)).await;
            self.end_what_is_due(contenders);
        }
    }

    /// Returns the requests so far, in order.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        self.state.lock().places.clone()
    }

    /// Returns the decisions that have been met.
    #[must_use]
    pub fn met(&self) -> Vec<Decision> {
        let met = &self.state.lock().met;
        let decisions = met.iter().map(|place| &self.schedule.decisions[*place]);
        decisions.cloned().collect()
    }

    /// Returns how many keys the sessions of a contender hold, and how often it has acquired one.
    #[must_use]
    pub fn holds(&self, contender: Contender) -> (usize, u32) {
        let mut state = self.state.lock();
        state.read_history(&self.controls);
        let of = &state.contenders[contender.index()];
        (of.holds.len(), of.acquires)
    }

    /// Returns since when nothing of the schedule is left to happen; `None` while something is.
    #[must_use]
    pub fn quiet_since(&self) -> Option<Timestamp> {
        let state = self.state.lock();
        let all_met = state.met.len() == self.schedule.decisions.len();
        (all_met && state.ends.is_empty()).then_some(state.last_met)
    }

    /// Returns whether a contender has been stopped because it sent requests without end.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.state.lock().contenders.iter().any(|of| of.is_busy)
    }

    fn act(&self, action: &Action, contenders: &dyn Contenders) {
        let now = self.controls.now();
        let ends = |after: Duration, end: End| {
            self.state.lock().ends.push((now.plus(after), end));
        };
        match action {
            Action::Wake => ends(WAKE_AFTER, End::Wake),
            Action::Rebuild => {
                self.controls.change_leader(true);
                self.controls.lower_indexes(INDEXES_BACK);
                let mut state = self.state.lock();
                state.contenders.iter_mut().for_each(|of| of.cuts += 1);
                drop(state);
                ends(REBUILT_AFTER, End::Rebuild);
            }
            Action::LoseLeader => {
                let loss = LeaderLoss::begins(Phase::Unreachable, Duration::from_secs(2));
                let loss = loss.then(Phase::Electing, Duration::from_secs(1));
                self.controls.lose_leader(loss);
                ends(Duration::from_secs(3), End::NewLeader);
            }
            Action::ChangeLeader { ends_lock_delays } => {
                self.controls.change_leader(*ends_lock_delays);
            }
            Action::Silence(one, lasts) => {
                self.state.lock().contenders[one.index()].silences += 1;
                if let Some(lasts) = lasts {
                    ends(*lasts, End::Silence(*one));
                }
            }
            Action::Cut(one, lasts) => {
                self.state.lock().contenders[one.index()].cuts += 1;
                if let Some(lasts) = lasts {
                    ends(*lasts, End::Cut(*one));
                }
            }
            Action::Pause(one, lasts) => {
                // What it has sent before arrives after the pause, as through a slow network.
                let mut state = self.state.lock();
                let of = &mut state.contenders[one.index()];
                of.silences += 1;
                of.pauses += 1;
                drop(state);
                contenders.pause(*one, true);
                ends(*lasts, End::Pause(*one));
            }
            Action::Restart(one, lasts) => {
                let mut state = self.state.lock();
                let of = &mut state.contenders[one.index()];
                of.cuts += 1;
                of.kills += 1;
                drop(state);
                contenders.run(*one, false);
                ends(*lasts, End::Restart(*one));
            }
            _ => self.act_on_agent(action),
        }
    }

    /// Does what an action does to the agent of a contender; nothing if it is another one.
    fn act_on_agent(&self, action: &Action) {
        let now = self.controls.now();
        let ends = |after: Duration, end: End| {
            self.state.lock().ends.push((now.plus(after), end));
        };
        match action {
            Action::CutAgent(one, lasts) => {
                self.state.lock().contenders[one.index()].agent_away += 1;
                self.agent(*one).cut();
                if let Some(lasts) = lasts {
                    ends(*lasts, End::CutAgent(*one));
                }
            }
            Action::PauseAgent(one, lasts) => {
                let mut state = self.state.lock();
                let of = &mut state.contenders[one.index()];
                of.agent_away += 1;
                of.agent_pauses += 1;
                drop(state);
                self.agent(*one).pause();
                ends(*lasts, End::PauseAgent(*one));
            }
            Action::RestartAgent(one, lasts) => {
                let mut state = self.state.lock();
                let of = &mut state.contenders[one.index()];
                of.cuts += 1;
                of.agent_kills += 1;
                drop(state);
                self.agent(*one).run(false);
                ends(*lasts, End::RestartAgent(*one));
            }
            Action::LagAgent(one, lasts) => {
                self.state.lock().contenders[one.index()].agent_lags += 1;
                self.agent(*one).lag(Lag::Hold);
                ends(*lasts, End::LagAgent(*one));
            }
            _ => {}
        }
    }

    /// Returns what an action changes in the state of Consul.
    fn changes(&self, action: &Action) -> Vec<Change> {
        let mut state = self.state.lock();
        state.read_history(&self.controls);
        match action {
            Action::DestroySessions(_) | Action::Rebuild => {
                let own = state.sessions.iter().filter(|(_, of)| match action {
                    Action::DestroySessions(one) => *of == one,
                    _ => true,
                });
                own.map(|(session, _)| Change::DestroySession(session.clone()))
                    .collect()
            }
            Action::DeleteLock(one) => {
                let held = state.contenders[one.index()].holds.iter().cloned();
                held.map(Change::DeleteKey).collect()
            }
            Action::FailNode => vec![Change::FailNode],
            _ => Vec::new(),
        }
    }

    /// Changes the state of the stage's own server.
    fn change(&self, change: &Change) {
        match change {
            Change::DestroySession(session) => {
                let destroyed = self.controls.sessions().destroy(session);
                destroyed.expect("it is an id of ours");
            }
            Change::DeleteKey(key) => {
                self.controls.kv().delete(key);
            }
            Change::FailNode => {
                let catalog = self.controls.catalog();
                for agent in self.controls.agents() {
                    // Somebody has deregistered the node, and its sessions have ended with it.
                    let _unknown = catalog.fail_check(agent.name(), "serfHealth");
                    let _unknown = catalog.pass_check(agent.name(), "serfHealth");
                }
            }
        }
    }

    fn end_what_is_due(&self, contenders: &dyn Contenders) {
        let now = self.controls.now();
        let due = {
            let mut state = self.state.lock();
            let (due, left) = state.ends.drain(..).partition(|(at, _)| *at <= now);
            state.ends = left;
            let due: Vec<(Timestamp, End)> = due;
            if !due.is_empty() {
                state.last_met = now;
            }
            due
        };
        for (_, end) in due {
            match end {
                End::Silence(one) => self.state.lock().contenders[one.index()].silences -= 1,
                End::Cut(one) => self.state.lock().contenders[one.index()].cuts -= 1,
                End::Rebuild => {
                    let mut state = self.state.lock();
                    state.contenders.iter_mut().for_each(|of| of.cuts -= 1);
                }
                End::Pause(one) => {
                    if self.state.lock().contenders[one.index()].goes_on() {
                        contenders.pause(one, false);
                    }
                }
                End::Restart(one) => {
                    if self.state.lock().contenders[one.index()].starts() {
                        contenders.run(one, true);
                    }
                }
                End::CutAgent(one) => self.agent_is_back(one),
                End::PauseAgent(one) => {
                    if self.was_last(one, |of| &mut of.agent_pauses) {
                        self.agent(one).set_link(Link::Up);
                    }
                    self.agent_is_back(one);
                }
                End::RestartAgent(one) => {
                    self.state.lock().contenders[one.index()].cuts -= 1;
                    if self.was_last(one, |of| &mut of.agent_kills) {
                        self.agent(one).run(true);
                    }
                }
                End::LagAgent(one) => {
                    if self.was_last(one, |of| &mut of.agent_lags) {
                        self.agent(one).lag(Lag::NextMessage);
                    }
                }
                End::Wake => drop(self.controls.wake("")),
                End::NewLeader => self.controls.change_leader(false),
            }
            self.controls.note(&format!("{NOTE}{end} ends"));
        }
        self.controls.links_changed();
    }

    /// Returns the agent that a contender uses.
    fn agent(&self, one: Contender) -> AgentHandle {
        self.controls.agent(self.schedule.agent(one))
    }

    /// Counts the end of an action of a contender. Returns whether it was the last one of its kind.
    fn was_last(&self, one: Contender, count: impl Fn(&mut Of) -> &mut u32) -> bool {
        let mut state = self.state.lock();
        let count = count(&mut state.contenders[one.index()]);
        *count -= 1;
        *count == 0
    }

    fn agent_is_back(&self, one: Contender) {
        if self.was_last(one, |of| &mut of.agent_away) {
            self.agent(one).heal();
        }
    }

    /// Lets the requests go on that waited for the world.
    fn go_on(&self) {
        let mut state = self.state.lock();
        if state.orders.is_empty() {
            state.contenders.iter_mut().for_each(|of| of.waits = false);
        }
        drop(state);
        self.controls.links_changed();
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence(one) => write!(formatter, "the silence of {one}"),
            Self::Cut(one) => write!(formatter, "the cut of {one}"),
            Self::Rebuild => formatter.write_str("the time without Consul"),
            Self::Pause(one) => write!(formatter, "the pause of {one}"),
            Self::Restart(one) => write!(formatter, "the restart of {one}"),
            Self::CutAgent(one) => write!(formatter, "the cut of the agent of {one}"),
            Self::PauseAgent(one) => write!(formatter, "the pause of the agent of {one}"),
            Self::RestartAgent(one) => write!(formatter, "the restart of the agent of {one}"),
            Self::LagAgent(one) => write!(formatter, "the lag of the agent of {one}"),
            Self::Wake => formatter.write_str("the time before a wake without a change"),
            Self::NewLeader => formatter.write_str("the loss of the leader"),
        }
    }
}

/// What the server has of the stage, which has the server.
#[derive(Debug)]
struct Directed(Weak<Stage>);

impl Director for Directed {
    fn arrived(&self, asked: &Asked<'_>, now: Timestamp) -> Option<Plan> {
        self.0.upgrade()?.arrived(asked, now)
    }

    fn link(&self, client: Option<IpAddr>) -> Link {
        let stage = self.0.upgrade();
        stage.map_or(Link::Up, |stage| stage.link(client))
    }
}

impl Director for Stage {
    fn arrived(&self, asked: &Asked<'_>, now: Timestamp) -> Option<Plan> {
        let contender = Contender::at(asked.client?)?;
        let mut state = self.state.lock();
        state.read_history(&self.controls);
        let of = state.contenders.get_mut(contender.index())?;
        if of.is_busy_at(now) {
            return Some(Plan::of(&Effect::Hang, "a busy loop is stopped".to_owned()));
        }
        let count = of.counts.entry(asked.kind).or_default();
        *count += 1;
        let place = Place {
            contender,
            kind: asked.kind,
            nth: *count,
            acquires: of.acquires,
        };
        state.places.push(place);
        let decisions = self.schedule.decisions.iter().enumerate();
        let here: Vec<_> = decisions
            .filter(|(_, decision)| decision.place == place)
            .collect();
        let mut plan = None;
        for (number, decision) in here {
            state.met.insert(number);
            state.last_met = now;
            self.controls.note(&format!("{NOTE}{decision}"));
            match effect_of(&decision.action) {
                // A read that wants the leader's state is answered as always.
                Some(Effect::ReadFrom { .. }) if !asked.is_stale => {}
                Some(effect) => {
                    let read_from = matches!(effect, Effect::ReadFrom { .. });
                    plan = Some(Plan {
                        read_from: read_from.then(|| self.empty.clone()),
                        ..Plan::of(&effect, decision.to_string())
                    });
                }
                None => {
                    state.orders.push_back(decision.action.clone());
                    state.contenders[contender.index()].waits = true;
                }
            }
        }
        drop(state);
        self.changed.notify();
        let latency = self.schedule.latency(contender);
        if plan.is_none() && !latency.is_zero() {
            return Some(Plan::of(
                &Effect::DelayBefore(latency),
                "latency".to_owned(),
            ));
        }
        plan
    }

    fn link(&self, client: Option<IpAddr>) -> Link {
        let state = self.state.lock();
        let contender = client.and_then(Contender::at);
        let of = contender.and_then(|contender| state.contenders.get(contender.index()));
        match of {
            Some(of) if of.cuts > 0 => Link::Cut,
            Some(of) if of.silences > 0 || of.waits => Link::Silent,
            _ => Link::Up,
        }
    }
}

/// Returns what an action does to the request itself; `None` if it happens to the world.
fn effect_of(action: &Action) -> Option<Effect> {
    Some(match action {
        Action::Delay(lasts) => Effect::DelayBefore(*lasts),
        Action::DelayResponse(lasts) => Effect::DelayAfter(*lasts),
        Action::Hold => Effect::Hang,
        Action::LoseRequest => Effect::Cut(Cut::Reset),
        Action::LoseResponse => Effect::AppliedThen(Cut::Reset),
        Action::Error(error) => Effect::Error(error.clone()),
        Action::RevokeToken => Effect::ChangeAcls(AclChange::Revoke(Moment::Arrival)),
        Action::Empty => Effect::ReadFrom {
            checkpoint: String::new(),
            last_contact: Duration::from_secs(1),
        },
        _ => return None,
    })
}
