//! What a schedule may do: nothing but what a real Consul, its network or a client's machine does.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use proconsul_engine::faults::{ConsulError, RequestKind};

use crate::contender::{Contender, ParseError};

/// What happens when a request arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The request is under way for this much longer.
    Delay(Duration),
    /// The response is under way for this much longer.
    DelayResponse(Duration),
    /// Neither the request arrives nor a response: the connection swallows what is sent on it.
    Hold,
    /// The connection is reset before the request is applied.
    LoseRequest,
    /// The request is applied, and the connection is reset before the response.
    LoseResponse,
    /// The response is one of Consul's errors, after the time that Consul takes for it.
    Error(ConsulError),
    /// A blocking query is answered although nothing has changed.
    Wake,
    /// A read with `?stale` is answered by a server that has nothing yet.
    Empty,
    /// The token of the request is revoked.
    RevokeToken,
    /// Consul is away for a second, and is then another one with the same keys: without sessions and lock-delays, and with
    /// indexes that begin anew.
    Rebuild,
    /// The sessions of a contender are destroyed by somebody else.
    DestroySessions(Contender),
    /// The check of the node turns critical, which ends all sessions on it, and then passes again.
    FailNode,
    /// Somebody deletes the keys that a contender holds.
    DeleteLock(Contender),
    /// The leader dies; another is elected after 3 s. TTLs start anew then.
    LoseLeader,
    /// Another server takes over at once. TTLs start anew, and lock-delays end in some cases.
    ChangeLeader {
        /// Whether lock-delays end.
        ends_lock_delays: bool,
    },
    /// Nothing gets through between a contender and Consul for a time, or for good.
    Silence(Contender, Option<Duration>),
    /// The connections of a contender are reset for a time, or for good.
    Cut(Contender, Option<Duration>),
    /// The process of a contender stands still for a time.
    Pause(Contender, Duration),
    /// The process of a contender is killed, and started again after a time.
    Restart(Contender, Duration),
    /// The agent that a contender uses is cut off from all other agents for a time, or for good. The contender reaches it.
    CutAgent(Contender, Option<Duration>),
    /// The process of that agent stands still for a time: it answers nothing, and the other agents lose it.
    PauseAgent(Contender, Duration),
    /// The process of that agent is killed, and started again after a time with the data that it had.
    RestartAgent(Contender, Duration),
    /// That agent applies nothing for a time, so that its responses to `?stale` grow old.
    LagAgent(Contender, Duration),
}

/// A delay of at most this part of a TTL is slight: nothing has gone wrong.
pub(crate) const SLIGHT: u32 = 10;

/// How long [`Action::Rebuild`] takes.
pub(crate) const REBUILT_AFTER: Duration = Duration::from_secs(1);

/// Each kind of action, and what allows it: statements of the contract, or what lies outside of Consul.
const SOURCES: &[(&str, &str)] = &[
    ("delay", "the network"),
    ("delay-response", "the network"),
    ("hold", "the network: a connection that is half open"),
    ("lose-request", "the network"),
    ("lose-response", "the network"),
    ("error", "cluster.md 2.5, 3.3, 3.6; kv.md 6.4"),
    ("wake", "kv.md 5.4"),
    ("empty", "cluster.md 3.15"),
    ("revoke-token", "acl.md 2"),
    ("rebuild", "kv.md 4.3.r5"),
    ("destroy-sessions", "session.md 3.1.r1"),
    ("fail-node", "session.md 3.1.r2"),
    ("delete-lock", "kv.md 3; session.md 3.3.r2"),
    ("lose-leader", "cluster.md 3.1 to 3.4, 3.16"),
    ("change-leader", "cluster.md 3.9, 3.16"),
    ("change-leader-end-lock-delays", "cluster.md 3.18"),
    ("silence", "the network"),
    ("cut", "the network"),
    (
        "pause",
        "the client's machine: SIGSTOP, a long collection of garbage",
    ),
    ("restart", "the client's machine"),
    ("cut-agent", "cluster.md 2.2, 2.5"),
    ("pause-agent", "cluster.md 2.3"),
    ("restart-agent", "cluster.md 2.2, 2.4, 3.1"),
    ("lag-agent", "cluster.md 1.4, 4.9"),
];

impl Action {
    /// Returns what allows the action: a statement of the contract, or what lies outside of Consul.
    #[must_use]
    pub fn source(&self) -> &'static str {
        let row = SOURCES.iter().find(|(name, _)| *name == self.name());
        row.expect("each action has a row").1
    }

    /// Returns whether the action makes sense at a request of this kind.
    #[must_use]
    pub fn fits(&self, kind: RequestKind) -> bool {
        match self {
            Self::Wake => kind == RequestKind::Watch,
            Self::Empty => matches!(kind, RequestKind::Watch | RequestKind::Read),
            _ => true,
        }
    }

    /// Returns whether the action hits one request alone.
    #[must_use]
    pub fn hits_only_the_request(&self) -> bool {
        matches!(
            self,
            Self::Delay(_)
                | Self::DelayResponse(_)
                | Self::Hold
                | Self::LoseRequest
                | Self::LoseResponse
                | Self::Error(_)
                | Self::Wake
                | Self::Empty
        )
    }

    /// Returns whether the action needs agents of the contenders' own.
    #[must_use]
    pub fn is_of_agent(&self) -> bool {
        matches!(
            self,
            Self::CutAgent(..) | Self::PauseAgent(..) | Self::RestartAgent(..) | Self::LagAgent(..)
        )
    }

    /// Returns the name of the kind of action.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::DelayResponse(_) => "delay-response",
            Self::Hold => "hold",
            Self::LoseRequest => "lose-request",
            Self::LoseResponse => "lose-response",
            Self::Error(_) => "error",
            Self::Wake => "wake",
            Self::Empty => "empty",
            Self::RevokeToken => "revoke-token",
            Self::Rebuild => "rebuild",
            Self::DestroySessions(_) => "destroy-sessions",
            Self::FailNode => "fail-node",
            Self::DeleteLock(_) => "delete-lock",
            Self::LoseLeader => "lose-leader",
            Self::ChangeLeader {
                ends_lock_delays: false,
            } => "change-leader",
            Self::ChangeLeader { .. } => "change-leader-end-lock-delays",
            Self::Silence(..) => "silence",
            Self::Cut(..) => "cut",
            Self::Pause(..) => "pause",
            Self::Restart(..) => "restart",
            Self::CutAgent(..) => "cut-agent",
            Self::PauseAgent(..) => "pause-agent",
            Self::RestartAgent(..) => "restart-agent",
            Self::LagAgent(..) => "lag-agent",
        }
    }

    /// Returns the same action with its contenders changed.
    #[must_use]
    pub fn of(self, change: impl Fn(Contender) -> Contender) -> Self {
        match self {
            Self::DestroySessions(one) => Self::DestroySessions(change(one)),
            Self::DeleteLock(one) => Self::DeleteLock(change(one)),
            Self::Silence(one, lasts) => Self::Silence(change(one), lasts),
            Self::Cut(one, lasts) => Self::Cut(change(one), lasts),
            Self::Pause(one, lasts) => Self::Pause(change(one), lasts),
            Self::Restart(one, lasts) => Self::Restart(change(one), lasts),
            Self::CutAgent(one, lasts) => Self::CutAgent(change(one), lasts),
            Self::PauseAgent(one, lasts) => Self::PauseAgent(change(one), lasts),
            Self::RestartAgent(one, lasts) => Self::RestartAgent(change(one), lasts),
            Self::LagAgent(one, lasts) => Self::LagAgent(change(one), lasts),
            other => other,
        }
    }

    /// Returns the contender that the action hits, whoever sends the request at which it happens.
    #[must_use]
    pub fn contender(&self) -> Option<Contender> {
        match self {
            Self::DestroySessions(one)
            | Self::DeleteLock(one)
            | Self::Silence(one, _)
            | Self::Cut(one, _)
            | Self::Pause(one, _)
            | Self::Restart(one, _)
            | Self::CutAgent(one, _)
            | Self::PauseAgent(one, _)
            | Self::RestartAgent(one, _)
            | Self::LagAgent(one, _) => Some(*one),
            _ => None,
        }
    }

    /// Returns how long the action lasts, if it says so.
    #[must_use]
    pub fn lasts(&self) -> Option<Duration> {
        match self {
            Self::Delay(lasts)
            | Self::DelayResponse(lasts)
            | Self::Pause(_, lasts)
            | Self::Restart(_, lasts)
            | Self::PauseAgent(_, lasts)
            | Self::RestartAgent(_, lasts)
            | Self::LagAgent(_, lasts) => Some(*lasts),
            Self::Silence(_, lasts) | Self::Cut(_, lasts) | Self::CutAgent(_, lasts) => *lasts,
            _ => None,
        }
    }

    /// Returns the same action with another length, where it has one.
    #[must_use]
    pub fn for_this_long(&self, lasts: Duration) -> Option<Self> {
        Some(match self {
            Self::Delay(_) => Self::Delay(lasts),
            Self::DelayResponse(_) => Self::DelayResponse(lasts),
            Self::Silence(one, Some(_)) => Self::Silence(*one, Some(lasts)),
            Self::Cut(one, Some(_)) => Self::Cut(*one, Some(lasts)),
            Self::Pause(one, _) => Self::Pause(*one, lasts),
            Self::Restart(one, _) => Self::Restart(*one, lasts),
            Self::CutAgent(one, Some(_)) => Self::CutAgent(*one, Some(lasts)),
            Self::PauseAgent(one, _) => Self::PauseAgent(*one, lasts),
            Self::RestartAgent(one, _) => Self::RestartAgent(*one, lasts),
            Self::LagAgent(one, _) => Self::LagAgent(*one, lasts),
            _ => return None,
        })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())?;
        if let Self::Error(error) = self {
            write!(formatter, " {}", error.name())?;
        }
        if let Some(contender) = self.contender() {
            write!(formatter, " {contender}")?;
        }
        match self.lasts() {
            Some(lasts) => write!(formatter, " {lasts:?}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Action {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let unknown = || ParseError::new("an action", text);
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match words[..] {
            ["delay", lasts] => Self::Delay(duration(lasts)?),
            ["delay-response", lasts] => Self::DelayResponse(duration(lasts)?),
            ["hold"] => Self::Hold,
            ["lose-request"] => Self::LoseRequest,
            ["lose-response"] => Self::LoseResponse,
            ["error", name] => {
                let mut known = ConsulError::ALL.iter();
                let error = known.find(|error| error.name() == name);
                Self::Error(error.ok_or_else(unknown)?.clone())
            }
            ["wake"] => Self::Wake,
            ["empty"] => Self::Empty,
            ["revoke-token"] => Self::RevokeToken,
            ["rebuild"] => Self::Rebuild,
            ["destroy-sessions", one] => Self::DestroySessions(one.parse()?),
            ["fail-node"] => Self::FailNode,
            ["delete-lock", one] => Self::DeleteLock(one.parse()?),
            ["lose-leader"] => Self::LoseLeader,
            ["change-leader"] => Self::ChangeLeader {
                ends_lock_delays: false,
            },
            ["change-leader-end-lock-delays"] => Self::ChangeLeader {
                ends_lock_delays: true,
            },
            ["silence", one] => Self::Silence(one.parse()?, None),
            ["silence", one, lasts] => Self::Silence(one.parse()?, Some(duration(lasts)?)),
            ["cut", one] => Self::Cut(one.parse()?, None),
            ["cut", one, lasts] => Self::Cut(one.parse()?, Some(duration(lasts)?)),
            ["pause", one, lasts] => Self::Pause(one.parse()?, duration(lasts)?),
            ["restart", one, lasts] => Self::Restart(one.parse()?, duration(lasts)?),
            ["cut-agent", one] => Self::CutAgent(one.parse()?, None),
            ["cut-agent", one, lasts] => Self::CutAgent(one.parse()?, Some(duration(lasts)?)),
            ["pause-agent", one, lasts] => Self::PauseAgent(one.parse()?, duration(lasts)?),
            ["restart-agent", one, lasts] => Self::RestartAgent(one.parse()?, duration(lasts)?),
            ["lag-agent", one, lasts] => Self::LagAgent(one.parse()?, duration(lasts)?),
            _ => return Err(unknown()),
        })
    }
}

/// Reads `1.5s` or `200ms`, as a duration is printed.
fn duration(text: &str) -> Result<Duration, ParseError> {
    let error = || ParseError::new("a duration such as 1.5s or 200ms", text);
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').ok_or_else(error)?, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_is_read_as_it_is_printed_and_has_a_source() {
        let texts = [
            "delay 1.5s",
            "delay-response 200ms",
            "hold",
            "lose-request",
            "lose-response",
            "error leadership-lost",
            "wake",
            "empty",
            "revoke-token",
            "rebuild",
            "destroy-sessions a",
            "fail-node",
            "delete-lock b",
            "lose-leader",
            "change-leader",
            "change-leader-end-lock-delays",
            "silence a",
            "silence a 3s",
            "cut c",
            "cut c 500ms",
            "pause a 4s",
            "restart b 1s",
            "cut-agent a",
            "cut-agent a 8s",
            "pause-agent b 8s",
            "restart-agent a 2s",
            "lag-agent c 2s",
        ];
        let mut named: Vec<&str> = Vec::new();
        for text in texts {
            let action: Action = text.parse().expect("it is valid");
            assert_eq!(action.to_string(), text);
            assert!(!action.source().is_empty());
            named.push(action.name());
        }
        named.dedup();
        assert_eq!(named.len(), SOURCES.len(), "each row is tried");
        assert!("pause a".parse::<Action>().is_err());
        assert!("delay -1s".parse::<Action>().is_err());
    }
}
