//! A client that wants little while others want much.

use std::net::SocketAddr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use crate::wire::{LOOK, Outcome, Wire};

/// How long an answer may take beside a debug build on a machine that does much else. It is a small part of what the longest
/// requests take.
pub(crate) const LONGEST: Duration = Duration::from_secs(20);

/// The web UI's own reads: no fault hits them, no control holds them, and no record is made of them.
const READ: &[u8] =
    b"GET /v1/kv/bystander HTTP/1.1\r\nHost: bystander\r\nX-Proconsul-Page: 1\r\n\r\n";

/// A client that sends one read after the other.
pub(crate) struct Bystander {
    /// Ends the client when it is dropped.
    end: Sender<()>,
    client: JoinHandle<Duration>,
}

impl Bystander {
    #[expect(
        clippy::disallowed_methods,
        reason = "the wait is measured on the machine's clock"
    )]
    pub(crate) fn of(address: SocketAddr) -> Self {
        let (end, ended) = channel();
        let client = spawn(move || {
            let mut longest = Duration::ZERO;
            let mut wire = None;
            while ended.recv_timeout(LOOK / 50) == Err(RecvTimeoutError::Timeout) {
                let Some(open) = wire.as_mut() else {
                    // A server that refuses connections is asked again.
                    wire = Wire::to(address);
                    continue;
                };
                let began = Instant::now();
                match exchange(open) {
                    Outcome::Closed => wire = None,
                    Outcome::Answered(_) | Outcome::Nothing => {
                        longest = longest.max(began.elapsed());
                    }
                }
            }
            longest
        });
        Self { end, client }
    }

    /// Ends the client, and returns its longest wait.
    pub(crate) fn longest_wait(self) -> Duration {
        drop(self.end);
        self.client.join().expect("a client does not panic")
    }
}

fn exchange(wire: &mut Wire) -> Outcome {
    wire.send(READ);
    let looks = 2 * LONGEST.as_millis() / LOOK.as_millis();
    wire.answer(false, looks as usize)
}
