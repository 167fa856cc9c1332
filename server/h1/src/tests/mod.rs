//! Connections in memory, served without a runtime.

mod linger;
mod pipe;
mod responses;

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;

use crate::{
    Calendar, HangingUp, Head, HttpResponse, Incoming, Peer, ServeOptions, Sleep, Strictness, pipe,
    serve,
};

#[derive(Debug)]
struct Today;

impl Calendar for Today {
    fn date(&self) -> HeaderValue {
        HeaderValue::from_static("today")
    }

    fn sleep(&self, _: Duration) -> Sleep {
        // The client closes the connection.
        Box::pin(pending())
    }
}

const SETTINGS: ServeOptions<'_> = ServeOptions {
    head_limit: 1000,
    strict: Strictness {
        heads: true,
        chunks: true,
    },
    hanging_up: HangingUp::Waits,
    busy_poll: true,
    calendar: &Today,
};

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const LAST: &str = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Whether a task is to be polled.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection in memory, and the task that serves it.
struct Served {
    peer: Peer,
    /// `None` once the connection has ended.
    task: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    is_woken: Arc<Flag>,
}

impl Served {
    fn new<Responding>(
        settings: ServeOptions<'static>,
        respond: impl Fn(Head, Incoming) -> Responding + Send + 'static,
    ) -> Self
    where
        Responding: Future<Output = HttpResponse<Bytes>> + Send + 'static,
    {
        let (peer, read, write) = pipe();
        Self {
            peer,
            task: Some(Box::pin(serve(read, write, settings, respond))),
            is_woken: Arc::new(Flag(AtomicBool::new(true))),
        }
    }

    /// Polls the task until it waits for the client or for its handler.
    fn run(&mut self) {
        let waker = Waker::from(Arc::clone(&self.is_woken));
        let context = &mut Context::from_waker(&waker);
        while self.is_woken.0.swap(false, Ordering::Relaxed) {
            if let Some(task) = &mut self.task
                && task.as_mut().poll(context).is_ready()
            {
                self.task = None;
            }
        }
    }

    /// Sends bytes and returns what the server sends then.
    fn exchange(&mut self, bytes: &str) -> String {
        self.peer.feed(bytes.as_bytes());
        self.run();
        self.taken()
    }

    /// Returns what the server has sent.
    fn taken(&self) -> String {
        String::from_utf8(self.peer.take().to_vec()).expect("the responses are text")
    }

    fn has_ended(&self) -> bool {
        self.task.is_none()
    }
}
