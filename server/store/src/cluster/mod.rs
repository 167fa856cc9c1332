//! The agents of a datacenter: who runs, who reaches the others, and who leads (cluster.md).
//!
//! No raft runs here. There is one log, which nobody can lose; an agent that is cut off has an older view of it, and no
//! leader to write to. The times are those that were measured on real clusters of 1.8.7.

mod autopilot;

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use crate::Change;
use crate::catalog::registration::{Deregistration, Registration};
use crate::command::Command;
use crate::command::effects::Note;
use crate::ordered::OrderedSet;
use crate::timestamp::Timestamp;

/// The time until the others mark a silent agent as failed (cluster.md 1.33, 2.2).
const FAILURE_NOTICED: Duration = Duration::from_millis(5800);
/// The time until the others mark an agent as alive that is back (cluster.md 1.36, 2.2).
const RETURN_NOTICED: Duration = Duration::from_millis(200);
/// The time until the servers of all datacenters mark one as failed (cluster.md 5.21, 5.26). A client agent needs it, too, to give up
/// several servers that it loses at once, and that refuse connections (cluster.md 5.23.r2).
const FAILURE_NOTICED_BY_ALL: Duration = Duration::from_millis(36_500);
/// The time until a new leader is elected after the old one was killed (cluster.md 3.1).
const ELECTION_AFTER_KILL: Duration = Duration::from_millis(3160);
/// The same after it fell silent.
const ELECTION_AFTER_SILENCE: Duration = Duration::from_millis(2500);
/// The same when a lost quorum is back (cluster.md 4.8).
const ELECTION_OF_QUORUM: Duration = Duration::from_millis(740);
/// The entries that a new leader writes and nobody sees (cluster.md 3.19).
const ENTRIES_OF_LEADER: u64 = 2;

/// The agents of a datacenter. A lone agent has no members here, and always leads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    members: Vec<Member>,
    leader: Option<usize>,
    /// Who led last.
    led: usize,
    /// Since when the leader leads, or the last one led.
    elected: Timestamp,
    /// Since when the datacenter is cut off from all others.
    apart: Option<Timestamp>,
    due: OrderedSet<(Timestamp, ClusterDue)>,
    /// How often something has changed.
    changes: u64,
}

/// An agent, as the others know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name of its node.
    pub node: String,
    /// Whether it is a server, and votes.
    pub is_server: bool,
    /// Whether its process runs.
    pub runs: bool,
    /// Whether it is cut off from all others.
    pub is_cut: bool,
    /// Since when it has not run, or has been cut off.
    pub away: Option<Timestamp>,
    /// Whether the others know that it has failed.
    pub has_failed: bool,
    /// Whether it has left.
    pub has_left: bool,
    /// Whether it is a server that counts for majorities. One that has left does not, and one that is back does later.
    pub votes: bool,
    /// Since when the others have known that it is alive.
    pub alive: Timestamp,
    /// Whether it is taken for one that has left as soon as a leader knows that it has failed.
    pub is_to_leave: bool,
    /// Since when it has had no leader, and how it lost it.
    pub lost: Option<(Timestamp, Loss)>,
}

/// How an agent loses its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The leader's process ended: its port refuses connections.
    Refused,
    /// The leader cannot be reached: nothing comes back.
    Silent,
    /// The agent led, and has lost the others.
    Deposed,
}

/// What happens to the agents at a time.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
pub enum ClusterDue {
    /// A leader is elected.
    Elect,
    /// The others notice that the agent with this number has failed, or is back.
    Notice(usize),
    /// Autopilot looks at the servers.
    Autopilot,
}

impl fmt::Display for ClusterDue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elect => formatter.write_str("a leader is elected"),
            Self::Notice(agent) => write!(formatter, "the others notice what agent {agent} does"),
            Self::Autopilot => formatter.write_str("autopilot looks at the servers"),
        }
    }
}

/// A change of the agents, by their numbers. One that changes nothing, or concerns no agent, does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterCommand {
    /// These agents are the datacenter's: names of nodes, and whether each is a server. The first leads.
    Begin(Vec<(String, bool)>),
    /// The agent is cut off from all others, or reaches them again.
    Cut(usize, bool),
    /// The process of the agent ends, or starts again with the data that it had.
    Run(usize, bool),
    /// The agent leaves: its node is deregistered, another leads if it led, and its process ends.
    Leave(usize),
    /// The agent, if it is away, is taken for one that has left, as soon as a leader notices that it is away.
    ForceLeave(usize),
    /// The agent leads, if it is a server that the others reach.
    Lead(usize),
    /// The datacenter is cut off from all others, or reaches them again.
    Part(bool),
}

impl Cluster {
    /// How long a request hangs whose server is silent (cluster.md 2.5.r4, 3.5, 5.23.r1).
    pub const SILENCE: Duration = Duration::from_secs(28);

    /// Returns the agents; nothing for a lone one.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns how often leadership or an agent has changed.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of the leader; `None` while there is none.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        match self.members.is_empty() {
            true => Some(0),
            false => self.leader,
        }
    }

    /// Returns the number of the leader, or of the last one: who has not noticed yet that it is gone takes it for the
    /// leader.
    #[must_use]
    pub fn last_leader(&self) -> usize {
        self.leader.unwrap_or(self.led)
    }

    /// Whether an agent knows a leader that it can reach.
    #[must_use]
    pub fn has_leader(&self, agent: usize) -> bool {
        self.members.is_empty()
            || self
                .leader
                .is_some_and(|leader| self.reaches(agent, leader))
    }

    /// Whether what an agent sends comes to another.
    #[must_use]
    pub fn reaches(&self, agent: usize, other: usize) -> bool {
        agent == other || self.is_connected(agent) && self.is_connected(other)
    }

    /// Whether an agent runs and reaches the others.
    #[must_use]
    pub fn is_connected(&self, agent: usize) -> bool {
        let member = self.members.get(agent);
        member.is_none_or(|member| member.runs && !member.is_cut)
    }

    /// Returns the server that other datacenters ask: the leader, or else the first that they reach.
    ///
    /// # Errors
    /// They reach none: since when, and whether its address refuses connections or nothing comes back.
    pub fn entrance(&self) -> Result<usize, (Timestamp, Loss)> {
        let leader = self.leader.filter(|leader| self.is_connected(*leader));
        let mut servers = self.members.iter().enumerate();
        let first =
            servers.position(|(number, member)| member.is_server && self.is_connected(number));
        match (self.apart, leader.or(first)) {
            (None, Some(server)) => Ok(server),
            (apart, reached) => {
                let servers = self.members.iter().filter(|member| member.is_server);
                let runs = servers.clone().any(|member| member.runs);
                let last = servers.filter_map(|member| member.away).max();
                let all_away = last.filter(|_| reached.is_none());
                let since = apart.into_iter().chain(all_away).min();
                let loss = if runs { Loss::Silent } else { Loss::Refused };
                Err((since.unwrap_or_default(), loss))
            }
        }
    }

    /// Returns when an agent that reaches no server gives them up, and whether their addresses refuse connections or nothing comes
    /// back; `None` while it reaches one, as a server does.
    #[must_use]
    pub fn without_servers(&self, agent: usize) -> Option<(Timestamp, Loss)> {
        let mut servers = self.members.iter().enumerate();
        if servers.any(|(number, member)| member.is_server && self.reaches(agent, number)) {
            return None;
        }
        let servers = self.members.iter().filter(|member| member.is_server);
        let loss = match servers.clone().all(|member| !member.runs) {
            true => Loss::Refused,
            false => Loss::Silent,
        };
        let mut away: Vec<_> = servers.map(|member| member.away).collect();
        away.sort_unstable();
        let (last, before) = (away.pop().flatten(), away.pop().flatten());
        Some(match self.members.get(agent)?.away {
            None => {
                let last = last.unwrap_or_default();
                // The last of several is noticed as any other, if those before it have been.
                let is_one = before.is_none_or(|before| last.since(before) >= FAILURE_NOTICED);
                let noticed = match loss {
                    _ if is_one => FAILURE_NOTICED,
                    Loss::Refused => FAILURE_NOTICED_BY_ALL,
                    Loss::Silent | Loss::Deposed => Self::SILENCE,
                };
                (last.plus(noticed), loss)
            }
            Some(own) => (own.plus(Self::SILENCE), Loss::Silent),
        })
    }

    /// Whether the datacenter is cut off from all others.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.apart.is_some()
    }

    /// Returns since when an agent is cut off from other datacenters; `None` while it reaches them.
    #[must_use]
    pub fn parted(&self, agent: usize) -> Option<Timestamp> {
        let away = self.members.get(agent).and_then(|member| member.away);
        self.apart.into_iter().chain(away).min()
    }

    /// Whether the servers of all datacenters have noticed that one of them has been away since then.
    #[must_use]
    pub fn is_noticed_by_all(since: Timestamp, now: Timestamp) -> bool {
        now.since(since) >= FAILURE_NOTICED_BY_ALL
    }

    /// Returns the servers that vote, run and reach each other. One alone needs no other.
    fn electors(&self) -> Vec<usize> {
        let voters = self.members.iter().enumerate();
        let voters = voters.filter(|(_, member)| member.votes);
        let is_alone = voters.clone().count() == 1;
        let electors = voters.filter(|(_, member)| member.runs && (is_alone || !member.is_cut));
        electors.map(|(number, _)| number).collect()
    }

    fn has_quorum(&self) -> bool {
        let voters = self.members.iter().filter(|member| member.votes);
        2 * self.electors().len() > voters.count()
    }

    pub(crate) fn next_due(&self) -> Option<&(Timestamp, ClusterDue)> {
        self.due.first()
    }

    pub(crate) fn all_due(&self) -> impl Iterator<Item = &(Timestamp, ClusterDue)> {
        self.due.iter()
    }

    pub(crate) fn deadlines(&self) -> usize {
        self.due.len()
    }

    pub(crate) fn carry(&mut self, from: Timestamp, to: Timestamp) {
        let carry = |at: &mut Timestamp| *at = at.carried(from, to);
        self.apart.iter_mut().for_each(carry);
        for member in &mut self.members {
            carry(&mut member.alive);
            member.away.iter_mut().for_each(carry);
            member.lost.iter_mut().for_each(|(since, _)| carry(since));
        }
        if !self.members.is_empty() {
            carry(&mut self.elected);
        }
        self.due = self
            .due
            .iter()
            .map(|(at, due)| (at.carried(from, to), *due))
            .collect();
    }

    pub(crate) fn drop_deadlines(&mut self) {
        self.due = OrderedSet::new();
    }

    /// Removes a task, whenever it is due.
    fn cancel(&mut self, unwanted: &ClusterDue) {
        self.due = self
            .due
            .iter()
            .filter(|(_, due)| due != unwanted)
            .copied()
            .collect();
    }

    fn schedule(&mut self, at: Timestamp, due: ClusterDue) {
        self.cancel(&due);
        self.due.insert((at, due));
    }

    /// Makes the leader, and who knows it, follow from who is connected. `loss` is how a leader is lost that is.
    fn settle(&mut self, now: Timestamp, loss: Loss) {
        self.changes += 1;
        let quorum = self.has_quorum();
        if let Some(leader) = self.leader
            && !(quorum && self.electors().contains(&leader))
        {
            self.leader = None;
            self.led = leader;
            let wait = match loss {
                Loss::Refused => ELECTION_AFTER_KILL,
                Loss::Silent | Loss::Deposed => ELECTION_AFTER_SILENCE,
            };
            self.schedule(now.plus(wait), ClusterDue::Elect);
        }
        let elects = self.due.iter().any(|(_, due)| *due == ClusterDue::Elect);
        match (self.leader, quorum) {
            (None, true) if !elects => {
                self.schedule(now.plus(ELECTION_OF_QUORUM), ClusterDue::Elect);
            }
            (None, false) => self.cancel(&ClusterDue::Elect),
            _ => {}
        }
        for agent in 0..self.members.len() {
            if self.has_leader(agent) {
                self.members[agent].lost = None;
            } else {
                // The leader itself, and who still reaches it.
                let loss = match self.reaches(agent, self.led) {
                    true => Loss::Deposed,
                    false => loss,
                };
                self.members[agent].lost.get_or_insert((now, loss));
            }
        }
    }

    /// Changes an agent, if there is one with this number. `loss` is how others lose it, if it leads.
    fn change(
        &mut self,
        now: Timestamp,
        agent: usize,
        loss: Loss,
        change: impl FnOnce(&mut Member),
    ) {
        let was_connected = self.is_connected(agent);
        if let Some(member) = self.members.get_mut(agent) {
            change(member);
            if self.is_connected(agent) != was_connected {
                self.members[agent].away = was_connected.then_some(now);
                self.settle(now, loss);
                self.notice_later(now, agent);
            }
        }
    }

    /// Schedules that the others notice that an agent has gone, or is back.
    fn notice_later(&mut self, now: Timestamp, agent: usize) {
        let notice = ClusterDue::Notice(agent);
        match (self.is_connected(agent), self.members[agent].has_failed) {
            (false, false) => self.schedule(now.plus(FAILURE_NOTICED), notice),
            (true, true) => self.schedule(now.plus(RETURN_NOTICED), notice),
            _ => self.cancel(&notice),
        }
    }
}

impl Command for ClusterCommand {
    type Reply = ();
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<(), Infallible> {
        let before = change.store.cluster.clone();
        let now = change.now;
        let cluster = &mut change.store.cluster;
        match self {
            Self::Begin(agents) => {
                let member = |(node, is_server)| Member {
                    node,
                    is_server,
                    runs: true,
                    is_cut: false,
                    away: None,
                    has_failed: false,
                    has_left: false,
                    votes: is_server,
                    alive: now,
                    is_to_leave: false,
                    lost: None,
                };
                cluster.members = agents.into_iter().map(member).collect();
                cluster.leader = Some(0);
                cluster.elected = now;
            }
            Self::Cut(agent, is_cut) => {
                cluster.change(now, agent, Loss::Silent, |member| {
                    member.is_cut = is_cut;
                    member.has_left &= is_cut;
                    member.is_to_leave &= is_cut;
                });
            }
            Self::Run(agent, runs) => {
                cluster.change(now, agent, Loss::Refused, |member| {
                    member.runs = runs;
                    member.has_left &= !runs;
                    member.is_to_leave &= !runs;
                });
                // A process that has just started has never had a leader.
                if runs && !cluster.has_leader(agent) && agent < cluster.members.len() {
                    cluster.members[agent].lost = Some((now, Loss::Silent));
                }
            }
            Self::Leave(agent) => change.leave(agent),
            Self::ForceLeave(agent) => change.force_leave(agent),
            Self::Part(parts) => {
                cluster.apart = cluster.apart.filter(|_| parts).or(parts.then_some(now));
                cluster.changes += 1;
            }
            Self::Lead(agent) => {
                let is_other = cluster.leader.is_some_and(|leader| leader != agent);
                if is_other && cluster.electors().contains(&agent) {
                    change.elect(agent);
                }
            }
        }
        change.agents_go_on_after(&before);
        Ok(())
    }
}

impl Change<'_> {
    /// Runs a due task. Returns a note for the history.
    pub(crate) fn cluster_due(&mut self, due: ClusterDue) -> Option<Note> {
        let before = self.store.cluster.clone();
        self.store.cluster.cancel(&due);
        let words = match due {
            ClusterDue::Elect => {
                let first = self.store.cluster.electors().first().copied();
                first.map(|agent| self.elect(agent))
            }
            ClusterDue::Notice(agent) => self.notice(agent),
            ClusterDue::Autopilot => self.autopilot(),
        };
        self.agents_go_on_after(&before);
        words.map(Note::CatalogChanged)
    }

    /// Makes a server the leader: every TTL starts anew, and lock-delays go on (cluster.md 3.16, 3.18).
    fn elect(&mut self, agent: usize) -> String {
        let cluster = &mut self.store.cluster;
        cluster.leader = Some(agent);
        cluster.elected = self.now;
        cluster.settle(self.now, Loss::Silent);
        let node = cluster.members[agent].node.clone();
        self.store.start_ttls(self.now);
        self.take_indexes(ENTRIES_OF_LEADER);
        // What could not be written without a leader.
        for number in 0..self.store.cluster.members.len() {
            let is_due = !self
                .store
                .cluster
                .all_due()
                .any(|(_, due)| *due == ClusterDue::Notice(number));
            if is_due {
                self.notice(number);
            }
        }
        self.autopilot_later();
        format!("{node} leads")
    }

    /// Takes an agent that is away for one that has left (cluster.md 1.38).
    fn force_leave(&mut self, agent: usize) {
        let cluster = &mut self.store.cluster;
        if cluster.is_connected(agent) {
            return;
        }
        let member = &mut cluster.members[agent];
        member.is_to_leave = true;
        if member.has_failed {
            self.notice(agent);
        }
    }

    /// Lets an agent leave that runs (cluster.md 1.37, 3.10).
    fn leave(&mut self, agent: usize) {
        let cluster = &self.store.cluster;
        let Some(member) = cluster.members.get(agent).filter(|member| member.runs) else {
            return;
        };
        let node = Deregistration::Node(member.node.clone());
        let successor = cluster.electors().into_iter().find(|other| *other != agent);
        if let Some(successor) = successor.filter(|_| cluster.leader == Some(agent)) {
            self.elect(successor);
        }
        self.deregister(&node);
        let cluster = &mut self.store.cluster;
        cluster.change(self.now, agent, Loss::Refused, |member| {
            member.runs = false;
            member.has_failed = true;
            member.has_left = true;
            member.votes = false;
        });
    }

    /// Marks an agent as failed or alive, if that is new and there is a leader to write it. A leader takes itself for alive.
    fn notice(&mut self, agent: usize) -> Option<String> {
        let cluster = &mut self.store.cluster;
        let has_failed = !cluster.is_connected(agent) && cluster.leader != Some(agent);
        let has_leader = cluster.leader.is_some();
        let member = &mut cluster.members[agent];
        let leaves = has_failed && member.is_to_leave && !member.has_left;
        if !has_leader || member.has_failed == has_failed && !leaves {
            return None;
        }
        member.has_failed = has_failed;
        member.has_left |= leaves;
        member.votes &= !leaves;
        if !has_failed {
            member.alive = self.now;
        }
        self.autopilot_later();
        let member = &self.store.cluster.members[agent];
        let node = member.node.clone();
        if leaves {
            self.deregister(&Deregistration::Node(node.clone()));
            return Some(format!("{node} has left"));
        }
        let mut alive = self.as_agent(agent, |change| change.registration_by_leader());
        if has_failed {
            for check in &mut alive.checks {
                "critical".clone_into(&mut check.status);
                "Agent not live or unreachable".clone_into(&mut check.output);
            }
        }
        let is_known = self.store.catalog.nodes.contains_key(&node.to_lowercase());
        if is_known || !has_failed {
            self.enter(Registration {
                skip_node_update: is_known,
                ..alive
            });
        }
        if !is_known && !has_failed {
            // It has left, and brings its services with it.
            self.as_agent(agent, Self::agent_full_sync);
        }
        let words = if has_failed { "has failed" } else { "is alive" };
        Some(format!("{node} {words}"))
    }

    /// Lets the tasks of the agents go on that have a leader again, as if no time had passed for them.
    fn agents_go_on_after(&mut self, before: &Cluster) {
        for (agent, member) in before.members.iter().enumerate() {
            if let (Some((since, _)), true) = (member.lost, self.store.cluster.has_leader(agent)) {
                let now = self.now;
                self.as_agent(agent, |change| change.store.agent.carry(since, now));
            }
        }
    }
}
