//! The agents of a datacenter: what happens between them.

use std::net::SocketAddr;

use super::{Address, Controls, ListenerError, reachable};
use proconsul_engine::Lag;
use proconsul_engine::faults::{Link, RuleError};
use proconsul_store::ClusterCommand;

/// One agent of a datacenter, by its number: 0 for the first.
///
/// A datacenter of several agents is one store, of which each server has a view of its own: writes and default reads are the
/// leader's at every agent, reads with `?stale` see what the server that is asked has applied. No raft runs: what was
/// acknowledged is never lost, and the server with the lowest number that the others reach is elected. The contract is
/// `cluster.md`.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    controls: Controls,
    number: usize,
}

/// How an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentState {
    /// Whether its process runs.
    pub runs: bool,
    /// Whether it is cut off from the others.
    pub is_cut: bool,
    /// Whether the others have marked it as failed, or as one that has left.
    pub has_failed: bool,
}

/// # Agents
impl Controls {
    /// Returns the agents: one, unless `Builder::agents` or `--agents` says otherwise.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentHandle> {
        let numbers = 0..self.names.len();
        numbers.map(|number| self.agent(number)).collect()
    }

    /// Returns the agent with this number, servers first, counted from 0.
    ///
    /// # Panics
    /// There is no such agent.
    #[must_use]
    pub fn agent(&self, number: usize) -> AgentHandle {
        let found = self.find_agent(number);
        found.unwrap_or_else(|error| panic!("{error}"))
    }

    /// # Errors
    /// There is no such agent.
    pub(crate) fn find_agent(&self, number: usize) -> Result<AgentHandle, RuleError> {
        let last = self.names.len() - 1;
        if number > last {
            return Err(RuleError::Agent(number, last));
        }
        Ok(AgentHandle {
            controls: self.clone(),
            number,
        })
    }

    /// Returns the agent that leads; `None` while there is no leader.
    #[must_use]
    pub fn leader(&self) -> Option<AgentHandle> {
        let leader = self.engine.cluster().leader()?;
        Some(self.agent(leader))
    }
}

impl AgentHandle {
    /// Returns its number.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the name of its node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.controls.names[self.number]
    }

    /// Returns its addresses.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.controls.addresses.of_agents[self.number].api
    }

    /// Returns its address.
    ///
    /// # Panics
    /// It does not listen on TCP.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        let tcp = self.addresses().iter().find_map(|address| match address {
            Address::Tcp(address) => Some(*address),
            Address::Unix(_) => None,
        });
        tcp.expect("an agent listens on TCP, unless its configuration says otherwise")
    }

    /// Returns its URL, without a slash at its end.
    ///
    /// # Panics
    /// As [`addr`](Self::addr).
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.addr()))
    }

    /// Returns the address at which it answers DNS, over UDP and TCP.
    ///
    /// # Panics
    /// The server was not configured to answer DNS.
    #[cfg(feature = "dns")]
    #[must_use]
    pub fn dns_addr(&self) -> SocketAddr {
        let first = self.controls.addresses.of_agents[self.number].dns.first();
        *first.expect("an agent answers DNS where its configuration says so: see `Builder::dns`")
    }

    /// Whether it is a server, which has a view of its own and votes, and not a client agent.
    #[must_use]
    pub fn is_server(&self) -> bool {
        let cluster = self.controls.engine.cluster();
        let member = cluster.members().get(self.number);
        member.is_none_or(|member| member.is_server)
    }

    /// Returns what the others know of it.
    #[must_use]
    pub fn state(&self) -> AgentState {
        let cluster = self.controls.engine.cluster();
        let member = cluster.members().get(self.number);
        AgentState {
            runs: member.is_none_or(|member| member.runs),
            is_cut: member.is_some_and(|member| member.is_cut),
            has_failed: member.is_some_and(|member| member.has_failed),
        }
    }

    /// Whether it leads.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.controls.engine.cluster().leader() == Some(self.number)
    }

    /// Sets how far it lags behind the leader, for reads with `?stale`. It does not while it leads.
    pub fn lag(&self, lag: Lag) {
        self.controls.engine.set_lag(self.number, lag);
    }

    /// Cuts it off from all other agents. Its clients still reach it. A follower answers `?stale` from what it has, and
    /// nothing else; the leader steps down, and the others elect one if they are a majority. After 5.8 s the others mark its
    /// node as failed, which ends its sessions (cluster.md 2.5, 3.11).
    pub fn cut(&self) {
        self.change("is cut off", ClusterCommand::Cut(self.number, true));
    }

    /// Ends what [`cut`](Self::cut) began.
    pub fn heal(&self) {
        self.change(
            "reaches the others",
            ClusterCommand::Cut(self.number, false),
        );
    }

    /// Makes it the leader, without a request that fails, as a transfer of leadership does: TTLs start anew. Nothing
    /// happens if it is no server, or is not reached by the others, or there is no leader.
    pub fn lead(&self) {
        self.change("is to lead", ClusterCommand::Lead(self.number));
    }

    /// Cuts its clients off: nothing gets through to them, or their connections are reset, or all is well again.
    pub fn set_link(&self, link: Link) {
        self.controls
            .note(&format!("clients of agent {}: {link:?}", self.number));
        self.controls.faults.set_link_of_agent(self.number, link);
    }

    /// Stops its process, as SIGSTOP does: it takes connections and answers nothing, and the others lose it. What is sent
    /// meanwhile is answered after [`resume`](Self::resume) (cluster.md 2.3).
    pub fn pause(&self) {
        self.set_link(Link::Silent);
        self.cut();
    }

    /// Lets its process go on, as SIGCONT does.
    pub fn resume(&self) {
        self.heal();
        self.set_link(Link::Up);
    }

    /// Ends its process, as `kill -9` does: its connections are closed and new ones refused, and the others lose it. It
    /// keeps what it has for [`start_async`](Self::start_async).
    ///
    /// # Errors
    /// As `Server::refuse_connections`.
    pub async fn kill_async(&self) -> Result<(), ListenerError> {
        self.run(false);
        self.controls.open(self.number, false).await
    }

    /// Starts its process again, with the data that it had.
    ///
    /// # Errors
    /// As `Server::accept_connections`.
    pub async fn start_async(&self) -> Result<(), ListenerError> {
        self.run(true);
        self.controls.open(self.number, true).await
    }

    /// Ends its process for the other agents, or starts it again. What its clients see is the caller's to do.
    #[doc(hidden)]
    pub fn run(&self, runs: bool) {
        let what = if runs { "is started" } else { "is killed" };
        self.change(what, ClusterCommand::Run(self.number, runs));
    }

    fn change(&self, what: &str, command: ClusterCommand) {
        let action = format!("agent {} {what}", self.number);
        self.controls.engine.change_cluster(&action, command);
    }
}
