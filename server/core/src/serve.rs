//! Serving the bytes of a connection, and requests without one.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use proconsul_h1::{HangingUp, ReadHalf, ServeOptions, Strictness, WriteHalf};

use crate::{Context, respond};
use proconsul_version::Behaviour;

/// The bytes that Go allows above the configured size of a request's head.
const HEAD_SLACK: usize = 4096;

/// Serves a connection until either side closes it. `peer` is the client's address; `None` for one without, such as a Unix
/// socket. A thread that `may_busy_poll` looks for the next request of a busy client for a while before it sleeps.
pub async fn serve<R: ReadHalf, W: WriteHalf>(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    (read, write): (R, W),
    may_busy_poll: bool,
) {
    let options = options(&context, may_busy_poll);
    let respond = |head, body| respond(Arc::clone(&context), peer, head, body);
    proconsul_h1::serve(read, write, options, respond).await;
}

/// Answers a request without a connection: a head as HTTP/1.1 has it, and behind it the body, which is all the rest. Returns
/// `None` where a connection would be closed instead. A response that has no end, such as the agent's log, is never
/// returned.
///
/// To drop the future is to give up the request.
pub async fn exchange(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    request: &[u8],
) -> Option<Response<Bytes>> {
    let respond = |head, body| respond(Arc::clone(&context), peer, head, body);
    proconsul_h1::exchange(request, options(&context, false), respond).await
}

fn options(context: &Context, busy_poll: bool) -> ServeOptions<'_> {
    let version = context.config.version;
    ServeOptions {
        head_limit: context.config.max_header_bytes + HEAD_SLACK,
        strict: Strictness {
            heads: version.has(Behaviour::HttpStrictHeads),
            chunks: version.has(Behaviour::HttpStrictChunks),
        },
        hanging_up: if context.config.control {
            HangingUp::Gone
        } else {
            HangingUp::Waits
        },
        busy_poll,
        calendar: context,
    }
}
