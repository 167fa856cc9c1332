//! TCP checks: an accepted connection passes, and over TLS one whose handshake succeeds.

use std::future::Future;

use tokio::net::TcpStream;

use super::url::host_and_port;
use super::{Outcome, Words, dial, dial_timeout};
use proconsul_store::ProbeTls;

/// Connects to `address`; `late` is the timeout.
pub(super) async fn connect(
    address: &str,
    tls: Option<&ProbeTls>,
    words: Words,
    late: impl Future<Output = ()>,
) -> Outcome {
    let (host, port) = match parts("tcp", address) {
        Ok(parts) => parts,
        Err(why) => return Outcome::critical(format!("dial tcp: address {why}")),
    };
    let connecting = async {
        let stream = dial(host, port).await?;
        if let Some(tls) = tls {
            secure(stream, host, tls, &[], words).await?;
        }
        Ok(())
    };
    let connected = tokio::select! {
        connected = connecting => connected,
        () = late => Err(dial_timeout(address)),
    };
    match connected {
        Ok(()) => Outcome::passing(format!("TCP connect {address}: Success")),
        Err(error) => Outcome::critical(error),
    }
}

/// Performs the TLS handshake with a host, in which these protocols are offered.
///
/// # Errors
/// Go's sentence for the failure if it has one.
#[cfg(feature = "https-checks")]
pub(super) async fn secure(
    stream: TcpStream,
    host: &str,
    tls: &ProbeTls,
    protocols: &[&[u8]],
    words: Words,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let name = match tls.server_name.as_str() {
        "" => host,
        given => given,
    };
    super::tls::connect(stream, name, tls.skip_verify, protocols, words.late).await
}

/// Fails, for there is no TLS.
#[cfg(not(feature = "https-checks"))]
pub(super) async fn secure(
    _: TcpStream,
    _: &str,
    _: &ProbeTls,
    _: &[&[u8]],
    _: Words,
) -> Result<TcpStream, String> {
    Err(
        "this build of proconsul checks nothing over TLS: its feature `https-checks` is off"
            .to_owned(),
    )
}

/// Splits an address into host and port; an empty host is this machine.
///
/// # Errors
/// Go's sentence about an address without a port that `network` knows.
pub(super) fn parts<'a>(network: &str, address: &'a str) -> Result<(&'a str, u16), String> {
    if !address.contains(':') || address.ends_with(']') {
        return Err(format!("{address}: missing port in address"));
    }
    let (host, text) = host_and_port(address);
    let port = text.parse().map_err(|_| {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("{text}: invalid port")
        } else {
            format!("{network}/{text}: unknown port")
        }
    })?;
    Ok((if host.is_empty() { "localhost" } else { host }, port))
}
