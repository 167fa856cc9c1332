//! Why a rule is refused.

use std::fmt;

use super::RuleId;

/// Why a rule is refused: it is invalid, or could never match.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleError {
    /// Unknown method.
    Method(String),
    /// The path is outside of Consul's API.
    Path(String),
    /// The path names no keys.
    KeyOutsideKv(String),
    /// Keys are read, written and deleted, nothing else.
    KeyMethod(String),
    /// The session id is empty.
    SessionEmpty,
    /// Invalid name of a header.
    Header(String),
    /// Requests are counted from 1.
    NthZero,
    /// The probability is not more than 0 and at most 1.
    Chance(f64),
    /// The rule would match no request: `times` is 0.
    TimesZero,
    /// `nth` matches once, `times` more often.
    NthAndTimes,
    /// The window ends when it begins, or before.
    WindowEmpty,
    /// The window is over already.
    WindowPast,
    /// Only reads have an index, can be stale, and block.
    ReadsOnly(String),
    /// Only a PUT acquires a key.
    AcquiresOnly(String),
    /// Questions of DNS have no such condition; has its name.
    QuestionCondition(&'static str),
    /// The effect is one on requests alone.
    QuestionEffect,
    /// An earlier rule matches everything that this one matches, and goes on doing so.
    Hidden(RuleId),
    /// Unknown agent; has its number, and the highest one.
    Agent(usize, usize),
    /// Unknown checkpoint.
    Checkpoint(String),
    /// ACLs cannot change, or not so; has the sentence.
    Acls(String),
    /// Invalid status of a response.
    Status(u16),
    /// A response with this status has no body.
    StatusWithoutBody(u16),
    /// Invalid name of a response's header.
    HeaderName(String),
    /// The server adds this header itself.
    OwnHeader(String),
    /// The value of this header has characters that no header may have.
    HeaderValue(String),
}

impl fmt::Display for RuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.never_matches() {
            return write!(formatter, "this rule can never match: {reason}");
        }
        formatter.write_str(&match self {
            Self::Chance(chance) => {
                format!("a probability is more than 0 and at most 1, not {chance}")
            }
            Self::NthAndTimes => {
                "nth matches a single request, so times can only be 1; leave one of them out".into()
            }
            Self::Agent(number, last) => format!("there is no agent {number}, only 0 to {last}"),
            Self::Checkpoint(name) => format!("there is no checkpoint {name:?}"),
            Self::Acls(sentence) => sentence.clone(),
            Self::Status(status) => {
                format!("the status of a response is from 200 to 999, not {status}")
            }
            Self::StatusWithoutBody(status) => {
                format!("a response with status {status} has no body; leave it out")
            }
            Self::HeaderName(name) => {
                format!("{name:?} cannot be the name of a response's header")
            }
            Self::OwnHeader(name) => {
                format!("the header {name:?} of a response is the server's own; leave it out")
            }
            Self::HeaderValue(name) => {
                format!("the value of the header {name:?} has characters that no header can have")
            }
            _ => String::new(),
        })
    }
}

impl RuleError {
    /// Why the rule can never match; `None` for a rule that is invalid in another way.
    fn never_matches(&self) -> Option<String> {
        Some(match self {
            Self::Method(method) => format!(
                "no request has the method {method:?}; expected GET, HEAD, PUT, POST, DELETE or OPTIONS"
            ),
            Self::Path(path) => format!("paths begin with /v1/, and {path:?} does not"),
            Self::KeyOutsideKv(path) => {
                format!("a key is named below /v1/kv/ only, and the path is {path:?}")
            }
            Self::KeyMethod(method) => format!(
                "keys are asked for by GET, HEAD, PUT, DELETE or OPTIONS, and the method is {method:?}"
            ),
            Self::SessionEmpty => "the session is empty; expected its id".to_owned(),
            Self::Header(name) => format!("{name:?} cannot be the name of a header"),
            Self::NthZero => "requests are counted from 1, and nth is 0".to_owned(),
            Self::TimesZero => "times is 0; expected at least 1".to_owned(),
            Self::WindowEmpty => "its window ends when it begins, or before".to_owned(),
            Self::WindowPast => "its window is over already".to_owned(),
            Self::ReadsOnly(method) => {
                format!(
                    "only a GET has an index, can be stale or blocks, and the method is {method:?}"
                )
            }
            Self::AcquiresOnly(method) => {
                format!("only a PUT acquires a key, and the method is {method:?}")
            }
            Self::QuestionCondition(condition) => {
                format!("a question of DNS has no {condition}; leave it out, or the question")
            }
            Self::QuestionEffect => {
                "a question of DNS is delayed, not answered, or its answer fails, and the effect is another"
                    .to_owned()
            }
            Self::Hidden(id) => format!(
                "rule {} comes first and matches the same requests without end",
                id.0
            ),
            _ => return None,
        })
    }
}

impl std::error::Error for RuleError {}
