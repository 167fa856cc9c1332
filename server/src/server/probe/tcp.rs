//! TCP checks: an accepted connection passes.

use std::future::Future;

use super::url::host_and_port;
use super::{Outcome, dial, dial_timeout};

/// Connects to `address`; `late` is the timeout.
pub(super) async fn connect(address: &str, late: impl Future<Output = ()>) -> Outcome {
    let (host, port) = match parts("tcp", address) {
        Ok(parts) => parts,
        Err(why) => return Outcome::critical(format!("dial tcp: address {why}")),
    };
    let connected = tokio::select! {
        connected = dial(host, port) => connected,
        () = late => Err(dial_timeout(address)),
    };
    match connected {
        Ok(_) => Outcome::passing(format!("TCP connect {address}: Success")),
        Err(error) => Outcome::critical(error),
    }
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
