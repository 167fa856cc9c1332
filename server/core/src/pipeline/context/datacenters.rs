//! Joined datacenters (cluster.md 5). Each has its own agents and its own state. All share one clock.

use std::sync::{Arc, OnceLock, Weak};

use super::Context;
use proconsul_engine::Engine;
use proconsul_store::Loss;
use proconsul_store::timestamp::Timestamp;

/// The datacenters that one of them knows, itself among them; none before it is joined. Clones are joined together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined(Arc<OnceLock<Arc<[Datacenter]>>>);

/// A datacenter, as the others know it.
#[derive(Clone, Debug)]
pub(crate) struct Datacenter {
    name: String,
    /// The agents. Weak, since each knows all datacenters.
    agents: Arc<[Weak<Context>]>,
}

/// Joins datacenters, each given by the contexts of its agents. Their engines share a clock; that of the first lets it run.
pub fn join(datacenters: &[Vec<Arc<Context>>]) {
    let all: Arc<[_]> = datacenters
        .iter()
        .map(|agents| Datacenter::of(agents))
        .collect();
    for context in datacenters.iter().flatten() {
        context.joined.set(&all);
        if let Some(control) = &context.control {
            control.join(all.iter().map(|there| {
                let name = there.name.clone();
                let there = there.clone();
                (name, move || there.first()?.control.clone())
            }));
        }
    }
    let firsts = datacenters.iter().filter_map(|agents| agents.first());
    let engines: Vec<_> = firsts.map(|first| Arc::clone(&first.engine)).collect();
    Engine::join(&engines);
}

impl Joined {
    fn set(&self, all: &Arc<[Datacenter]>) {
        // Agents of one datacenter may share it.
        let _ = self.0.set(Arc::clone(all));
    }

    /// Returns the datacenters.
    pub(crate) fn all(&self) -> &[Datacenter] {
        self.0.get().map_or(&[], |all| all)
    }

    /// Returns the datacenter with this name; `None` for one that nobody knows. Case matters.
    pub(crate) fn named(&self, name: &[u8]) -> Option<&Datacenter> {
        let mut all = self.all().iter();
        all.find(|datacenter| datacenter.name.as_bytes() == name)
    }
}

impl Datacenter {
    fn of(agents: &[Arc<Context>]) -> Self {
        let name = agents.first().map(|first| first.config.datacenter.clone());
        Self {
            name: name.unwrap_or_default(),
            agents: agents.iter().map(Arc::downgrade).collect(),
        }
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its first agent; `None` when the process ends.
    pub(crate) fn first(&self) -> Option<Arc<Context>> {
        self.agents.first()?.upgrade()
    }

    /// Returns the server that an agent of another datacenter asks; `None` when the process ends.
    ///
    /// # Errors
    /// It reaches none: since when, and how they were lost.
    pub(crate) fn server_for(
        &self,
        agent: &Context,
    ) -> Option<Result<Arc<Context>, (Timestamp, Loss)>> {
        if let Some(since) = agent.parted() {
            return Some(Err((since, Loss::Silent)));
        }
        match self.first()?.engine.cluster().entrance() {
            Ok(server) => self.agents.get(server)?.upgrade().map(Ok),
            Err(lost) => Some(Err(lost)),
        }
    }
}

impl Context {
    /// Returns the names of the datacenters, its own first.
    pub(crate) fn datacenters(&self) -> Vec<String> {
        let own = &self.config.datacenter;
        let others = self.joined.all().iter().map(Datacenter::name);
        let others = others.filter(|name| name != own).map(str::to_owned);
        [own.clone()].into_iter().chain(others).collect()
    }

    /// Returns another datacenter by its name; `None` for its own, and for one that nobody knows.
    pub(crate) fn other_datacenter(&self, name: &[u8]) -> Option<&Datacenter> {
        let is_other = name != self.config.datacenter.as_bytes();
        self.joined.named(name).filter(|_| is_other)
    }

    /// Whether it is a client agent that reaches no server.
    pub(crate) fn is_without_servers(&self) -> bool {
        self.engine.cluster().without_servers(self.agent).is_some()
    }

    /// Returns since when the agent reaches no other datacenter; `None` while it does. A client agent reaches them
    /// through the servers of its datacenter.
    pub(crate) fn parted(&self) -> Option<Timestamp> {
        let cluster = self.engine.cluster();
        if self.config.server {
            return cluster.parted(self.agent);
        }
        cluster.entrance().err().map(|(since, _)| since)
    }
}
