//! The processes of real agents.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::agents::{Agents, MANAGEMENT, Role};
use crate::network::Network;

/// What real agents are started with.
pub(crate) struct Started {
    binary: PathBuf,
    directory: PathBuf,
    /// For HTTP, DNS, RPC, gossip, and gossip between datacenters, at each address.
    ports: [u16; 5],
    roles: &'static [Role],
    has_acls: bool,
    network: Option<Network>,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Started {
    pub(crate) fn new(binary: &Path, agents: Agents, network: Option<Network>) -> Self {
        let Agents { roles, has_acls } = agents;
        static CLUSTERS: AtomicUsize = AtomicUsize::new(0);
        let (process, number) = (std::process::id(), CLUSTERS.fetch_add(1, Ordering::Relaxed));
        let name = format!("proconsul-cluster-{process}-{number}");
        let from = process as usize * 89 + number * 997;
        let ports = match &network {
            // Nothing else is there.
            Some(_) => [8500, 8600, 8300, 8301, 8302],
            None => free_ports(roles.len(), from),
        };
        Self {
            binary: binary.to_owned(),
            directory: std::env::temp_dir().join(name),
            ports,
            roles,
            has_acls,
            network,
        }
    }

    pub(crate) fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    /// Where other agents reach an agent.
    fn bound(&self, agent: usize) -> Ipv4Addr {
        let of_network = self.network.as_ref().map(|_| Network::cluster(agent));
        of_network.unwrap_or_else(|| loopback(agent))
    }

    /// Where clients reach it.
    fn client(&self, agent: usize) -> Ipv4Addr {
        let of_network = self.network.as_ref().map(|_| Network::client(agent));
        of_network.unwrap_or_else(|| loopback(agent))
    }

    pub(crate) fn http(&self, agent: usize) -> SocketAddr {
        SocketAddr::new(IpAddr::V4(self.client(agent)), self.ports[0])
    }

    pub(crate) fn dns(&self, agent: usize) -> SocketAddr {
        SocketAddr::new(IpAddr::V4(self.client(agent)), self.ports[1])
    }

    /// Returns what the agents have logged.
    pub(crate) fn logs(&self) -> String {
        let log = |agent: usize| {
            let log = self.directory.join(agent.to_string()).join("log");
            std::fs::read_to_string(log).ok()
        };
        (0..self.roles.len()).filter_map(log).collect()
    }

    pub(crate) fn start(&self, agent: usize) -> Child {
        let [http, dns, server, serf, wan] = self.ports;
        let (datacenter, is_server) = self.roles[agent];
        let servers = |of: &str| -> Vec<usize> {
            let of = (self.roles.iter().enumerate()).filter(|(_, role)| **role == (of, true));
            of.map(|(number, _)| number).collect()
        };
        let others: Vec<&str> = self.roles.iter().map(|(name, _)| *name).collect();
        let other = others.into_iter().find(|other| *other != datacenter);
        let wan = if other.is_some() { i32::from(wan) } else { -1 };
        let data = self.directory.join(agent.to_string());
        std::fs::create_dir_all(&data).expect("a directory for its data");
        let acls = match self.has_acls {
            true => format!(r#"acl {{ enabled = true tokens {{ master = "{MANAGEMENT}" }} }}"#),
            false => String::new(),
        };
        let settings = format!(
            "ports {{ http = {http} dns = {dns} server = {server} serf_lan = {serf} serf_wan = {wan} }} \
         performance {{ raft_multiplier = 1 }} autopilot {{ cleanup_dead_servers = false }} {acls}"
        );
        let mut command = match &self.network {
            Some(network) => network.command(agent, &self.binary),
            None => Command::new(&self.binary),
        };
        command
            .args(["agent", "-log-level=warn", "-node", &format!("s{agent}")])
            .args(["-datacenter", datacenter])
            .args(["-bind", &self.bound(agent).to_string()])
            .args(["-client", &self.client(agent).to_string()])
            .arg("-data-dir")
            .arg(&data)
            .args(["-hcl", &settings, "-retry-interval=1s"])
            .stdout(File::create(data.join("log")).expect("a file for its log"))
            .stderr(Stdio::null());
        let same = servers(datacenter);
        for server in &same {
            command.args(["-retry-join", &format!("{}:{serf}", self.bound(*server))]);
        }
        if is_server {
            command.args(["-server", &format!("-bootstrap-expect={}", same.len())]);
        }
        if let Some(other) = other.filter(|_| is_server) {
            let other = self.bound(servers(other)[0]);
            command.args(["-retry-join-wan", &format!("{other}:{wan}")]);
            command.arg("-retry-interval-wan=1s");
        }
        command.spawn().expect("it starts")
    }
}

fn loopback(agent: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, 1 + u8::try_from(agent).expect("agents are few"))
}

/// Returns ports that are free at all addresses, for TCP and UDP. They are below those that the system gives. Each cluster looks
/// from another one on, because several start at the same time.
fn free_ports(agents: usize, from: usize) -> [u16; 5] {
    let candidates = (0..4000).map(|step| 12_000 + (from + step) % 18_000);
    let candidates = candidates.filter_map(|port| u16::try_from(port).ok());
    let is_free = |port: &u16| {
        let mut each = (0..agents).map(|agent| (loopback(agent), *port));
        each.all(|at| TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok())
    };
    let free: Vec<u16> = candidates.filter(is_free).take(5).collect();
    free.try_into().expect("five ports are free")
}
