//! Everything that can go wrong, as one type with predicates.

use std::fmt;
use std::time::Duration;

/// What a call ends with instead of an answer.
///
/// What to do depends on one question more than on any other: may Consul have applied the request? See
/// [`Error::may_be_applied`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The settings of a client cannot work, e.g. `CONSUL_HTTP_ADDR` is no address.
    Settings(String),
    /// The request cannot be sent as asked, e.g. a key that Consul's HTTP API cannot address. Nothing was sent.
    Input(String),
    /// No connection could be made. Nothing was sent.
    Connect {
        /// Where to.
        address: String,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Agent and client do not come to trust each other (feature `tls`). The agent took no request.
    Tls {
        /// Where to.
        address: String,
        /// What may help, for people.
        advice: &'static str,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection ended before the whole answer was there.
    Broken {
        /// Who was asked.
        address: String,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No whole answer came in time.
    Timeout {
        /// Who was asked.
        address: String,
        /// For how long.
        after: Duration,
    },
    /// Consul refused for the sake of the token (403): it may not do that, or Consul does not know it.
    PermissionDenied {
        /// Consul's text, without the line end.
        text: String,
    },
    /// Consul refused, with its text.
    Status {
        /// The HTTP status.
        status: u16,
        /// Consul's text, without the line end.
        text: String,
    },
    /// The answer is not one that Consul gives: something else listens there.
    Garbled {
        /// What was expected, and what came instead.
        what: String,
    },
    /// The session that a recipe was given is gone.
    SessionLost,
    /// The key of a recipe holds something else: another program's data, or a semaphore with another limit.
    Conflict(String),
}

impl Error {
    /// The HTTP status, when Consul answered.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            Self::PermissionDenied { .. } => Some(403),
            _ => None,
        }
    }

    /// There is no such thing (404).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// The token may not do that, or Consul does not know it (403).
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::PermissionDenied { .. })
    }

    /// Consul does not know the token, e.g. because it has expired, or the token or policy that the call names (403
    /// `... ACL not found`).
    #[must_use]
    pub fn is_acl_not_found(&self) -> bool {
        matches!(self, Self::PermissionDenied { text } if text.ends_with("ACL not found"))
    }

    /// Too many connections or requests (429; before Consul 1.9 an excess connection is simply closed, which is
    /// [`Error::Broken`]).
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.status() == Some(429)
    }

    /// The cluster has no leader now (500 `No cluster leader`).
    #[must_use]
    pub fn is_no_leader(&self) -> bool {
        matches!(self, Self::Status { status: 500, text } if text.contains("No cluster leader"))
    }

    /// The session that the request names does not exist (500 `... invalid session ...`), or is known to be lost.
    #[must_use]
    pub fn is_session_lost(&self) -> bool {
        match self {
            Self::SessionLost => true,
            Self::Status { status: 500, text } => text.contains("invalid session"),
            _ => false,
        }
    }

    /// The same request may succeed later: trouble of the network, of the leader, or of load.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Broken { .. } | Self::Timeout { .. } => true,
            Self::Status { status, .. } => {
                (*status == 429 || *status >= 500) && !self.is_session_lost()
            }
            _ => false,
        }
    }

    /// Consul may have applied the request although no good answer came: read before you repeat what is not
    /// harmless twice.
    #[must_use]
    pub fn may_be_applied(&self) -> bool {
        match self {
            Self::Broken { .. } | Self::Timeout { .. } | Self::Garbled { .. } => true,
            // E.g. `leadership lost while committing log`: the entry may still be committed by the next leader.
            Self::Status { status, .. } => *status >= 500 && !self.is_session_lost(),
            _ => false,
        }
    }

    /// What may help where Consul's own text does not say it.
    fn advice(&self) -> Option<&'static str> {
        if self.is_session_lost() {
            return Some("begin again with a new one");
        }
        if self.is_no_leader() {
            return Some("it is elected in a moment: try again");
        }
        match self.status()? {
            403 => Some("CONSUL_HTTP_TOKEN has to be a token that may do this"),
            413 => Some("kv_max_value_size of the agent's limits says how much it takes"),
            429 => Some("try again, less often or on fewer connections"),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(what) => {
                write!(f, "the settings of the Consul client are wrong: {what}")
            }
            Self::Input(what) => write!(f, "this cannot be asked of Consul: {what}"),
            Self::Connect { address, source } => write!(
                f,
                "no connection to Consul at {address} ({source}); is it running, and is CONSUL_HTTP_ADDR right?"
            ),
            Self::Tls {
                address,
                advice,
                source,
            } => write!(f, "no TLS with Consul at {address} ({source}); {advice}"),
            Self::Broken { address, source } => write!(
                f,
                "the connection to Consul at {address} ended before its answer ({source}); the request may have been applied"
            ),
            Self::Timeout { address, after } => write!(
                f,
                "no answer from Consul at {address} within {after:?}; the request may have been applied"
            ),
            Self::PermissionDenied { text } | Self::Status { text, .. } => {
                let status = self.status().unwrap_or_default();
                write!(f, "Consul answered {status}: {text}")?;
                self.advice()
                    .map_or(Ok(()), |advice| write!(f, " ({advice})"))
            }
            Self::Garbled { what } => {
                write!(
                    f,
                    "this is no answer of a Consul: {what}; is the address right?"
                )
            }
            Self::SessionLost => write!(
                f,
                "the session is gone, and all that it held with it; begin again with a new one"
            ),
            Self::Conflict(what) => write!(f, "the key is used for something else: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Connect { source, .. }
            | Self::Tls { source, .. }
            | Self::Broken { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, text: &str) -> Error {
        Error::Status {
            status,
            text: text.to_owned(),
        }
    }

    #[test]
    fn predicates_tell_consuls_answers_apart() {
        assert!(status(404, "").is_not_found());
        let denied = |text: &str| Error::PermissionDenied {
            text: text.to_owned(),
        };
        let refused = denied("Permission denied");
        assert!(refused.is_forbidden() && !refused.is_acl_not_found());
        assert_eq!(refused.status(), Some(403));
        assert!(!refused.is_transient() && !refused.may_be_applied());
        assert!(denied("token does not exist: ACL not found").is_acl_not_found());
        assert!(status(429, "").is_rate_limited() && status(429, "").is_transient());
        let no_leader = status(500, "No cluster leader");
        assert!(no_leader.is_no_leader() && no_leader.is_transient() && no_leader.may_be_applied());
        let no_session = status(500, "invalid session \"x\"");
        assert!(no_session.is_session_lost());
        assert!(!no_session.is_transient() && !no_session.may_be_applied());
        assert!(!status(400, "Missing key name").is_transient());
    }

    #[test]
    fn texts_say_what_to_do() {
        let refused = Error::Connect {
            address: "127.0.0.1:1".to_owned(),
            source: "refused".into(),
        };
        assert!(refused.to_string().contains("CONSUL_HTTP_ADDR"));
        assert!(!refused.may_be_applied() && refused.is_transient());
    }
}
