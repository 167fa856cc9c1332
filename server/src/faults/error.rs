//! Why a rule is not installed.

use std::fmt;

use super::RuleId;

/// Why a rule is not installed: it could never match.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleError {
    /// There is no such method.
    Method(String),
    /// The path is none of Consul's API.
    Path(String),
    /// The path names no keys.
    KeyOutsideKv(String),
    /// Keys are read, written and deleted, nothing else.
    KeyMethod(String),
    /// The session has no name.
    SessionEmpty,
    /// A header's name cannot be this.
    Header(String),
    /// Requests are counted from 1.
    NthZero,
    /// The probability is not above 0 and at most 1.
    Chance(f64),
    /// It would match no times.
    TimesZero,
    /// `nth` matches once, `times` more often.
    NthAndTimes,
    /// The window ends when it begins, or before.
    WindowEmpty,
    /// The window is over already.
    WindowPast,
    /// Only reads have an index, and only reads can be stale.
    ReadsOnly(String),
    /// An earlier rule matches everything that this one matches, and goes on doing so.
    Hidden(RuleId),
    /// There is no checkpoint of this name.
    Checkpoint(String),
    /// A response cannot have this status.
    Status(u16),
    /// A response with this status has no body.
    StatusWithoutBody(u16),
    /// A header of a response cannot have this name.
    HeaderName(String),
    /// The server itself gives this header.
    OwnHeader(String),
    /// The value of this header has characters that no header has.
    HeaderValue(String),
}

impl fmt::Display for RuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => write!(
                formatter,
                "this rule can never match: no request has the method {method:?}; expected GET, HEAD, PUT, POST, \
                 DELETE or OPTIONS"
            ),
            Self::Path(path) => write!(
                formatter,
                "this rule can never match: paths begin with /v1/, and {path:?} does not"
            ),
            Self::KeyOutsideKv(path) => write!(
                formatter,
                "this rule can never match: a key is named below /v1/kv/ only, and the path is {path:?}"
            ),
            Self::KeyMethod(method) => write!(
                formatter,
                "this rule can never match: keys are asked for by GET, HEAD, PUT, DELETE or OPTIONS, and the method is \
                 {method:?}"
            ),
            Self::SessionEmpty => formatter
                .write_str("this rule can never match: the session is empty; expected its id"),
            Self::Header(name) => write!(
                formatter,
                "this rule can never match: {name:?} cannot be the name of a header"
            ),
            Self::NthZero => formatter
                .write_str("this rule can never match: requests are counted from 1, and nth is 0"),
            Self::Chance(chance) => write!(
                formatter,
                "a probability is more than 0 and at most 1, not {chance}"
            ),
            Self::TimesZero => {
                formatter.write_str("this rule can never match: times is 0; expected at least 1")
            }
            Self::NthAndTimes => formatter.write_str(
                "nth matches a single request, so times can only be 1; leave one of them out",
            ),
            Self::WindowEmpty => formatter
                .write_str("this rule can never match: its window ends when it begins, or before"),
            Self::WindowPast => {
                formatter.write_str("this rule can never match: its window is over already")
            }
            Self::ReadsOnly(method) => write!(
                formatter,
                "this rule can never match: only a GET has an index or can be stale, and the method is {method:?}"
            ),
            Self::Hidden(id) => write!(
                formatter,
                "this rule can never match: rule {} comes first and matches the same requests without end",
                id.0
            ),
            Self::Checkpoint(name) => write!(formatter, "there is no checkpoint {name:?}"),
            Self::Status(_)
            | Self::StatusWithoutBody(_)
            | Self::HeaderName(_)
            | Self::OwnHeader(_)
            | Self::HeaderValue(_) => self.fmt_response(formatter),
        }
    }
}

impl RuleError {
    /// What is wrong with a response.
    fn fmt_response(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(
                formatter,
                "the status of a response is from 200 to 999, not {status}"
            ),
            Self::StatusWithoutBody(status) => write!(
                formatter,
                "a response with status {status} has no body; leave it out"
            ),
            Self::HeaderName(name) => write!(
                formatter,
                "{name:?} cannot be the name of a response's header"
            ),
            Self::OwnHeader(name) => write!(
                formatter,
                "the header {name:?} of a response is the server's own; leave it out"
            ),
            Self::HeaderValue(name) => write!(
                formatter,
                "the value of the header {name:?} has characters that no header can have"
            ),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for RuleError {}
