//! One request and its response without a wire: neither is framed.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};

use crate::bad_head::BadHead;
use crate::body::{HEAD_ROOM, Incoming, Wire};
use crate::connection::{BusyPoll, NoHead, ServeOptions, next_head};
use crate::head::{Framing, Head};
use crate::lines::Lines;
use crate::response::{Ending, HttpResponse, ResponseBody, push_head};
use crate::stream::{PipeReader, PipeWriter, WriteHalf, pipe};

/// Answers one request: a head as HTTP/1.1 has it, and behind it the body, which is all the rest. Returns the response with
/// its whole body; `None` if a connection would be closed before the end of the response.
///
/// To drop the future is to give up the request.
pub async fn exchange<B: ResponseBody, Held, Responding>(
    request: &[u8],
    settings: ServeOptions<'_>,
    respond: impl FnOnce(Head, Incoming) -> Responding,
) -> Option<Response<Bytes>>
where
    Responding: Future<Output = HttpResponse<B, Held>>,
{
    let (peer, read, _write) = pipe();
    peer.feed(request);
    peer.end();
    let wire = Arc::new(Wire::new(read));
    let (mut lines, mut poll) = (Lines::default(), BusyPoll::default());
    let next = next_head::<PipeReader, PipeWriter>(&wire, &mut lines, &mut poll, settings, None);
    let mut head = match next.await {
        Ok(head) => head,
        Err(NoHead::Refused(refusal)) => return Some(refusal.response(settings)),
        Err(NoHead::Over) => return Some(BadHead::Malformed.response(settings)),
    };
    while wire.more(HEAD_ROOM).await {}
    let length = wire.with_arrived(|arrived| arrived.len());
    head.framing = Framing::Length(length as u64);
    let is_head = head.method == Method::HEAD;
    let body = wire.body(&head, settings.strict);
    let answer = respond(head, body).await;
    if answer.ending != Ending::Whole {
        return None;
    }
    let body = match is_head || !answer.may_have_body() {
        true => Bytes::new(),
        false => whole(answer.body).await,
    };
    let has_date = answer.headers.iter().any(|(name, _)| name == DATE);
    let date = (!has_date).then(|| (DATE, settings.calendar.date()));
    let guessed = answer.guessed_type.map(|guessed| (CONTENT_TYPE, guessed));
    let headers = answer.headers.into_iter().chain(date).chain(guessed);
    Some(response(answer.status, headers, body))
}

/// Returns the head of a response as HTTP/1.1 has it, from the status to the empty line.
#[must_use]
pub fn head_of(response: &Response<Bytes>) -> Vec<u8> {
    let mut out = Vec::new();
    push_head(&mut out, response.status(), response.headers().iter());
    out.extend_from_slice(b"\r\n");
    out
}

impl BadHead {
    fn response(self, settings: ServeOptions<'_>) -> Response<Bytes> {
        let (status, body) = self.status_and_text(settings.strict);
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response(status, [(CONTENT_TYPE, text)].into_iter(), body.into())
    }
}

fn response(
    status: StatusCode,
    headers: impl Iterator<Item = (HeaderName, HeaderValue)>,
    body: Bytes,
) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in headers {
        response.headers_mut().append(name, value);
    }
    response
}

async fn whole(mut body: impl ResponseBody) -> Bytes {
    let mut whole = Vec::new();
    while !body.is_over() {
        if body.has_to_wait() {
            body.ready().await;
            continue;
        }
        let piece = body.next_piece();
        if piece.is_empty() && !body.is_over() {
            PipeWriter::yield_now().await;
        }
        whole.extend_from_slice(&piece);
    }
    whole.into()
}
