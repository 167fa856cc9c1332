//! The listening sockets of a server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdTcpListener};
use std::path::Path;

use socket2::SockRef;
use tokio::net::{TcpListener, UdpSocket};

use super::accept::{self, Socket};
use super::{Address, StartError};
use crate::control::Server;
use proconsul_config::{Config, Listener};
use proconsul_core::control::AgentAddresses;

pub(super) type Bound = (Address, Socket);

/// The two sockets of an address of DNS.
#[cfg_attr(not(feature = "dns"), allow(dead_code))]
pub(super) struct DnsSockets {
    pub(super) address: SocketAddr,
    pub(super) udp: UdpSocket,
    pub(super) tcp: Socket,
}

/// All sockets of a server.
pub(super) struct Sockets {
    pub(super) data: Vec<Bound>,
    /// For the API over HTTPS.
    pub(super) https: Vec<Bound>,
    /// For the control plane alone; empty when it is served beside the API.
    pub(super) control: Vec<Bound>,
    pub(super) dns: Vec<DnsSockets>,
}

impl Sockets {
    /// Returns those of a server that listens nowhere.
    pub(super) fn none() -> Self {
        Self {
            data: Vec::new(),
            https: Vec::new(),
            control: Vec::new(),
            dns: Vec::new(),
        }
    }

    /// Binds the sockets of all agents of each datacenter: see [`Sockets::bind`].
    ///
    /// # Errors
    /// One of the addresses cannot be listened on.
    pub(super) fn bind_datacenters(
        config: &Config,
        mut data: Option<StdTcpListener>,
    ) -> Result<Vec<Vec<Self>>, StartError> {
        let datacenters = config.of_datacenters().into_iter();
        datacenters
            .map(|config| Self::bind_agents(&config, data.take()))
            .collect()
    }

    /// Binds the sockets of all agents of a datacenter: see [`Sockets::bind`].
    ///
    /// # Errors
    /// One of the addresses cannot be listened on.
    fn bind_agents(
        config: &Config,
        mut data: Option<StdTcpListener>,
    ) -> Result<Vec<Self>, StartError> {
        let agents = config.of_agents().into_iter().enumerate();
        let agents = agents.map(|(agent, config)| Config {
            // There is one control plane.
            control_port: config.control_port.filter(|_| agent == 0),
            ..config
        });
        agents
            .map(|config| Self::bind(&config, data.take()))
            .collect()
    }

    /// Binds all sockets of a configuration, in the order in which Consul does. `data` replaces those of the API.
    ///
    /// # Errors
    /// One of the addresses cannot be listened on.
    pub(super) fn bind(config: &Config, data: Option<StdTcpListener>) -> Result<Self, StartError> {
        let dns = bind_dns(&config.dns.listeners)?;
        let data = match data {
            Some(listener) => vec![adopt(listener)?],
            None => bind(&config.listeners)?,
        };
        let control = bind_control(config, &data)?;
        let https = bind(&config.https.listeners)?;
        Ok(Self {
            data,
            https,
            control,
            dns,
        })
    }

    pub(super) fn addresses(&self) -> Vec<Address> {
        addresses(&self.data)
    }

    /// Returns the addresses of an agent with these sockets.
    pub(super) fn of_agent(&self) -> AgentAddresses {
        AgentAddresses {
            api: self.addresses(),
            dns: self.dns_addresses(),
        }
    }

    /// Returns the addresses of HTTP and HTTPS.
    pub(super) fn all_addresses(&self) -> Vec<Address> {
        [self.addresses(), self.https_addresses()].concat()
    }

    /// Returns the addresses of HTTPS.
    pub(super) fn https_addresses(&self) -> Vec<Address> {
        addresses(&self.https)
    }

    /// Announces the sockets that tests can close and open, before a test can do so.
    pub(super) fn follow(&self, agent: usize, server: &Server) {
        let sockets = self
            .data
            .iter()
            .chain(&self.https)
            .map(|(_, socket)| socket);
        let sockets = sockets.chain(self.dns.iter().map(|sockets| &sockets.tcp));
        for _ in sockets.filter(|socket| matches!(socket, Socket::Tcp(_))) {
            server.listeners(agent).add_socket();
        }
    }

    pub(super) fn dns_addresses(&self) -> Vec<SocketAddr> {
        self.dns.iter().map(|sockets| sockets.address).collect()
    }

    pub(super) fn control_address(&self) -> Option<SocketAddr> {
        match self.control.first()? {
            (Address::Tcp(address), _) => Some(*address),
            (Address::Unix(_), _) => None,
        }
    }
}

fn addresses(bound: &[Bound]) -> Vec<Address> {
    bound.iter().map(|(address, _)| address.clone()).collect()
}

/// Returns the addresses of these sockets, without ports, each once; 127.0.0.1 without a TCP socket.
pub(super) fn http_addresses(data: &[Bound]) -> Vec<IpAddr> {
    let listeners = data.iter().map(|(address, _)| match address {
        Address::Tcp(address) => Listener::Tcp(*address),
        Address::Unix(path) => Listener::Unix(path.clone()),
    });
    let config = Config {
        listeners: listeners.collect(),
        ..Config::default()
    };
    config.http_addresses()
}

fn bind_control(config: &Config, data: &[Bound]) -> Result<Vec<Bound>, StartError> {
    let Some(port) = config.control_port.filter(|_| config.control) else {
        return Ok(Vec::new());
    };
    if cfg!(not(feature = "control-http")) {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        return Err(not_built(
            address,
            "no control plane (feature `control-http`)",
        ));
    }
    let addresses = if config.control_addresses.is_empty() {
        http_addresses(data)
    } else {
        config.control_addresses.clone()
    };
    let listener = |address| Listener::Tcp(SocketAddr::new(address, port));
    let listeners: Vec<_> = addresses.into_iter().map(listener).collect();
    bind(&listeners)
}

/// Returns the error of a build that lacks what it is to serve.
fn not_built(address: SocketAddr, lacks: &str) -> StartError {
    StartError::Listen {
        address: Address::Tcp(address),
        error: io::Error::other(format!("this build has {lacks}")),
    }
}

/// The number of attempts to find a port that is free at all addresses.
const PORTS_TRIED: usize = 20;

/// Binds all listeners. Those with port 0 at different addresses get the same free port.
fn bind(listeners: &[Listener]) -> Result<Vec<Bound>, StartError> {
    let mut tried = 1;
    loop {
        match bind_at_one_port(listeners) {
            Err(StartError::Listen { error, .. })
                if error.kind() == io::ErrorKind::AddrInUse && tried < PORTS_TRIED =>
            {
                tried += 1;
            }
            bound => return bound,
        }
    }
}

fn bind_at_one_port(listeners: &[Listener]) -> Result<Vec<Bound>, StartError> {
    let mut free_port = None;
    let mut bound: Vec<Bound> = Vec::new();
    for listener in listeners {
        let next = match (listener, free_port) {
            (Listener::Tcp(wanted), Some(port)) if wanted.port() == 0 => {
                let same = SocketAddr::new(wanted.ip(), port);
                let is_taken = bound
                    .iter()
                    .any(|(address, _)| *address == Address::Tcp(same));
                bind_one(&Listener::Tcp(if is_taken { *wanted } else { same }))?
            }
            _ => bind_one(listener)?,
        };
        if let (Listener::Tcp(wanted), (Address::Tcp(address), _)) = (listener, &next)
            && wanted.port() == 0
        {
            free_port.get_or_insert(address.port());
        }
        bound.push(next);
    }
    Ok(bound)
}

pub(super) fn bind_one(listener: &Listener) -> Result<Bound, StartError> {
    match listener {
        Listener::Tcp(wanted) => {
            let socket = StdTcpListener::bind(wanted).map_err(|error| StartError::Listen {
                address: Address::Tcp(*wanted),
                error,
            })?;
            adopt(socket)
        }
        Listener::Unix(path) => bind_unix(path),
    }
}

/// Hands a bound socket over to the runtime. Its backlog becomes Consul's.
pub(super) fn adopt(listener: StdTcpListener) -> Result<Bound, StartError> {
    let address = listener.local_addr().map_err(StartError::Runtime)?;
    let backlog = SockRef::from(&listener).listen(accept::BACKLOG.into());
    backlog.map_err(StartError::Runtime)?;
    listener
        .set_nonblocking(true)
        .map_err(StartError::Runtime)?;
    let listener = TcpListener::from_std(listener).map_err(StartError::Runtime)?;
    Ok((Address::Tcp(address), Socket::Tcp(listener)))
}

/// Binds both sockets of each address. Those with port 0 get the same free port.
fn bind_dns(wanted: &[SocketAddr]) -> Result<Vec<DnsSockets>, StartError> {
    if let (false, Some(address)) = (cfg!(feature = "dns"), wanted.first()) {
        return Err(not_built(*address, "no DNS (feature `dns`)"));
    }
    let mut tried = 1;
    loop {
        match bind_all_dns(wanted) {
            Err(error) if tried < PORTS_TRIED && wanted.iter().any(|one| one.port() == 0) => {
                tracing::debug!(target: "agent.dns", "no free port: {error}");
                tried += 1;
            }
            bound => return bound,
        }
    }
}

fn bind_all_dns(wanted: &[SocketAddr]) -> Result<Vec<DnsSockets>, StartError> {
    let mut free_port = 0;
    let mut bound = Vec::new();
    for wanted in wanted {
        let port = if wanted.port() == 0 {
            free_port
        } else {
            wanted.port()
        };
        let sockets = bind_both(SocketAddr::new(wanted.ip(), port))?;
        if wanted.port() == 0 {
            free_port = sockets.address.port();
        }
        bound.push(sockets);
    }
    Ok(bound)
}

fn bind_both(wanted: SocketAddr) -> Result<DnsSockets, StartError> {
    let (address, tcp) = match bind_one(&Listener::Tcp(wanted))? {
        (Address::Tcp(address), tcp) => (address, tcp),
        (Address::Unix(_), _) => unreachable!("an address of TCP was asked for"),
    };
    let udp = std::net::UdpSocket::bind(address).and_then(|socket| {
        socket.set_nonblocking(true)?;
        UdpSocket::from_std(socket)
    });
    let udp = udp.map_err(|error| StartError::ListenUdp { address, error })?;
    Ok(DnsSockets { address, udp, tcp })
}

/// Binds a Unix socket. Replaces whatever is there, such as the socket of a dead process, and warns, as Consul does.
fn bind_unix(path: &Path) -> Result<Bound, StartError> {
    let address = Address::Unix(path.to_owned());
    if path.symlink_metadata().is_ok() {
        tracing::warn!(target: "agent", path = %path.display(), "Replacing socket");
    }
    remove_socket(&address);
    match proconsul_os::listen_at(path, accept::BACKLOG) {
        Ok(listener) => Ok((address, Socket::Unix(listener))),
        Err(error) => Err(StartError::Listen { address, error }),
    }
}

pub(super) fn remove_socket(address: &Address) {
    if let Address::Unix(path) = address {
        // It may be gone already.
        let _ = std::fs::remove_file(path);
    }
}
