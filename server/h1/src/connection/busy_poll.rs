//! Looking for the next request of a busy connection for a while before its thread sleeps.
//!
//! A client that calls in a loop sends its next request within microseconds of an answer, and waking a processor that
//! sleeps takes many times that. So a thread that has only this connection to serve looks again and again for some
//! microseconds, as Go's runtime does, and so does one to which a client has just connected. Other tasks of the thread
//! run in between, and a client that thinks for longer is soon waited for as usual.

use std::cell::Cell;

use crate::body::Wire;
use crate::stream::{ReadHalf, WriteHalf};

/// How often one wait looks. All its looks take some twenty microseconds: the kernel is asked for events.
const LOOKS: u32 = 64;
/// How many requests in a row the thread has to have served of one connection.
const ALONE: u32 = 4;
/// The most requests that are waited for as usual after looking in vain.
const LONGEST_REST: u32 = 256;

thread_local! {
    /// The connection whose request this thread has served last, by the address of its state.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// What a connection knows of its client's haste.
#[derive(Debug, Default)]
pub(crate) struct BusyPoll {
    /// Whether a request was waited for: who connects sends the first one at once.
    has_begun: bool,
    /// How many requests in a row the thread has served of this connection.
    alone: u32,
    /// How many requests are still waited for as usual.
    rest: u32,
    /// The length of the next rest.
    next_rest: u32,
}

impl BusyPoll {
    /// Waits for more bytes of a head, and looks for them before if it `may`. Returns `false` at the end of the stream.
    pub(super) async fn more_of_head<R: ReadHalf, W: WriteHalf>(
        &mut self,
        wire: &Wire<R>,
        may: bool,
    ) -> bool {
        let connection = std::ptr::from_ref(wire).addr();
        if may && self.is_worthwhile(connection) {
            for _ in 0..LOOKS {
                if let Some(there) = wire.more_of_head_at_once().await {
                    self.next_rest = 0;
                    return there;
                }
                // Lets the thread ask the kernel for events.
                W::yield_now().await;
            }
            self.rest();
        }
        wire.more_of_head().await
    }

    /// Returns whether to look for the next request of this connection, whose last one this thread has just served.
    fn is_worthwhile(&mut self, connection: usize) -> bool {
        if LAST.replace(connection) != connection {
            self.alone = 0;
        }
        self.alone = (self.alone + 1).min(ALONE);
        let is_resting = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        let is_new = !std::mem::replace(&mut self.has_begun, true);
        is_new || self.alone == ALONE && !is_resting
    }

    /// Rests after looking in vain, each time for twice as many requests.
    fn rest(&mut self) {
        self.rest = self.next_rest.clamp(1, LONGEST_REST);
        self.next_rest = 2 * self.rest;
    }
}

#[cfg(test)]
mod tests {
    use super::{ALONE, BusyPoll, LONGEST_REST};

    /// How many requests in a row are waited for as usual before the thread looks for one.
    fn usual(client: &mut BusyPoll, connection: usize) -> u32 {
        let all = 0..2 * LONGEST_REST;
        let usual = all.take_while(|_| !client.is_worthwhile(connection));
        u32::try_from(usual.count()).expect("few requests")
    }

    #[test]
    fn a_thread_looks_for_requests_of_the_only_connection_that_it_serves() {
        let (mut one, mut other) = (BusyPoll::default(), BusyPoll::default());
        assert!(
            one.is_worthwhile(1) && other.is_worthwhile(2),
            "both are new"
        );
        for _ in 0..100 {
            assert!(!one.is_worthwhile(1) && !other.is_worthwhile(2));
        }
        assert_eq!(usual(&mut one, 1), ALONE - 1);
        assert!(one.is_worthwhile(1));
        assert!(!other.is_worthwhile(2));
        assert_eq!(usual(&mut one, 1), ALONE - 1);
    }

    #[test]
    fn a_slow_client_is_looked_for_less_and_less() {
        let mut client = BusyPoll::default();
        assert!(client.is_worthwhile(3), "it is new");
        usual(&mut client, 3);
        let rests = [(); 10].map(|()| {
            client.rest();
            usual(&mut client, 3)
        });
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]);
    }
}
