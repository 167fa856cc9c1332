//! Servers on demand: one process serves as many isolated ones as a test run needs.

use std::any::Any;
use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::Control;
use crate::config::Config;

/// A server that was started, with its URL. It stops when it is dropped.
pub(crate) type Launched = (String, Box<dyn Any + Send>);

/// Starts a server, with a clock that stands still if the flag says so.
pub(crate) type Launch = fn(Config, bool) -> Result<Launched, String>;

/// The servers that were started on demand.
#[derive(Default)]
pub(super) struct Servers {
    last: u64,
    running: BTreeMap<u64, Launched>,
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} servers", self.running.len())
    }
}

pub(super) type SharedServers = Mutex<Servers>;

impl Control {
    /// Starts another server in this process, and returns its number and its URL.
    pub(crate) fn start_server(
        &self,
        config: Config,
        frozen: bool,
    ) -> Result<(u64, String), String> {
        let launched = (self.launch)(config, frozen)?;
        let url = launched.0.clone();
        let mut servers = self.servers.lock();
        servers.last += 1;
        let id = servers.last;
        servers.running.insert(id, launched);
        Ok((id, url))
    }

    /// The numbers and URLs of the servers that were started on demand.
    pub(crate) fn servers(&self) -> Vec<(u64, String)> {
        let servers = self.servers.lock();
        let running = servers.running.iter();
        running.map(|(id, (url, _))| (*id, url.clone())).collect()
    }

    /// Stops one of them. Whether there was one.
    pub(crate) fn stop_server(&self, id: u64) -> bool {
        // Not under the lock: stopping waits for the server's thread.
        let stopped = self.servers.lock().running.remove(&id);
        stopped.is_some()
    }
}
