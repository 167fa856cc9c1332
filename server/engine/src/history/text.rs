//! The history as text: one line for each record, and the timeline of a key.

use std::fmt::{self, Write};
use std::time::Duration;

use super::{Happened, Record, RefusedBecause, ReleasedBy, TokenNamed, WokenBy};
use proconsul_store::Key;

impl fmt::Display for Record {
    /// `     20.000s  index 14  session 6a0f... ended: its TTL ran out`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = Duration::from_nanos(self.at.as_nanos()).as_secs_f64();
        let index = self.index.0;
        write!(
            formatter,
            "{seconds:>12.3}s  index {index:<5} {}",
            self.what
        )
    }
}

impl fmt::Display for Happened {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request {
                call,
                client,
                method,
                target,
                agent,
            } => {
                write!(formatter, "request {}: {method} {target}", call.0)?;
                agent.map_or(Ok(()), |agent| write!(formatter, " at agent {agent}"))?;
                client.map_or(Ok(()), |client| write!(formatter, " from {client}"))
            }
            Self::Answer {
                call,
                status,
                fault,
                ..
            } => {
                write!(formatter, "request {}: ", call.0)?;
                match status {
                    Some(status) => write!(formatter, "answered {status}")?,
                    None => formatter.write_str("ended without an answer")?,
                }
                let fault = fault.as_ref();
                fault.map_or(Ok(()), |fault| write!(formatter, " (fault: {fault})"))
            }
            Self::Blocked {
                call,
                read,
                min_index,
            } => write!(
                formatter,
                "request {}: blocked on {read} past index {min_index}",
                call.0
            ),
            Self::Woken { call, by } => write!(formatter, "request {}: woken, {by}", call.0),
            Self::Held {
                call,
                fault,
                lasts,
                is_frozen,
            } => {
                write!(formatter, "request {}: held ", call.0)?;
                match (lasts, is_frozen) {
                    (None, _) => formatter.write_str("until its client gives up")?,
                    (Some(lasts), false) => write!(formatter, "for {lasts:?}")?,
                    (Some(lasts), true) => write!(
                        formatter,
                        "for {lasts:?} of the server's clock, which stands still until the test moves it"
                    )?,
                }
                write!(formatter, " (fault: {fault})")
            }
            Self::SessionCreated { .. }
            | Self::SessionRenewed { .. }
            | Self::SessionRefused { .. }
            | Self::SessionEnded { .. } => fmt_session(self, formatter),
            Self::CatalogChanged { change } => write!(formatter, "catalog: {change}"),
            Self::TombstonesReaped { up_to } => {
                write!(formatter, "tombstones reaped up to index {up_to}")
            }
            Self::AccessDenied { .. } | Self::TokenUnknown { .. } | Self::RowsRemoved { .. } => {
                fmt_acl(self, formatter)
            }
            Self::Belief { .. } => fmt_belief(self, formatter),
            Self::Control { action } => write!(formatter, "test: {action}"),
            _ => fmt_key(self, formatter),
        }
    }
}

fn fmt_belief(what: &Happened, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Happened::Belief {
        program,
        holds,
        token,
    } = what
    else {
        return Ok(());
    };
    let what = if *holds { "holds" } else { "does not hold" };
    write!(formatter, "{program} believes that it {what} the lock")?;
    let token = token.as_ref();
    token.map_or(Ok(()), |token| write!(formatter, ", token {token}"))
}

fn fmt_acl(what: &Happened, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match what {
        Happened::AccessDenied {
            call,
            token,
            resource,
            access,
            name,
            because,
            ..
        } => {
            write!(
                formatter,
                "request {}: refused, {token} lacks {resource}:{access}",
                call.0
            )?;
            if !name.is_empty() {
                write!(formatter, " on {name:?}")?;
            }
            write!(formatter, " by {because}")
        }
        Happened::TokenUnknown { call } => {
            write!(
                formatter,
                "request {}: refused, its token is unknown",
                call.0
            )
        }
        Happened::RowsRemoved { call, token, rows } => write!(
            formatter,
            "request {}: answered without rows that {token} may not see, {rows} of them",
            call.0
        ),
        _ => Ok(()),
    }
}

impl fmt::Display for TokenNamed {
    /// `token 6a0f... ("worker")`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            accessor,
            description,
        } = self;
        write!(formatter, "token {accessor}")?;
        if description.is_empty() {
            return Ok(());
        }
        write!(formatter, " ({description:?})")
    }
}

fn fmt_session(what: &Happened, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match what {
        Happened::SessionCreated {
            session,
            name,
            node,
            ttl,
            behavior,
        } => {
            write!(formatter, "session {session} created on node {node:?}")?;
            if !name.is_empty() {
                write!(formatter, ", name {name:?}")?;
            }
            if !ttl.is_zero() {
                write!(formatter, ", TTL {ttl:?}")?;
            }
            match behavior {
                proconsul_store::Behavior::Release => Ok(()),
                proconsul_store::Behavior::Delete => formatter.write_str(", deletes its keys"),
            }
        }
        Happened::SessionRenewed { session } => write!(formatter, "session {session} renewed"),
        Happened::SessionRefused { session, reason } => {
            write!(formatter, "session {session} refused: {reason}")
        }
        Happened::SessionEnded { session, cause } => {
            write!(formatter, "session {session} ended: {cause}")
        }
        _ => Ok(()),
    }
}

fn fmt_key(what: &Happened, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match what {
        Happened::KeyWritten { key } => write!(formatter, "{key:?} written"),
        Happened::KeyDeleted { key } => write!(formatter, "{key:?} deleted"),
        Happened::KeyTreeDeleted { prefix, keys } => {
            let noun = if *keys == 1 { "key" } else { "keys" };
            write!(formatter, "{keys} {noun} under {prefix:?} deleted")
        }
        Happened::WriteRefused { key } => {
            write!(formatter, "{key:?} not written: it has another index")
        }
        Happened::Acquired {
            key,
            session,
            again,
        } => {
            let again = if *again { " once more" } else { "" };
            write!(formatter, "{key:?} acquired by {session}{again}")
        }
        Happened::AcquireRefused {
            key,
            session,
            reason,
        } => write!(formatter, "{key:?} not acquired by {session}: {reason}"),
        Happened::Released {
            key,
            session,
            cause,
        } => write!(formatter, "{key:?} released by {session}: {cause}"),
        Happened::ReleaseRefused { key, session } => {
            write!(
                formatter,
                "{key:?} not released by {session}: it does not hold it"
            )
        }
        Happened::LockDelayBegan { key, lasts } => {
            write!(formatter, "{key:?} guarded by its lock-delay for {lasts:?}")
        }
        Happened::LockDelayEnded { key } => {
            write!(formatter, "{key:?} can be acquired: its lock-delay is over")
        }
        _ => Ok(()),
    }
}

impl fmt::Display for RefusedBecause {
    /// The reason as the header `X-Proconsul-Refused` has it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldBy(session) => write!(formatter, "held by {session}"),
            Self::LockDelay(left) => {
                write!(formatter, "lock-delay, {} ms left", left.as_millis())
            }
            Self::UnknownSession => formatter.write_str("unknown session"),
            Self::NoSession => formatter.write_str("no session given"),
        }
    }
}

impl fmt::Display for ReleasedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holder => formatter.write_str("the holder let go"),
            Self::Delete => formatter.write_str("the key was deleted"),
            Self::SessionEnd(cause) => write!(formatter, "its session ended, {cause}"),
        }
    }
}

impl fmt::Display for WokenBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Change => "something that it reads was touched",
            Self::Timeout => "its time is up",
            Self::Control => "by the test",
        })
    }
}

/// Returns the life of one key: a line for each record about it, or about a session that held or wanted it.
#[must_use]
pub fn timeline<'a>(records: impl IntoIterator<Item = &'a Record> + Clone, key: &Key) -> String {
    let concerned = |record: &&Record| record.what.is_about(key);
    let sessions: Vec<&str> = records
        .clone()
        .into_iter()
        .filter(concerned)
        .filter_map(|record| record.what.session())
        .collect();
    let mut text = format!("timeline of {key:?}:\n");
    for record in records {
        let of_session = record.what.key().is_none()
            && record
                .what
                .session()
                .is_some_and(|session| sessions.contains(&session));
        if concerned(&record) || of_session {
            writeln!(text, "{record}").expect("memory takes every line");
        }
    }
    text
}
