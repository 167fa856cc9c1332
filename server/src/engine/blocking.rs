//! The blocking query: look, and look again whenever something that was read has changed, until the index
//! has passed the one that the client knows or the time is up (kv.md 5).

use std::time::Duration;

use crate::engine::{Engine, Wakened};
use crate::history::CallId;
use crate::store::{Answer, Index, News, Read, ReadResult};

/// How long a client is ready to wait, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The index that the client knows: a higher one ends the wait. 0 for a wait that is for something else.
    pub min_index: Index,
    /// How long to wait at most, after default and cap; jitter comes on top.
    pub limit: Duration,
    /// The request that waits, for those who observe it.
    pub call: Option<CallId>,
}

/// Up to this part of the limit is added at random to every wait, so that clients that began together do not
/// come back together (kv.md 5.1).
const JITTER_DIVISOR: u32 = 16;

/// What the looks of one wait have come to so far.
#[derive(Debug)]
pub(crate) struct Looks {
    /// The index that a look has to pass.
    known: Index,
    /// A look has found nothing, and the wait is for that to change.
    found_nothing: bool,
}

impl Looks {
    /// The looks of a client that knows `min_index`.
    pub(crate) fn new(min_index: Index) -> Self {
        Self {
            known: min_index,
            found_nothing: false,
        }
    }

    /// Whether the look that gave `answer` is the last one.
    pub(crate) fn are_over_with<T>(&mut self, answer: &Answer<T>) -> bool {
        match answer.news {
            News::Other => return answer.index != self.known,
            News::Higher => {}
            News::Existence => {
                if self.found_nothing {
                    // Still nothing: unrelated writes have moved the index on, and the wait with it. The first look
                    // that finds nothing is an answer as any other: what was there is gone (1.22.md A5).
                    self.known = self.known.max(answer.index);
                }
                self.found_nothing = true;
            }
        }
        answer.index > self.known
    }
}

/// Answers a read; with `wait`, when its index has passed the client's or the time is up, with whatever the
/// last look found (kv.md trap 14).
///
/// # Errors
/// The read is refused, which ends the wait.
pub async fn answer<R: Read>(engine: &Engine, read: &R, wait: Option<Wait>) -> ReadResult<R> {
    let mut looks = Looks::new(wait.map_or(Index::ZERO, |wait| wait.min_index));
    answer_when(engine, read, wait, |answer| looks.are_over_with(answer)).await
}

/// The same for a wait that is over with the look of which `is_over` says so.
///
/// # Errors
/// The read is refused, which ends the wait.
pub async fn answer_when<R: Read>(
    engine: &Engine,
    read: &R,
    wait: Option<Wait>,
    mut is_over: impl FnMut(&Answer<R::Rows>) -> bool,
) -> ReadResult<R> {
    let Some(wait) = wait else {
        return engine.read(read);
    };
    let since = engine.era();
    let mut latest = engine.read(read)?;
    if is_over(&latest) {
        return Ok(latest);
    }
    let limit = wait.limit + engine.jitter(wait.limit / JITTER_DIVISOR);
    let deadline = engine.clock().now().plus(limit);
    let mut waiter = engine.waiter(wait.call, read, wait.min_index, deadline, since);
    loop {
        let mut at_once = false;
        // Registered, and looked at again since: nothing can fall between the look and the wait.
        if waiter.waits_for(&latest.reads) {
            match waiter.wait().await {
                Wakened::LookAgain => {}
                Wakened::AnswerNow => at_once = true,
                // The newest index, so that unrelated writes do not end the next wait at once (1.22.md A5).
                Wakened::TimedOut if latest.news == News::Existence => return engine.read(read),
                Wakened::TimedOut => return Ok(latest),
            }
        }
        latest = engine.read(read)?;
        if is_over(&latest) || at_once {
            return Ok(latest);
        }
    }
}
