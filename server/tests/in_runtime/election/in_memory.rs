//! Tasks of one runtime on a paused clock, with pipes between them.

use std::collections::BTreeMap;
use std::future::ready;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use proconsul::Server;
use proconsul::control::Controls;
use proconsul::faults::{Effect, FaultGuard, Rule};
use proconsul::in_runtime::RuntimeServer;
use proconsul_client::Connector;
use tokio::io::duplex;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{AbortHandle, yield_now};
use tokio::time::sleep;

use super::{Beliefs, CANDIDATES, Candidate, Kind, World};

pub(super) struct InMemory {
    server: Arc<RuntimeServer>,
    kind: Kind,
    beliefs: Beliefs,
    elapsed: Duration,
    running: BTreeMap<&'static str, AbortHandle>,
    parted: BTreeMap<&'static str, FaultGuard>,
    runtime: Runtime,
}

/// The address by which the server knows a candidate.
fn address(name: &str) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, name.as_bytes()[0]).into()
}

impl World for InMemory {
    fn new(seed: u64, kind: Kind, beliefs: &Beliefs) -> Self {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime of this thread");
        let epoch = "2026-01-01T00:00:00Z".parse().expect("a time");
        let server = Server::builder().seed(seed).epoch(epoch);
        let server = runtime.block_on(async { server.in_runtime() });
        let server = server.expect("this is a runtime");
        let mut world = Self {
            server: Arc::new(server),
            kind,
            beliefs: beliefs.clone(),
            elapsed: Duration::ZERO,
            running: BTreeMap::new(),
            parted: BTreeMap::new(),
            runtime,
        };
        for name in CANDIDATES {
            world.restart(name);
        }
        world
    }

    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn pass(&mut self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
        self.elapsed += time;
    }

    fn part(&mut self, name: &'static str) {
        let _clock = self.runtime.enter();
        self.parted.entry(name).or_insert_with(|| {
            let silent = Rule::new(Effect::Hang).client(address(name));
            self.server.fault(silent).expect("it can match")
        });
    }

    fn repair(&mut self, name: &'static str) {
        let _clock = self.runtime.enter();
        self.parted.remove(name);
    }

    fn crash(&mut self, name: &'static str) {
        self.part(name);
        if let Some(task) = self.running.remove(name) {
            task.abort();
        }
        // What it still sends when it is dropped does not arrive.
        self.runtime.block_on(yield_now());
    }

    fn restart(&mut self, name: &'static str) {
        self.repair(name);
        let (server, clock) = (Arc::clone(&self.server), Arc::clone(&self.server));
        let connector = Connector::new(move |_uri| {
            let (client, own) = duplex(64 * 1024);
            server.serve_connection(own, Some((address(name), 1).into()));
            ready(Ok(client))
        });
        let candidate = Candidate {
            name,
            kind: self.kind,
            connector,
            now: Box::new(move || clock.now()),
            beliefs: self.beliefs.clone(),
        };
        let task = self.runtime.spawn(candidate.run());
        self.running.insert(name, task.abort_handle());
    }

    fn controls(&self) -> Controls {
        Controls::clone(&self.server)
    }
}
