//! What a run recorded: all that verdicts are made of, as lines of JSON.

use std::fmt;
use std::time::Duration;

use proconsul_core::control::Controls;
use proconsul_engine::history::{Filter, Happened, Record};
use serde::{Deserialize, Serialize};

use crate::contender::Contender;
use crate::director::NOTE;

/// The version of the format of recorded runs.
const FORMAT: u32 = 1;

/// A run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was run.
    pub setup: Setup,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// What was run, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The version of this format: 1.
    pub format: u32,
    /// The schedule, as text.
    pub schedule: String,
    /// How many contenders there were.
    pub contenders: u8,
    /// The seed of the server, from which it draws session ids.
    pub seed: u64,
    /// What the keys begin with that only the holder of the lock may write.
    pub guard: Option<String>,
    /// Whether the contenders say what they believe.
    pub tells_beliefs: bool,
    /// The longest lock-delay of the sessions that lived at the end, in nanoseconds.
    pub lock_delay: u64,
    /// When the run ended, in nanoseconds of the server's clock.
    pub ended: u64,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number in the history.
    pub n: u64,
    /// When it happened, in nanoseconds of the server's clock.
    pub at: u64,
    /// The number of the event that it follows from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<u64>,
    /// What it was.
    #[serde(flatten)]
    pub what: What,
}

impl Event {
    /// Returns when it happened, since the start of the server.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.at)
    }
}

/// What can happen in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum What {
    /// A request arrived.
    Request {
        /// Its number.
        call: u64,
        /// The contender that sent it; `None` for anybody else.
        by: Option<u8>,
        /// The method.
        method: String,
        /// Path and query.
        target: String,
    },
    /// A request was answered, or ended without an answer.
    Answer {
        /// The number of the request.
        call: u64,
        /// The status; `None` without an answer.
        status: Option<u16>,
        /// What the schedule did to it.
        fault: Option<String>,
        /// The number of the last event that the state of a follower shows, if the request was answered from it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_at: Option<u64>,
    },
    /// A blocking query waits.
    Blocked {
        /// The number of the request.
        call: u64,
    },
    /// A key was written.
    Written {
        /// The key.
        key: String,
    },
    /// A key was deleted, or all keys with a prefix.
    Deleted {
        /// The key or the prefix.
        key: String,
    },
    /// A session acquired a key.
    Acquired {
        /// The key.
        key: String,
        /// The session.
        session: String,
        /// Whether it held the key already.
        again: bool,
    },
    /// A session did not acquire a key.
    AcquireRejected {
        /// The key.
        key: String,
        /// The session.
        session: String,
        /// Why.
        why: String,
    },
    /// A key has no holder any more.
    Released {
        /// The key.
        key: String,
        /// The session that held it.
        session: String,
        /// Why.
        why: String,
    },
    /// A key cannot be acquired for a while.
    LockDelay {
        /// The key.
        key: String,
        /// For how long, in nanoseconds.
        lasts: u64,
    },
    /// A key can be acquired again.
    LockDelayOver {
        /// The key.
        key: String,
    },
    /// A session was created.
    Created {
        /// Its id.
        session: String,
        /// Its TTL in nanoseconds; 0 without one.
        ttl: u64,
    },
    /// The TTL of a session started anew.
    Renewed {
        /// Its id.
        session: String,
    },
    /// A session ended.
    Ended {
        /// Its id.
        session: String,
        /// Why.
        why: String,
    },
    /// A contender said what it believes.
    Belief {
        /// Which.
        by: u8,
        /// Whether it believes that it holds the lock.
        holds: bool,
        /// Its fencing token.
        token: Option<String>,
    },
    /// The schedule did something.
    Schedule {
        /// What, as the schedule has it.
        text: String,
    },
    /// A driver did something, or saw a contender end.
    Driver {
        /// What.
        text: String,
    },
}

impl Run {
    /// Returns what the history of a server has recorded.
    #[must_use]
    pub fn of(controls: &Controls, setup: Setup) -> Self {
        let records = controls.history(&Filter::all());
        let sessions = controls.sessions().list();
        let delays = sessions.iter().map(|row| row.session.lock_delay_ns);
        Self {
            setup: Setup {
                format: FORMAT,
                lock_delay: delays.max().unwrap_or_default().unsigned_abs(),
                ended: controls.now().as_nanos(),
                ..setup
            },
            events: records.iter().filter_map(event).collect(),
        }
    }

    /// Returns whether a contender said what it believes.
    #[must_use]
    pub fn has_beliefs(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|event| matches!(event.what, What::Belief { .. }))
    }

    /// Returns whether a contender has said last that it holds the lock.
    #[must_use]
    pub fn believes(&self, contender: Contender) -> bool {
        let said = self.events.iter().rev().find_map(|event| match event.what {
            What::Belief { by, holds, .. } if by == contender.0 => Some(holds),
            _ => None,
        });
        said == Some(true)
    }

    /// Returns the run as lines of JSON: the set-up, and then a line for each event.
    #[must_use]
    pub fn to_lines(&self) -> String {
        let setup = serde_json::to_string(&self.setup);
        let events = self.events.iter().map(serde_json::to_string);
        let lines = std::iter::once(setup).chain(events);
        let line = |line: Result<String, _>| line.expect("it is plain data") + "\n";
        lines.map(line).collect()
    }

    /// Reads what [`Run::to_lines`] has written.
    ///
    /// # Errors
    /// A line is not of this format.
    pub fn from_lines(text: &str) -> Result<Self, ReadError> {
        let mut lines = text.lines().enumerate();
        let read_error = |line: usize| {
            move |error: serde_json::Error| ReadError {
                line: line + 1,
                error: error.to_string(),
            }
        };
        let (_, first) = lines.next().unwrap_or((0, ""));
        let setup: Setup = serde_json::from_str(first).map_err(read_error(0))?;
        if setup.format != FORMAT {
            let error = format!("format {}, expected {FORMAT}", setup.format);
            return Err(ReadError { line: 1, error });
        }
        let events = lines.map(|(line, text)| serde_json::from_str(text).map_err(read_error(line)));
        Ok(Self {
            setup,
            events: events.collect::<Result<_, _>>()?,
        })
    }
}

/// A file is no recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    line: usize,
    error: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {} of the run: {}", self.line, self.error)
    }
}

impl std::error::Error for ReadError {}

fn event(record: &Record) -> Option<Event> {
    Some(Event {
        n: record.number,
        at: record.at.as_nanos(),
        cause: record.cause,
        what: what(&record.what)?,
    })
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns what a run keeps of a record; `None` if no verdict looks at it.
fn what(happened: &Happened) -> Option<What> {
    Some(match happened.clone() {
        Happened::Request {
            call,
            client,
            method,
            target,
            ..
        } => What::Request {
            call: call.0,
            by: client.and_then(Contender::at).map(|one| one.0),
            method,
            target,
        },
        Happened::Answer {
            call,
            status,
            fault,
            read_at,
        } => What::Answer {
            call: call.0,
            status,
            fault,
            read_at,
        },
        Happened::Blocked { call, .. } => What::Blocked { call: call.0 },
        Happened::KeyWritten { key } => What::Written {
            key: key.to_string(),
        },
        Happened::KeyDeleted { key } | Happened::KeyTreeDeleted { prefix: key, .. } => {
            What::Deleted {
                key: key.to_string(),
            }
        }
        Happened::Belief {
            program,
            holds,
            token,
        } => What::Belief {
            by: program.parse::<Contender>().ok()?.0,
            holds,
            token,
        },
        Happened::Control { action } => match action.strip_prefix(NOTE) {
            Some(text) => What::Schedule {
                text: text.to_owned(),
            },
            None => What::Driver { text: action },
        },
        other => return of_lock(other),
    })
}

fn of_lock(happened: Happened) -> Option<What> {
    Some(match happened {
        Happened::Acquired {
            key,
            session,
            again,
        } => What::Acquired {
            key: key.to_string(),
            session,
            again,
        },
        Happened::AcquireRefused {
            key,
            session,
            reason,
        } => What::AcquireRejected {
            key: key.to_string(),
            session,
            why: reason.to_string(),
        },
        Happened::Released {
            key,
            session,
            cause,
        } => What::Released {
            key: key.to_string(),
            session,
            why: cause.to_string(),
        },
        Happened::LockDelayBegan { key, lasts } => What::LockDelay {
            key: key.to_string(),
            lasts: nanos(lasts),
        },
        Happened::LockDelayEnded { key } => What::LockDelayOver {
            key: key.to_string(),
        },
        Happened::SessionCreated { session, ttl, .. } => What::Created {
            session,
            ttl: nanos(ttl),
        },
        Happened::SessionRenewed { session } => What::Renewed { session },
        Happened::SessionEnded { session, cause } => What::Ended {
            session,
            why: cause.to_string(),
        },
        _ => return None,
    })
}
