//! Several agents over one state: what happens to them, and what each server has applied.

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use super::mutate::Mutation;
use super::observe::calls::WakeSignal;
use super::replica::{Lag, Reach, Replica};
use crate::sync::Event;
use proconsul_store::timestamp::Timestamp;
use proconsul_store::{Cluster, ClusterCommand, Effects, Loss};

/// What a server knows of its leader, as reads say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The time since its last message.
    pub last: Duration,
    /// Since when the server has had no leader, and how it lost it.
    pub lost: Option<(Timestamp, Loss)>,
}

impl Engine {
    /// Begins a datacenter of these agents, which have started. Each has the name of its node, and whether it is a server.
    pub fn begin_cluster(&self, agents: Vec<(String, bool)>) {
        self.mutate(|mutation| {
            let count = agents.len();
            let Ok(()) = mutation.apply(ClusterCommand::Begin(agents));
            let store = mutation.store().clone();
            let replica = |number| Replica::new(store.clone(), number);
            mutation.state().replicas = (0..count).map(replica).collect();
        });
    }

    /// Returns the engine as the server with this number sees it: reads see what it has applied.
    #[must_use]
    pub fn as_seen_by(&self, server: usize) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            view: Some(server),
        }
    }

    /// Returns the agents; none for a lone one.
    #[must_use]
    pub fn cluster(&self) -> Cluster {
        self.look(|state, _| state.store().cluster().clone())
    }

    /// Changes the agents. `action` is the text for the history.
    pub fn change_cluster(&self, action: &str, command: ClusterCommand) {
        self.mutate(|mutation| {
            mutation.note(action);
            let Ok(()) = mutation.apply(command);
        });
    }

    /// Waits until a leader is lost or found, or an agent is. Armed when this returns.
    pub fn cluster_change(&self) -> impl Future<Output = ()> + '_ {
        self.cluster_changed.next()
    }

    /// Returns what is notified when a leader is lost or found, or an agent is.
    pub(crate) fn cluster_changed(&self) -> Arc<Event> {
        Arc::clone(&self.cluster_changed)
    }

    /// Sets how far a server lags. What it lags behind no longer, it applies with the leader's next message.
    pub fn set_lag(&self, server: usize, lag: Lag) {
        self.mutate(|mutation| {
            mutation.note(format!("agent {server} lags: {lag:?}"));
            let (now, store) = (mutation.now(), mutation.store().clone());
            let noted = mutation.state().history.last();
            if let Some(replica) = mutation.state().replicas.get_mut(server) {
                replica.set_lag(now, lag, &store, noted);
            }
        });
        self.clock.changed.set();
    }

    /// Returns what a server knows of its leader.
    #[must_use]
    pub fn contact(&self, server: usize) -> Contact {
        self.look(|state, now| {
            let cluster = state.store().cluster();
            let lost = cluster.members().get(server).and_then(|member| member.lost);
            let leads = cluster.leader() == Some(server);
            let replica = state.replicas.get(server).filter(|_| !leads);
            let last = match (lost, replica) {
                (Some((since, _)), _) => now.since(since),
                (None, None) => Duration::ZERO,
                (None, Some(replica)) => replica.last_contact(now),
            };
            Contact { last, lost }
        })
    }
}

impl Mutation<'_> {
    /// Hands the servers what a command of `at` has changed.
    pub(super) fn replicate(&mut self, at: Timestamp, noted: u64, effects: &Effects) {
        let touched = effects.index.map(|_| &effects.touched[..]);
        let (replicas, store) = self.state().replicas();
        for (number, replica) in replicas.iter_mut().enumerate() {
            let cluster = store.cluster();
            let reach = match cluster.leader() {
                Some(leader) if leader == number => Reach::Leads,
                _ if cluster.has_leader(number) => Reach::Follows,
                _ => Reach::Nobody,
            };
            replica.follow(at, reach, store, noted, touched);
        }
    }

    /// Lets the servers apply what is due by `until`.
    pub(super) fn apply_arrivals(&mut self, until: Timestamp) {
        for number in 0..self.state().replicas.len() {
            while let Some((noted, concerned)) = self.state().replicas[number].apply(until) {
                self.wake_concerned(until, noted, concerned);
            }
        }
    }

    /// Gives all servers the new state after an exchange. Returns their waiters.
    pub(super) fn exchange_replicas(&mut self) -> Vec<Arc<WakeSignal>> {
        let (replicas, store) = self.state().replicas();
        let each = replicas.iter_mut().map(|replica| replica.exchange(store));
        each.flatten().collect()
    }
}
