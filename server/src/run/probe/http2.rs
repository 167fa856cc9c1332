//! Connections on which HTTP/2 is spoken, for gRPC and H2PING checks.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

use super::tcp::{parts, secure};
use super::{Words, dial};
use proconsul_store::ProbeTls;

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
    words: Words,
) -> Result<Box<dyn Stream>, Unconnected> {
    let parts = parts("tcp", address);
    let (host, port) =
        parts.map_err(|why| Unconnected::Dial(format!("dial tcp: address {why}")))?;
    let stream = dial(host, port).await.map_err(Unconnected::Dial)?;
    match tls {
        None => Ok(Box::new(stream)),
        Some(tls) => {
            let stream = secure(stream, host, tls, &[b"h2"], words).await;
            Ok(Box::new(stream.map_err(Unconnected::Handshake)?))
        }
    }
}
