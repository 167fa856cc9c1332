//! Faults: the only place that asks for them, before a handler and before its reply.

mod acl;
pub(crate) mod datacenter;
#[cfg(feature = "dns")]
pub(crate) mod dns;
mod hold;
pub(crate) mod leader;
mod origin;

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use proconsul_engine::OpenCall;
use proconsul_h1::Ending;

use crate::Context;
use crate::api::txn::only_reads;
use crate::control::Controls;
use crate::failure::Failure;
use crate::fault::hold::{
    Interruption, in_flight, unless_interrupted, until_it_may_go_on, until_link_is_up,
};
use crate::fault::origin::passed_on;
use crate::pipeline::context::datacenters::Datacenter;
use crate::reply::body::{ApiAnswer, ReplyBody};
use crate::reply::{self, Reply, header};
use crate::request::{Consistency, Request};
use crate::route::Handler;
use proconsul_engine::faults::{Asked, ConsulError, Cut, RequestKind, Response, Shown, Stop};

/// The outcome of a request.
pub(crate) struct Outcome {
    pub(crate) reply: Result<Reply, Failure>,
    /// How the answer is cut short.
    pub(crate) cut: Option<Cut>,
    /// A response of a rule, which is sent as it is, without the headers of Consul's answers.
    pub(crate) foreign: Option<ApiAnswer>,
    /// The request in another datacenter, where it is open until its response is written.
    pub(crate) open: Option<OpenCall>,
}

impl Outcome {
    /// Returns the outcome of a request without a reply, whose connection is cut.
    fn cut(cut: Cut) -> Self {
        Self {
            cut: Some(cut),
            ..Ok(Reply::empty(StatusCode::OK)).into()
        }
    }
}

/// Returns how a connection ends that a rule cuts.
pub(super) fn ending(cut: Cut) -> Ending {
    match cut {
        Cut::Reset => Ending::Reset,
        Cut::Close => Ending::Silence,
        Cut::After(length) => Ending::CutOff(length),
    }
}

impl From<Result<Reply, Failure>> for Outcome {
    fn from(reply: Result<Reply, Failure>) -> Self {
        Self {
            reply,
            cut: None,
            foreign: None,
            open: None,
        }
    }
}

/// What rules match of a request. It outlives the request, which the handler consumes.
struct Seen<'a> {
    method: Method,
    path: &'a [u8],
    /// Whether any server may answer, from its own state.
    is_stale: bool,
    client: Option<IpAddr>,
    /// The number of the agent that it came to.
    agent: usize,
    /// The other datacenter that it is for.
    elsewhere: Option<Datacenter>,
    /// Whether it came from another datacenter: rules are about the requests of clients.
    is_passed_on: bool,
}

impl<'a> Seen<'a> {
    async fn of(request: &mut Request, path: &'a [u8], is_passed_on: bool) -> Self {
        let says_stale = matches!(request.consistency(), Ok(Consistency::Stale));
        let is_read = match request.method {
            Method::GET | Method::HEAD => true,
            // Boxed, because it is rare and large.
            _ if says_stale && path == b"/v1/txn" => Box::pin(only_reads(request)).await,
            _ => false,
        };
        Self {
            method: request.method.clone(),
            path,
            is_stale: is_read && (says_stale || request.reads_into_cache()),
            client: request.peer,
            agent: request.context.agent,
            elsewhere: request.other_datacenter(),
            is_passed_on,
        }
    }

    /// Whether an agent needs its leader for it, or a server that has one.
    fn needs_leader(&self, context: &Context) -> bool {
        self.elsewhere.is_none() || context.is_without_servers()
    }

    /// Whether the agent answers without the leader, from its own state.
    fn is_for_agent(&self) -> bool {
        let own = [&b"/v1/agent/"[..], b"/v1/event/", b"/v1/status/"];
        own.iter().any(|path| self.path.starts_with(path))
    }
}

/// Hands a request to whoever plans its faults.
fn ask<T>(request: &Request, seen: &Seen<'_>, plan: impl FnOnce(&Asked<'_>) -> T) -> T {
    let header = |name: &str| {
        let value = request.headers.get(name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    let of_session = seen.path.strip_prefix(b"/v1/session/").unwrap_or_default();
    let verbs = ["renew/", "destroy/", "info/"];
    let of_path = verbs
        .iter()
        .find_map(|verb| of_session.strip_prefix(verb.as_bytes()));
    let acquire = request.query.first("acquire");
    let of_query = || acquire.or(request.query.first("release"));
    let session = of_path.or_else(of_query).map(String::from_utf8_lossy);
    let asked = Asked {
        method: seen.method.as_str(),
        path: seen.path,
        kind: RequestKind::of(seen.method.as_str(), seen.path, |name| {
            request.query.first(name).is_some()
        }),
        session: session.as_deref(),
        acquires: seen.method == Method::PUT
            && acquire.is_some()
            && seen.path.starts_with(b"/v1/kv/"),
        client: request.peer,
        agent: seen.agent,
        header: &header,
        is_stale: seen.is_stale,
    };
    plan(&asked)
}

/// Returns the control of a request that faults may hit: not of those that are not observed, which are the web UI's own.
pub(crate) fn control(request: &Request) -> Option<Controls> {
    let control = request.context.control.as_ref()?;
    control.engine().current_call()?;
    Some(control.clone())
}

/// Handles a request, with the faults that the rules plan for it.
pub(crate) async fn handle_with_faults(
    control: Controls,
    handler: Handler,
    mut request: Request,
    path: Box<[u8]>,
    is_passed_on: bool,
) -> Outcome {
    let context = Arc::clone(&request.context);
    let seen = Seen::of(&mut request, &path, is_passed_on).await;
    let (mut open, mut turn) = (None, None);
    let held = until_it_may_go_on(&control, handler, &mut request, &seen, &mut turn);
    let plan = match held.await {
        Ok(plan) => plan,
        Err(refused) => return Err(refused).into(),
    };
    if let Some(stop) = &plan.stop {
        return stopped(&request, &seen, stop);
    }
    let change = plan
        .acl
        .and_then(|change| acl::Pending::new(&request, change));
    let mut _stands = None;
    let at = see_as_agent(&mut request, &seen);
    if let Some(past) = &plan.read_from {
        // A server that has fallen behind handles the request. Its state never changes, so a blocking query never ends
        // there.
        control.engine().reads_at(past.store().applied());
        let past = control.engine().fallen_behind(past.store());
        request.context = Arc::new(context.of_another_server(past));
        _stands = control.engine().stand_still();
    }
    let handled = {
        // Not begun here: a change that comes before the request has to be there. And pinned here, because moving the
        // future into another one would double its size.
        let handling = pin!(async {
            if plan.in_flight {
                // Boxed, because it is rare and large.
                request.is_in_flight = Box::pin(in_flight(&request, &seen)).await;
            }
            answer(handler, request, &seen, &mut open).await
        });
        let handling = pin!(acl::with_change(&control, change, handling));
        unless_interrupted(&control, &seen, &context, handling).await
    };
    drop(turn);
    let mut reply = match handled {
        Ok(reply) => passed_on(&context, &seen, reply),
        Err(Interruption::LeaderLost(error)) => return failed(&context, &seen, &error),
        Err(Interruption::LinkCut) => return Outcome::cut(Cut::Reset),
    };
    if let Some(hold) = plan.hold_answer {
        control.engine().hold(Some(hold)).await;
    }
    if until_link_is_up(&control, &seen).await.is_err() {
        return Outcome::cut(Cut::Reset);
    }
    for shown in [shown_at(&context, at), plan.shown] {
        reply::show(shown, headers_of(&mut reply));
    }
    Outcome {
        cut: plan.cut,
        open,
        ..reply.into()
    }
}

/// Answers a request, here or in the datacenter that it is for.
async fn answer(
    handler: Handler,
    request: Request,
    seen: &Seen<'_>,
    open: &mut Option<OpenCall>,
) -> Result<Reply, Failure> {
    match &seen.elsewhere {
        // Boxed, because it is rare and large.
        Some(there) => Box::pin(datacenter::ask(there, handler, request, seen, open)).await,
        None => handler.answer(request).await,
    }
}

fn headers_of(reply: &mut Result<Reply, Failure>) -> &mut [(HeaderName, HeaderValue)] {
    match reply {
        Ok(reply) => &mut reply.headers,
        Err(failure) => &mut failure.headers,
    }
}

/// Handles a request that no fault can hit.
pub(crate) async fn handle_without_faults(
    handler: Handler,
    mut request: Request,
    path: Box<[u8]>,
) -> Outcome {
    let seen = Seen::of(&mut request, &path, false).await;
    let context = Arc::clone(&request.context);
    let mut open = None;
    let at = see_as_agent(&mut request, &seen);
    let reply = answer(handler, request, &seen, &mut open).await;
    let mut reply = passed_on(&context, &seen, reply);
    reply::show(shown_at(&context, at), headers_of(&mut reply));
    Outcome {
        open,
        ..reply.into()
    }
}

/// Lets a stale read see what the server has applied that it came to. Returns the number of that server.
fn see_as_agent(request: &mut Request, seen: &Seen<'_>) -> Option<usize> {
    if !seen.is_stale || seen.is_for_agent() || seen.elsewhere.is_some() {
        return None;
    }
    request.context = request.context.view().map(Arc::clone)?;
    Some(request.context.agent)
}

/// Returns what the headers say of the leader of a server that a stale read came to.
fn shown_at(context: &Context, server: Option<usize>) -> Shown {
    let shown = server.map(|server| context.engine.shown_by_agent(server));
    shown.unwrap_or_default()
}

/// The outcome of a request that never reaches its handler.
fn stopped(request: &Request, seen: &Seen<'_>, stop: &Stop) -> Outcome {
    match stop {
        Stop::Error(error) => failed(&request.context, seen, error),
        Stop::NoLeaderName => Ok(Reply::json(request, "")).into(),
        Stop::NoPeers => Ok(Reply::json(request, &[(); 0])).into(),
        Stop::Respond(response) => Outcome {
            foreign: Some(foreign(response)),
            ..Ok(Reply::empty(StatusCode::OK)).into()
        },
        Stop::Cut(cut) => Outcome::cut(*cut),
    }
}

/// Makes the answer of a rule's response. A rule with a response that cannot be sent is refused when it is installed.
fn foreign(response: &Response) -> ApiAnswer {
    let header = |(name, value): &(String, String)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    let mut headers: Vec<_> = response.headers().iter().filter_map(header).collect();
    let body = Bytes::copy_from_slice(response.content());
    headers.push((CONTENT_LENGTH, header::number(body.len() as u64)));
    let status = StatusCode::from_u16(response.status());
    ApiAnswer {
        headers,
        body: ReplyBody::Whole(body),
        ..ApiAnswer::empty(status.expect("a rule is checked when it is installed"))
    }
}

fn failed(context: &Context, seen: &Seen<'_>, error: &ConsulError) -> Outcome {
    let config = &context.config;
    if error.is_silent(config.version) {
        return Outcome::cut(Cut::Close);
    }
    let server = match config.is_lone() {
        true => config.rpc_address(),
        false => format!(
            "{}:0->{}",
            config.advertise_address,
            context.leader().rpc_address()
        ),
    };
    let is_write = !matches!(seen.method, Method::GET | Method::HEAD);
    let key = seen.path.strip_prefix(b"/v1/kv/");
    let text = error.text(config.version, key, is_write, &server);
    let failure = Failure::new(error.status(), text);
    // A client agent has it from a server, if it reaches one.
    let failure = match config.server || context.is_lone() || context.is_without_servers() {
        true => failure,
        false => failure.passed_on(),
    };
    let reads = [
        "/v1/session/info/",
        "/v1/session/list",
        "/v1/session/node/",
        "/v1/catalog/",
        "/v1/health/",
    ];
    let is_read = reads
        .iter()
        .any(|path| seen.path.starts_with(path.as_bytes()));
    let failure = if is_read && !is_write && error.status() == 500 {
        failure.of_read(context)
    } else {
        failure
    };
    let content_type = match error {
        ConsulError::TooManyConnections => Some(HeaderValue::from_static("text/plain")),
        _ if failure.says_nothing() => None,
        _ => return Err(failure).into(),
    };
    Ok(Reply {
        content_type,
        ..Reply::failure(&failure, config.version)
    })
    .into()
}
