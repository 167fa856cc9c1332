//! Connections on which HTTP/2 is spoken, for gRPC and H2PING checks.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dial;
use super::tcp::parts;
use crate::store::ProbeTls;

/// A connection, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why there is no connection, in Go's words.
#[derive(Debug)]
pub(super) enum Unconnected {
    /// Nobody listens there.
    Dial(String),
    /// The handshake of TLS failed.
    Handshake(String),
}

impl fmt::Display for Unconnected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Dial(why) | Self::Handshake(why)) = self;
        formatter.write_str(why)
    }
}

/// Connects to `address`.
///
/// # Errors
/// Nobody listens there, or TLS does not come about.
pub(super) async fn connect(
    address: &str,
    tls: Option<&ProbeTls>,
) -> Result<Box<dyn Stream>, Unconnected> {
    let parts = parts("tcp", address);
    let (host, port) =
        parts.map_err(|why| Unconnected::Dial(format!("dial tcp: address {why}")))?;
    let stream = dial(host, port).await.map_err(Unconnected::Dial)?;
    match tls {
        None => Ok(Box::new(stream)),
        Some(tls) => secure(stream, host, tls)
            .await
            .map_err(Unconnected::Handshake),
    }
}

#[cfg(feature = "https-checks")]
async fn secure(
    stream: tokio::net::TcpStream,
    host: &str,
    tls: &ProbeTls,
) -> Result<Box<dyn Stream>, String> {
    let name = match tls.server_name.as_str() {
        "" => host,
        given => given,
    };
    let stream = super::tls::connect(stream, name, tls.skip_verify, &[b"h2"]).await?;
    Ok(Box::new(stream))
}

#[cfg(not(feature = "https-checks"))]
async fn secure(
    _: tokio::net::TcpStream,
    _: &str,
    _: &ProbeTls,
) -> Result<Box<dyn Stream>, String> {
    Err(
        "this build of proconsul checks nothing over TLS: its feature `https-checks` is off"
            .to_owned(),
    )
}
