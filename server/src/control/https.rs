//! What clients need for HTTPS.

use super::{Address, Server, reachable};
use crate::https::DevCertificates;

/// # HTTPS
impl Server {
    /// Returns the URL of the server for HTTPS, without a slash at its end: `https://127.0.0.1:40124`.
    ///
    /// # Panics
    /// If the server serves no HTTPS; see [`Builder::https`](crate::Builder::https).
    #[must_use]
    pub fn https_url(&self) -> String {
        let tcp = self
            .all_addresses()
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
        let made = self.dev_certificates();
        made.expect("`Builder::https` makes an authority")
    }
}
