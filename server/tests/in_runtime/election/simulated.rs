//! Hosts of turmoil, with a network between them.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proconsul::control::{Controls, Timestamp};
use proconsul::{Server, in_runtime};
use proconsul_client::Connector;
use turmoil::net::{TcpListener, TcpStream};

use super::{Beliefs, CANDIDATES, Candidate, Kind, WATCHED, World};

type Shared = Arc<Mutex<Option<Controls>>>;

pub(super) struct Simulated {
    sim: turmoil::Sim<'static>,
    controls: Shared,
}

struct Listener(TcpListener);

impl in_runtime::Listener for Listener {
    type Io = TcpStream;

    async fn accept(&mut self) -> io::Result<(TcpStream, Option<SocketAddr>)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((stream, Some(peer)))
    }
}

async fn consul(seed: u64, controls: Shared) -> turmoil::Result {
    let epoch = "2026-01-01T00:00:00Z".parse()?;
    let server = Server::builder().seed(seed).epoch(epoch).in_runtime()?;
    *controls.lock().expect("no panic") = Some(Controls::clone(&server));
    let listener = TcpListener::bind("0.0.0.0:8500").await?;
    server.serve(Listener(listener)).await?;
    Ok(())
}

/// Connects a client to a host by its name.
fn connector() -> Connector {
    Connector::new(|uri| async move {
        let host = uri.authority().expect("a host and a port");
        TcpStream::connect(host.as_str()).await
    })
}

fn now() -> Timestamp {
    Timestamp::ZERO.plus(turmoil::sim_elapsed().expect("this is a simulation"))
}

impl World for Simulated {
    fn new(seed: u64, kind: Kind, beliefs: &Beliefs) -> Self {
        let mut sim = turmoil::Builder::new()
            .rng_seed(seed)
            .simulation_duration(2 * WATCHED)
            // Four hosts at each tick are most of what an election costs.
            .tick_duration(Duration::from_millis(250))
            .min_message_latency(Duration::from_millis(1))
            .max_message_latency(Duration::from_millis(200))
            .build();
        let controls = Shared::default();
        let of_server = Arc::clone(&controls);
        sim.host("consul", move || consul(seed, Arc::clone(&of_server)));
        for name in CANDIDATES {
            let beliefs = beliefs.clone();
            sim.host(name, move || {
                let candidate = Candidate {
                    name,
                    kind,
                    connector: connector(),
                    now: Box::new(now),
                    beliefs: beliefs.clone(),
                };
                async {
                    candidate.run().await;
                    Ok(())
                }
            });
        }
        Self { sim, controls }
    }

    fn elapsed(&self) -> Duration {
        self.sim.elapsed()
    }

    fn pass(&mut self, time: Duration) {
        let until = self.sim.elapsed() + time;
        while self.sim.elapsed() < until {
            self.sim.step().expect("no host fails");
        }
    }

    fn part(&mut self, name: &'static str) {
        self.sim.partition(name, "consul");
    }

    fn repair(&mut self, name: &'static str) {
        self.sim.repair(name, "consul");
    }

    fn crash(&mut self, name: &'static str) {
        self.sim.crash(name);
    }

    fn restart(&mut self, name: &'static str) {
        self.sim.bounce(name);
    }

    fn controls(&self) -> Controls {
        let controls = self.controls.lock().expect("no panic");
        controls.clone().expect("the server has started")
    }
}
