//! The loop of a blocking query: reads, and reads again whenever something of its read set has changed, until the index
//! has passed the client's or the time is up (kv.md 5).

use std::time::Duration;

use crate::aside::{MANY_ROWS, leave};
use crate::engine::{Engine, Found, Generation, WakeReason};
use proconsul_store::{Answer, Index, News, Read, ReadResult};

/// The wait that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The client's index: a higher one ends the wait. 0 if the wait does not depend on the index.
    pub min_index: Index,
    /// The longest wait, after default and cap; jitter comes on top.
    pub limit: Duration,
    /// Whether the wait ends at its limit, without jitter.
    pub is_exact: bool,
    /// Whether Consul answers it from a stream: then it waits on when a snapshot is restored (operator.md 6.r8).
    pub is_streamed: bool,
}

/// The jitter of a wait is at most its limit divided by this, so that clients that began together do not come back
/// together (kv.md 5.1).
const JITTER_DIVISOR: u32 = 16;

/// The state of one wait between its reads.
#[derive(Debug)]
pub struct WaitState {
    /// The index that a read has to pass.
    known: Index,
    /// Whether a read has found nothing, so that the wait is for existence.
    found_nothing: bool,
}

impl WaitState {
    /// Returns the state before the first read, for a client that knows `min_index`.
    pub fn new(min_index: Index) -> Self {
        Self {
            known: min_index,
            found_nothing: false,
        }
    }

    /// Returns whether `answer` satisfies the wait.
    pub fn are_over_with<T>(&mut self, answer: &Answer<T>) -> bool {
        match answer.news {
            News::Other => return answer.index != self.known,
            News::Higher => {}
            News::Existence => {
                if self.found_nothing {
                    // Still nothing: unrelated writes have moved the index on, and the wait with it. The first read
                    // that finds nothing is an answer like any other: the entry was deleted (1.22.md A5).
                    self.known = self.known.max(answer.index);
                }
                self.found_nothing = true;
            }
        }
        answer.index > self.known
    }
}

/// Answers a read. With `wait` it does so when the index has passed the client's or the time is up, with the result of
/// the last read (kv.md trap 14).
///
/// # Errors
/// The read is refused, which ends the wait.
pub async fn answer<R: Read>(engine: &Engine, read: &R, wait: Option<Wait>) -> ReadResult<R> {
    let mut looks = WaitState::new(wait.map_or(Index::ZERO, |wait| wait.min_index));
    answer_when(engine, read, wait, |answer| looks.are_over_with(answer)).await
}

/// Answers a read as [`answer`] does, but `is_over` decides which answer ends the wait.
///
/// # Errors
/// The read is refused, which ends the wait.
pub async fn answer_when<R: Read>(
    engine: &Engine,
    read: &R,
    wait: Option<Wait>,
    mut is_over: impl FnMut(&Answer<R::Rows>) -> bool,
) -> ReadResult<R> {
    leave_for(engine, read).await;
    let Some(wait) = wait else {
        return engine.read(read);
    };
    let (since, first) = engine.read_in_era(read);
    let first = first?;
    if is_over(&first) {
        return Ok(first);
    }
    // Boxed: most requests do not wait, and would have to carry it.
    Box::pin(wait_for_news(engine, read, wait, since, first, is_over)).await
}

/// Goes on beside the thread that serves before a read that may be long. What becomes of many rows is done there, too.
async fn leave_for<R: Read>(engine: &Engine, read: &R) {
    if engine.rows_for(read) > MANY_ROWS {
        leave().await;
    }
}

/// Reads again until an answer ends the wait. `since` is the era of the first read.
async fn wait_for_news<R: Read>(
    engine: &Engine,
    read: &R,
    wait: Wait,
    since: Generation,
    mut latest: Answer<R::Rows>,
    mut is_over: impl FnMut(&Answer<R::Rows>) -> bool,
) -> ReadResult<R> {
    let jitter = match wait.is_exact {
        true => Duration::ZERO,
        false => engine.jitter(wait.limit / JITTER_DIVISOR),
    };
    let limit = wait.limit + jitter;
    let deadline = engine.clock().now().plus(limit);
    let mut waiter = engine.waiter(wait.is_streamed, read, wait.min_index, deadline, since);
    loop {
        let mut at_once = false;
        // Registered before the latest read: nothing can fall between the read and the wait.
        if waiter.waits_for(&latest.reads) {
            match waiter.wait().await {
                WakeReason::LookAgain => {}
                WakeReason::AnswerNow => at_once = true,
                // The newest index, so that unrelated writes do not end the next wait at once (1.22.md A5).
                WakeReason::TimedOut if latest.news == News::Existence => at_once = true,
                WakeReason::TimedOut => return Ok(latest),
            }
        }
        leave_for(engine, read).await;
        match waiter.look(read)? {
            Found::Now(found) => latest = found,
            // What it was woken for before, or what it has read.
            Found::Before(Some(found)) if is_over(&found) => return Ok(found),
            Found::Before(_) => return Ok(latest),
        }
        if is_over(&latest) || at_once {
            return Ok(latest);
        }
    }
}
