//! The controls over HTTP, under a prefix that no Consul has: for tests in any language.
//!
//! An axum router whose calls have types: what they take is read and checked before anything is done, and what is wrong
//! is a 400 with a sentence that says what was expected. The description of the calls is generated from the same types.
//! At a port of its own the router is served by axum; at the port of Consul's API it is called by
//! `http::control_plane`.
//!
//! One file for each page of calls. A call is a row in its page's `calls`, with its handler and its types below.

mod call;
mod describe;
mod groups;
mod guard;

use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{Error as HttpError, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state, map_request};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use futures_util::FutureExt;

use super::Controls;
use call::{Call, Refused};
use groups::calls;
use guard::Guard;
use proconsul_engine::aside::{Work, elsewhere};
use proconsul_gocompat::url;

pub(crate) use guard::LocalSocket;

/// What all paths of the control plane begin with.
pub const PREFIX: &str = "/proconsul/v1/";

/// The longest body of a call in bytes: a state of many keys.
const BODY_LIMIT: usize = 1 << 30;

/// Returns the control plane of one server. Web pages may call it under its own names and the hosts `allowed`.
pub fn router(control: Controls, allowed: &[String]) -> Router {
    let to_reference = get(|| async { Redirect::permanent(PREFIX) });
    let mut routed = Router::new()
        .fallback(unknown)
        .route(PREFIX.trim_end_matches('/'), to_reference);
    for (path, route) in routes() {
        routed = routed.route(&format!("{}{}", PREFIX.trim_end_matches('/'), path), route);
    }
    // A path that a middleware changes counts only for a router within.
    Router::new()
        .fallback_service(routed.with_state(control.clone()))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn_with_state(control, without_panic))
        .layer(from_fn_with_state(Guard::new(allowed), guard::check))
        .layer(map_request(decoded))
}

/// Returns the paths with the handlers of their methods, from the rows of [`calls`].
fn routes() -> Vec<(&'static str, MethodRouter<Controls>)> {
    let mut paths: Vec<(&'static str, Vec<Call>)> = Vec::new();
    for call in calls() {
        match paths.iter_mut().find(|(path, _)| *path == call.path) {
            Some((_, calls)) => calls.push(call),
            None => paths.push((call.path, vec![call])),
        }
    }
    let route = |(path, calls): (&'static str, Vec<Call>)| {
        let names: Vec<_> = calls.iter().map(|call| call.method.to_string()).collect();
        let names = names.join(" or ");
        let wrong_method = move |method: Method, uri: Uri| async move {
            let path = below_prefix(uri.path());
            let sentence = format!("{path:?} takes {names}, not {method}");
            Refused::with(StatusCode::METHOD_NOT_ALLOWED, sentence)
        };
        let merged = calls
            .into_iter()
            .fold(MethodRouter::new(), |all, call| all.merge(call.route));
        (path, merged.fallback(wrong_method))
    };
    paths.into_iter().map(route).collect()
}

async fn unknown(uri: Uri) -> Refused {
    let path = path_of(&uri);
    Refused::missing(match path.strip_prefix(PREFIX) {
        Some(path) => {
            format!("there is no {path:?}; GET {PREFIX}openapi.json lists what there is")
        }
        None => format!("there is no {path:?}; the control plane is under {PREFIX}"),
    })
}

/// A decoded path, for a sentence.
fn path_of(uri: &Uri) -> String {
    let raw = uri.path().as_bytes();
    let path = url::path_unescape(raw).unwrap_or(raw.into());
    String::from_utf8_lossy(&path).into_owned()
}

/// Returns the part of a path after [`PREFIX`].
fn below_prefix(path: &str) -> &str {
    path.strip_prefix(PREFIX).unwrap_or(path)
}

/// Normalizes the encoding of a path, so that routes match: `%63lock` is `clock`.
async fn decoded(mut request: Request) -> Request {
    let uri = request.uri();
    if let Ok(path) = url::path_unescape(uri.path().as_bytes())
        && let Ok(uri) = uri_of(&path, uri.query().unwrap_or_default().as_bytes())
    {
        *request.uri_mut() = uri;
    }
    request
}

/// Returns a URI with this decoded path and this raw query.
pub(crate) fn uri_of(path: &[u8], query: &[u8]) -> Result<Uri, HttpError> {
    let mut text = url::path_escape(path);
    if !query.is_empty() {
        text.push('?');
        text.extend(query.iter().map(|byte| match byte {
            b'"' | b'#' | b'<' | b'>' => format!("%{byte:02X}"),
            byte if byte.is_ascii_graphic() => char::from(*byte).to_string(),
            byte => format!("%{byte:02X}"),
        }));
    }
    Uri::builder().path_and_query(text).build()
}

/// Answers with an error if the handler panics, so that the connection serves on. A call may be as long as it wants to: it
/// keeps nobody waiting.
async fn without_panic(State(control): State<Controls>, request: Request, next: Next) -> Response {
    let host = control.engine().host();
    let answering = Work::new(host, Box::pin(next.run(request)), true);
    let answered = AssertUnwindSafe(answering).catch_unwind().await;
    answered.unwrap_or_else(|_| panicked().into_response())
}

fn panicked() -> Refused {
    Refused::failed("the call panicked; the server's log says why")
}

/// Runs blocking work on a thread of its own. It goes on when the caller is gone.
async fn aside<T: Send + 'static>(
    control: &Controls,
    work: impl FnOnce(&Controls) -> T + Send + 'static,
) -> Result<T, Refused> {
    let own = control.clone();
    let done = elsewhere(control.engine().host(), move || work(&own)).await;
    done.map_err(|_| panicked())
}
