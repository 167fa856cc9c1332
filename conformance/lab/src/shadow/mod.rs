//! A user's own traffic on both servers: every request goes to the real one, whose answer the program gets, and to the emulator beside it.
//!
//! | part | what it does |
//! |---|---|
//! | `relay` | passes bytes on, both ways, and copies each piece; reads nothing and waits for nobody else |
//! | `ear`, `replies` | make requests and answers of the copies, in their order; bound the queue |
//! | `mirror/` | does the same at the emulator, in the order in which the real server did it; reads that wait, and reads that may yet be alike |
//! | `mapping` | who is who: ids and indexes of one server and of the other |
//! | `judge` | compares two answers as `diff` does |
//! | `agents` | where the agents are, by their names |
//! | `copy`, `inside` | the state that was there already, and what the server says of itself |
//! | `findings`, `save` | what differs: live, as a report, as a case |
//!
//! The program waits for the real server alone. The emulator may be slow, or dead: then answers are not compared, and the report says so.

mod agents;
mod capture;
mod copy;
mod findings;
mod inside;
mod judge;
mod mapping;
mod mirror;
mod relay;
mod replies;
mod save;

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use self::agents::Agents;
use self::capture::{Ear, Unseen};
pub use self::findings::{Difference, Findings, Observer};
pub use self::inside::Inside;
use self::mapping::Mapping;
use self::mirror::{Mirror, Servers};
use self::relay::{Relay, Tap};
use proconsul_conformance::target::site::ToolError;
use proconsul_conformance::wire::{Address, Outcome, Request, exchange};
use serde_json::Value;

/// How long one server may take longer than the other, unless told.
pub const GRACE: Duration = Duration::from_secs(1);
/// How long the emulator may take to answer what does not wait, unless told; then it is given up.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How many bytes of each connection may wait for the emulator, unless told.
pub const ROOM: usize = 32 * 1024 * 1024;

/// Addresses for programs and the real agents behind them, before anything is passed on.
#[derive(Debug)]
pub struct Place {
    listeners: Vec<TcpListener>,
    /// The real agents, in the order of the addresses.
    pub real: Vec<Inside>,
    /// How long one server may take longer than the other to answer a read that waits, or to come to say the same.
    pub grace: Duration,
    /// How long the emulator may take to answer what does not wait before it is given up.
    pub patience: Duration,
    /// How many bytes of each connection may wait for the emulator before it is given up.
    pub room: usize,
}

/// Passes requests on and compares, until it is finished.
pub struct Shadow {
    relays: Vec<Relay>,
    tap: Arc<Tap>,
    mirror: JoinHandle<Findings>,
    target: String,
    build: String,
    not_copied: Vec<String>,
}

impl fmt::Debug for Shadow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Shadow({})", self.target)
    }
}

impl Place {
    /// Takes each address for programs and asks the real agent behind it what it is; `token` is a management token where these have
    /// ACLs, else empty. Programs that connect wait until [`Self::start`].
    ///
    /// # Errors
    /// An address is not valid or is in use, a real agent does not answer, or two have one name.
    pub fn new(agents: &[(&str, &str)], token: &str) -> Result<Self, ToolError> {
        let (mut listeners, mut all) = (Vec::new(), Vec::<Inside>::new());
        for (listen, real) in agents {
            let real = Address::parse(real).map_err(ToolError)?;
            let listener = TcpListener::bind(listen)
                .map_err(|error| ToolError(format!("cannot listen on {listen}: {error}")))?;
            let real = Inside::of(&real, token)?;
            if let Some(other) = all.iter().find(|other| other.node == real.node) {
                return Err(ToolError(format!(
                    "{} and {} are both called {}",
                    other.address, real.address, real.node
                )));
            }
            listeners.push(listener);
            all.push(real);
        }
        Ok(Self {
            listeners,
            real: all,
            grace: GRACE,
            patience: PATIENCE,
            room: ROOM,
        })
    }

    /// The arguments with which `proconsul agent` is all of them: its first agent leads.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let leader = self.real[0].leader();
        let mut agents: Vec<_> = self.real.iter().collect();
        agents.sort_by_key(|agent| (!agent.is_server, agent.server_address != leader));
        let mut arguments = agents[0].arguments();
        if agents.len() > 1 {
            let names = |are_servers| {
                let alike = agents.iter().filter(|agent| agent.is_server == are_servers);
                let names = alike.map(|agent| agent.node.as_str());
                names.collect::<Vec<_>>().join(",")
            };
            let names = format!("{}:{}", names(true), names(false));
            arguments.push(format!("-agents={}", names.trim_end_matches(':')));
        }
        arguments
    }

    /// Returns the addresses of all agents of an emulator that was started with these arguments, whose first is there.
    ///
    /// # Errors
    /// It does not say so.
    pub fn agents_of(&self, emulator: &Address) -> Result<Vec<Address>, ToolError> {
        if self.real.len() == 1 {
            return Ok(vec![emulator.clone()]);
        }
        let shown = match exchange(emulator, &Request::get("/proconsul/v1/agents")) {
            Outcome::Reply(reply) => reply.body,
            _ => Vec::new(),
        };
        let shown: Value = serde_json::from_slice(&shown).unwrap_or_default();
        let agents = shown["agents"].as_array().into_iter().flatten();
        let addresses = agents.filter_map(|agent| agent["address"].as_str());
        let addresses = addresses.map(Address::parse).collect::<Result<_, _>>();
        addresses.map_err(ToolError)
    }

    /// Returns what the agents of the emulator say of themselves, in the order of the real ones.
    fn beside(&self, emulator: &[Address]) -> Result<Vec<Inside>, ToolError> {
        let token = self.real[0].token().unwrap_or_default();
        let emulated = emulator.iter().map(|address| Inside::of(address, token));
        let mut emulated: Vec<_> = emulated.collect::<Result<_, _>>()?;
        let mut beside = Vec::new();
        for real in &self.real {
            let is_its = |agent: &Inside| self.real.len() == 1 || agent.node == real.node;
            let Some(at) = emulated.iter().position(is_its) else {
                return Err(ToolError(format!(
                    "the emulator has no agent that is called {}",
                    real.node
                )));
            };
            let agent = emulated.swap_remove(at);
            if agent.rights.is_some() != real.rights.is_some() {
                return Err(ToolError(format!(
                    "only one of {} and the emulator at {} has ACLs",
                    real.address, agent.address
                )));
            }
            beside.push(agent);
        }
        Ok(beside)
    }

    /// Copies the state that is there already to an emulator that has none, and begins to pass on and to compare. `observer` hears of
    /// each difference. Of several agents of the emulator each has the name of a real one.
    ///
    /// # Errors
    /// An emulator that does not answer or has a state already, or a real server that does not show its own.
    pub fn start(self, emulator: &[Address], observer: Observer) -> Result<Shadow, ToolError> {
        let cannot = |error: std::io::Error| ToolError(format!("cannot listen: {error}"));
        let emulated = self.beside(emulator)?;
        let addresses = |agents: &[Inside]| -> Vec<_> {
            agents.iter().map(|agent| agent.address.clone()).collect()
        };
        let names = |agents: &[Inside]| -> Vec<_> {
            agents.iter().map(|agent| agent.names(agents)).collect()
        };
        let said = |agents: &[Inside]| {
            let agents = agents.iter().map(|agent| agent.address.to_string());
            agents.collect::<Vec<_>>().join(",")
        };
        let mut mapping = Mapping::default();
        let not_copied = copy::copy(&self.real, &emulated, &mut mapping)?;
        let (pieces, copies) = mpsc::channel();
        let (events, queue) = mpsc::channel();
        let (tap, unseen) = (Arc::new(Tap::new(pieces)), Arc::new(Unseen::default()));
        let servers = Servers {
            real: addresses(&self.real),
            emulator: addresses(&emulated),
            names: names(&self.real)
                .into_iter()
                .zip(names(&emulated))
                .collect(),
            agents: (Agents::of(&self.real), Agents::of(&emulated)),
            grace: self.grace,
            patience: self.patience,
            token: self.real[0].token().map(str::to_owned),
        };
        let findings = Findings::new(observer, &unseen, not_copied.clone());
        let mirror = Mirror::new(servers, mapping, findings, (events.clone(), queue), &unseen);
        let ear = Ear::new(&tap, &unseen, events, self.room);
        let relays = self.listeners.into_iter().zip(&self.real).enumerate();
        let relays = relays.map(|(agent, (listener, real))| {
            Relay::start(listener, agent, &real.address, &tap).map_err(cannot)
        });
        let relays = relays.collect::<Result<_, _>>()?;
        std::thread::spawn(move || ear.listen(&copies));
        Ok(Shadow {
            relays,
            tap,
            mirror: std::thread::spawn(move || mirror.run()),
            target: format!("{} against {}", said(&self.real), said(&emulated)),
            build: format!("{} against {}", self.real[0].version, emulated[0].version),
            not_copied,
        })
    }
}

impl Shadow {
    /// Where programs connect, by agent.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.relays.iter().map(Relay::socket).collect()
    }

    /// What the real server has and the emulator has not, in sentences.
    #[must_use]
    pub fn not_copied(&self) -> &[String] {
        &self.not_copied
    }

    /// Stops listening, compares what is still on its way, and returns what was found with the names of both servers and their builds.
    ///
    /// # Panics
    /// When the thread that compares has panicked.
    #[must_use]
    pub fn finish(self) -> (Findings, String, String) {
        drop(self.relays);
        self.tap.end();
        let findings = self.mirror.join().expect("comparing does not panic");
        (findings, self.target, self.build)
    }
}
