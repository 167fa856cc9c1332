//! Serving the bytes of a connection.

use std::net::SocketAddr;
use std::sync::Arc;

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
    let version = context.config.version;
    let options = ServeOptions {
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
        busy_poll: may_busy_poll,
        calendar: &*context,
    };
    let respond = |head, body| respond(Arc::clone(&context), peer, head, body);
    proconsul_h1::serve(read, write, options, respond).await;
}
