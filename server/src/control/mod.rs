//! A running server. What a test can do to it is in the core's [`Controls`]; here is what parks a thread for it.

#[cfg(feature = "https")]
mod https;
mod listeners;
mod parked;
mod time;
mod wait;

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

use crate::https::DevCertificates;

#[doc(inline)]
pub use proconsul_core::control::{
    Acl, AclError, Address, Addresses, AgentAddresses, AgentHandle, AgentState, Behavior, Blocked,
    BlockedOn, Catalog, CheckRow, Controls, DatacenterAddresses, Entry, Explanation, Index, Key,
    Keys, KvRow, Lag, Link, ListenerError, NewCheck, NewNode, NewService, NewSession, NodeRow,
    Permission, Rate, RateError, Refusal, Restart, ServiceRow, Session, SessionId, SessionRow,
    Sessions, Timestamp, Token, UnknownCheck, UnknownCheckpoint, Unmet, WhyUnmet, reachable,
};
#[cfg(feature = "dump")]
#[doc(inline)]
pub use proconsul_core::control::{Flaw, ImportError, LoadError};

/// A Consul inside this process, on a thread and a runtime of its own, for as long as the value lives.
///
/// It can be used from tests with or without a runtime. Every server has its own state and its own port; there
/// are no globals, so a process can hold as many as it likes.
///
/// ```
/// use std::io::{Read, Write};
///
/// let server = proconsul::Server::start();
/// let mut connection = std::net::TcpStream::connect(server.addr())?;
/// connection.write_all(b"PUT /v1/kv/job HTTP/1.0\r\nContent-Length: 3\r\n\r\nrun")?;
/// let mut answer = String::new();
/// connection.read_to_string(&mut answer)?;
/// assert!(answer.ends_with("true"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// It stops when it is dropped: connections are closed and the port is free then. A clone controls the same server and
/// does not keep it running, for threads and tasks that outlive a test's hold on it.
// Shown on the front page alone.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct Server {
    controls: Controls,
    /// What was made for HTTPS.
    certificates: Arc<Option<DevCertificates>>,
    running: Running,
}

/// The thread that runs the server. Only the value that started it owns it: a clone is empty.
#[derive(Debug, Default)]
struct Running(
    #[expect(dead_code, reason = "dropping it stops the server")]
    Option<Box<dyn Any + Send + Sync>>,
);

impl Clone for Running {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Deref for Server {
    type Target = Controls;

    fn deref(&self) -> &Controls {
        &self.controls
    }
}

impl Server {
    pub(crate) fn new(controls: Controls, certificates: Option<DevCertificates>) -> Self {
        Self {
            controls,
            certificates: Arc::new(certificates),
            running: Running::default(),
        }
    }

    /// Returns a handle of a datacenter, which does not keep it running. Each has its own agents, state, history and faults;
    /// the time of all is one.
    ///
    /// # Panics
    /// There is no datacenter with this name, or the server has stopped.
    pub fn datacenter(&self, name: &str) -> Self {
        Self {
            controls: self.controls.datacenter(name),
            certificates: Arc::clone(&self.certificates),
            running: Running::default(),
        }
    }

    /// Returns what was made for HTTPS.
    pub(crate) fn dev_certificates(&self) -> Option<&DevCertificates> {
        self.certificates.as_ref().as_ref()
    }

    /// Returns the server, which now stops when this value is dropped.
    pub(crate) fn kept_running_by(mut self, owner: impl Any + Send + Sync) -> Self {
        self.running = Running(Some(Box::new(owner)));
        self
    }
}
