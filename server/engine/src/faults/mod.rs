//! Faults: what goes wrong on demand, as it goes wrong on a real Consul.
//!
//! A [`Rule`] says which requests are hit, and how. The HTTP server asks for a [`Plan`] in one place before the
//! handler, and acts on it there and in one place before the reply; no handler knows of faults. The first rule that
//! matches wins. [`ConsulError`] has the errors of a real Consul with their delays, [`LeaderLoss`] the phases of a lost
//! leader.

mod agents;
mod consul_error;
mod director;
mod effect;
mod error;
mod leadership;
mod plan;
mod question;
mod response;
mod rule;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::Engine;
use crate::entropy::Entropy;
use crate::sync::{Event, Next};
use proconsul_store::timestamp::Timestamp;

pub use consul_error::ConsulError;
pub use director::{Director, Link, RequestKind};
pub use effect::{AclChange, Cut, DnsFailure, Effect, Moment, ReportedIndex};
pub use error::RuleError;
pub use leadership::{LeaderLoss, Phase};
pub use plan::{Hold, Past, Plan, Shown, Stop};
pub use question::Question;
pub use response::Response;
pub use rule::Rule;
pub use turn::Turn;

/// A request, as far as faults look at it.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, decoded.
    pub path: &'a [u8],
    /// What the request is for.
    pub kind: RequestKind,
    /// The sessions that path or parameters name.
    pub session: Option<&'a str>,
    /// Whether the request acquires a key.
    pub acquires: bool,
    /// The client's address; `None` for a Unix socket.
    pub client: Option<std::net::IpAddr>,
    /// The number of the agent that it came to.
    pub agent: usize,
    /// Returns the values of a header.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// Whether it is a read that any server may answer (`?stale`, or an agent's cache by `?cached`).
    pub is_stale: bool,
}

impl std::fmt::Debug for Asked<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = String::from_utf8_lossy(self.path);
        write!(formatter, "{} {path}", self.method)
    }
}

impl<'a> Asked<'a> {
    /// Returns the key that the path names; `None` for paths outside of `/v1/kv/`.
    #[must_use]
    pub fn key(&self) -> Option<&'a [u8]> {
        self.path.strip_prefix(b"/v1/kv/")
    }
}

/// The number of a rule, counted from 1 in the order of installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u64);

/// A rule that is installed, and how often it has hit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Installed {
    /// Its number.
    pub id: RuleId,
    /// The rule.
    pub rule: Rule,
    /// How often it has hit a request.
    pub hits: u64,
}

/// The faults of one server.
#[derive(Debug, Default)]
pub struct Faults {
    /// Whether there are any faults: a server without faults takes no lock.
    any: AtomicBool,
    table: Mutex<Table>,
    /// Decides before the rules do.
    director: Mutex<Option<Arc<dyn Director>>>,
    /// Notified when a leader is lost or found, the link of a client changes, or a [`Turn`] is over.
    changed: Arc<Event>,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    rules: Vec<Entry>,
    loss: Option<(LeaderLoss, Timestamp)>,
    /// The links between agents, by their numbers, and their clients that are not up.
    links: BTreeMap<usize, Link>,
    /// Whether a request was answered that its connection to the old leader ended: only the first one is.
    told_of_loss: bool,
    /// The agents and numbers of the [`Turn`]s that are not over.
    queue: BTreeSet<(usize, u64)>,
    last_turn: u64,
}

#[derive(Debug)]
struct Entry {
    id: RuleId,
    rule: Rule,
    /// The state that it reads from, for [`Effect::ReadFrom`].
    past: Option<Past>,
    /// The number of requests that have met its other conditions, for `nth`.
    met: u64,
    hits: u64,
    chance: Option<Entropy>,
}

impl Entry {
    /// Returns what the history calls the rule.
    fn name(&self) -> String {
        format!("rule {}: {}", self.id.0, self.rule.in_words())
    }

    fn is_spent(&self) -> bool {
        self.rule.limit().is_some_and(|limit| self.hits >= limit)
    }
}

impl Faults {
    /// Returns no faults of a server with this engine.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        Self {
            changed: engine.cluster_changed(),
            ..Self::default()
        }
    }

    /// Installs a rule behind the existing ones. `past` is the state of the checkpoint that it names.
    ///
    /// # Errors
    /// The rule is invalid or can never match. Nothing is installed.
    pub fn install(
        self: &Arc<Self>,
        rule: Rule,
        past: Option<Past>,
        now: Timestamp,
    ) -> Result<FaultGuard, RuleError> {
        let mut table = self.table.lock();
        rule.check(now)?;
        let shadow = table.rules.iter().find(|entry| entry.rule.hides(&rule));
        if let Some(entry) = shadow {
            return Err(RuleError::Hidden(entry.id));
        }
        table.last += 1;
        let id = RuleId(table.last);
        table.rules.push(Entry {
            id,
            chance: rule.seed().map(Entropy::seeded),
            rule,
            past,
            met: 0,
            hits: 0,
        });
        self.any.store(true, Ordering::Relaxed);
        Ok(FaultGuard {
            faults: Arc::clone(self),
            id,
            keeps: false,
        })
    }

    /// Returns the installed rules, in the order in which they are tried.
    #[must_use]
    pub fn list(&self) -> Vec<Installed> {
        let table = self.table.lock();
        let installed = |entry: &Entry| Installed {
            id: entry.id,
            rule: entry.rule.clone(),
            hits: entry.hits,
        };
        table.rules.iter().map(installed).collect()
    }

    /// Removes a rule. Returns whether it was installed.
    pub fn remove(&self, id: RuleId) -> bool {
        let mut table = self.table.lock();
        let before = table.rules.len();
        table.rules.retain(|entry| entry.id != id);
        self.note_any(&table);
        table.rules.len() < before
    }

    /// Removes all rules, and gives the cluster its leader back.
    pub fn clear(&self) {
        self.change_leadership(|table| {
            table.rules.clear();
            table.loss = None;
            table.links.clear();
        });
    }

    /// Loses the leader. Requests that are blocked on it end as on a real cluster.
    pub fn lose_leader(&self, loss: LeaderLoss, now: Timestamp) {
        self.change_leadership(|table| {
            table.loss = Some((loss, now));
            table.told_of_loss = false;
        });
    }

    /// Gives the cluster its leader back.
    pub fn find_leader(&self) {
        self.change_leadership(|table| table.loss = None);
    }

    /// Returns what the cluster goes through without its leader; `None` while it has one.
    #[must_use]
    pub fn phase(&self, now: Timestamp) -> Option<Phase> {
        let table = self.table.lock();
        let (loss, since) = table.loss.as_ref()?;
        loss.phase_at(*since, now).map(|(phase, _)| phase)
    }

    /// Sets the link between an agent and its clients.
    pub fn set_link_of_agent(&self, agent: usize, link: Link) {
        self.change_leadership(|table| {
            match link {
                Link::Up => table.links.remove(&agent),
                Link::Silent | Link::Cut => table.links.insert(agent, link),
            };
        });
    }

    /// Returns the link between an agent and its clients.
    #[must_use]
    pub fn link_of_agent(&self, agent: usize) -> Link {
        let table = self.table.lock();
        table.links.get(&agent).copied().unwrap_or_default()
    }

    fn change_leadership(&self, change: impl FnOnce(&mut Table)) {
        let mut table = self.table.lock();
        change(&mut table);
        self.note_any(&table);
        drop(table);
        self.changed.notify();
    }

    /// Lets `director` decide before the rules do; `None` ends that.
    pub fn direct(&self, director: Option<Arc<dyn Director>>) {
        *self.director.lock() = director;
        self.note_any(&self.table.lock());
        self.changed.notify();
    }

    /// Returns what decides before the rules do.
    #[must_use]
    pub fn director(&self) -> Option<Arc<dyn Director>> {
        self.director.lock().clone()
    }

    /// Lets all requests look at the links of their clients again.
    pub fn links_changed(&self) {
        self.changed.notify();
    }

    fn note_any(&self, table: &Table) {
        let any = !table.rules.is_empty()
            || table.loss.is_some()
            || !table.links.is_empty()
            || self.director.lock().is_some();
        self.any.store(any, Ordering::Relaxed);
    }

    /// Returns whether there are any faults. Without them no [`Asked`] has to be made.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Returns what the rules do with a request; `None` if no rule hits it.
    #[must_use]
    pub fn ask(&self, asked: &Asked<'_>, now: Timestamp) -> Option<Plan> {
        if !self.has_any() {
            return None;
        }
        let mut table = self.table.lock();
        table.rules.iter_mut().find_map(|entry| {
            let is_hit = entry.rule.meets(asked) && entry.hit(now);
            is_hit.then(|| Plan {
                read_from: entry.past.clone(),
                ..Plan::of(entry.rule.effect(), entry.name())
            })
        })
    }

    /// Returns what a request goes through while there is no leader; `None` to handle it as always.
    #[must_use]
    pub fn without_leader(&self, asked: &Asked<'_>, now: Timestamp) -> Option<Plan> {
        if !self.has_any() {
            return None;
        }
        let table = &mut *self.table.lock();
        let (loss, since) = table.loss.as_ref()?;
        loss.plan(asked, *since, now, &mut table.told_of_loss)
    }

    /// Returns the effect on a question of DNS, with its name for the history; `None` to answer it as always.
    #[must_use]
    pub fn ask_dns(&self, question: &Question<'_>, now: Timestamp) -> Option<(String, Effect)> {
        if !self.has_any() {
            return None;
        }
        let mut table = self.table.lock();
        table.rules.iter_mut().find_map(|entry| {
            let is_hit = entry.rule.is_about(question) && entry.hit(now);
            is_hit.then(|| (entry.name(), entry.rule.effect().clone()))
        })
    }

    /// Waits until the leader is lost or found, a link changes, or a [`Turn`] is over. Armed when this returns, not when it is first polled.
    pub fn changes(&self) -> Next<'_> {
        self.changed.next()
    }

    /// Returns the answer to a blocked request when the leader changes; `None` if it waits on. `is_stale` is as in
    /// [`Asked`].
    #[must_use]
    pub fn interrupts(&self, is_stale: bool, now: Timestamp) -> Option<Plan> {
        let table = self.table.lock();
        let (loss, since) = table.loss.as_ref()?;
        loss.interrupts(is_stale, *since, now)
    }
}

impl Entry {
    /// Returns whether a request is hit that meets the conditions, and counts it.
    fn hit(&mut self, now: Timestamp) -> bool {
        if self.is_spent() || !self.rule.is_in_window(now) {
            return false;
        }
        self.met += 1;
        if self.rule.nth_wanted().is_some_and(|nth| nth != self.met) {
            return false;
        }
        let chance = self.rule.probability();
        let missed = self
            .chance
            .as_mut()
            .is_some_and(|entropy| !entropy.happens(chance));
        if missed {
            return false;
        }
        self.hits += 1;
        true
    }
}

/// Keeps a rule installed until it is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard takes the rule away; `keep` leaves it"]
pub struct FaultGuard {
    faults: Arc<Faults>,
    id: RuleId,
    keeps: bool,
}

impl FaultGuard {
    /// The number of the rule.
    #[must_use]
    pub fn id(&self) -> RuleId {
        self.id
    }

    /// How often the rule has hit a request.
    #[must_use]
    pub fn hits(&self) -> u64 {
        let table = self.faults.table.lock();
        let entry = table.rules.iter().find(|entry| entry.id == self.id);
        entry.map_or(0, |entry| entry.hits)
    }

    /// Leaves the rule in place until it is cleared.
    pub fn keep(mut self) -> RuleId {
        self.keeps = true;
        self.id
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        if !self.keeps {
            self.faults.remove(self.id);
        }
    }
}
