//! HTTPS in a build without it.

use std::convert::Infallible;

use proconsul_config::Config;

use crate::connection::Stream;

/// There is no server of TLS.
#[derive(Clone, Debug)]
pub(crate) struct Tls(Infallible);

/// There are no certificates.
#[derive(Debug)]
pub struct DevCertificates(Infallible);

impl Tls {
    /// Refuses a configuration that asks for HTTPS.
    pub(crate) fn new(config: &Config) -> Result<Option<(Self, Option<DevCertificates>)>, String> {
        if config.https.listeners.is_empty() {
            return Ok(None);
        }
        Err("this build of proconsul serves no HTTPS: its feature `https` is off".to_owned())
    }

    pub(crate) async fn handshake(&self, _stream: Stream) -> Option<Stream> {
        match self.0 {}
    }
}
