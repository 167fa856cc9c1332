//! Answers DNS: datagrams over UDP, and messages with their length over TCP.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use super::tasks::{Task, Tasks};
use proconsul_core::Context;
use proconsul_core::dns::{Transport, answer};
use proconsul_engine::sync::either;
use proconsul_os::time;

/// The longest message that UDP carries.
const LONGEST_DATAGRAM: usize = 65_535;

/// The pause after a question that could not be read.
const REST: Duration = Duration::from_secs(1);

/// Answers datagrams forever.
pub(crate) async fn serve_datagrams(context: Arc<Context>, socket: UdpSocket, tasks: Arc<Tasks>) {
    let socket = Arc::new(socket);
    let mut buffer = vec![0; LONGEST_DATAGRAM];
    loop {
        let (length, client) = match socket.recv_from(&mut buffer).await {
            Ok(received) => received,
            // Where an answer could not be delivered, some systems say so here.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => continue,
            Err(error) => {
                tracing::warn!(target: "agent.dns", "cannot read a question: {error}");
                time::delay(REST).await;
                continue;
            }
        };
        let (context, socket) = (Arc::clone(&context), Arc::clone(&socket));
        let question = buffer[..length].to_vec();
        let mut answering: Task = Box::pin(async move {
            let address = client.ip().to_canonical();
            let answer = answer(&context, Some(address), Transport::Udp, &question).await;
            if let Some(answer) = answer {
                // The client may have gone.
                let _ = socket.send_to(&answer, client).await;
            }
        });
        // One that a fault holds holds up no others.
        let polled = poll_fn(|task| Poll::Ready(answering.as_mut().poll(task))).await;
        if polled.is_pending() {
            tasks.spawn(answering);
        }
    }
}

/// Answers the messages of one connection until the client closes it, or the server closes all.
pub(super) async fn serve_stream(context: Arc<Context>, mut stream: TcpStream, client: IpAddr) {
    let serving = async {
        // Whatever goes wrong, the connection ends.
        let _ = answer_all(&context, client, &mut stream).await;
    };
    match context.listeners() {
        Some(listeners) => either(listeners.are(false), pin!(serving)).await,
        None => serving.await,
    }
}

async fn answer_all(context: &Context, client: IpAddr, stream: &mut TcpStream) -> io::Result<()> {
    let mut question = Vec::new();
    loop {
        let length = stream.read_u16().await?;
        question.resize(usize::from(length), 0);
        stream.read_exact(&mut question).await?;
        let answer = answer(context, Some(client), Transport::Tcp, &question).await;
        let Some(answer) = answer else {
            continue;
        };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let message = [&length.to_be_bytes(), &answer[..]].concat();
        stream.write_all(&message).await?;
    }
}
