//! Answers DNS: datagrams over UDP, and messages with their length over TCP.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use proconsul_core::Context;
use proconsul_core::dns::{Transport, answer};
use proconsul_engine::sync::either;
use proconsul_os::time;

/// The longest message that UDP carries.
const LONGEST_DATAGRAM: usize = 65_535;

/// The pause after a question that could not be read.
const REST: Duration = Duration::from_secs(1);

/// Answers datagrams forever, but for those that come while the server refuses connections.
pub(crate) async fn serve_datagrams(context: Arc<Context>, socket: UdpSocket) {
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
        if context
            .listeners()
            .is_some_and(|listeners| !listeners.is_wanted())
        {
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
    match context.listeners() {
        Some(listeners) => either(listeners.are(false), pin!(serving)).await,
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
