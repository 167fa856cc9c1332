//! Bodies of answers: bytes, or what is made piece by piece while it is sent.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::log::Listener;
use crate::reply::list::JsonList;
use proconsul_engine::{Engine, OpenCall};
use proconsul_store::timestamp::Timestamp;

/// An answer of Consul's API. Its call ends when it has been sent.
pub(crate) type ApiAnswer = proconsul_h1::HttpResponse<ReplyBody, Option<OpenCall>>;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// Bytes.
    Whole(Bytes),
    /// A list that is rendered while it is sent.
    List(Box<JsonList>),
    /// The log from now on.
    Log(Box<LogBody>),
    /// The metrics of each interval from now on.
    Metrics(Box<MetricsBody>),
    /// What a call of the control plane sends for as long as the client reads it.
    #[cfg(feature = "control-http")]
    Stream(Box<super::stream::StreamBody>),
}

impl ReplyBody {
    /// Returns an empty body.
    pub(crate) fn empty() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl Default for ReplyBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl proconsul_h1::ResponseBody for ReplyBody {
    fn length(&self) -> Option<usize> {
        match self {
            Self::Whole(bytes) => Some(bytes.len()),
            Self::List(_) | Self::Log(_) | Self::Metrics(_) => None,
            #[cfg(feature = "control-http")]
            Self::Stream(_) => None,
        }
    }

    fn next_piece(&mut self) -> Bytes {
        match self {
            Self::Whole(bytes) => std::mem::take(bytes),
            Self::List(list) => list.next_piece(),
            Self::Log(log) => log.next_piece(),
            Self::Metrics(metrics) => metrics.next_piece(),
            #[cfg(feature = "control-http")]
            Self::Stream(stream) => stream.next_piece(),
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::List(list) => list.is_over(),
            Self::Log(_) | Self::Metrics(_) => false,
            #[cfg(feature = "control-http")]
            Self::Stream(stream) => stream.is_over(),
        }
    }

    fn has_to_wait(&self) -> bool {
        match self {
            Self::Whole(_) | Self::List(_) => false,
            Self::Log(log) => log.listener.is_empty(),
            Self::Metrics(metrics) => metrics.engine.clock().now() < metrics.next,
            #[cfg(feature = "control-http")]
            Self::Stream(stream) => stream.has_to_wait(),
        }
    }

    async fn ready(&mut self) {
        match self {
            Self::Log(log) => log.listener.filled().await,
            Self::Metrics(metrics) => metrics.engine.clock().sleep_until(metrics.next).await,
            Self::Whole(_) | Self::List(_) => {}
            #[cfg(feature = "control-http")]
            Self::Stream(stream) => stream.ready().await,
        }
    }
}

/// The metrics of one interval after another, which go on until the client goes.
pub(crate) struct MetricsBody {
    engine: Arc<Engine>,
    /// When the next interval is shown.
    next: Timestamp,
    render: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
}

impl fmt::Debug for MetricsBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "metrics from {:?} on", self.next)
    }
}

impl MetricsBody {
    /// Returns what `render` shows, now and at the end of each interval.
    pub(crate) fn new(engine: Arc<Engine>, render: Box<dyn Fn() -> Vec<u8> + Send + Sync>) -> Self {
        Self {
            next: engine.clock().now(),
            engine,
            render,
        }
    }

    fn next_piece(&mut self) -> Bytes {
        self.next = self
            .engine
            .metrics()
            .end_of_interval(self.engine.clock().now());
        (self.render)().into()
    }
}

/// The lines of the log, which go on until the client goes.
#[derive(Debug)]
pub(crate) struct LogBody {
    listener: Listener,
    /// `None` without compression.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl LogBody {
    /// Returns what a listener hears.
    pub(crate) fn new(listener: Listener) -> Self {
        Self {
            listener,
            encoder: None,
        }
    }

    /// Returns the lines with compression.
    pub(crate) fn compressed(mut self: Box<Self>) -> Box<Self> {
        self.encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
        self
    }

    /// Returns the next line, which the client can read although more may follow.
    fn next_piece(&mut self) -> Bytes {
        let line = self.listener.next().unwrap_or_default();
        let Some(encoder) = &mut self.encoder else {
            return line.into();
        };
        let written = encoder.write_all(line.as_bytes());
        written
            .and_then(|()| encoder.flush())
            .expect("memory takes every body");
        std::mem::take(encoder.get_mut()).into()
    }
}
