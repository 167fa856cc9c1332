//! A body that a call of the control plane writes for as long as the client reads it: server-sent events.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;

/// The size from which on bytes are sent before more of them are asked for.
const PIECE_BYTES: usize = 64 * 1024;

/// The body of a router's response, sent while it arrives.
#[derive(Debug)]
pub(crate) struct StreamBody {
    /// Never locked: it makes a body that is not `Sync` shareable, as answers are.
    body: Mutex<Body>,
    arrived: BytesMut,
    has_ended: bool,
}

impl StreamBody {
    pub(crate) fn new(body: Body) -> Self {
        Self {
            body: Mutex::new(body),
            arrived: BytesMut::new(),
            has_ended: false,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.has_ended && self.arrived.is_empty()
    }

    pub(super) fn has_to_wait(&self) -> bool {
        self.arrived.is_empty() && !self.has_ended
    }

    /// Returns what has arrived, so that many small events are one piece.
    pub(super) fn next_piece(&mut self) -> Bytes {
        self.arrived.split().freeze()
    }

    /// Waits until something has arrived, or the body has ended.
    pub(super) async fn ready(&mut self) {
        poll_fn(|context| self.poll_arrived(context)).await;
    }

    fn poll_arrived(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while !self.has_ended && self.arrived.len() < PIECE_BYTES {
            match Pin::new(self.body.get_mut()).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Frames without data are trailers, which no call sends.
                    let data = frame.into_data().unwrap_or_default();
                    if self.arrived.is_empty() {
                        self.arrived = data.into();
                    } else {
                        self.arrived.extend_from_slice(&data);
                    }
                }
                Poll::Ready(Some(Err(_)) | None) => self.has_ended = true,
                Poll::Pending if self.arrived.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(())
    }
}
