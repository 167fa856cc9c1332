//! H2PING checks: a ping of HTTP/2 that is answered passes (session.md 4.4.r28).

use std::future::Future;

use h2::{Ping, Reason};

use super::{Outcome, Words, http2};
use proconsul_store::ProbeTls;

/// Pings the server at `address`; `late` is the timeout.
pub(super) async fn ping(
    address: &str,
    tls: Option<&ProbeTls>,
    words: Words,
    late: impl Future<Output = ()>,
) -> Outcome {
    let answered = tokio::select! {
        answered = exchange(address, tls, words) => answered,
        () = late => Err(failed("context deadline exceeded")),
    };
    match answered {
        Ok(()) => Outcome::passing("HTTP2 ping was successful".to_owned()),
        Err(why) => Outcome::critical(why),
    }
}

fn failed(why: &str) -> String {
    format!("HTTP2 ping failed: {why}")
}

async fn exchange(address: &str, tls: Option<&ProbeTls>, words: Words) -> Result<(), String> {
    let text = |error: h2::Error| match error.reason() {
        // As of a server that speaks HTTP/1.
        Some(Reason::FRAME_SIZE_ERROR) => failed("http2: frame too large"),
        _ => failed(&error.to_string()),
    };
    let stream = http2::connect(address, tls, words).await;
    let stream = stream.map_err(|error| format!("Failed to dial to {address}: {error}"))?;
    // The connection ends when nobody is left to make requests.
    let (_requests, mut connection) = h2::client::handshake(stream).await.map_err(text)?;
    let pings = connection.ping_pong();
    let mut pings = pings.expect("a new connection gives its pings away once");
    tokio::select! {
        pong = pings.ping(Ping::opaque()) => pong.map(|_| ()).map_err(text),
        ended = connection => Err(ended.map_or_else(text, |()| failed("EOF"))),
    }
}
