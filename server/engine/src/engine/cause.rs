//! Why something happens at a time.

use std::fmt;

use crate::history::CallId;
use proconsul_store::Deadline;

/// Why something happens at a time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The state changes: a session expires, a lock-delay ends, a check is due.
    State(Deadline),
    /// The wait of this blocking query is over.
    Wait(CallId),
    /// A fault no longer holds this request.
    Held(CallId),
    /// A fault no longer delays the wake of this blocking query.
    DelayedWake(CallId),
    /// A server applies what it lags behind.
    Applied,
    /// A time limit of something else is over: of a call of the control plane, or of a connection that closes.
    Limit,
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(deadline) => deadline.fmt(formatter),
            Self::Wait(CallId(call)) => write!(formatter, "the wait of request {call} is over"),
            Self::Held(CallId(call)) => write!(formatter, "request {call} is no longer held"),
            Self::DelayedWake(CallId(call)) => write!(formatter, "request {call} is woken late"),
            Self::Applied => formatter.write_str("a server applies an entry"),
            Self::Limit => formatter.write_str("a time limit is over"),
        }
    }
}
