//! Where a server can be reached.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::Controls;

/// An address at which a server can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Over TCP.
    Tcp(SocketAddr),
    /// At the path of a Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(formatter),
            Address::Unix(path) => write!(formatter, "unix://{}", path.display()),
        }
    }
}

/// The addresses at which an agent listens.
#[derive(Clone, Debug, Default)]
pub struct AgentAddresses {
    /// For the API.
    pub api: Vec<Address>,
    /// For DNS, over UDP and TCP.
    pub dns: Vec<SocketAddr>,
}

/// The addresses at which the agents of another datacenter listen.
#[derive(Clone, Debug)]
pub struct DatacenterAddresses {
    /// The name of the datacenter.
    pub name: String,
    /// Those of each agent.
    pub of_agents: Vec<AgentAddresses>,
}

/// The addresses at which a server listens.
#[derive(Debug)]
pub struct Addresses {
    /// For the API.
    pub api: Vec<Address>,
    /// Those of each agent, the first one's as here.
    pub of_agents: Vec<AgentAddresses>,
    /// Those of the other datacenters, at the first one.
    pub others: Vec<DatacenterAddresses>,
    /// For the API over HTTPS.
    pub https: Vec<Address>,
    /// For DNS, over UDP and TCP.
    pub dns: Vec<SocketAddr>,
    /// For the control plane, if it has a port of its own.
    pub control: Option<SocketAddr>,
}

/// # Where it is
impl Controls {
    /// Returns the address of the server.
    ///
    /// # Panics
    /// If the server was configured to listen on Unix sockets only; see [`Controls::addresses`].
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        let tcp = self.addresses.api.iter().find_map(|address| match address {
            Address::Tcp(address) => Some(*address),
            Address::Unix(_) => None,
        });
        tcp.expect(
            "the server listens on TCP, unless its configuration says otherwise or it is one in its caller's runtime",
        )
    }

    /// Returns the URL of the server, without a slash at its end: `http://127.0.0.1:40123`. For a server that listens
    /// at all addresses it has the loopback address.
    ///
    /// # Panics
    /// As [`Controls::addr`].
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.addr()))
    }

    /// Returns all addresses of the server.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses.api
    }

    /// Returns the address at which the server answers DNS, over UDP and TCP.
    ///
    /// # Panics
    /// If the server was not configured to answer DNS.
    #[cfg(feature = "dns")]
    #[must_use]
    pub fn dns_addr(&self) -> SocketAddr {
        let first = self.addresses.dns.first();
        *first.expect("the server answers DNS where its configuration says so: see `Builder::dns`")
    }

    /// Where the control plane is served, for programs in other languages: `http://127.0.0.1:40123/proconsul/v1`.
    ///
    /// # Panics
    /// As [`Controls::addr`], unless the control plane has a port of its own.
    #[cfg(feature = "control-http")]
    #[must_use]
    pub fn control_url(&self) -> String {
        self.url_of_control_plane()
    }

    /// Returns the addresses of all that the server serves.
    pub fn all_addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Returns where the control plane is served, whether this build has one or not.
    #[must_use]
    pub fn url_of_control_plane(&self) -> String {
        let address = self.addresses.control.unwrap_or_else(|| self.addr());
        format!("http://{}/proconsul/v1", reachable(address))
    }
}

/// Returns an address that a client on this machine can connect to: the loopback one where `address` stands for all.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
