//! Where a server can be reached.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::Server;
use crate::https::DevCertificates;

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

/// The addresses at which a server listens.
#[derive(Debug)]
pub struct Addresses {
    /// For the API.
    pub api: Vec<Address>,
    /// For the API over HTTPS.
    pub https: Vec<Address>,
    /// The certificate of the authority that was made for HTTPS, as PEM, and what a client may show.
    pub certificates: Option<DevCertificates>,
    /// For the control plane, if it has a port of its own.
    pub control: Option<SocketAddr>,
}

/// # Where it is
impl Server {
    /// Returns the address of the server.
    ///
    /// # Panics
    /// If the server was configured to listen on Unix sockets only; see [`Server::addresses`].
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        let tcp = self.addresses.api.iter().find_map(|address| match address {
            Address::Tcp(address) => Some(*address),
            Address::Unix(_) => None,
        });
        tcp.expect("the server listens on TCP unless its configuration says otherwise")
    }

    /// Returns the URL of the server, without a slash at its end: `http://127.0.0.1:40123`. For a server that listens
    /// at all addresses it has the loopback address.
    ///
    /// # Panics
    /// As [`Server::addr`].
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.addr()))
    }

    /// Returns all addresses of the server.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses.api
    }

    /// Where the control plane is served, for programs in other languages: `http://127.0.0.1:40123/proconsul/v1`.
    ///
    /// # Panics
    /// As [`Server::addr`], unless the control plane has a port of its own.
    #[cfg(feature = "control-http")]
    #[must_use]
    pub fn control_url(&self) -> String {
        self.url_of_control_plane()
    }

    /// Returns the addresses of all that the server serves.
    pub fn all_addresses(&self) -> &Addresses {
        &self.addresses
    }

    pub fn url_of_control_plane(&self) -> String {
        let address = self.addresses.control.unwrap_or_else(|| self.addr());
        format!("http://{}/proconsul/v1", reachable(address))
    }
}

/// # HTTPS
#[cfg(feature = "https")]
impl Server {
    /// Returns the URL of the server for HTTPS, without a slash at its end: `https://127.0.0.1:40124`.
    ///
    /// # Panics
    /// If the server serves no HTTPS; see [`Builder::https`](crate::Builder::https).
    #[must_use]
    pub fn https_url(&self) -> String {
        let tcp = self
            .addresses
            .https
            .iter()
            .find_map(|address| match address {
                Address::Tcp(address) => Some(*address),
                Address::Unix(_) => None,
            });
        let address = tcp.expect("`Builder::https` lets a server serve HTTPS");
        format!("https://{}", reachable(address))
    }

    /// Returns the certificate of the authority that signed the server's, as PEM, for clients to trust.
    ///
    /// # Panics
    /// If the server was started without [`Builder::https`](crate::Builder::https).
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.certificates().authority
    }

    /// Returns a certificate that the same authority signed, and its key, as one PEM, for clients that have to show one
    /// ([`HttpsConfig::verify_incoming`](proconsul_config::HttpsConfig::verify_incoming)).
    ///
    /// # Panics
    /// As [`Server::ca_pem`].
    #[must_use]
    pub fn client_pem(&self) -> String {
        let client = &self.certificates().client;
        format!("{}{}", client.certificate, client.key)
    }

    /// Returns the certificate with which this server serves HTTPS, and its key, as one PEM, for another server on this
    /// machine that the same clients are to trust: a real Consul takes it as `cert_file` and as `key_file`.
    ///
    /// # Panics
    /// As [`Server::ca_pem`].
    #[must_use]
    pub fn server_pem(&self) -> String {
        let server = &self.certificates().server;
        format!("{}{}", server.certificate, server.key)
    }

    fn certificates(&self) -> &DevCertificates {
        let made = self.addresses.certificates.as_ref();
        made.expect("`Builder::https` makes an authority")
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
