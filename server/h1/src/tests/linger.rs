//! A client that never stops sending to a server that wants to close.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, StatusCode};

use super::{SETTINGS, Today};
use crate::{Calendar, HttpResponse, ReadHalf, ServeOptions, Sleep, pipe, serve};

/// How much a task may do in one poll, as tokio's do.
const BUDGET: u32 = 10;

thread_local! {
    /// What is left of the budget. Without it everything has to wait for the next poll, timers, too.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// Takes a part of the budget.
fn spend(context: &Context<'_>) -> Poll<()> {
    match LEFT.get().checked_sub(1) {
        Some(left) => {
            LEFT.set(left);
            Poll::Ready(())
        }
        None => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

/// Always has more line ends to read.
struct Flood;

impl ReadHalf for Flood {
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        spend(context).map(|()| {
            buffer.extend_from_slice(b"flood\r\n");
            Ok(7)
        })
    }

    fn try_write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// A time at which every sleep has ended as soon as it is asked.
#[derive(Debug)]
struct Hasty;

impl Calendar for Hasty {
    fn date(&self) -> HeaderValue {
        Today.date()
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(poll_fn(|context| spend(context)))
    }
}

#[test]
fn a_flood_does_not_keep_a_server_from_closing() {
    let settings = ServeOptions {
        calendar: &Hasty,
        ..SETTINGS
    };
    let (peer, _read, write) = pipe();
    let respond = |_, _| async { HttpResponse::<Bytes>::empty(StatusCode::OK) };
    let mut serving = Box::pin(serve(Flood, write, settings, respond));
    let has_ended = (0..100).any(|_| {
        LEFT.set(BUDGET);
        let context = &mut Context::from_waker(Waker::noop());
        serving.as_mut().poll(context).is_ready()
    });
    assert!(has_ended, "the time that it lingers is over");
    assert!(peer.take().starts_with(b"HTTP/1.1 400 Bad Request\r\n"));
}
