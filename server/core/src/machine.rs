//! A server that its caller drives step by step: inputs go in, outputs come out, and nothing happens in between.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use parking_lot::Mutex;

#[cfg(feature = "control-http")]
use crate::control::OnDemand;
use crate::control::{Addresses, AgentAddresses, Controls, DatacenterAddresses};
#[cfg(feature = "dns")]
use crate::dns::Transport;
use crate::{Context, engine_beside, exchange, fail_checks, join, new_engine, reload_of, serve};
use proconsul_config::Config;
use proconsul_engine::clock::Rate;
use proconsul_engine::host::{Boxed, Host, ManualHost};
use proconsul_engine::{Cause, Engine};
use proconsul_h1::{Closed, Peer, pipe};

/// What a check says that would have to be run.
const NO_CHECKS: &str = "this server runs no checks: its driver has no sockets";

/// A connection, or a request without one, by a number of the caller's.
pub type ConnectionId = u64;

/// Something that happens to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// A client connects. The number must be that of no open connection.
    Connect(ConnectionId, Option<SocketAddr>),
    /// The client sends bytes.
    Bytes(ConnectionId, &'a [u8]),
    /// The client has sent all.
    End(ConnectionId),
    /// The client has gone, or has given up the request.
    Reset(ConnectionId),
    /// A request without a connection, whose number must be that of no open connection or request, from a client with this
    /// address, if it has one: a head as HTTP/1.1 has it, and behind it the body, which is all the rest.
    Request(ConnectionId, Option<SocketAddr>, &'a [u8]),
    /// A question of DNS, whose number must be that of no open connection or request, from a client with this address, if it has
    /// one.
    #[cfg(feature = "dns")]
    Question(ConnectionId, Option<SocketAddr>, Transport, &'a [u8]),
    /// Time has passed: a deadline is reached, or may be.
    Time,
}

/// Something that a server does.
#[derive(Clone, Debug)]
pub enum Output {
    /// It sends bytes.
    Bytes(ConnectionId, Bytes),
    /// It closes the connection, whose number may be used again.
    Closed(ConnectionId, Closed),
    /// It answers a request without a connection, with the whole body; `None` if it cuts it off.
    Response(ConnectionId, Option<Response<Bytes>>),
    /// It answers a question of DNS; `None` if it does not.
    #[cfg(feature = "dns")]
    Answer(ConnectionId, Option<Vec<u8>>),
}

/// When a server next wants to be asked, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadline {
    /// When, as the time since the machine was made.
    pub at: Duration,
    /// What happens then.
    pub cause: Cause,
}

/// A server without sockets, threads or a clock.
///
/// Time goes in as a duration since the machine was made. The same configuration, seed and inputs give the same outputs, on
/// every target. All controls are [`Controls`]; over a connection they are the calls under `/proconsul/v1/`.
///
/// A driver passes in what arrives, sends what comes out, and asks again at the [`deadline`](Machine::deadline):
///
/// ```
/// use std::time::Duration;
///
/// use proconsul_config::Config;
/// use proconsul_core::{Input, Machine, Output};
///
/// /// Sends a request on connection 1 and returns what comes back.
/// fn ask(machine: &mut Machine, now: Duration, request: &str) -> String {
///     let outputs = machine.input(now, Input::Bytes(1, request.as_bytes()));
///     let sent = outputs.filter_map(|output| match output {
///         Output::Bytes(1, bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
///         _ => None,
///     });
///     sent.collect()
/// }
///
/// let mut now = Duration::ZERO;
/// let mut machine = Machine::new(&Config::default(), 7, Duration::from_secs(1_767_225_600));
/// machine.input(now, Input::Connect(1, None)).for_each(drop);
/// let put = "PUT /v1/kv/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1";
/// assert!(ask(&mut machine, now, put).ends_with("true"));
///
/// // A blocking query: nothing comes out until the time is up.
/// let get = "GET /v1/kv/a?index=20&wait=10s HTTP/1.1\r\nHost: x\r\n\r\n";
/// assert_eq!(ask(&mut machine, now, get), "");
/// while machine.deadline().is_some_and(|deadline| deadline.at <= Duration::from_secs(11)) {
///     now = machine.deadline().expect("it waits").at;
///     println!("{now:?}: {}", machine.deadline().expect("it waits").cause);
///     for output in machine.input(now, Input::Time) {
///         let Output::Bytes(1, bytes) = output else { panic!("it stays open") };
///         assert!(bytes.starts_with(b"HTTP/1.1 200 OK"));
///     }
/// }
/// assert!(now >= Duration::from_secs(10));
/// ```
pub struct Machine {
    host: ManualHost,
    /// Those of all agents of each datacenter, one after the other.
    contexts: Vec<Arc<Context>>,
    tasks: BTreeMap<u64, Boxed<()>>,
    last_task: u64,
    ready: Arc<Ready>,
    connections: BTreeMap<ConnectionId, Peer>,
    /// The tasks of requests without a connection, and of questions.
    requests: BTreeMap<ConnectionId, u64>,
    answered: Arc<Mutex<Vec<(ConnectionId, Output)>>>,
    outputs: VecDeque<Output>,
}

/// The tasks that can go on, in the order in which they were woken.
#[derive(Debug, Default)]
struct Ready(Mutex<(VecDeque<u64>, BTreeSet<u64>)>);

impl Ready {
    fn push(&self, task: u64) {
        let mut guard = self.0.lock();
        let (queue, queued) = &mut *guard;
        if queued.insert(task) {
            queue.push_back(task);
        }
    }

    fn pop(&self) -> Option<u64> {
        let mut guard = self.0.lock();
        let (queue, queued) = &mut *guard;
        let task = queue.pop_front()?;
        queued.remove(&task);
        Some(task)
    }
}

/// Wakes one task.
struct WakeTask(u64, Arc<Ready>);

impl Wake for WakeTask {
    fn wake(self: Arc<Self>) {
        self.1.push(self.0);
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Machine")
            .field("connections", &self.connections.len())
            .finish_non_exhaustive()
    }
}

impl Machine {
    /// Returns a server with this configuration, whose addresses are not listened on. `wall` is the wall clock now, as the
    /// time since the Unix epoch.
    #[must_use]
    pub fn new(config: &Config, seed: u64, wall: Duration) -> Self {
        let host = ManualHost::new(wall);
        let configs = config.with_seed(seed).of_datacenters();
        let mut engines: Vec<Arc<Engine>> = Vec::new();
        for config in &configs {
            engines.push(match engines.first() {
                None => new_engine(Arc::new(host.clone()), config, seed, |_| ()),
                Some(first) => engine_beside(first, config, config.seed.unwrap_or_default()),
            });
        }
        let others = configs.iter().skip(1).map(|config| DatacenterAddresses {
            name: config.datacenter.clone(),
            of_agents: nowhere(config),
        });
        let mut others: Vec<_> = others.collect();
        let datacenters = configs.into_iter().zip(&engines);
        let datacenters = datacenters.map(|(config, engine)| {
            agents_of(engine, &Arc::new(config), std::mem::take(&mut others))
        });
        let datacenters: Vec<Vec<_>> = datacenters.collect();
        if datacenters.len() > 1 {
            join(&datacenters);
        }
        let mut machine = Self {
            host,
            contexts: datacenters.into_iter().flatten().collect(),
            tasks: BTreeMap::new(),
            last_task: 0,
            ready: Arc::default(),
            connections: BTreeMap::new(),
            requests: BTreeMap::new(),
            answered: Arc::default(),
            outputs: VecDeque::new(),
        };
        let clock = Arc::clone(&engines[0]);
        machine.spawn(async move { clock.run().await });
        for engine in engines {
            machine.spawn(async move { fail_checks(&engine, NO_CHECKS).await });
        }
        machine.run();
        machine
    }

    /// How many agents the server has, those of joined datacenters counted on.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.contexts.len()
    }

    /// Returns the controls of the server; `None` if its configuration switches them off. What they change reaches clients
    /// with the next input.
    #[must_use]
    pub fn controls(&self) -> Option<&Controls> {
        self.contexts[0].control.as_ref()
    }

    /// Lets a task run beside the server, from the next input on, until it or the machine ends. It may wait for what comes from
    /// the server's clock and engine.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.add(Box::pin(task));
    }

    /// Takes an input at `now`, the time since the machine was made, which never goes back; and returns what the server
    /// does. What is left of it when the iterator is dropped comes with the next input. Input for a connection that is
    /// closed does nothing.
    pub fn input(&mut self, now: Duration, input: Input<'_>) -> Outputs<'_> {
        self.input_to(0, now, input)
    }

    /// Takes an input as [`input`](Self::input) does: a new connection, a request without one, or a question goes to the agent
    /// with this number. Agents of joined datacenters are counted on: with three in each, 3 is the first of the second.
    ///
    /// # Panics
    /// There is no such agent.
    pub fn input_to(&mut self, agent: usize, now: Duration, input: Input<'_>) -> Outputs<'_> {
        let context = Arc::clone(&self.contexts[agent]);
        self.host.advance_to(now);
        match input {
            Input::Connect(id, peer) => self.connect(context, id, peer),
            Input::Bytes(id, bytes) => self.of(id, |peer| peer.feed(bytes)),
            Input::End(id) => self.of(id, Peer::end),
            Input::Reset(id) => match self.requests.remove(&id) {
                Some(task) => drop(self.tasks.remove(&task)),
                None => self.of(id, Peer::reset),
            },
            Input::Request(id, peer, request) => {
                let request = request.to_vec();
                self.answer(id, async move {
                    Output::Response(id, exchange(context, peer, &request).await)
                });
            }
            #[cfg(feature = "dns")]
            Input::Question(id, peer, transport, question) => {
                let (question, client) = (question.to_vec(), peer.map(|peer| peer.ip()));
                self.answer(id, async move {
                    let answer = crate::dns::answer(&context, client, transport, &question);
                    Output::Answer(id, answer.await)
                });
            }
            Input::Time => {}
        }
        self.run();
        self.collect();
        Outputs(self)
    }

    /// Returns when the next input is due, if no other comes before, and why; `None` if nothing will happen by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let at = self.host.next()?;
        let engine = &self.contexts[0].engine;
        let clock = engine.clock();
        let rate = if clock.rate() == Rate::FROZEN {
            0.0
        } else {
            clock.rate().factor()
        };
        let left = at.saturating_sub(self.host.elapsed());
        let then = clock.now().plus(left.mul_f64(rate));
        let due = engine.next_cause().filter(|(at, _)| *at <= then);
        let cause = due.map_or(Cause::Limit, |(_, cause)| cause);
        Some(Deadline { at, cause })
    }

    fn connect(&mut self, context: Arc<Context>, id: ConnectionId, peer: Option<SocketAddr>) {
        let (own, read, write) = pipe();
        self.connections.insert(id, own);
        self.add(Box::pin(serve(context, peer, (read, write), false)));
    }

    /// Starts a task that answers a request or a question, under this number.
    fn answer(&mut self, id: ConnectionId, work: impl Future<Output = Output> + Send + 'static) {
        let answered = Arc::clone(&self.answered);
        self.add(Box::pin(async move {
            let output = work.await;
            answered.lock().push((id, output));
        }));
        self.requests.insert(id, self.last_task);
    }

    fn of(&mut self, id: ConnectionId, change: impl FnOnce(&Peer)) {
        if let Some(peer) = self.connections.get(&id) {
            change(peer);
        }
    }

    fn add(&mut self, task: Boxed<()>) {
        self.last_task += 1;
        self.tasks.insert(self.last_task, task);
        self.ready.push(self.last_task);
    }

    /// Lets all tasks go on for as long as they can.
    fn run(&mut self) {
        while let Some(id) = self.ready.pop() {
            let Some(task) = self.tasks.get_mut(&id) else {
                continue;
            };
            let waker = Waker::from(Arc::new(WakeTask(id, Arc::clone(&self.ready))));
            if task.as_mut().poll(&mut Task::from_waker(&waker)) == Poll::Ready(()) {
                self.tasks.remove(&id);
            }
        }
    }

    fn collect(&mut self) {
        for (id, output) in self.answered.lock().drain(..) {
            self.requests.remove(&id);
            self.outputs.push_back(output);
        }
        self.connections.retain(|id, peer| {
            let bytes = peer.take();
            if !bytes.is_empty() {
                self.outputs.push_back(Output::Bytes(*id, bytes));
            }
            let closed = peer.closed();
            self.outputs
                .extend(closed.map(|how| Output::Closed(*id, how)));
            closed.is_none()
        });
    }
}

/// Returns the addresses of agents that do not listen.
fn nowhere(config: &Config) -> Vec<AgentAddresses> {
    vec![AgentAddresses::default(); config.agents.total()]
}

/// Returns the agents of a datacenter.
fn agents_of(
    engine: &Arc<Engine>,
    config: &Arc<Config>,
    others: Vec<DatacenterAddresses>,
) -> Vec<Arc<Context>> {
    let addresses = Addresses {
        api: Vec::new(),
        of_agents: nowhere(config),
        others,
        https: Vec::new(),
        dns: Vec::new(),
        control: None,
    };
    let controls = Controls::new(
        engine,
        config,
        config.seed.unwrap_or_default(),
        addresses,
        #[cfg(feature = "control-http")]
        OnDemand {
            config: Arc::clone(config),
            addresses: Vec::new(),
            launch: |_| Err("this server starts no others: its driver has no sockets".to_owned()),
            servers: Mutex::default(),
        },
    );
    let control = config.control.then_some(controls);
    let reload = reload_of(engine, config, None);
    let contexts = Context::of_agents(engine, config, control.as_ref(), &reload);
    contexts.into_iter().map(Arc::new).collect()
}

/// What a server does after an input. It borrows the machine, so that all of it is looked at before the next input.
#[derive(Debug)]
#[must_use = "responses are lost that are not sent"]
pub struct Outputs<'a>(&'a mut Machine);

impl Iterator for Outputs<'_> {
    type Item = Output;

    fn next(&mut self) -> Option<Output> {
        self.0.outputs.pop_front()
    }
}
