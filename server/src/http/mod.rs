//! The wire: requests come in as bytes, are checked in Consul's order, become commands and queries, and their
//! replies become bytes again. One file per page of Consul's API documentation.
//!
//! HTTP itself is in `server`; routing is ours as well. Consul's routes are Go's: they match the decoded, cleaned path and
//! redirect to it, answer `OPTIONS` and list their methods without spaces, and none of that can be said to a
//! router that matches the path as sent.

mod api;
mod body;
mod control_plane;
mod failure;
mod fault;
mod reply;
mod request;
mod request_log;
mod route;
mod server;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use tokio::sync::Notify;

pub(crate) use server::{BACKLOG, Socket, accept};

use crate::config::Config;
use crate::control::Control;
use crate::engine::{Engine, OpenCall};
use crate::go::gzip;
use crate::go::mux::{Mux, Redirect};
use crate::go::path;
use crate::go::printable::Unicode;
use crate::go::query::{Query, Semicolons};
use crate::go::url::Target;
use crate::history::CallId;
use crate::version::Behaviour;
use control_plane::ControlPlane;
use failure::{Failure, Kind};
use reply::body::Body;
use reply::{Content, Reply};
use request::Request;
use request_log::RequestLog;
use route::{Found, Route};
use server::{Answer, Ending, Head, Incoming, Protocol};

/// What every request of one server shares.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) engine: Arc<Engine>,
    /// What a test may do to the server, if it may do anything.
    pub(crate) control: Option<Control>,
    /// The control plane, where it is served beside Consul's API.
    control_plane: Option<ControlPlane>,
    pub(crate) config: Arc<Config>,
    /// The configured headers of all answers, sorted.
    response_headers: Vec<(HeaderName, HeaderValue)>,
    /// The value of `X-Consul-Default-Acl-Policy`.
    acl_policy: HeaderValue,
    /// How many connections each client holds.
    connections: Arc<server::OpenConnections>,
    /// The unknown paths that the log has named, up to a bound.
    unknown: Mutex<BTreeSet<String>>,
    /// The endpoints that are not emulated and that the log has named.
    absent: Mutex<BTreeSet<&'static str>>,
    /// What a reload does.
    pub(crate) reload: Reload,
    /// Told when a client makes the agent leave.
    pub(crate) left: Notify,
}

/// Lets the agent read its configuration again.
#[derive(Clone)]
pub(crate) struct Reload(Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl Reload {
    pub(crate) fn new(reload: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(reload))
    }

    /// # Errors
    /// Consul's sentence about what is wrong with the configuration. What comes before it has been taken.
    pub(crate) fn run(&self) -> Result<(), String> {
        (self.0)()
    }
}

impl std::fmt::Debug for Reload {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Reload")
    }
}

/// How many unknown paths are named in the log.
const UNKNOWN_PATHS_NAMED: usize = 100;

impl Context {
    /// What the requests of a server with this configuration share. Configured headers that are none are left out.
    pub(crate) fn new(
        engine: Arc<Engine>,
        config: Config,
        control: Option<Control>,
        reload: Reload,
    ) -> Self {
        let header = |(name, value): &(String, String)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        };
        let policy = HeaderValue::from_str(&config.acl_default_policy);
        let mut response_headers: Vec<_> =
            config.response_headers.iter().filter_map(header).collect();
        response_headers.sort_by(|(left, _), (right, _)| left.as_str().cmp(right.as_str()));
        Self {
            engine,
            control_plane: control_plane(control.as_ref(), &config),
            control,
            response_headers,
            acl_policy: policy.unwrap_or(HeaderValue::from_static("allow")),
            config: Arc::new(config),
            connections: Arc::default(),
            unknown: Mutex::default(),
            absent: Mutex::default(),
            reload,
            left: Notify::new(),
        }
    }

    /// The same over another state, out of the reach of tests.
    fn of_another_server(&self, engine: Engine) -> Self {
        Self {
            engine: Arc::new(engine),
            control: None,
            control_plane: None,
            config: Arc::clone(&self.config),
            response_headers: self.response_headers.clone(),
            acl_policy: self.acl_policy.clone(),
            connections: Arc::clone(&self.connections),
            unknown: Mutex::default(),
            absent: Mutex::default(),
            reload: self.reload.clone(),
            left: Notify::new(),
        }
    }

    /// The same for sockets that serve Consul's API alone, since the control plane has a port of its own.
    pub(crate) fn without_control_plane(mut self) -> Self {
        self.control_plane = None;
        self
    }

    /// Says in the log, once for each path and for not too many, that an unknown path was asked for.
    fn note_unknown(&self, path: &[u8]) {
        let path = String::from_utf8_lossy(path).into_owned();
        let mut unknown = self.unknown.lock();
        if unknown.len() < UNKNOWN_PATHS_NAMED && unknown.insert(path.clone()) {
            tracing::warn!(target: "agent.http", %path, "Request for a path that is not emulated");
        }
    }

    /// Says in the log, once for each endpoint, that it is not emulated.
    fn note_absent(&self, endpoint: &'static str) {
        if self.absent.lock().insert(endpoint) {
            tracing::warn!(
                target: "agent.http",
                endpoint,
                status = 501,
                "Request for an endpoint of Consul's that is not emulated"
            );
        }
    }

    /// Returns the id of the agent's node. Loading a state changes it.
    pub(crate) fn node_id(&self) -> String {
        self.engine.snapshot().agent().node_id()
    }

    fn has(&self, behaviour: Behaviour) -> bool {
        self.config.version.has(behaviour)
    }

    fn mux(&self) -> Mux {
        if self.has(Behaviour::HttpMuxEscaped) {
            Mux::Escaped
        } else {
            Mux::Decoded
        }
    }
}

#[cfg(feature = "control-http")]
fn control_plane(control: Option<&Control>, config: &Config) -> Option<ControlPlane> {
    control.map(|control| ControlPlane::new(control.clone(), &config.allow_hosts))
}

#[cfg(not(feature = "control-http"))]
fn control_plane(_: Option<&Control>, _: &Config) -> Option<ControlPlane> {
    None
}

/// Answers one request: the steps of kv.md section 0, in its order.
async fn respond(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    head: Head,
    body: Incoming,
) -> Answer {
    // Told apart once, before the request is counted: what counts requests must not wait for itself.
    if let Some(plane) = control_plane::meant(&context, &head) {
        return plane.answer(&head, body, peer.is_none()).await;
    }
    let target = String::from_utf8_lossy(&head.target);
    let mut call =
        context
            .engine
            .begin_call(peer.map(|peer| peer.ip()), head.method.as_str(), &target);
    drop(target);
    let id = call.as_ref().map(OpenCall::id);
    let mut answer = match steps(context, peer, id, head, body).await {
        Ok(answer) => answer,
        Err(Early(answer)) => *answer,
    };
    let is_answered = matches!(answer.ending, Ending::Whole | Ending::CutOff(_));
    if let Some(call) = call.as_mut().filter(|_| is_answered) {
        call.answered(Some(answer.status.as_u16()));
    }
    answer.call = call;
    answer
}

/// The answer to a request that ends before its endpoint has answered it.
struct Early(Box<Answer>);

impl From<Answer> for Early {
    fn from(answer: Answer) -> Self {
        Self(Box::new(answer))
    }
}

/// The answer, or the answer of the step that ended the request early.
async fn steps(
    context: Arc<Context>,
    peer: Option<SocketAddr>,
    call: Option<CallId>,
    head: Head,
    body: Incoming,
) -> Result<Answer, Early> {
    if let Some(answer) = without_path(&head) {
        return Ok(answer);
    }
    let target = Target::parse(&head.target).expect("the server has parsed it before");
    check_printable(&context, &target)?;
    if let Some(page) = pages(&context, &head.method, &target) {
        return Ok(page);
    }
    let (route, rest) = find_route(&context, &head.method, &target)?;
    // Dropped at the end, whichever that is: then the line is written.
    let logged = RequestLog::new(&head, &context, peer);
    let accepts_gzip = accepts_gzip(&head.headers);
    let semicolons = if context.has(Behaviour::HttpSemicolonRefused) {
        Semicolons::Refused
    } else {
        Semicolons::Separate
    };
    let Ok(query) = Query::parse(target.raw_query(), semicolons) else {
        return Err(bad_query(&context).into());
    };
    let request = Request {
        context: Arc::clone(&context),
        peer: peer.map(|peer| peer.ip()),
        call,
        method: head.method.clone(),
        route: route.path,
        rest,
        query,
        headers: head.headers,
        body,
    };
    let reply = match early(&request, route, target.path()) {
        Some(reply) => reply,
        None => {
            let outcome = fault::handle_with_faults(route.handler, request, target.path()).await;
            if let Some(foreign) = outcome.foreign {
                return Ok(foreign);
            }
            let reply = match outcome.reply {
                Ok(reply) => reply,
                Err(failure) if failure.kind == Kind::Dropped => return Ok(Answer::silence()),
                Err(failure) if context.config.strict && failure.kind == Kind::NotEmulated => {
                    return Ok(unknown_path(&context, target.path()));
                }
                Err(failure) => {
                    if failure.kind == Kind::NotEmulated {
                        context.note_absent(route.path);
                    }
                    Reply::failure(&failure, context.config.version)
                }
            };
            Reply {
                ending: outcome.cut.map_or(Ending::Whole, Ending::from),
                ..reply
            }
        }
    };
    if let (true, Content::Whole(text)) = (reply.is_error, &reply.content) {
        logged.error(&String::from_utf8_lossy(text));
    }
    Ok(reply::finish(&context, accepts_gzip, reply))
}

/// What is answered to targets that are no path, by Go's server and its mux.
fn without_path(head: &Head) -> Option<Answer> {
    if head.method == Method::CONNECT && !head.target.starts_with(b"/") {
        return Some(unknown_resource());
    }
    if *head.target != *b"*" {
        return None;
    }
    let (status, header) = if head.method == Method::OPTIONS {
        (
            StatusCode::OK,
            (CONTENT_LENGTH, HeaderValue::from_static("0")),
        )
    } else {
        let close = HeaderValue::from_static("close");
        (StatusCode::BAD_REQUEST, (CONNECTION, close))
    };
    let mut answer = Answer::empty(status);
    // To HTTP/1.0 nothing is said: there the connection ends anyway.
    if head.protocol == Protocol::Http11 || status == StatusCode::OK {
        answer.headers.push(header);
    }
    Some(answer)
}

/// Whether the client takes gzip, as Consul's compressing writer reads its header.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT_ENCODING)
        .is_some_and(|value| gzip::accepts_gzip(&String::from_utf8_lossy(value.as_bytes())))
}

fn check_printable(context: &Context, target: &Target<'_>) -> Result<(), Early> {
    let unicode = Unicode::of(context.config.version);
    if context.config.disable_http_unprintable_char_filter
        || path::is_printable_path(target.path(), unicode)
    {
        return Ok(());
    }
    Err(Answer::empty(StatusCode::BAD_REQUEST).into())
}

/// The paths outside of the API: `/`, and the inspection page. They carry none of the API's headers.
fn pages(context: &Context, method: &Method, target: &Target<'_>) -> Option<Answer> {
    let ui = context.config.ui;
    match target.path() {
        b"/" if ui => Some(redirect(method, &Redirect::to("/ui/"))),
        b"/ui" if ui => Some(redirect(method, &Mux::redirect_to_slash(target))),
        b"/api" if context.has(Behaviour::HttpApiPrefix) => {
            Some(redirect(method, &Mux::redirect_to_slash(target)))
        }
        b"/" => {
            let text = if context.has(Behaviour::HttpUiOffText) {
                "Consul Agent: UI disabled. To enable, set ui_config.enabled=true in the agent configuration and restart."
            } else {
                "Consul Agent"
            };
            Some(words(context, text))
        }
        path if ui && path.starts_with(b"/ui/") => {
            let html = HeaderValue::from_static("text/html; charset=utf-8");
            Some(Answer {
                headers: vec![
                    (CONTENT_LENGTH, reply::number(crate::ui::PAGE.len() as u64)),
                    (CONTENT_TYPE, html),
                ],
                body: Body::Whole(crate::ui::PAGE.into()),
                ..Answer::empty(StatusCode::OK)
            })
        }
        _ => None,
    }
}

/// A few words for who looks at the root. Their type is set first since errors have theirs so, and was guessed before.
fn words(context: &Context, text: &'static str) -> Answer {
    let mut answer = Answer {
        body: Body::Whole(text.into()),
        ..Answer::empty(StatusCode::OK)
    };
    if context.has(Behaviour::HttpErrorContentTypeFirst) {
        answer.headers.push((CONTENT_TYPE, reply::TEXT));
    } else {
        answer.guessed_type = Some(reply::TEXT);
    }
    answer
}

/// The route of a target and what follows it in the path; or the redirect, or the answer to an unknown path.
fn find_route(
    context: &Context,
    method: &Method,
    target: &Target<'_>,
) -> Result<(&'static Route, Vec<u8>), Early> {
    let mux = context.mux();
    let path = mux.route_path(target);
    let found = route::find(&path);
    if matches!(found, Found::Slash) {
        return Err(redirect(method, &Mux::redirect_to_slash(target)).into());
    }
    // A CONNECT is taken as it is.
    let to = mux.redirect_to_clean(target);
    if let Some(to) = to.filter(|_| *method != Method::CONNECT) {
        return Err(redirect(method, &to).into());
    }
    match found {
        Found::Route(route, start) if route.exists_in(context.config.version) => {
            // The handler sees the path decoded as a whole, whatever the mux matched.
            let path = match mux {
                Mux::Decoded => &path,
                Mux::Escaped => target.path(),
            };
            Ok((route, path.get(start..).unwrap_or_default().to_vec()))
        }
        Found::Route(..) | Found::Slash | Found::Unknown => {
            Err(unknown_path(context, target.path()).into())
        }
    }
}

fn redirect(method: &Method, to: &Redirect) -> Answer {
    let mut answer = Answer::empty(StatusCode::MOVED_PERMANENTLY);
    if matches!(*method, Method::GET | Method::HEAD) {
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        answer.headers.push((CONTENT_TYPE, html));
    }
    if let Ok(location) = HeaderValue::from_str(&to.location()) {
        answer.headers.push((LOCATION, location));
    }
    if *method == Method::GET {
        answer.body = Body::Whole(to.html().into());
    }
    answer
}

/// The answer to a path that is nobody's (kv.md 6.6, 1.22.md A6). Said once a path in the log, since it may be
/// an endpoint that this server does not have.
fn unknown_path(context: &Context, path: &[u8]) -> Answer {
    context.note_unknown(path);
    if path.starts_with(b"/api/") && context.has(Behaviour::HttpApiPrefix) {
        return unknown_resource();
    }
    let text = if !context.has(Behaviour::HttpUnknownPathText) {
        ""
    } else if path.windows(4).any(|window| window == b"/v1/") {
        "Invalid URL path: not a recognized HTTP API endpoint\n"
    } else {
        "Invalid URL path: if attempting to use the HTTP API, ensure the path starts with '/v1/'\n"
    };
    let mut answer = Answer::empty(StatusCode::NOT_FOUND);
    if !text.is_empty() {
        answer.headers.clone_from(&context.response_headers);
        // Go's server guesses the type when everything else stands.
        answer.guessed_type = Some(reply::TEXT);
        answer.body = Body::Whole(text.into());
    }
    answer
}

/// What the API of resources, which is beside that of `/v1/`, answers to a path that is nobody's (1.22.md A6).
fn unknown_resource() -> Answer {
    let no_sniff = HeaderValue::from_static("nosniff");
    Answer {
        headers: vec![
            (CONTENT_TYPE, reply::TEXT),
            (X_CONTENT_TYPE_OPTIONS, no_sniff),
        ],
        body: Body::Whole("404 page not found\n".into()),
        ..Answer::empty(StatusCode::NOT_FOUND)
    }
}

/// A query string that cannot be read (kv.md 0, step 5).
fn bad_query(context: &Context) -> Answer {
    let mut reply = Reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
    if context.has(Behaviour::HttpBadQueryContentType) {
        reply.content_type = Some(reply::TEXT);
    }
    reply::finish(context, false, reply)
}

/// What is answered before the endpoint is asked (kv.md 0, steps 6 to 9).
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
        reply.content_type = empty_content_type(request);
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

/// The type of an answer into which nothing was written (1.22.md A6.7).
fn empty_content_type(request: &Request) -> Option<HeaderValue> {
    if !request.has(Behaviour::HttpEmptyContentType) {
        return None;
    }
    if !request.has(Behaviour::HttpEmptyContentTypeJson) {
        return Some(reply::TEXT);
    }
    let own = request.headers.get(CONTENT_TYPE);
    if matches!(request.method, Method::GET | Method::DELETE)
        && let Some(own) = own
    {
        return Some(own.clone());
    }
    Some(if request.has(Behaviour::HttpEmptyContentTypeCharset) {
        reply::JSON_UTF_8
    } else {
        reply::JSON
    })
}
