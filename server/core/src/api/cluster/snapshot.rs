//! `/v1/snapshot`: the whole state as an archive, and back (operator.md 6).

use std::sync::Arc;

use http::{HeaderValue, Method};

use crate::Context;
use crate::control;
use crate::failure::{Failure, failures};
use crate::reply::{Reply, ReplyContent};
use crate::request::{BodyError, Request};
use proconsul_archive::{self, Archive, Meta, Origin};
use proconsul_config::Config;
use proconsul_engine::Engine;
use proconsul_engine::aside::elsewhere;
use proconsul_store::Index;

failures! {
    /// The archive is not one.
    unreadable(words: &str) => 500 Local, words;
    /// `?stale` asks any server to answer, and only the leader restores.
    stale_restore() => 500 Local, "stale not allowed for restore";
    /// The state in a good archive is not restored.
    not_restored(words: &str) => 500 Local, format!("Raft error when restoring snapshot: {words}");
    /// The archive is larger than what it may unpack to.
    too_large() => 413,
        format!("proconsul takes snapshots of at most {} bytes", proconsul_archive::MOST_BYTES);
}

pub(super) async fn snapshot(mut request: Request) -> Result<Reply, Failure> {
    request.check_datacenter()?;
    request.authorize()?;
    if request.method != Method::GET {
        if request.query.has("stale") {
            return Err(stale_restore());
        }
        let sent = request.read_body(Some(proconsul_archive::MOST_BYTES)).await;
        let sent = sent.map_err(|error| match error {
            BodyError::TooLarge => too_large(),
            BodyError::Unreadable(failure) => Failure::unreadable_body(&failure),
        })?;
        let context = request.context.clone();
        let host = Arc::clone(context.engine.host());
        let work = move || restore(&sent, &context.engine, &context.config);
        elsewhere(&host, work).await.expect(NO_PANIC)?;
        return Ok(Reply::done(&request));
    }
    let context = request.context.clone();
    let host = Arc::clone(context.engine.host());
    let saved = elsewhere(&host, move || save(&context)).await;
    let (index, packed) = saved.expect(NO_PANIC);
    let reply = Reply {
        content: ReplyContent::Whole(packed.into()),
        content_type: Some(HeaderValue::from_static("application/x-gzip")),
        type_was_guessed: true,
        ..Reply::done(&request)
    };
    Ok(reply.with_index(&request, index))
}

/// Why work for another thread succeeds.
const NO_PANIC: &str = "no state and no archive makes this panic";

fn save(context: &Context) -> (Index, Vec<u8>) {
    let (engine, config) = (&context.engine, &context.config);
    let (index, state) = control::save(engine, config);
    let origin = Origin {
        node_id: &context.node_id(),
        address: &config.rpc_address(),
    };
    let packed = proconsul_archive::pack(&origin, index.0, &state, engine.clock().wall());
    (index, packed)
}

fn restore(sent: &[u8], engine: &Engine, config: &Config) -> Result<(), Failure> {
    let unpacked = proconsul_archive::unpack(sent, proconsul_archive::MOST_BYTES);
    let archive = unpacked.map_err(|words| unreadable(&words))?;
    archive.check().map_err(|words| not_restored(&words))?;
    let Archive { meta, state } = archive;
    let restored = control::restore(engine, config, &state);
    restored.map_err(|error| {
        let Meta { id, .. } = &meta;
        not_restored(&format!("failed to restore snapshot {id}: {error}"))
    })
}
