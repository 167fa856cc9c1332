//! The way of a request from its head to its answer, in the steps of kv.md 0.

pub(crate) mod context;
mod log;
mod pages;

use std::borrow::Cow;
use std::future::ready;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, LazyLock};

use http::{HeaderName, Method, StatusCode};
use proconsul_h1::{Ending, Head, HttpResponse, Incoming, ResponseBody};

use crate::api;
use crate::failure::{Failure, FailureKind};
use crate::fault::{self, Outcome};
use crate::pipeline::context::Context;
use crate::reply::body::ApiAnswer;
use crate::reply::{self, Reply, ReplyContent};
use crate::request::Request;
use crate::route::{self, Route, RouteMatch, Table};
use log::{HIDDEN, RequestLog};
use proconsul_engine::aside::{MANY_BYTES, Work};
use proconsul_engine::host::Boxed;
use proconsul_engine::{Engine, OpenCall};
use proconsul_gocompat::mux::Mux;
use proconsul_gocompat::url::RequestTarget;
use proconsul_gocompat::url::path;
use proconsul_gocompat::url::path_unescape;
use proconsul_gocompat::url::query::Query;

/// The routes of Consul's API.
static ROUTES: LazyLock<Table> = LazyLock::new(|| Table::of(api::PAGES));

/// The header by which the inspection page marks its reads.
const OF_PAGE: HeaderName = HeaderName::from_static("x-proconsul-page");

/// Answers one request. What waits is boxed: it lies in the memory of the connection, and thousands of connections may be
/// idle.
pub fn respond(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    head: Head,
    body: Incoming,
) -> impl Future<Output = HttpResponse<impl ResponseBody, Option<OpenCall>>> + Send {
    let plane = context.control_plane.as_ref();
    // The control plane's calls are not counted: one that waits for open requests must not wait for itself.
    let is_for_plane = plane.is_some_and(|plane| plane.is_meant(&head));
    let mut call = match is_for_plane {
        true => None,
        false => begin_call(&context, peer, &head),
    };
    let id = call.as_ref().map(OpenCall::id);
    let answering: Boxed<ApiAnswer> = match is_for_plane {
        true => Box::pin(answer_by_plane(context, peer, head, body)),
        false => Engine::of_call(id, || answer(&context, peer, head, body)),
    };
    async move {
        let mut answer = Engine::in_call(id, answering).await;
        let is_answered = matches!(answer.ending, Ending::Whole | Ending::CutOff(_));
        if let Some(call) = call.as_mut().filter(|_| is_answered) {
            call.answered(Some(answer.status.as_u16()));
        }
        answer.held = OpenCall::both(call, answer.held);
        answer
    }
}

async fn answer_by_plane(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    head: Head,
    body: Incoming,
) -> ApiAnswer {
    match &context.control_plane {
        Some(plane) => plane.answer(&head, body, peer.is_none()).await,
        None => pages::unknown_path(&context, head.target.path()),
    }
}

/// Begins to answer a request of Consul's API. What can be done without waiting is done before the future is made: the
/// future of a request that waits is small.
fn answer(
    context: &Arc<Context>,
    peer: Option<SocketAddr>,
    head: Head,
    body: Incoming,
) -> Boxed<ApiAnswer> {
    let (endpoint, request) = match to_endpoint(context, peer, head, body) {
        Ok(there) => there,
        Err(Early(answer)) => return Box::pin(ready(*answer)),
    };
    let (route, path) = (endpoint.route, endpoint.log.target().path());
    if let Some(reply) = early(&request, route, path) {
        return Box::pin(ready(endpoint.finish(Ok(reply).into())));
    }
    match fault::control(&request) {
        Some(control) => {
            let path = path.into();
            let handling = fault::handle_with_faults(control, route.handler, request, path, false);
            endpoint.answer(handling)
        }
        None if context.is_lone() => {
            let handling = route.handler.answer(request);
            endpoint.answer(async { handling.await.into() })
        }
        None => {
            let path = path.into();
            let handling = fault::handle_without_faults(route.handler, request, path);
            endpoint.answer(handling)
        }
    }
}

/// Counts a request, if tests may ask for it.
fn begin_call(context: &Context, peer: Option<SocketAddr>, head: &Head) -> Option<OpenCall> {
    if !context.engine.is_observed() || is_of_page(context, head) {
        return None;
    }
    let target = String::from_utf8_lossy(head.target.as_sent());
    let target = match context.acls {
        Some(_) => without_tokens(target),
        None => target,
    };
    let client = peer.map(|peer| peer.ip());
    let engine = &context.engine;
    let agent = (!context.is_lone()).then_some(context.agent);
    engine.begin_call_at(agent, client, head.method.as_str(), &target)
}

/// Whether a request is a read of the inspection page: it is not observed, so that looking at a test changes nothing in
/// it. No record is made of it, no barrier counts it, and no fault hits it.
///
/// It reads by a transaction what no path can name, such as the key `a//b`.
fn is_of_page(context: &Context, head: &Head) -> bool {
    let path = head.target.path();
    let is_marked = || head.headers.get(OF_PAGE).is_some();
    context.control.is_some()
        && match head.method {
            Method::GET => is_marked() || context.config.ui && path.starts_with(b"/ui/"),
            Method::PUT => path == b"/v1/txn" && is_marked(),
            _ => false,
        }
}

/// Hides the tokens in the query of a target, however their names are written and whatever separates them. The log hides
/// no more than Consul's.
fn without_tokens(target: Cow<'_, str>) -> Cow<'_, str> {
    let Some((path, query)) = target.split_once('?') else {
        return target;
    };
    let is_token = |name: &str| path_unescape(name.as_bytes()).is_ok_and(|name| *name == *b"token");
    let pairs = query.split_inclusive(['&', ';']).map(|piece| {
        let pair = piece.trim_end_matches(['&', ';']);
        match pair.split_once('=') {
            Some((name, _)) if is_token(name) => {
                Cow::Owned(format!("{name}={HIDDEN}{}", &piece[pair.len()..]))
            }
            _ => Cow::Borrowed(piece),
        }
    });
    format!("{path}?{}", pairs.collect::<String>()).into()
}

/// A request at its endpoint.
struct Endpoint {
    context: Arc<Context>,
    route: &'static Route,
    accepts_gzip: bool,
    /// Measures the request, and logs its end when it is dropped.
    log: RequestLog,
}

/// An answer of a step before the endpoint.
struct Early(Box<ApiAnswer>);

impl From<ApiAnswer> for Early {
    fn from(answer: ApiAnswer) -> Self {
        Self(Box::new(answer))
    }
}

/// Runs the steps of kv.md 0 up to the endpoint.
///
/// # Errors
/// The answer of a step before the endpoint.
fn to_endpoint(
    context: &Arc<Context>,
    peer: Option<SocketAddr>,
    head: Head,
    body: Incoming,
) -> Result<(Endpoint, Request), Early> {
    if let Some(answer) = pages::without_path(context, &head) {
        return Err(answer.into());
    }
    check_printable(context, &head.target)?;
    if let Some(page) = pages::page(context, &head.method, &head.target) {
        return Err(page.into());
    }
    let (route, rest) = find_route(context, &head.method, &head.target)?;
    let endpoint = Endpoint {
        context: Arc::clone(context),
        route,
        accepts_gzip: reply::accepts_gzip(&head.headers),
        log: RequestLog::new(head.method.clone(), head.target, context, peer),
    };
    let target = endpoint.log.target();
    let Ok(query) = Query::parse(target.raw_query(), context.semicolons()) else {
        return Err(pages::bad_query(context).into());
    };
    let request = Request {
        context: Arc::clone(context),
        asked: Arc::clone(context),
        peer: peer.map(|peer| peer.ip()),
        is_in_flight: false,
        method: head.method,
        route: route.path,
        asks: route.asks,
        rest,
        query,
        headers: head.headers,
        body,
    };
    Ok((endpoint, request))
}

impl Endpoint {
    /// Runs the steps from the endpoint on.
    fn answer(self, handling: impl Future<Output = Outcome> + Send + 'static) -> Boxed<ApiAnswer> {
        // Not an `async fn`, whose future would have room for its arguments twice.
        Box::pin(async move {
            let outcome = handling.await;
            self.finish_here_or_aside(outcome).await
        })
    }

    /// Runs the steps behind the endpoint. The compression of a long body is long work.
    fn finish_here_or_aside(self, outcome: Outcome) -> Boxed<ApiAnswer> {
        if self.accepts_gzip && is_long(&outcome) {
            let host = Arc::clone(self.context.engine.host());
            return Box::pin(Work::new(
                &host,
                Box::pin(async move { self.finish(outcome) }),
                true,
            ));
        }
        Box::pin(ready(self.finish(outcome)))
    }

    /// Runs the steps behind the endpoint.
    fn finish(self, outcome: Outcome) -> ApiAnswer {
        let context = &self.context;
        if let Some(foreign) = outcome.foreign {
            return foreign;
        }
        let reply = match outcome.reply {
            Ok(reply) => reply,
            Err(failure) if failure.kind == FailureKind::Dropped => return ApiAnswer::silence(),
            Err(failure) if context.config.strict && failure.kind == FailureKind::NotEmulated => {
                return pages::unknown_path(context, self.log.target().path());
            }
            Err(failure) => {
                if failure.kind == FailureKind::NotEmulated {
                    context.note_absent(self.route.path);
                }
                Reply::failure(&failure, context.config.version)
            }
        };
        let reply = Reply {
            ending: outcome.cut.map_or(Ending::Whole, fault::ending),
            ..reply
        };
        let open = outcome.open;
        self.log.measure(context, self.route, reply.status);
        if self.log.is_late(context) {
            return ApiAnswer::silence();
        }
        if let (true, ReplyContent::Whole(text)) = (reply.is_error, &reply.content) {
            self.log.error(&String::from_utf8_lossy(text));
        }
        ApiAnswer {
            held: open,
            ..reply::finish(context, self.accepts_gzip, reply)
        }
    }
}

/// Whether a response has a body whose compression would hold up others.
fn is_long(outcome: &Outcome) -> bool {
    match outcome.reply.as_ref().map(|reply| &reply.content) {
        Ok(ReplyContent::Exact(text) | ReplyContent::Whole(text)) => text.len() > MANY_BYTES,
        _ => false,
    }
}

fn check_printable(context: &Context, target: &RequestTarget) -> Result<(), Early> {
    let unicode = context.config.version.go().unicode;
    if context.config.disable_http_unprintable_char_filter
        || path::is_printable_path(target.path(), unicode)
    {
        return Ok(());
    }
    Err(ApiAnswer::empty(StatusCode::BAD_REQUEST).into())
}

/// Finds the route of a target and the rest of its path.
///
/// # Errors
/// A redirect, or the answer to an unknown path.
fn find_route(
    context: &Context,
    method: &Method,
    target: &RequestTarget,
) -> Result<(&'static Route, Vec<u8>), Early> {
    let mux = context.mux();
    let (path, redirect) = mux.route_path(target);
    let found = ROUTES.find(&path);
    if let RouteMatch::Slash(folder) = found
        && folder.exists_in(context.config.version)
    {
        return Err(pages::to_slash(context, method, target).into());
    }
    // A CONNECT is never redirected to a clean path.
    if let Some(redirect) = redirect.filter(|_| *method != Method::CONNECT) {
        return Err(pages::mux_redirect(context, method, &redirect).into());
    }
    match found {
        RouteMatch::Route(route, start) if route.exists_in(context.config.version) => {
            // On either mux the handler sees the path decoded as a whole.
            let path = match mux {
                Mux::Decoded => &path,
                Mux::Escaped => target.path(),
            };
            Ok((route, path.get(start..).unwrap_or_default().to_vec()))
        }
        RouteMatch::Route(..) | RouteMatch::Slash(_) | RouteMatch::Unknown => {
            Err(pages::unknown_path(context, target.path()).into())
        }
    }
}

/// Answers a request that does not reach its endpoint (kv.md 0, steps 6 to 9).
fn early(request: &Request, route: &Route, path: &[u8]) -> Option<Reply> {
    let config = &request.context.config;
    let failure = |failure| Some(Reply::failure(&failure, config.version));
    let blocked = |prefix: &String| path.starts_with(prefix.as_bytes());
    if config.block_endpoints.iter().any(blocked) {
        return failure(Failure::endpoint_blocked());
    }
    let looks_itself = route.methods.is_empty();
    if request.method == Method::OPTIONS && !looks_itself {
        let mut reply = Reply::empty(StatusCode::OK);
        reply.content_type = reply::empty_content_type(request);
        reply
            .headers
            .push(reply::allow(&route::allow(route.methods)));
        return Some(reply);
    }
    if !looks_itself && !route.methods.contains(&request.method) {
        let allow = reply::allow(&route::allow(route.methods));
        return failure(Failure::method_not_allowed(&request.method, allow));
    }
    let from = &config.allow_write_http_from;
    let writes = !matches!(request.method, Method::GET | Method::HEAD);
    let allowed = |peer: IpAddr| from.iter().any(|network| network.contains(peer));
    if writes && !from.is_empty() && !request.peer.is_some_and(allowed) {
        return failure(Failure::access_restricted());
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::route::allow;

    fn found(path: &str) -> Option<&'static str> {
        match ROUTES.find(path.as_bytes()) {
            RouteMatch::Route(route, _) => Some(route.path),
            RouteMatch::Slash(_) | RouteMatch::Unknown => None,
        }
    }

    #[test]
    fn subtrees_match_below_and_exact_paths_only_themselves() {
        assert_eq!(found("/v1/kv/a/b"), Some("/v1/kv/"));
        assert_eq!(found("/v1/kv/"), Some("/v1/kv/"));
        assert_eq!(found("/v1/session/list"), Some("/v1/session/list"));
        assert_eq!(found("/v1/session/list/"), None);
        assert_eq!(found("/V1/kv/a"), None);
        assert_eq!(found("/v2"), None);
        let of_service = |path| found(&format!("/v1/agent/service/{path}"));
        assert_eq!(of_service("register"), Some("/v1/agent/service/register"));
        assert_eq!(of_service("registered"), Some("/v1/agent/service/"));
    }

    #[test]
    fn a_subtree_without_its_slash_is_redirected() {
        assert!(matches!(ROUTES.find(b"/v1/kv"), RouteMatch::Slash(_)));
        assert!(matches!(
            ROUTES.find(b"/v1/session/destroy"),
            RouteMatch::Slash(_)
        ));
        assert!(matches!(
            ROUTES.find(b"/v1/session/list"),
            RouteMatch::Route(..)
        ));
        assert!(matches!(ROUTES.find(b"/v1"), RouteMatch::Unknown));
        assert!(matches!(
            ROUTES.find(b"/v1/agent/service/maintenance"),
            RouteMatch::Slash(_)
        ));
    }

    #[test]
    fn no_path_stands_in_two_rows() {
        let rows: Vec<_> = api::PAGES.iter().copied().flatten().collect();
        let paths: BTreeSet<_> = rows.iter().map(|route| route.path).collect();
        assert_eq!(paths.len(), rows.len());
    }

    #[test]
    fn the_allow_header_starts_with_options() {
        assert_eq!(allow(&[Method::GET]), "OPTIONS,GET");
    }
}
