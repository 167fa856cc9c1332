//! A user's own traffic on both servers: every request goes to the real one, whose answer the program gets, and to the emulator beside it.
//!
//! | part | what it does |
//! |---|---|
//! | `relay` | passes bytes on, both ways, and copies each piece; reads nothing and waits for nobody else |
//! | `ear`, `replies` | make requests and answers of the copies, in their order; bound the queue |
//! | `mirror/` | does the same at the emulator, in the order in which the real server did it; reads that wait, and reads that may yet be alike |
//! | `mapping` | who is who: ids and indexes of one server and of the other |
//! | `judge` | compares two answers as `diff` does |
//! | `copy`, `inside` | the state that was there already, and what the server says of itself |
//! | `findings`, `save` | what differs: live, as a report, as a case |
//!
//! The program waits for the real server alone. The emulator may be slow, or dead: then answers are not compared, and the report says so.

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

use self::capture::{Ear, Unseen};
pub use self::findings::{Difference, Findings, Observer};
pub use self::inside::Inside;
use self::mapping::Mapping;
use self::mirror::{Mirror, Servers};
use self::relay::{Relay, Tap};
use proconsul_conformance::target::site::ToolError;
use proconsul_conformance::wire::Address;

/// How long one server may take longer than the other, unless told.
pub const GRACE: Duration = Duration::from_secs(1);
/// How long the emulator may take to answer what does not wait, unless told; then it is given up.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How many bytes of each connection may wait for the emulator, unless told.
pub const ROOM: usize = 32 * 1024 * 1024;

/// An address for programs and the real server behind it, before anything is passed on.
#[derive(Debug)]
pub struct Place {
    listener: TcpListener,
    /// The real server.
    pub real: Inside,
    /// How long one server may take longer than the other to answer a read that waits, or to come to say the same.
    pub grace: Duration,
    /// How long the emulator may take to answer what does not wait before it is given up.
    pub patience: Duration,
    /// How many bytes of each connection may wait for the emulator before it is given up.
    pub room: usize,
}

/// Passes requests on and compares, until it is finished.
pub struct Shadow {
    relay: Relay,
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
    /// Takes the address and asks the real server what it is; `token` is a management token where it has ACLs, else empty. Programs that connect wait until [`Self::start`].
    ///
    /// # Errors
    /// The address is not valid or is in use, or the real server does not answer.
    pub fn new(listen: &str, real: &str, token: &str) -> Result<Self, ToolError> {
        let real = Address::parse(real).map_err(ToolError)?;
        let listener = TcpListener::bind(listen)
            .map_err(|error| ToolError(format!("cannot listen on {listen}: {error}")))?;
        Ok(Self {
            listener,
            real: Inside::of(&real, token)?,
            grace: GRACE,
            patience: PATIENCE,
            room: ROOM,
        })
    }

    /// Copies the state that is there already to an emulator that has none, and begins to pass on and to compare. `observer` hears of
    /// each difference.
    ///
    /// # Errors
    /// An emulator that does not answer or has a state already, or a real server that does not show its own.
    pub fn start(self, emulator: &Address, observer: Observer) -> Result<Shadow, ToolError> {
        let cannot = |error: std::io::Error| ToolError(format!("cannot listen: {error}"));
        let token = self.real.rights.as_ref().map(|rights| rights.token.clone());
        let emulated = Inside::of(emulator, token.as_deref().unwrap_or_default())?;
        if emulated.rights.is_some() != token.is_some() {
            return Err(ToolError(format!(
                "only one of {} and the emulator at {emulator} has ACLs",
                self.real.address
            )));
        }
        let mut mapping = Mapping::default();
        let not_copied = copy::copy(&self.real, &emulated, &mut mapping)?;
        let (pieces, copies) = mpsc::channel();
        let (events, queue) = mpsc::channel();
        let (tap, unseen) = (Arc::new(Tap::new(pieces)), Arc::new(Unseen::default()));
        let servers = Servers {
            real: self.real.address.clone(),
            emulator: emulator.clone(),
            names: (self.real.names(), emulated.names()),
            grace: self.grace,
            patience: self.patience,
            token,
        };
        let findings = Findings::new(observer, &unseen, not_copied.clone());
        let mirror = Mirror::new(servers, mapping, findings, (events.clone(), queue), &unseen);
        let ear = Ear::new(&tap, &unseen, events, self.room);
        let relay = Relay::start(self.listener, &self.real.address, &tap).map_err(cannot)?;
        std::thread::spawn(move || ear.listen(&copies));
        Ok(Shadow {
            relay,
            mirror: std::thread::spawn(move || mirror.run()),
            target: format!("{} against {emulator}", self.real.address),
            build: format!("{} against {}", self.real.version, emulated.version),
            not_copied,
        })
    }
}

impl Shadow {
    /// Where programs connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.relay.socket()
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
        drop(self.relay);
        let findings = self.mirror.join().expect("comparing does not panic");
        (findings, self.target, self.build)
    }
}
