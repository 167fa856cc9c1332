//! The loop of a connection: reads a request, sends the response, and starts again until either side closes.

mod busy_poll;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::CONNECTION;
use http::{HeaderValue, Method, StatusCode};

use crate::bad_head::BadHead;
use crate::body::{HEAD_ROOM, Incoming, Left, UNREAD_LIMIT, Wire};
use crate::head::{Expectation, Framing, Head, Persistence};
use crate::lines::Lines;
use crate::response::{Calendar, Ending, Fate, HttpResponse, ResponseBody, Terms};
use crate::select::{Either, select};
use crate::stream::write::{shutdown, write_all};
use crate::stream::{HangingUp, ReadHalf, WriteHalf};
use crate::strictness::Strictness;
pub(crate) use busy_poll::BusyPoll;

/// How long a closing connection is read, as in Go. Unread bytes would cause a reset, which could destroy the
/// last response.
const LINGER: Duration = Duration::from_millis(500);
/// How long the shutdown of a connection may take that needs one, as in Go.
const FAREWELL: Duration = Duration::from_secs(5);
/// The shortest beginning of a further request that newer Go answers with an error.
const BEGINNING: usize = 4;

/// The options of a server for its connections.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions<'a> {
    /// The longest head, in bytes.
    pub head_limit: usize,
    /// Which release's rules apply.
    pub strict: Strictness,
    /// Whether a client that stops sending while it waits has gone.
    pub hanging_up: HangingUp,
    /// Whether a thread may look for the next request of a busy client for a while before it sleeps. Only where the client
    /// can run meanwhile: on more than one core.
    pub busy_poll: bool,
    /// The time. Only the application reads it.
    pub calendar: &'a dyn Calendar,
}

/// Why no request follows.
pub(crate) enum NoHead {
    /// The client closed the connection.
    Over,
    /// The head is refused.
    Refused(BadHead),
}

impl From<BadHead> for NoHead {
    fn from(refusal: BadHead) -> Self {
        Self::Refused(refusal)
    }
}

/// Serves a connection until either side closes it. `respond` answers one request at a time.
pub async fn serve<B: ResponseBody, Held, Responding>(
    read: impl ReadHalf,
    mut write: impl WriteHalf,
    settings: ServeOptions<'_>,
    respond: impl Fn(Head, Incoming) -> Responding,
) where
    Responding: Future<Output = HttpResponse<B, Held>>,
{
    let wire = Arc::new(Wire::new(read));
    match converse(&wire, &mut write, settings, respond).await {
        Close::Reset => write.reset(),
        Close::Said if write.needs_shutdown() => {
            select(
                pin!(shutdown(&mut write)),
                settings.calendar.sleep(FAREWELL).as_mut(),
            )
            .await;
        }
        Close::Said => {}
    }
}

/// How a connection is closed.
enum Close {
    /// As usual.
    Said,
    /// With a reset.
    Reset,
}

/// Answers requests until either side wants to close the connection.
async fn converse<R: ReadHalf, W: WriteHalf, B: ResponseBody, Held, Responding>(
    wire: &Arc<Wire<R>>,
    write: &mut W,
    settings: ServeOptions<'_>,
    respond: impl Fn(Head, Incoming) -> Responding,
) -> Close
where
    Responding: Future<Output = HttpResponse<B, Held>>,
{
    let mut lines = Lines::default();
    let mut busy_poll = BusyPoll::default();
    let mut last_method = None;
    loop {
        let next = next_head::<R, W>(
            wire,
            &mut lines,
            &mut busy_poll,
            settings,
            last_method.as_ref(),
        );
        let head = match next.await {
            Ok(head) => head,
            Err(NoHead::Over) => return Close::Said,
            Err(NoHead::Refused(refusal)) => {
                let answer = refusal.answer(settings.strict);
                if write_all(write, answer.as_bytes()).await.is_ok() {
                    linger(wire, write, settings).await;
                }
                return Close::Said;
            }
        };
        last_method = Some(head.method.clone());
        let terms = Terms::of(&head, settings.calendar);
        let expectation = head.expectation;
        let body = wire.body(&head, settings.strict);
        if expectation == Expectation::Unknown {
            // Boxed, because it is rare and large.
            Box::pin(fail_expectation(wire, write, terms, head.framing, settings)).await;
            return Close::Said;
        }
        let answer = {
            let answering = pin!(respond(head, body));
            let gone = pin!(gone_while_waiting(wire, write, settings));
            match select(answering, gone).await {
                Either::Left(answer) => answer,
                Either::Right(()) => return Close::Said,
            }
        };
        match answer.ending {
            Ending::Silence => return Close::Said,
            Ending::Reset => return Close::Reset,
            Ending::Whole | Ending::CutOff(_) => {}
        }
        let is_cut_off = answer.ending != Ending::Whole;
        let fate = fate(wire, &answer, terms, expectation).await;
        let sent = answer.send(write, terms, fate).await;
        if sent.is_err() {
            return Close::Said;
        }
        if is_cut_off || fate != Fate::Kept {
            if !wire.is_body_over() {
                linger(wire, write, settings).await;
            }
            return Close::Said;
        }
        wire.shrink_to(HEAD_ROOM);
    }
}

/// Returns when the client has gone. It is asked first when a request has to wait, which gives the buffer back: thousands
/// of requests may wait.
async fn gone_while_waiting(
    wire: &Wire<impl ReadHalf>,
    write: &mut impl WriteHalf,
    settings: ServeOptions<'_>,
) {
    wire.shrink_to(0);
    write.gone(settings.hanging_up).await;
}

/// Reads the next head.
pub(crate) async fn next_head<R: ReadHalf, W: WriteHalf>(
    wire: &Wire<R>,
    lines: &mut Lines,
    busy_poll: &mut BusyPoll,
    settings: ServeOptions<'_>,
    last_method: Option<&Method>,
) -> Result<Head, NoHead> {
    lines.clear();
    if last_method == Some(&Method::POST) {
        skip_line_ends(wire).await;
    }
    let limit = settings.head_limit;
    loop {
        let (found, there) = wire.with_arrived(|arrived| {
            let bytes = &arrived[..arrived.len().min(limit)];
            let found = lines.read_on(bytes, settings.strict);
            // Copied, so that headers do not keep the buffer while their request waits.
            let found = found.map(|length| {
                let head = length.map(|length| Bytes::copy_from_slice(&arrived[..length]));
                arrived.advance(length.unwrap_or(0));
                head
            });
            (found, arrived.len())
        });
        if let Some(head) = found? {
            return Ok(Head::new(head, lines, settings.strict)?);
        }
        if there >= limit {
            return Err(BadHead::TooLarge.into());
        }
        let more = busy_poll.more_of_head::<R, W>(wire, settings.busy_poll);
        if !more.await {
            let is_beginning =
                there >= BEGINNING || last_method.is_none() || !settings.strict.heads;
            return Err(if there > 0 && is_beginning {
                BadHead::Malformed.into()
            } else {
                NoHead::Over
            });
        }
    }
}

/// Skips line ends after the body of a POST, which old clients send.
async fn skip_line_ends(wire: &Wire<impl ReadHalf>) {
    while wire.with_arrived(|arrived| arrived.is_empty()) {
        if !wire.more_of_head().await {
            return;
        }
    }
    wire.with_arrived(|arrived| {
        let is_line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let line_ends = arrived.iter().take(BEGINNING).take_while(is_line_end);
        arrived.advance(line_ends.count());
    });
}

/// Returns the fate of the connection, after reading the rest of the request's body up to a limit.
async fn fate<B: ResponseBody, Held>(
    wire: &Wire<impl ReadHalf>,
    answer: &HttpResponse<B, Held>,
    terms: Terms<'_>,
    expectation: Expectation,
) -> Fate {
    let fate = answer.fate(terms);
    // The next bytes may be the body that was not asked for, or a request.
    let is_unsure = expectation == Expectation::Continue && !wire.is_body_over();
    if fate != Fate::Kept || is_unsure {
        return Fate::Ends;
    }
    match wire.read_left(UNREAD_LIMIT - 1).await {
        Left::Nothing => Fate::Kept,
        Left::Broken => Fate::Ends,
        Left::TooMuch => Fate::EndsAloud,
    }
}

/// Refuses an unknown `Expect` and closes the connection. Before that Go waits for the body, unless it is long
/// or the client wants to close; it always waits for a chunked one (seen on 1.8.7).
async fn fail_expectation(
    wire: &Wire<impl ReadHalf>,
    write: &mut impl WriteHalf,
    terms: Terms<'_>,
    framing: Framing,
    settings: ServeOptions<'_>,
) {
    let close = (CONNECTION, HeaderValue::from_static("close"));
    let answer = HttpResponse::<Bytes> {
        headers: vec![close],
        ..HttpResponse::empty(StatusCode::EXPECTATION_FAILED)
    };
    if answer.send(write, terms, Fate::Ends).await.is_err() {
        return;
    }
    if terms.persistence != Persistence::Ends || framing == Framing::Chunked {
        wire.read_left(UNREAD_LIMIT).await;
    }
    if !wire.is_body_over() {
        linger(wire, write, settings).await;
    }
}

/// Closes the connection, and reads for a while what the client still sends.
async fn linger(
    wire: &Wire<impl ReadHalf>,
    write: &mut impl WriteHalf,
    settings: ServeOptions<'_>,
) {
    if shutdown(write).await.is_ok() {
        select(settings.calendar.sleep(LINGER).as_mut(), pin!(wire.drain())).await;
    }
}
