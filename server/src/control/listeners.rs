//! Closing and opening the listeners, for restarts and outages.

use super::{ListenerError, Restart, Server, parked};

/// # Connections
impl Server {
    /// Closes all connections and refuses new ones, as a server that is down does. The port stays this server's. Works
    /// on the thread of any runtime, since it waits for the server alone.
    ///
    /// # Errors
    /// A socket does not close, or the server has stopped.
    pub fn refuse_connections(&self) -> Result<(), ListenerError> {
        parked::park_on(self.refuse_connections_async())
    }

    /// Takes connections again, on the same port.
    ///
    /// # Errors
    /// The port cannot be listened on any more, or the server has stopped.
    pub fn accept_connections(&self) -> Result<(), ListenerError> {
        parked::park_on(self.accept_connections_async())
    }

    /// Ends the process of an agent: see [`AgentHandle::kill_async`](super::AgentHandle::kill_async).
    ///
    /// # Errors
    /// As [`refuse_connections`](Self::refuse_connections).
    ///
    /// # Panics
    /// There is no such agent.
    pub fn kill_agent(&self, agent: usize) -> Result<(), ListenerError> {
        parked::park_on(self.agent(agent).kill_async())
    }

    /// Starts an agent again that was killed: see [`AgentHandle::start_async`](super::AgentHandle::start_async).
    ///
    /// # Errors
    /// As [`accept_connections`](Self::accept_connections).
    ///
    /// # Panics
    /// There is no such agent.
    pub fn start_agent(&self, agent: usize) -> Result<(), ListenerError> {
        parked::park_on(self.agent(agent).start_async())
    }

    /// Restarts the server on the same port: connections are closed, and the state is what a restart leaves of it.
    /// Clock, history, faults and checkpoints are the test's, and stay.
    ///
    /// # Errors
    /// As [`Server::accept_connections`].
    pub fn restart(&self, restart: Restart) -> Result<(), ListenerError> {
        parked::park_on(self.restart_async(restart))
    }
}
