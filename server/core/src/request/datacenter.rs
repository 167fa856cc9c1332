//! The way from one datacenter to another (cluster.md 5).

use std::sync::Arc;
use std::time::Duration;

use super::Request;
use crate::Context;
use crate::failure::{Failure, FailureKind};
use crate::pipeline::context::datacenters::Datacenter;
use crate::reply::Reply;
use proconsul_engine::faults::ConsulError;
use proconsul_engine::sync::either;
use proconsul_engine::{Engine, OpenCall};
use proconsul_store::Loss;

/// How long a request waits for a server from which nothing comes back (cluster.md 5.26).
pub(crate) const SILENCE: Duration = Duration::from_secs(40);
/// The time after which it is known that a datacenter has no server that runs (cluster.md 5.21).
const KNOWN_LOST: Duration = Duration::from_secs(40);

impl Request {
    /// Lets the datacenter that its body names handle the rest of the request; an empty name is the server's own.
    ///
    /// # Errors
    /// Nobody knows the datacenter, or it cannot be reached.
    pub(crate) async fn enter_datacenter(&mut self, name: &str) -> Result<Entered, Failure> {
        let Some(there) = self.context.other_datacenter(name.as_bytes()).cloned() else {
            self.check_is_own_datacenter(name.as_bytes())?;
            return Ok(Entered::default());
        };
        let server = reached(&self.context, &there).await?;
        let from = std::mem::replace(&mut self.context, Arc::clone(&server));
        let (client, method) = (self.peer, self.method.as_str());
        Ok(Entered {
            open: server
                .engine
                .begin_call_of(&from.engine, server.agent, client, method),
            is_other: true,
        })
    }
}

/// The datacenter that handles the rest of a request.
#[derive(Default)]
pub(crate) struct Entered {
    /// The request, as it is open in another one.
    open: Option<OpenCall>,
    is_other: bool,
}

impl Entered {
    /// Handles the rest of the request there.
    pub(crate) fn answer(
        mut self,
        rest: impl FnOnce() -> Result<Reply, Failure>,
    ) -> Result<Reply, Failure> {
        let id = self.open.as_ref().map(OpenCall::id);
        let reply = Engine::of_call(id, rest).map_err(|failure| match self.is_other {
            // Who was asked has passed it on, whoever leads there.
            true => failure.passed_on().of_kind(FailureKind::OfServer),
            false => failure,
        });
        note(&mut self.open, &reply);
        reply
    }
}

/// Notes the answer of another datacenter.
pub(crate) fn note(open: &mut Option<OpenCall>, reply: &Result<Reply, Failure>) {
    if let Some(open) = open {
        let status = reply
            .as_ref()
            .map_or_else(Failure::status, |reply| reply.status);
        open.answered(Some(status.as_u16()));
    }
}

/// Returns a server of another datacenter, as soon as the agent reaches one.
///
/// # Errors
/// It does not within 40 s, or nobody runs there.
pub(crate) async fn reached(
    from: &Arc<Context>,
    there: &Datacenter,
) -> Result<Arc<Context>, Failure> {
    let mut began = None;
    loop {
        // The process ends: nobody waits for the answer.
        let Some(first) = there.first() else {
            return Err(Failure::unknown_datacenter());
        };
        let changes = changes(from, &first);
        let now = from.engine.clock().now();
        let since = match there.server_for(from) {
            Some(Ok(server)) => return Ok(server),
            Some(Err((_, Loss::Silent))) => *began.get_or_insert(now),
            Some(Err((since, _))) if now.since(since) >= KNOWN_LOST => {
                return Err(Failure::no_server_there());
            }
            _ => return Err(failed(&ConsulError::RpcConnectionRefused, from, &first)),
        };
        let left = SILENCE.saturating_sub(now.since(since));
        let over = silence(from, &first, left);
        let changed = async {
            changes.await;
            Ok(())
        };
        either(over, changed).await?;
    }
}

/// Holds a request for as long as it goes on waiting for another datacenter from which nothing comes back.
///
/// # Errors
/// The time is over.
pub(crate) async fn silence<T>(
    from: &Context,
    server: &Context,
    left: Duration,
) -> Result<T, Failure> {
    let datacenter = &server.config.datacenter;
    from.engine
        .fault_hit(&format!("{datacenter} does not respond"));
    let until = from.engine.clock().now().plus(left);
    from.engine.hold_until(Some(until)).await;
    Err(failed(&ConsulError::RpcEof, from, server))
}

/// Waits until agents of either side change. Armed when this returns.
pub(crate) fn changes<'a>(here: &'a Context, there: &'a Context) -> impl Future<Output = ()> + 'a {
    either(here.engine.cluster_change(), there.engine.cluster_change())
}

/// Returns the failure of an agent that cannot ask a server of another datacenter.
pub(crate) fn failed(error: &ConsulError, from: &Context, server: &Context) -> Failure {
    let (address, server) = (from.config.advertise_address, server.config.rpc_address());
    let route = format!("{address}:0->{server}");
    let text = error.text(from.config.version, None, false, &route);
    Failure::new(error.status(), text).of_kind(FailureKind::OfServer)
}
