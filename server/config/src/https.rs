//! The settings of HTTPS.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::Listener;

/// The settings of HTTPS (operator.md 9). Files are read when a server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpsConfig {
    /// Where HTTPS is served (`addresses.https`, `ports.https`). Default: nowhere.
    pub listeners: Vec<Listener>,
    /// Whether an authority and certificates are made at the start where no files are given (`--https-dev`).
    /// Default: false.
    pub dev: bool,
    /// The certificate of the server and those between it and its authority, as PEM (`cert_file`). Default: none, with
    /// which every handshake fails.
    pub cert_file: Option<PathBuf>,
    /// The key of that certificate, as PEM (`key_file`). Default: none.
    pub key_file: Option<PathBuf>,
    /// The authorities that sign the certificates of clients, as PEM (`ca_file`). Default: none.
    pub ca_file: Option<PathBuf>,
    /// A folder of such files, which counts where `ca_file` is not set (`ca_path`). Default: none.
    pub ca_path: Option<PathBuf>,
    /// Whether clients have to show a certificate (`verify_incoming`, `verify_incoming_https`). Default: false.
    pub verify_incoming: bool,
    /// The lowest version of TLS (`tls_min_version`). Default: TLS 1.2.
    pub min_version: TlsVersion,
    /// How long a handshake may take (`limits.https_handshake_timeout`). Default: 5 s.
    pub handshake_timeout: Duration,
}

/// A version of TLS. 1.0 and 1.1 can be asked for as in Consul, and are not spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TlsVersion {
    /// TLS 1.0.
    Tls10,
    /// TLS 1.1.
    Tls11,
    /// TLS 1.2.
    #[default]
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl TlsVersion {
    /// The versions with their names until 1.11 and since 1.12.
    const NAMES: [(TlsVersion, &'static str, &'static str); 4] = [
        (TlsVersion::Tls10, "tls10", "TLSv1_0"),
        (TlsVersion::Tls11, "tls11", "TLSv1_1"),
        (TlsVersion::Tls12, "tls12", "TLSv1_2"),
        (TlsVersion::Tls13, "tls13", "TLSv1_3"),
    ];

    /// Returns the version with this name in either spelling.
    pub fn named(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        let found = names.find(|(_, early, late)| name == *early || name == *late);
        found.map(|(version, ..)| version)
    }

    /// Returns the name until 1.11.
    pub fn early_name(self) -> &'static str {
        self.names().0
    }

    /// Returns the name since 1.12.
    pub fn late_name(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        let found = Self::NAMES.iter().find(|(version, ..)| *version == self);
        let (_, early, late) = found.expect("every version has its row");
        (early, late)
    }
}

impl HttpsConfig {
    /// Returns the TCP addresses at which HTTPS is served.
    pub fn tcp_addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listeners.iter().filter_map(|listener| match listener {
            Listener::Tcp(address) => Some(*address),
            Listener::Unix(_) => None,
        })
    }
}

impl Default for HttpsConfig {
    fn default() -> Self {
        Self {
            listeners: Vec::new(),
            dev: false,
            cert_file: None,
            key_file: None,
            ca_file: None,
            ca_path: None,
            verify_incoming: false,
            min_version: TlsVersion::default(),
            handshake_timeout: Duration::from_secs(5),
        }
    }
}
