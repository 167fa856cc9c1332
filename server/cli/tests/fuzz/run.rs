//! Sending what was drawn, and seeing to it that the server stands.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use fastrand::Rng;

use crate::bodies::{change, deep};
use crate::bystander::Bystander;
use crate::child::Server;
use crate::control::Calls;
use crate::requests::{Request, request, routes};
use crate::wire::{LOOK, Outcome, Wire};

/// How many connections there are to each port at once.
const CONNECTIONS: usize = 3;
/// How many requests are shown when something is wrong, and how much of each.
const RECENT: usize = 10;
const SHOWN: usize = 400;
/// For how many looks an answer may keep everybody waiting that is not expected to wait: five seconds.
const PROMPT: usize = (5_000 / LOOK.as_millis()) as usize;
/// For how many looks a busy machine may keep a request that nothing delays.
pub(crate) const GENEROUS: usize = 12 * PROMPT;

/// A server under fire.
pub(crate) struct Run {
    server: Server,
    /// Somebody else whom the server answers.
    bystander: Bystander,
    routes: Vec<&'static str>,
    calls: Calls,
    /// The routes and calls that were drawn.
    drawn: BTreeSet<String>,
    /// Whether the control plane has been told something since it was last healed: requests may wait for a reason.
    is_tampered: bool,
    pub(crate) sent: u64,
    /// How often each status was answered; 0 stands for a connection that was closed.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// The beginnings of the requests that were sent last.
    recent: VecDeque<String>,
    /// The memory of the process after each batch, in KiB.
    pub(crate) memory: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plane {
    Data,
    Control,
}

/// A connection, and for each answer that is due on it whether it is one to a HEAD, and whether it may wait.
struct Busy {
    wire: Wire,
    owed: VecDeque<(bool, bool)>,
}

impl Run {
    pub(crate) fn start() -> Self {
        let server = Server::start();
        let description = ask(server.control, "GET", "/openapi.json", "", GENEROUS);
        let calls = Calls::of(&description.expect("the control plane describes itself"));
        Self {
            bystander: Bystander::of(server.data),
            server,
            routes: routes(),
            calls,
            drawn: BTreeSet::new(),
            is_tampered: false,
            sent: 0,
            statuses: BTreeMap::new(),
            recent: VecDeque::new(),
            memory: Vec::new(),
        }
    }

    /// The routes and calls that no request has gone to.
    pub(crate) fn never_drawn(&self) -> Vec<String> {
        let routes = self.routes.iter().map(|route| (*route).to_owned());
        let all = routes.chain(self.calls.names().iter().cloned());
        all.filter(|name| !self.drawn.contains(name)).collect()
    }

    /// Moves the server's clock to its end, where it stands from now on.
    pub(crate) fn end_time(&mut self) -> Result<(), String> {
        for _ in 0..2 {
            self.call("POST", "/clock/jump", "{\"by\":\"9223372036854775807ns\"}")?;
        }
        Ok(())
    }

    /// Returns the longest wait of somebody else, with the server of now.
    pub(crate) fn longest_wait(&mut self) -> Duration {
        let next = Bystander::of(self.server.data);
        std::mem::replace(&mut self.bystander, next).longest_wait()
    }

    /// The same with another process, for when this one is gone.
    pub(crate) fn restart(&mut self) {
        self.server = Server::start();
        self.bystander = Bystander::of(self.server.data);
        self.is_tampered = false;
    }

    /// Draws and sends a request for each seed, of which so many in a hundred go to the control plane.
    ///
    /// # Errors
    /// What is wrong with the server.
    pub(crate) fn batch(&mut self, control_share: u8, seeds: &[u64]) -> Result<(), String> {
        self.send_all(control_share, seeds).map_err(|complaint| {
            let recent = self.recent.make_contiguous().join("\n");
            format!("{complaint}\nThe last requests were:\n{recent}")
        })
    }

    fn send_all(&mut self, control_share: u8, seeds: &[u64]) -> Result<(), String> {
        let mut busy = [(); 2 * CONNECTIONS].map(|()| None);
        for seed in seeds {
            let mut rng = Rng::with_seed(*seed);
            let plane = if rng.u8(..100) < control_share {
                Plane::Control
            } else {
                Plane::Data
            };
            self.sent += 1;
            let request = self.draw(&mut rng, plane)?;
            let place = rng.usize(..CONNECTIONS) + CONNECTIONS * plane as usize;
            let beginning = &request.bytes[..request.bytes.len().min(SHOWN)];
            let beginning = String::from_utf8_lossy(beginning);
            let shown = format!("{plane:?} {place}: {}", beginning.escape_debug());
            self.recent.push_back(shown);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
            self.send(&mut rng, plane, &mut busy[place], &request)?;
        }
        for (place, busy) in busy.iter_mut().enumerate() {
            let plane = if place < CONNECTIONS {
                Plane::Data
            } else {
                Plane::Control
            };
            self.settle(plane, busy)?;
        }
        self.heal()?;
        self.probe()?;
        self.memory.push(self.server.memory());
        match self.server.complaint() {
            Some(complaint) => Err(complaint),
            None => Ok(()),
        }
    }

    fn draw(&mut self, rng: &mut Rng, plane: Plane) -> Result<Request, String> {
        match plane {
            Plane::Data => {
                let route = self.routes[rng.usize(..self.routes.len())];
                let host = self.server.data.to_string();
                self.drawn.insert(route.to_owned());
                Ok(request(rng, &host, route))
            }
            Plane::Control => {
                let host = self.server.control.to_string();
                if rng.u8(..20) == 0 {
                    return self.changed_state(rng, &host);
                }
                let place = rng.usize(..self.calls.names().len());
                self.drawn.insert(self.calls.names()[place].clone());
                Ok(self.calls.request(rng, &host, place))
            }
        }
    }

    /// A call that loads the state of now with a flaw.
    fn changed_state(&mut self, rng: &mut Rng, host: &str) -> Result<Request, String> {
        let state = self.call("GET", "/state", "")?;
        let Ok(mut state) = serde_json::from_slice(&state) else {
            return Err("the state is not JSON".to_owned());
        };
        change(rng, &mut state);
        let body = if rng.u8(..8) == 0 {
            deep(rng)
        } else {
            state.to_string()
        };
        let head = format!(
            "PUT /proconsul/v1/state HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Ok(Request {
            bytes: (head + &body).into_bytes(),
            is_head: false,
            is_sound: true,
            may_wait: false,
            is_endless: false,
        })
    }

    fn send(
        &mut self,
        rng: &mut Rng,
        plane: Plane,
        busy: &mut Option<Busy>,
        request: &Request,
    ) -> Result<(), String> {
        self.is_tampered |= plane == Plane::Control && !request.bytes.starts_with(b"GET ");
        let mut now = match busy.take() {
            Some(now) => now,
            None => Busy {
                wire: self.connect(plane)?,
                owed: VecDeque::new(),
            },
        };
        match rng.u8(..20) {
            // Cut somewhere, without a word.
            0 => {
                let end = rng.usize(..=request.bytes.len());
                now.wire.send(&request.bytes[..end]);
                return Ok(());
            }
            _ if request.is_endless => {
                now.wire.send(&request.bytes);
                return Ok(());
            }
            _ if !request.is_sound => {
                now.wire.send(&request.bytes);
                now.wire.stop_sending();
                return self.wait_for_end(plane, now);
            }
            kind => {
                now.wire.send(&request.bytes);
                now.owed.push_back((request.is_head, request.may_wait));
                *busy = Some(now);
                // Some are sent before the last one is answered.
                if kind < 4 {
                    return Ok(());
                }
            }
        }
        self.settle(plane, busy)
    }

    /// Waits for the answers that are due on a connection.
    fn settle(&mut self, plane: Plane, busy: &mut Option<Busy>) -> Result<(), String> {
        let Some(now) = busy else {
            return Ok(());
        };
        while let Some((is_head, may_wait)) = now.owed.pop_front() {
            let looks = if may_wait { 1 } else { self.patience() };
            let mut outcome = now.wire.answer(is_head, looks);
            if outcome == Outcome::Nothing {
                // What the control plane waits for may last a day.
                if plane == Plane::Control && may_wait {
                    *busy = None;
                    return Ok(());
                }
                let was_tampered = self.is_tampered;
                self.heal()?;
                outcome = now.wire.answer(is_head, PROMPT);
                if outcome == Outcome::Nothing {
                    self.probe()?;
                    outcome = now.wire.answer(is_head, GENEROUS);
                }
                if outcome == Outcome::Nothing && !was_tampered {
                    return Err("a request is not answered".to_owned());
                }
            }
            let status = match outcome {
                Outcome::Answered(status) => status,
                Outcome::Closed | Outcome::Nothing => 0,
            };
            *self.statuses.entry(status).or_default() += 1;
            if status == 0 {
                *busy = None;
                return self.server.complaint().map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    /// For how many looks an answer is waited for that is not expected to wait, before all is healed: where there may be a fault to
    /// heal, it is the likely cause.
    const fn patience(&self) -> usize {
        if self.is_tampered { 2 } else { 2 * PROMPT / 5 }
    }

    /// Waits for the end of a connection on which nothing more is sent.
    fn wait_for_end(&mut self, plane: Plane, mut busy: Busy) -> Result<(), String> {
        if plane == Plane::Control || busy.wire.closes(self.patience()) {
            return self.server.complaint().map_or(Ok(()), Err);
        }
        let was_tampered = self.is_tampered;
        self.heal()?;
        if busy.wire.closes(PROMPT) || was_tampered {
            return Ok(());
        }
        self.probe()?;
        if busy.wire.closes(GENEROUS) {
            Ok(())
        } else {
            Err("a connection does not end".to_owned())
        }
    }

    fn connect(&mut self, plane: Plane) -> Result<Wire, String> {
        let address = match plane {
            Plane::Data => self.server.data,
            Plane::Control => self.server.control,
        };
        // A call that has connections refused may be carried out behind the one that takes it back.
        for _ in 0..5 {
            if let Some(wire) = Wire::to(address) {
                return Ok(wire);
            }
            self.heal()?;
        }
        Wire::to(address).ok_or_else(|| self.why("a port is not listened on"))
    }

    /// Takes back whatever makes requests wait or fail, and everything that was written.
    fn heal(&mut self) -> Result<(), String> {
        self.is_tampered = false;
        for (method, path, body) in [
            ("POST", "/connections/accept", ""),
            ("DELETE", "/clock/auto", ""),
            ("POST", "/clock/rate", "{\"rate\":1}"),
            ("DELETE", "/faults", ""),
            ("POST", "/leader/find", ""),
            ("POST", "/state/reset", ""),
            ("DELETE", "/history", ""),
            // Whoever waits has waited long enough then.
            ("POST", "/clock/advance", "{\"by\":\"11m\"}"),
        ] {
            self.call(method, path, body)?;
        }
        let servers = self.call("GET", "/servers", "")?;
        let servers: serde_json::Value = serde_json::from_slice(&servers).unwrap_or_default();
        for server in servers["servers"].as_array().into_iter().flatten() {
            self.call("DELETE", &format!("/servers/{}", server["id"]), "")?;
        }
        Ok(())
    }

    /// A call of the control plane that has to be answered.
    fn call(&mut self, method: &str, path: &str, body: &str) -> Result<Vec<u8>, String> {
        ask(self.server.control, method, path, body, GENEROUS).ok_or_else(|| {
            self.why(&format!(
                "the control plane does not answer {method} {path}"
            ))
        })
    }

    /// Whether another connection is answered.
    fn probe(&mut self) -> Result<(), String> {
        let request = "GET /v1/status/leader HTTP/1.1\r\nHost: probe\r\n\r\n";
        let mut wire = self.connect(Plane::Data)?;
        wire.send(request.as_bytes());
        match wire.answer(false, GENEROUS) {
            Outcome::Answered(200) => Ok(()),
            outcome => Err(self.why(&format!("the server hangs: {outcome:?}"))),
        }
    }

    fn why(&mut self, complaint: &str) -> String {
        let more = self.server.complaint().unwrap_or_default();
        format!("{complaint}\n{more}")
    }
}

/// The body of an answer of the control plane.
fn ask(to: SocketAddr, method: &str, path: &str, body: &str, looks: usize) -> Option<Vec<u8>> {
    let mut wire = Wire::to(to)?;
    let length = body.len();
    let head = format!(
        "{method} /proconsul/v1{path} HTTP/1.1\r\nHost: {to}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    wire.send((head + body).as_bytes());
    wire.body(looks)
}
