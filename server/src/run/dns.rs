//! The sockets of DNS: datagrams over UDP, and messages with their length over TCP, at the same port.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use super::StartError;
use super::accept::Socket;
use super::sockets::bind_one;
use crate::control::Address;
use proconsul_config::Listener;
use proconsul_core::Context;
use proconsul_core::dns::{Transport, answer};
use proconsul_engine::sync::either;
use proconsul_os::time;

/// The longest message that UDP carries.
const LONGEST_DATAGRAM: usize = 65_535;

/// The number of attempts to find a port that is free for UDP and TCP.
const PORTS_TRIED: usize = 20;

/// The two sockets of an address.
pub(super) struct DnsSockets {
    pub(super) address: SocketAddr,
    pub(super) udp: UdpSocket,
    pub(super) tcp: Socket,
}

/// Binds both sockets of each address. Those with port 0 get the same free port.
pub(super) fn bind(wanted: &[SocketAddr]) -> Result<Vec<DnsSockets>, StartError> {
    let mut tried = 1;
    loop {
        match bind_all(wanted) {
            Err(error) if tried < PORTS_TRIED && wanted.iter().any(|one| one.port() == 0) => {
                tracing::debug!(target: "agent.dns", "no free port: {error}");
                tried += 1;
            }
            bound => return bound,
        }
    }
}

fn bind_all(wanted: &[SocketAddr]) -> Result<Vec<DnsSockets>, StartError> {
    let mut free_port = 0;
    let mut bound = Vec::new();
    for wanted in wanted {
        let port = if wanted.port() == 0 {
            free_port
        } else {
            wanted.port()
        };
        let sockets = bind_both(SocketAddr::new(wanted.ip(), port))?;
        if wanted.port() == 0 {
            free_port = sockets.address.port();
        }
        bound.push(sockets);
    }
    Ok(bound)
}

fn bind_both(wanted: SocketAddr) -> Result<DnsSockets, StartError> {
    let (address, tcp) = match bind_one(&Listener::Tcp(wanted))? {
        (Address::Tcp(address), tcp) => (address, tcp),
        (Address::Unix(_), _) => unreachable!("an address of TCP was asked for"),
    };
    let udp = std::net::UdpSocket::bind(address).and_then(|socket| {
        socket.set_nonblocking(true)?;
        UdpSocket::from_std(socket)
    });
    let udp = udp.map_err(|error| StartError::ListenUdp { address, error })?;
    Ok(DnsSockets { address, udp, tcp })
}

/// Answers datagrams forever, but for those that come while the server refuses connections.
pub(super) async fn serve_datagrams(context: Arc<Context>, socket: UdpSocket) {
    let mut buffer = vec![0; LONGEST_DATAGRAM];
    loop {
        let (length, client) = match socket.recv_from(&mut buffer).await {
            Ok(received) => received,
            // Where an answer could not be delivered, some systems say so here.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => continue,
            Err(error) => {
                tracing::warn!(target: "agent.dns", "cannot read a question: {error}");
                time::delay(super::accept::LONGEST_REST).await;
                continue;
            }
        };
        let control = context.control.as_ref();
        if control.is_some_and(|control| !control.listeners().is_wanted()) {
            continue;
        }
        if let Some(answer) = answer(&context, Transport::Udp, &buffer[..length]) {
            // The client may have gone.
            let _ = socket.send_to(&answer, client).await;
        }
    }
}

/// Answers the messages of one connection until the client closes it, or the server closes all.
pub(super) async fn serve_stream(context: Arc<Context>, mut stream: TcpStream) {
    let serving = async {
        // Whatever goes wrong, the connection ends.
        let _ = answer_all(&context, &mut stream).await;
    };
    match &context.control {
        Some(control) => either(control.listeners().are(false), pin!(serving)).await,
        None => serving.await,
    }
}

async fn answer_all(context: &Context, stream: &mut TcpStream) -> io::Result<()> {
    let mut question = Vec::new();
    loop {
        let length = stream.read_u16().await?;
        question.resize(usize::from(length), 0);
        stream.read_exact(&mut question).await?;
        let Some(answer) = answer(context, Transport::Tcp, &question) else {
            continue;
        };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let message = [&length.to_be_bytes(), &answer[..]].concat();
        stream.write_all(&message).await?;
    }
}
