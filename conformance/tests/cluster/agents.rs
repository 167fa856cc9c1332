//! The agents that the rows are held against, real or ours: three servers and a client agent, or two datacenters.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use proconsul::config::{Config, Listener};
use proconsul::{Server, Version};
use proconsul_conformance::time::{Clock, RealClock, Stopwatch};
use proconsul_conformance::wire::{self, Address, Connection, Outcome, Reply, Request};
use proconsul_lab::sequence::{Agent, Side};
use proconsul_testing::{DnsAnswer, DnsQuestion, ask_over_udp};

use crate::network::Network;
use crate::processes::Started;

/// An agent: its datacenter, and whether it is a server.
pub(crate) type Role = (&'static str, bool);

/// Which agents a group of claims needs.
#[derive(Clone, Copy)]
pub(crate) struct Agents {
    pub(crate) roles: &'static [Role],
    /// Whether they look at tokens. What no rule denies is allowed.
    pub(crate) has_acls: bool,
}

/// One datacenter of three servers and a client agent.
pub(crate) const ONE: Agents = Agents {
    roles: &[("dc1", true), ("dc1", true), ("dc1", true), ("dc1", false)],
    has_acls: false,
};
/// How many agents that has.
pub(crate) const AGENTS: usize = ONE.roles.len();
/// The number of its client agent.
pub(crate) const CLIENT: usize = 3;
/// A datacenter of a server and a client agent, and another of a server.
pub(crate) const TWO: Agents = Agents {
    roles: &[("dc1", true), ("dc1", false), ("dc2", true)],
    has_acls: true,
};
/// The token that may do everything, where tokens are looked at.
pub(crate) const MANAGEMENT: &str = "11111111-1111-1111-1111-111111111111";
/// What each hop puts before an error.
pub(crate) const HOP: &str = "rpc error making call: ";
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// How often real agents are started until they come up.
const ATTEMPTS: usize = 3;
/// How long they may take to.
const COMES_UP: Duration = Duration::from_secs(40);
/// How long what takes time may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two looks at something that is to change.
const REST: Duration = Duration::from_millis(10);

/// Agents that know each other.
pub(crate) struct Cluster {
    pub(crate) name: &'static str,
    addresses: Vec<Address>,
    dns: Vec<SocketAddr>,
    processes: Processes,
    /// Runs since an agent was killed.
    killed: Stopwatch,
    /// What keeps ours running.
    _running: Option<Server>,
}

enum Processes {
    Real(Vec<Child>, Started),
    /// The controls of each agent, by its number in its datacenter.
    Own(Vec<(Server, usize)>),
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Processes::Real(children, _) = &mut self.processes {
            for child in children {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Returns a loopback address that no other server of these tests has: while an agent is killed, nobody else takes its port.
/// A system that has only one loopback address returns that.
fn own_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let own = Ipv4Addr::new(127, 0, 77, NEXT.fetch_add(1, Ordering::Relaxed));
    let is_there = TcpListener::bind((own, 0)).is_ok();
    if is_there { own } else { Ipv4Addr::LOCALHOST }
}

impl Cluster {
    /// Ours, whose time passes as it does for everybody.
    pub(crate) fn own(agents: Agents) -> Self {
        let Agents { roles, has_acls } = agents;
        let in_first = |is_server| {
            roles
                .iter()
                .filter(|role| **role == ("dc1", is_server))
                .count()
        };
        let own = own_address();
        let mut config = Config {
            listeners: vec![Listener::Tcp((own, 0).into())],
            ..Config::default()
        };
        config.dns.listeners = vec![(own, 0).into()];
        config.acl.enabled = has_acls;
        config.acl.tokens.initial_management = MANAGEMENT.to_owned();
        let builder = Server::builder().config(config).version(Version::V1_8_7);
        let mut builder = builder.agents_and_clients(in_first(true), in_first(false));
        if roles.iter().any(|(datacenter, _)| *datacenter == "dc2") {
            builder = builder.datacenters(["dc1", "dc2"]);
        }
        let server = builder.start().expect("there are free ports");
        let handle = |(number, (datacenter, _)): (usize, &Role)| {
            let before = roles[..number].iter();
            let number = before.filter(|(other, _)| other == datacenter).count();
            (server.datacenter(datacenter), number)
        };
        let handles: Vec<_> = roles.iter().enumerate().map(handle).collect();
        let address = |(server, number): &(Server, usize)| {
            let address = server.agent(*number).addr();
            assert_eq!(address.ip(), own, "each agent is there");
            Address::parse(&address.to_string()).expect("it is an address")
        };
        let cluster = Self {
            name: "proconsul",
            addresses: handles.iter().map(address).collect(),
            dns: handles
                .iter()
                .map(|(server, number)| server.agent(*number).dns_addr())
                .collect(),
            processes: Processes::Own(handles),
            killed: Stopwatch::start(),
            _running: Some(server),
        };
        cluster.remove_dead_servers(false);
        cluster
    }

    /// Real ones, at 127.0.0.1 and so on, or each in its own network. Returns when they have leaders and know each other. They are
    /// started again if another process takes one of their ports.
    pub(crate) fn real(binary: &Path, agents: Agents, network: Option<&Network>) -> Self {
        let roles = agents.roles;
        let mut logs = String::new();
        for _ in 0..ATTEMPTS {
            let cluster = Self::started(binary, agents, network.cloned());
            let all_known = cluster.comes(COMES_UP, || {
                ["dc1", "dc2"].iter().all(|datacenter| {
                    let count = roles.iter().filter(|(of, _)| of == datacenter).count();
                    let list = Request::get(&format!("/v1/catalog/nodes?dc={datacenter}"));
                    let knows = |agent| {
                        let nodes = cluster.asks(agent, &list);
                        nodes
                            .is_some_and(|nodes| text(&nodes).matches("\"Node\":").count() == count)
                    };
                    count == 0 || (0..roles.len()).all(knows)
                }) && (0..roles.len()).all(|agent| cluster.looks_at_tokens(agent, agents.has_acls))
            });
            if all_known {
                return cluster;
            }
            let Processes::Real(_, started) = &cluster.processes else {
                unreachable!("they are real");
            };
            logs = started.logs();
        }
        panic!("the agents do not come up:\n{logs}");
    }

    /// Whether an agent resolves tokens, the anonymous one too: real ones begin with the legacy system, and make theirs later.
    fn looks_at_tokens(&self, agent: usize, has_acls: bool) -> bool {
        let own = format!("/v1/acl/token/self?token={MANAGEMENT}");
        let targets = ["/v1/agent/self", &own];
        let targets = &targets[..1 + usize::from(has_acls)];
        targets.iter().all(|target| {
            let reply = self.asks(agent, &Request::get(target));
            reply.is_some_and(|reply| reply.status == 200)
        })
    }

    fn started(binary: &Path, agents: Agents, network: Option<Network>) -> Self {
        let roles = agents.roles;
        let started = Started::new(binary, agents, network);
        let address = |agent| {
            let address = Address::parse(&started.http(agent).to_string());
            address.expect("it is an address")
        };
        Self {
            name: "Consul",
            addresses: (0..roles.len()).map(address).collect(),
            dns: (0..roles.len()).map(|agent| started.dns(agent)).collect(),
            processes: Processes::Real(
                (0..roles.len()).map(|agent| started.start(agent)).collect(),
                started,
            ),
            killed: Stopwatch::start(),
            _running: None,
        }
    }

    /// Switches on or off that autopilot removes dead servers. It is off on both clusters when they start.
    pub(crate) fn remove_dead_servers(&self, removes: bool) {
        let settings = format!(
            r#"{{"CleanupDeadServers":{removes},"LastContactThreshold":"200ms","MaxTrailingLogs":250,"ServerStabilizationTime":"10s"}}"#
        );
        let configured = self.put(0, "/v1/operator/autopilot/configuration", &settings);
        self.is(&configured, 200, "true");
    }

    /// Returns how long ago an agent was killed.
    pub(crate) fn since_kill(&self) -> Duration {
        self.killed.elapsed()
    }

    /// Kills an agent.
    pub(crate) fn kill(&mut self, agent: usize) {
        self.killed = Stopwatch::start();
        match &mut self.processes {
            Processes::Real(children, _) => {
                children[agent].kill().expect("it runs");
                children[agent].wait().expect("it ends");
            }
            Processes::Own(handles) => {
                let (server, number) = &handles[agent];
                server.kill_agent(*number).expect("it closes");
            }
        }
    }

    /// Stops the process of an agent, or lets it go on.
    pub(crate) fn pause(&self, agent: usize, stops: bool) {
        match &self.processes {
            Processes::Real(children, _) => {
                let signal = if stops { "-STOP" } else { "-CONT" };
                let kill = format!("kill {signal} {}", children[agent].id());
                let sent = Command::new("sh").args(["-c", &kill]).status();
                assert!(sent.expect("there is a shell").success());
                if stops {
                    self.until("it stands still", || stands_still(children[agent].id()));
                }
            }
            Processes::Own(handles) => {
                let (server, number) = &handles[agent];
                match stops {
                    true => server.agent(*number).pause(),
                    false => server.agent(*number).resume(),
                }
            }
        }
    }

    /// Cuts an agent off from the others, but not from its clients, or lets it reach them again.
    pub(crate) fn cut(&self, agent: usize, is_cut: bool) {
        match &self.processes {
            Processes::Real(_, started) => {
                let network = started.network().expect("only who has one can be cut off");
                network.plug(agent, !is_cut);
            }
            Processes::Own(handles) => {
                let (server, number) = &handles[agent];
                match is_cut {
                    true => server.agent(*number).cut(),
                    false => server.agent(*number).heal(),
                }
            }
        }
    }

    /// Starts an agent again that was killed or has left, with the data that it had.
    pub(crate) fn start(&mut self, agent: usize) {
        match &mut self.processes {
            Processes::Real(children, started) => {
                children[agent].wait().expect("it ends");
                children[agent] = started.start(agent);
            }
            Processes::Own(handles) => {
                let (server, number) = &handles[agent];
                server.start_agent(*number).expect("it opens");
            }
        }
    }

    /// Asks an agent; `None` if it does not answer. A real agent answers late about its own services while it syncs them with a dead
    /// leader (cluster.md 4.4.r3).
    pub(crate) fn asks(&self, agent: usize, request: &Request) -> Option<Reply> {
        let request = request.clone().patience(PATIENCE);
        match wire::exchange(&self.addresses[agent], &request) {
            Outcome::Reply(reply) => Some(reply),
            _ => None,
        }
    }

    pub(crate) fn ask(&self, agent: usize, request: &Request) -> Reply {
        let reply = self.asks(agent, request);
        reply.unwrap_or_else(|| panic!("{}: agent {agent} answers {request:?}", self.name))
    }

    pub(crate) fn get(&self, agent: usize, target: &str) -> Reply {
        self.ask(agent, &Request::get(target))
    }

    pub(crate) fn put(&self, agent: usize, target: &str, body: &str) -> Reply {
        self.ask(agent, &Request::put(target, body))
    }

    /// Sends a read to an agent, as [`Cluster::sent`] does.
    pub(crate) fn asked(&self, agent: usize, target: &str) -> JoinHandle<Option<Reply>> {
        self.sent(agent, &Request::get(target))
    }

    /// Sends a request to an agent, and reads in another thread. Joining that returns the answer.
    pub(crate) fn sent(&self, agent: usize, request: &Request) -> JoinHandle<Option<Reply>> {
        let connection = Connection::open(&self.addresses[agent]);
        let mut connection = connection.expect("it listens, even if it stands still");
        connection.send(&request.to_bytes("consul"));
        thread::spawn(move || match connection.read(false, PATIENCE) {
            Outcome::Reply(reply) => Some(reply),
            _ => None,
        })
    }

    /// Asks an agent over DNS. Returns the outcome and the records.
    pub(crate) fn resolve(
        &self,
        agent: usize,
        name: &str,
        kind: &'static str,
    ) -> (String, Vec<String>) {
        let question = DnsQuestion::new(name, kind).bytes();
        let answer = ask_over_udp(self.dns[agent], &question);
        let answer = answer.unwrap_or_else(|error| panic!("{}: {name}: {error}", self.name));
        let mut answer = DnsAnswer::read(&answer);
        answer.records.sort();
        let outcome = answer.head.split(' ').next().unwrap_or_default();
        (outcome.to_owned(), answer.records)
    }

    /// Sends a default and a stale query that wait for a change of a key, and returns when the agent has them.
    pub(crate) fn blocked(&self, agent: usize, key: &str) -> [JoinHandle<Option<Reply>>; 2] {
        let index = header(&self.get(agent, &format!("/v1/kv/{key}")), "X-Consul-Index");
        let index = index.expect("a read has it");
        let asked = ["", "&stale"].map(|consistency| {
            let target = format!("/v1/kv/{key}?raw&index={index}&wait=2m{consistency}");
            self.asked(agent, &target)
        });
        // What comes after them is answered: they have to be there.
        self.get(agent, &format!("/v1/kv/{key}"));
        asked
    }

    /// Returns the name of an agent's node.
    pub(crate) fn node(&self, agent: usize) -> String {
        let own = text(&self.get(agent, "/v1/agent/self"));
        let name = own.split(r#""NodeName":""#).nth(1);
        let name = name.and_then(|rest| rest.split('"').next());
        name.unwrap_or_else(|| panic!("{own}")).to_owned()
    }

    /// Returns a session of the agent that is asked.
    pub(crate) fn session(&self, agent: usize, body: &str) -> String {
        let made = text(&self.put(agent, "/v1/session/create", body));
        made.split('"')
            .nth(3)
            .unwrap_or_else(|| panic!("{made}"))
            .to_owned()
    }

    /// Acquires a lock through an agent, if it is free.
    pub(crate) fn acquires(&self, agent: usize, key: &str, session: &str) -> bool {
        let acquire = Request::put(&format!("/v1/kv/{key}?acquire={session}"), "x");
        let acquired = self.asks(agent, &acquire);
        acquired.is_some_and(|acquired| text(&acquired).trim() == "true")
    }

    /// Returns the number of the leader.
    pub(crate) fn leader(&self) -> usize {
        let leads = |agent: &usize| {
            let own = self.asks(*agent, &Request::get("/v1/agent/self"));
            own.is_some_and(|own| text(&own).contains(r#""leader":"true""#))
        };
        let leader = (0..CLIENT).find(leads);
        leader.unwrap_or_else(|| panic!("{}: there is a leader", self.name))
    }

    /// Returns the servers as random operations want them: the leader first. Which of them a client agent asks is chance.
    pub(crate) fn side(&self) -> Side {
        let leader = self.leader();
        let mut agents: Vec<Agent> = (0..CLIENT)
            .map(|agent| Agent {
                address: self.addresses[agent].clone(),
                node: self.node(agent),
            })
            .collect();
        agents[..=leader].rotate_right(1);
        Side { agents }
    }

    /// Returns the servers that do not lead.
    pub(crate) fn followers(&self) -> [usize; 2] {
        let leader = self.leader();
        [(leader + 1) % CLIENT, (leader + 2) % CLIENT]
    }

    /// Checks an answer.
    pub(crate) fn is(&self, reply: &Reply, status: u16, body: &str) {
        let says = (reply.status, text(reply));
        assert_eq!((says.0, says.1.trim()), (status, body), "{}", self.name);
    }

    /// Whether an agent knows no leader.
    pub(crate) fn knows_none(&self, agent: usize) -> bool {
        text(&self.get(agent, "/v1/status/leader")).trim() == "\"\""
    }

    /// A leader that has lost its followers steps down, which fails what it is asked to write.
    pub(crate) fn steps_down(&self, leader: usize, key: &str) {
        let begun = Stopwatch::start();
        let pending = self.put(leader, &format!("/v1/kv/{key}"), "pending");
        self.is(&pending, 500, "leadership lost while committing log");
        let bounds = Duration::from_millis(250)..3 * SECOND;
        self.took("a write without followers", begun.elapsed(), bounds);
        self.until("it has no leader", || self.knows_none(leader));
    }

    /// Checks that an agent without a leader refuses a write after 7 s.
    pub(crate) fn waits_in_vain(&self, agent: usize) {
        let begun = Stopwatch::start();
        let refused = self.put(agent, "/v1/kv/refused", "x");
        self.is(&refused, 500, "No cluster leader");
        assert_eq!(
            header(&refused, "X-Consul-KnownLeader"),
            None,
            "{}",
            self.name
        );
        let bounds = 6 * SECOND..9 * SECOND;
        self.took("a write without a leader", begun.elapsed(), bounds);
    }

    /// Prints how long something took, and checks it. Real agents, which are several processes, may take half as long again on a busy
    /// machine: 4 s remain less than the 7 s of a wait for a leader.
    #[expect(
        clippy::print_stderr,
        reason = "the times of both are shown side by side"
    )]
    pub(crate) fn took(&self, what: &str, took: Duration, expected: Range<Duration>) {
        eprintln!("{}: {what} took {took:.2?}", self.name);
        let latest = match self.processes {
            Processes::Real(..) => expected.end + expected.end / 2,
            Processes::Own(_) => expected.end,
        };
        assert!(
            (expected.start..latest).contains(&took),
            "{}: {what} took {took:?}",
            self.name
        );
    }

    /// Waits until something holds. Returns how long that took.
    pub(crate) fn until(&self, what: &str, holds: impl FnMut() -> bool) -> Duration {
        let begun = Stopwatch::start();
        assert!(
            self.comes(PATIENCE, holds),
            "{}: not within {PATIENCE:?}: {what}",
            self.name
        );
        begun.elapsed()
    }

    /// Waits until something holds, for this long. Returns whether it does.
    fn comes(&self, within: Duration, mut holds: impl FnMut() -> bool) -> bool {
        let begun = Stopwatch::start();
        while !holds() {
            if begun.elapsed() > within {
                return false;
            }
            RealClock.pass(REST).expect("time passes");
        }
        true
    }
}

/// Returns the answer to a request that was sent.
pub(crate) fn answered(sent: JoinHandle<Option<Reply>>) -> Reply {
    sent.join().expect("it ends").expect("it is answered")
}

/// Whether each thread of a process is stopped: a signal comes to them one after the other.
fn stands_still(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    threads.flatten().all(|thread| {
        let state = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        state
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}

/// Returns the body of a reply.
pub(crate) fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

pub(crate) fn header(reply: &Reply, name: &str) -> Option<String> {
    reply.header(name).map(str::to_owned)
}
