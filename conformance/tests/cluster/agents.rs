//! The agents that the rows are held against, real or ours: three servers and a client agent, or two datacenters.

use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use proconsul::{Server, Version};
use proconsul_conformance::time::{Clock, RealClock, Stopwatch};
use proconsul_conformance::wire::{self, Address, Connection, Outcome, Reply, Request};

/// An agent: its datacenter, and whether it is a server.
type Role = (&'static str, bool);

/// One datacenter of three servers and a client agent.
pub(crate) const ONE: [Role; 4] = [("dc1", true), ("dc1", true), ("dc1", true), ("dc1", false)];
/// How many agents that has.
pub(crate) const AGENTS: usize = ONE.len();
/// The number of its client agent.
pub(crate) const CLIENT: usize = 3;
/// A datacenter of a server and a client agent, and another of a server.
pub(crate) const TWO: [Role; 3] = [("dc1", true), ("dc1", false), ("dc2", true)];
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
    processes: Processes,
    directory: Option<PathBuf>,
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
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

impl Cluster {
    /// Ours, whose time passes as it does for everybody.
    pub(crate) fn own(roles: &'static [Role]) -> Self {
        let in_first = |is_server| {
            roles
                .iter()
                .filter(|role| **role == ("dc1", is_server))
                .count()
        };
        let builder = Server::builder().version(Version::V1_8_7);
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
            let address = server.agent(*number).addr().to_string();
            Address::parse(&address).expect("it is an address")
        };
        Self {
            name: "proconsul",
            addresses: handles.iter().map(address).collect(),
            processes: Processes::Own(handles),
            directory: None,
            _running: Some(server),
        }
    }

    /// Real ones, at 127.0.0.1 and so on, once they have leaders and know each other. A port may be taken meanwhile, and
    /// then they are started again.
    pub(crate) fn real(binary: &Path, roles: &'static [Role]) -> Self {
        let mut logs = String::new();
        for attempt in 0..ATTEMPTS {
            let cluster = Self::started(binary, roles, attempt);
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
                })
            });
            if all_known {
                return cluster;
            }
            logs = cluster.logs();
        }
        panic!("the agents do not come up:\n{logs}");
    }

    fn started(binary: &Path, roles: &'static [Role], attempt: usize) -> Self {
        let (process, agents) = (std::process::id(), roles.len());
        let name = format!("proconsul-cluster-{process}-{agents}-{attempt}");
        let directory = std::env::temp_dir().join(name);
        let started = Started {
            binary: binary.to_owned(),
            directory: directory.clone(),
            ports: free_ports(agents, attempt),
            roles,
        };
        let address = |agent: usize| {
            let address = format!("127.0.0.{}:{}", agent + 1, started.ports[0]);
            Address::parse(&address).expect("it is an address")
        };
        Self {
            name: "Consul",
            addresses: (0..agents).map(address).collect(),
            processes: Processes::Real(
                (0..agents).map(|agent| started.start(agent)).collect(),
                started,
            ),
            directory: Some(directory),
            _running: None,
        }
    }

    /// Returns what real agents have logged.
    fn logs(&self) -> String {
        let logs = (0..self.addresses.len()).map(|agent| {
            let directory = self.directory.as_ref()?;
            std::fs::read_to_string(directory.join(agent.to_string()).join("log")).ok()
        });
        logs.flatten().collect()
    }

    /// Kills an agent.
    pub(crate) fn kill(&mut self, agent: usize) {
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

    /// Asks an agent; `None` if it does not answer.
    pub(crate) fn asks(&self, agent: usize, request: &Request) -> Option<Reply> {
        match wire::exchange(&self.addresses[agent], request) {
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

    /// Sends a request to an agent, and reads in another thread. Joining that returns the answer.
    pub(crate) fn asked(&self, agent: usize, target: &str) -> JoinHandle<Option<Reply>> {
        let connection = Connection::open(&self.addresses[agent]);
        let mut connection = connection.expect("it listens, even if it stands still");
        connection.send(&Request::get(target).to_bytes("consul"));
        thread::spawn(move || match connection.read(false, PATIENCE) {
            Outcome::Reply(reply) => Some(reply),
            _ => None,
        })
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

    /// Returns the number of the leader.
    pub(crate) fn leader(&self) -> usize {
        let leads = |agent: &usize| {
            let own = self.asks(*agent, &Request::get("/v1/agent/self"));
            own.is_some_and(|own| text(&own).contains(r#""leader":"true""#))
        };
        let leader = (0..CLIENT).find(leads);
        leader.unwrap_or_else(|| panic!("{}: there is a leader", self.name))
    }

    /// Returns the servers that do not lead.
    pub(crate) fn followers(&self) -> [usize; 2] {
        let leader = self.leader();
        [(leader + 1) % CLIENT, (leader + 2) % CLIENT]
    }

    /// Prints how long something took, and checks it.
    #[expect(
        clippy::print_stderr,
        reason = "the times of both are shown side by side"
    )]
    pub(crate) fn took(&self, what: &str, took: Duration, expected: Range<Duration>) {
        eprintln!("{}: {what} took {took:.2?}", self.name);
        assert!(
            expected.contains(&took),
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

/// Returns the body of a reply.
pub(crate) fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

pub(crate) fn header(reply: &Reply, name: &str) -> Option<String> {
    reply.header(name).map(str::to_owned)
}

/// Returns four ports that are free at all addresses, for TCP and UDP. They are below those that the system gives. Each number
/// of agents has its own range, because several clusters start at the same time.
fn free_ports(agents: usize, attempt: usize) -> Vec<u16> {
    let from = std::process::id() as usize * 89 + agents * 5003 + attempt * 997;
    let candidates = (0..4000).map(|step| 12_000 + (from + step) % 18_000);
    let candidates = candidates.filter_map(|port| u16::try_from(port).ok());
    let is_free = |port: &u16| {
        let mut each = (1..=agents).map(|last| format!("127.0.0.{last}:{port}"));
        let free = |at: &String| TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok();
        each.all(|at| free(&at))
    };
    candidates.filter(is_free).take(4).collect()
}

/// What real agents are started with.
struct Started {
    binary: PathBuf,
    directory: PathBuf,
    /// For HTTP, RPC, gossip, and gossip between datacenters, at each address.
    ports: Vec<u16>,
    roles: &'static [Role],
}

impl Started {
    fn start(&self, agent: usize) -> Child {
        let [http, server, serf, wan] = &self.ports[..] else {
            panic!("four ports");
        };
        let (datacenter, is_server) = self.roles[agent];
        let has_others = self.roles.iter().any(|(other, _)| *other != datacenter);
        let wan = if has_others { i32::from(*wan) } else { -1 };
        let same = |role: &&Role| role.0 == datacenter;
        let servers = self.roles.iter().filter(same).filter(|role| role.1).count();
        let first = self
            .roles
            .iter()
            .position(|role| same(&role))
            .expect("itself")
            + 1;
        let address = format!("127.0.0.{}", agent + 1);
        let data = self.directory.join(agent.to_string());
        std::fs::create_dir_all(&data).expect("a directory for its data");
        let settings = format!(
            "ports {{ http = {http} server = {server} serf_lan = {serf} serf_wan = {wan} dns = -1 }} \
         performance {{ raft_multiplier = 1 }} autopilot {{ cleanup_dead_servers = false }}"
        );
        let mut command = Command::new(&self.binary);
        command
            .args(["agent", "-log-level=warn", "-node", &format!("s{agent}")])
            .args(["-datacenter", datacenter])
            .args(["-bind", &address, "-client", &address])
            .arg("-data-dir")
            .arg(&data)
            .args(["-hcl", &settings, "-retry-interval=1s"])
            .args(["-retry-join", &format!("127.0.0.{first}:{serf}")])
            .stdout(File::create(data.join("log")).expect("a file for its log"))
            .stderr(Stdio::null());
        if is_server {
            command.args(["-server", &format!("-bootstrap-expect={servers}")]);
        }
        if is_server && has_others {
            command.args(["-retry-join-wan", &format!("127.0.0.1:{wan}")]);
            command.arg("-retry-interval-wan=1s");
        }
        command.spawn().expect("it starts")
    }
}
