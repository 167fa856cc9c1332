//! One run: a server, three contenders, a fault, and time for all of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use proconsul::Server;
use proconsul::config::Config;
use proconsul::control::Timestamp;
use proconsul::history::Interval;
use proconsul_client::{Client, Clock};

use super::contender::{Beliefs, Care, Contender};
use super::fault::Fault;
use super::time::{DrivenClock, TIMEOUT};

pub(crate) const KEY: &str = "l";
pub(crate) const TTL: Duration = Duration::from_secs(10);
pub(crate) const LOCK_DELAY: Duration = Duration::from_secs(15);

const BEGIN: Duration = Duration::from_secs(5);
const END: Duration = Duration::from_secs(60);
/// What may have to pass after the fault: the call that is held, a lapse, a lock-delay, a back-off, and some work.
const OVER: Duration = Duration::from_secs(130);
/// How long the machine may take to answer whom the clock has woken.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often is looked whether all rest: seconds of the machine's time.
const MOST_ROUNDS: usize = 100_000;

/// What is contended for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recipe {
    Lock,
    Election,
}

pub(crate) struct World {
    server: Server,
    line: Line,
    clock: DrivenClock,
    fault: Fault,
    recipe: Recipe,
    care: Care,
    rng: Rng,
    beliefs: Beliefs,
}

/// What a run left to look at.
pub(crate) struct Outcome {
    server: Server,
    fault: Fault,
    recipe: Recipe,
    beliefs: Vec<Interval>,
    ended: Timestamp,
}

impl World {
    pub(crate) fn new(seed: u64, fault: Fault, recipe: Recipe, care: Care) -> Self {
        let config = Config {
            control: true,
            control_port: Some(0),
            ..Config::dev()
        };
        let builder = Server::builder().config(config).frozen().seed(seed);
        let server = builder.start().expect("a free port");
        Self {
            line: Line::to(&server),
            server,
            clock: DrivenClock::default(),
            fault,
            recipe,
            care,
            rng: Rng::with_seed(seed),
            beliefs: Beliefs::default(),
        }
    }

    pub(crate) fn run(mut self) -> Outcome {
        // The jitter of back-offs.
        fastrand::seed(self.rng.u64(..));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime of this thread");
        let ended = runtime.block_on(self.drive());
        // Stops the contenders, which tell what they believed to the last.
        drop(runtime);
        let beliefs = std::mem::take(&mut *self.beliefs.lock());
        Outcome {
            server: self.server,
            fault: self.fault,
            recipe: self.recipe,
            beliefs,
            ended,
        }
    }

    /// Returns when the fault ended.
    async fn drive(&mut self) -> Timestamp {
        for _ in 0..3 {
            let contender = Contender {
                client: self.client(),
                clock: self.clock.clone(),
                control: self.server.clone(),
                recipe: self.recipe,
                care: self.care,
                beliefs: Arc::clone(&self.beliefs),
            };
            tokio::spawn(contender.run(self.rng.fork()));
        }
        self.pass(BEGIN).await;
        let control = self.server.clone();
        self.fault.begin(&control, &mut self.rng);
        while self.clock.now() < END {
            let pause = Duration::from_millis(self.rng.u64(500..8000));
            self.pass(pause).await;
            let stood = self.fault.strike(&control, &mut self.rng);
            self.clock.advance(stood);
        }
        self.settle().await;
        self.fault.end(&control);
        let ended = control.now();
        self.pass(OVER - END).await;
        ended
    }

    /// A connection pool of its own: contenders are programs.
    fn client(&self) -> Client {
        let builder = Client::builder().address(self.server.url());
        let builder = builder.clock(Arc::new(self.clock.clone())).timeout(TIMEOUT);
        builder.build().expect("an address")
    }

    /// Lets time pass for everybody, from one moment at which something is due to the next.
    async fn pass(&mut self, duration: Duration) {
        let until = self.clock.now() + duration;
        loop {
            self.settle().await;
            let left = until.saturating_sub(self.clock.now());
            if left.is_zero() {
                return;
            }
            let due = [self.clock.to_next(), self.server.next_deadline()];
            let next = due.into_iter().flatten().min().unwrap_or(left);
            let step = next.max(Duration::from_millis(1)).min(left);
            self.server.advance(step);
            self.clock.advance(step);
        }
    }

    /// Lets everybody do what can be done without time: until all that was sent has arrived, the server rests, and
    /// nothing new happens for some rounds, in which the contenders can read what they were answered.
    async fn settle(&mut self) {
        let mut before = self.seen();
        let mut quiet = 0;
        for _ in 0..MOST_ROUNDS {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            // What was sent before it has been read when it is answered.
            self.line.round_trip();
            let rests = self.server.wait_idle_async(PATIENCE).await;
            rests.expect("the server answers or holds every call");
            let now = self.seen();
            // A call that its program has given up may be held on: more can be open than are waited for.
            let arrived = self.server.open_requests() >= self.clock.calls();
            quiet = if arrived && now == before {
                quiet + 1
            } else {
                0
            };
            before = now;
            if quiet == 3 {
                return;
            }
        }
        let history = self.server.history_text();
        panic!("the contenders do not come to rest:\n{history}");
    }

    /// What grows when somebody does something.
    fn seen(&self) -> (u64, u64) {
        (self.server.last_record(), self.clock.begun())
    }
}

/// A connection to the control plane, which no fault touches.
struct Line(BufReader<TcpStream>);

impl Line {
    fn to(server: &Server) -> Self {
        let url = server.control_url();
        let address = url.trim_start_matches("http://");
        let address = address.trim_end_matches("/proconsul/v1");
        Self(BufReader::new(
            TcpStream::connect(address).expect("the control plane listens"),
        ))
    }

    /// Asks for the time, and waits for the answer.
    fn round_trip(&mut self) {
        let request = b"GET /proconsul/v1/clock HTTP/1.1\r\nHost: control\r\n\r\n";
        let sent = self.0.get_mut().write_all(request);
        sent.expect("the control plane reads");
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line);
            read.expect("the control plane answers");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length is a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        let read = self.0.read_exact(&mut body);
        read.expect("the answer is whole");
    }
}

impl Outcome {
    /// Everything that was not safe and is not in the nature of the fault, with the life of the key.
    pub(crate) fn safety(&self) -> Result<(), String> {
        let found = self.server.check_lock_safety(KEY, &self.beliefs);
        let mut found = found.err().unwrap_or_default();
        found.retain(|found| !self.fault.explains(found));
        if found.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = found.iter().map(|found| format!("- {found}\n")).collect();
        let (fault, recipe) = (self.fault, self.recipe);
        let history = self.server.history_text();
        let lines = lines.concat();
        Err(format!(
            "{recipe:?} under {fault:?} was not safe:\n{lines}{history}"
        ))
    }

    /// That somebody held the lock before, and again after the fault.
    pub(crate) fn progress(&self) -> Result<(), String> {
        let (fault, recipe) = (self.fault, self.recipe);
        let before = self.beliefs.iter().any(|belief| belief.from < self.ended);
        let after = self.beliefs.iter().any(|belief| belief.from > self.ended);
        if before && after {
            return Ok(());
        }
        let history = self.server.history_text();
        Err(format!(
            "{recipe:?} under {fault:?}: held before its end: {before}, and after: {after}\n{history}"
        ))
    }
}
