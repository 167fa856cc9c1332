//! The connection in memory.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use bytes::{Bytes, BytesMut};
use http::StatusCode;

use super::{GET, LAST, SETTINGS, Served};
use crate::{
    Closed, Ending, HangingUp, HttpResponse, Peer, ReadHalf, ServeOptions, WriteHalf, pipe, serve,
};

const WHOLE: &str = "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: 2\r\n\r\nok";

fn ok() -> HttpResponse<Bytes> {
    HttpResponse {
        body: Bytes::from_static(b"ok"),
        ..HttpResponse::empty(StatusCode::OK)
    }
}

/// What the handler of a request that waits needs to go on.
#[derive(Default)]
struct Gate {
    is_open: bool,
    waker: Option<Waker>,
}

/// Serves a connection whose requests wait until they are let go on.
fn waiting(hanging_up: HangingUp) -> (Served, Arc<Mutex<Gate>>) {
    let gate = Arc::<Mutex<Gate>>::default();
    let kept = Arc::clone(&gate);
    let settings = ServeOptions {
        hanging_up,
        ..SETTINGS
    };
    let served = Served::new(settings, move |_, _| {
        let gate = Arc::clone(&kept);
        async move {
            poll_fn(|context| {
                let mut gate = gate.lock().expect("no test panics with it");
                gate.waker = Some(context.waker().clone());
                if gate.is_open {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            ok()
        }
    });
    (served, gate)
}

fn open(gate: &Mutex<Gate>) {
    let mut gate = gate.lock().expect("no test panics with it");
    gate.is_open = true;
    gate.waker.take().expect("a request waits").wake();
}

#[test]
fn a_connection_is_served_request_by_request() {
    let mut served = Served::new(SETTINGS, |_, _| async { ok() });
    assert_eq!(served.exchange("GET / HT"), "");
    assert_eq!(served.exchange("TP/1.1\r\nHost: x\r\n\r\n"), WHOLE);
    assert_eq!(served.exchange(&GET.repeat(2)), WHOLE.repeat(2));
    assert!(!served.peer.is_closed() && !served.has_ended());
    served.peer.end();
    served.run();
    assert_eq!(served.peer.closed(), Some(Closed::Fin));
    assert!(served.has_ended());
}

#[test]
fn a_body_is_asked_for() {
    let mut served = Served::new(SETTINGS, |_, mut body| async move {
        let body = body.read(100).await.expect("it is short");
        assert_eq!(body.failure, None);
        HttpResponse {
            body: body.bytes,
            ..HttpResponse::empty(StatusCode::OK)
        }
    });
    let head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    assert_eq!(served.exchange(head), "HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(served.exchange("o"), "");
    assert_eq!(served.exchange("k"), WHOLE);
}

#[test]
fn a_request_that_waits_is_answered_when_its_handler_goes_on() {
    for hanging_up in [HangingUp::Waits, HangingUp::Gone] {
        let (mut served, gate) = waiting(hanging_up);
        assert_eq!(served.exchange(GET), "");
        open(&gate);
        assert_eq!(served.exchange(""), WHOLE);
    }
}

#[test]
fn a_half_closed_client_has_gone_or_waits() {
    let (mut served, _gate) = waiting(HangingUp::Gone);
    served.exchange(GET);
    served.peer.end();
    assert_eq!(served.exchange(""), "");
    assert!(served.has_ended() && served.peer.is_closed());

    let (mut served, gate) = waiting(HangingUp::Waits);
    served.exchange(GET);
    served.peer.end();
    assert_eq!(served.exchange(""), "");
    assert!(!served.has_ended() && !served.peer.is_closed());
    open(&gate);
    assert_eq!(served.exchange(""), WHOLE);
    assert!(served.has_ended() && served.peer.is_closed());
}

#[test]
fn a_client_that_has_sent_its_next_request_is_there() {
    let (mut served, gate) = waiting(HangingUp::Gone);
    assert_eq!(served.exchange(&GET.repeat(2)), "");
    served.peer.feed(GET.as_bytes());
    served.run();
    served.peer.end();
    assert_eq!(served.exchange(""), "");
    assert!(!served.has_ended());
    open(&gate);
    assert_eq!(served.exchange(""), WHOLE.repeat(3));
}

#[test]
fn a_client_that_resets_has_gone() {
    for hanging_up in [HangingUp::Waits, HangingUp::Gone] {
        let (mut served, _gate) = waiting(hanging_up);
        served.exchange(GET);
        served.peer.reset();
        served.run();
        assert!(served.has_ended(), "{hanging_up:?}");
    }
    let (mut served, _gate) = waiting(HangingUp::Waits);
    served.exchange(GET);
    let (other, _read, _write) = pipe();
    drop(std::mem::replace(&mut served.peer, other));
    served.run();
    assert!(served.has_ended(), "a dropped end resets");
}

#[test]
fn a_server_closes_with_a_fin_or_a_reset() {
    for (ending, closed) in [
        (Ending::Silence, Closed::Fin),
        (Ending::CutOff(1), Closed::Fin),
        (Ending::Reset, Closed::Reset),
    ] {
        let respond = move |_, _| async move { HttpResponse { ending, ..ok() } };
        let mut served = Served::new(SETTINGS, respond);
        let came = served.exchange(GET);
        assert_eq!(came.ends_with("\r\n\r\no"), ending == Ending::CutOff(1));
        assert_eq!(served.peer.closed(), Some(closed));
        assert!(served.has_ended());
    }
}

/// A server that has refused a head sends no more, and reads on for a while so that its response arrives.
#[test]
fn a_server_that_lingers_reads_what_comes() {
    let mut served = Served::new(SETTINGS, |_, _| async { ok() });
    let came = served.exchange("GET\r\n\r\n");
    assert!(came.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{came}");
    assert_eq!(served.peer.closed(), Some(Closed::Fin));
    assert_eq!(served.exchange(&GET.repeat(100)), "");
    assert!(!served.has_ended());
    served.peer.end();
    served.run();
    assert!(served.has_ended());
}

#[test]
fn a_read_takes_no_more_than_there_is_room_for() {
    let (peer, mut read, _write) = pipe();
    let context = &mut Context::from_waker(Waker::noop());
    let mut buffer = BytesMut::with_capacity(10);
    let room = buffer.capacity();
    peer.feed(&vec![b'x'; room + 3]);
    let mut read_on = |buffer: &mut BytesMut| match read.poll_read(context, buffer) {
        Poll::Ready(read) => read.map_err(|error| error.kind()),
        Poll::Pending => Err(ErrorKind::WouldBlock),
    };
    assert_eq!(read_on(&mut buffer), Ok(room));
    assert_eq!(buffer.capacity(), room);
    buffer.clear();
    assert_eq!(read_on(&mut buffer), Ok(3));
    assert_eq!(read_on(&mut buffer), Err(ErrorKind::WouldBlock));
    peer.end();
    peer.feed(b"lost");
    assert_eq!(read_on(&mut buffer), Ok(0));
    peer.reset();
    assert_eq!(read_on(&mut buffer), Err(ErrorKind::ConnectionReset));
}

#[test]
fn nothing_is_written_to_a_client_that_has_gone() {
    let (peer, mut read, mut write) = pipe();
    let context = &mut Context::from_waker(Waker::noop());
    assert_eq!(read.try_write(b"in ").ok(), Some(3));
    assert!(write.poll_write(context, b"time").is_ready());
    assert_eq!(peer.take(), "in time");
    peer.reset();
    let written = write.poll_write(context, b"late");
    assert!(matches!(written, Poll::Ready(Err(error)) if error.kind() == ErrorKind::BrokenPipe));
    assert_eq!(peer.take(), "");
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn the_client_may_be_on_another_thread() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let (peer, read, write) = pipe();
    is_shared(&peer);
    let server = thread::spawn(move || {
        let mut serving = Box::pin(serve(read, write, SETTINGS, |_, _| async { ok() }));
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        while serving
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            thread::park();
        }
    });
    let came = Mutex::new(String::new());
    let take = |peer: &Peer| {
        let bytes = peer.take();
        let text = std::str::from_utf8(&bytes).expect("the responses are text");
        came.lock().expect("no thread panics").push_str(text);
    };
    for _ in 0..1000 {
        peer.feed(GET.as_bytes());
        take(&peer);
    }
    peer.feed(LAST.as_bytes());
    server.join().expect("it ends with the last request");
    take(&peer);
    let came = came.into_inner().expect("no thread panics");
    assert_eq!(came.matches("\r\n\r\nok").count(), 1001);
    assert_eq!(peer.closed(), Some(Closed::Fin));
}
