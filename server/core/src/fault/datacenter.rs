//! Requests about another datacenter (cluster.md 5): the agent that was asked passes them on to a server there.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use http::Method;

use super::origin::is_bare;
use super::{Outcome, Seen, handle_with_faults, handle_without_faults};
use crate::Context;
use crate::control::Controls;
use crate::failure::Failure;
use crate::pipeline::context::datacenters::Datacenter;
use crate::reply::Reply;
use crate::request::Request;
use crate::request::datacenter::{SILENCE, changes, failed, note, reached, silence};
use crate::route::Handler;
use proconsul_engine::faults::ConsulError;
use proconsul_engine::host::Boxed;
use proconsul_engine::sync::either;
use proconsul_engine::{Engine, OpenCall};

/// What ignores the parameter `dc`: it is about the agent that is asked, or its body names the datacenter (cluster.md 5.8
/// to 5.10, 5.33).
const IGNORES: [&str; 10] = [
    "/v1/acl/info/",
    "/v1/acl/list",
    "/v1/agent/",
    "/v1/event/list",
    "/v1/catalog/register",
    "/v1/catalog/deregister",
    "/v1/catalog/datacenters",
    "/v1/coordinate/datacenters",
    "/v1/operator/keyring",
    "/v1/operator/usage",
];

/// What is written to the primary datacenter, which is the own one, but for logins (cluster.md 5.33).
const OF_PRIMARY: [&str; 2] = ["/v1/config", "/v1/acl/"];
const LOGINS: [&str; 2] = ["/v1/acl/login", "/v1/acl/logout"];

impl Request {
    /// Returns the other datacenter that the request is to be passed on to; `None` if it is for this one, or for one that
    /// nobody knows.
    pub(super) fn other_datacenter(&self) -> Option<Datacenter> {
        let is_under = |paths: &[&str]| paths.iter().any(|path| self.route.starts_with(path));
        let is_write = !matches!(self.method, Method::GET | Method::HEAD);
        let is_of_primary = || is_write && is_under(&OF_PRIMARY) && !is_under(&LOGINS);
        let ignores = || is_under(&IGNORES) || is_of_primary();
        let there = self.context.other_datacenter(self.asked_datacenter());
        there.filter(|_| !ignores()).cloned()
    }
}

/// Lets a server of another datacenter handle a request, which is open there, too, as long as `open` lives.
pub(super) async fn ask(
    there: &Datacenter,
    handler: Handler,
    mut request: Request,
    seen: &Seen<'_>,
    open: &mut Option<OpenCall>,
) -> Result<Reply, Failure> {
    let from = Arc::clone(&request.context);
    let server = reached(&from, there).await?;
    let (engine, client) = (&server.engine, request.peer);
    *open = engine.begin_call_of(&from.engine, server.agent, client, seen.method.as_str());
    let id = open.as_ref().map(OpenCall::id);
    let control = server.control.clone().filter(|_| id.is_some());
    request.context = Arc::clone(&server);
    let path = seen.path.into();
    let handling = Engine::in_call(id, handled(control, handler, request, path));
    let outcome = passed_back(&from, &server, handling).await?;
    let reply = match is_bare(seen.path) {
        true => outcome.reply,
        false => outcome.reply.map_err(Failure::passed_on),
    };
    note(open, &reply);
    reply
}

/// Handles a request that came from another datacenter.
fn handled(
    control: Option<Controls>,
    handler: Handler,
    request: Request,
    path: Box<[u8]>,
) -> Boxed<Outcome> {
    match control {
        Some(control) => Box::pin(handle_with_faults(control, handler, request, path, true)),
        None => Box::pin(handle_without_faults(handler, request, path)),
    }
}

/// Waits for what a server of another datacenter answers, until that comes back.
async fn passed_back(
    from: &Context,
    server: &Context,
    handling: impl Future<Output = Outcome>,
) -> Result<Outcome, Failure> {
    let mut handling = pin!(handling);
    let mut answered = None;
    loop {
        let changes = changes(from, server);
        let there = server.engine.cluster();
        let runs = there
            .members()
            .get(server.agent)
            .is_none_or(|member| member.runs);
        if !runs {
            return Err(failed(&ConsulError::RpcEof, from, server));
        }
        let parted = from.parted().into_iter().chain(there.parted(server.agent));
        let silent_since = parted.min();
        if silent_since.is_none()
            && let Some(outcome) = answered.take()
        {
            return Ok(outcome);
        }
        let handled = async {
            match answered {
                Some(_) => pending().await,
                None => Some(handling.as_mut().await),
            }
        };
        let changed = async {
            changes.await;
            None
        };
        let next = either(handled, changed);
        let outcome = if let Some(since) = silent_since {
            let passed = from.engine.clock().now().since(since);
            let left = SILENCE.saturating_sub(passed);
            let over = silence(from, server, left);
            either(async { Ok(next.await) }, over).await?
        } else {
            let (mut next, mut stands) = (pin!(next), None);
            // The request stands still here when it does so there.
            poll_fn(|task| {
                let polled = next.as_mut().poll(task);
                if polled.is_pending() {
                    stands.get_or_insert_with(|| from.engine.stand_still());
                }
                polled
            })
            .await
        };
        answered = outcome.or(answered);
    }
}
