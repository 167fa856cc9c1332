//! UDP checks: any answer passes, and a closed port is critical. A server that says nothing leaves the status as it is
//! (session.md 4.4.r27).

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::net::UdpSocket;

use super::tcp::parts;
use super::{Outcome, resolve};
use proconsul_gocompat::syscall::error_text;

/// Sends a datagram to `address`, and waits for another until `late`; `None` if none comes.
pub(super) async fn send(address: &str, late: impl Future<Output = ()>) -> Option<Outcome> {
    let answered = tokio::select! {
        answered = exchange(address) => answered,
        () = late => return None,
    };
    Some(match answered {
        Ok(()) => Outcome::passing(format!("UDP connect {address}: Success")),
        Err(error) => Outcome::critical(error),
    })
}

async fn exchange(address: &str) -> Result<(), String> {
    let dial_error = |why: &str| format!("dial udp: {why}");
    let (host, port) =
        parts("udp", address).map_err(|why| dial_error(&format!("address {why}")))?;
    let peers = resolve(host, port).await;
    let peer = peers.map_err(|why| dial_error(&why))?[0];
    let own = match peer.ip() {
        IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let failed = |error: std::io::Error| dial_error(&error_text(&error));
    let socket = UdpSocket::bind((own, 0)).await.map_err(failed)?;
    socket.connect(peer).await.map_err(failed)?;
    let own = socket.local_addr().map_err(failed)?;
    let error = |verb: &str, error: &std::io::Error| {
        let why = error_text(error);
        format!("{verb} udp {own}->{peer}: {verb}: {why}")
    };
    let sent = socket.send(&[]).await;
    sent.map_err(|refused| error("write", &refused))?;
    let came = socket.recv(&mut [0]).await;
    came.map_err(|refused| error("read", &refused))?;
    Ok(())
}
