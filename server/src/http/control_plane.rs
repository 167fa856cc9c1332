//! The control plane on the wire: its calls are carried out aside, since some of them wait.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use super::reply::body::Body;
use super::server::{Answer as Response, Head, Incoming, Read};
use super::{Context, Plane, reply};
use crate::control::face::{self, Answer, Call, Content};
use crate::go::url::Target;

/// What its paths begin with.
const PREFIX: &str = "/proconsul/";

/// The longest body of a call in bytes: a state of many keys.
const BODY_LIMIT: u64 = 1 << 30;

/// Whether a path is the control plane's on this socket.
pub(super) fn is_meant(context: &Context, path: &[u8]) -> bool {
    let has_prefix = path.starts_with(PREFIX.as_bytes());
    context.control.is_some()
        && match context.plane {
            Plane::Consul => false,
            Plane::Control => true,
            Plane::Both => has_prefix,
        }
}

/// Carries out a call.
pub(super) async fn answer(
    context: &Context,
    head: &Head,
    target: &Target<'_>,
    mut body: Incoming,
) -> Response {
    let Some(control) = context.control.clone() else {
        unreachable!("only the control plane's paths lead here");
    };
    let path = String::from_utf8_lossy(target.path()).into_owned();
    let Some(path) = path.strip_prefix(face::PREFIX) else {
        let text = format!(
            "there is no {path:?}; the control plane is under {}",
            face::PREFIX
        );
        return shown(Answer::missing(text));
    };
    let Some(Read {
        bytes,
        failure: None,
    }) = body.read(BODY_LIMIT).await
    else {
        return shown(Answer::bad("the body cannot be read"));
    };
    let call = Call {
        method: head.method.to_string(),
        path: path.to_owned(),
        query: target.raw_query().to_vec(),
        body: bytes.to_vec(),
    };
    let done = tokio::task::spawn_blocking(move || face::answer(&control, &call)).await;
    shown(done.unwrap_or_else(|_| Answer::failed("the call panicked; the server's log says why")))
}

fn shown(answer: Answer) -> Response {
    let (content_type, text) = match answer.content {
        Content::Json(value) => ("application/json", value.to_string()),
        Content::Written(text) => ("application/json", text),
        Content::Text(text) => ("text/plain; charset=utf-8", text),
    };
    let status = StatusCode::from_u16(answer.status).expect("calls have statuses");
    Response {
        headers: vec![
            (CONTENT_LENGTH, reply::number(text.len() as u64)),
            (CONTENT_TYPE, HeaderValue::from_static(content_type)),
        ],
        body: Body::Whole(text.into()),
        ..Response::empty(status)
    }
}
