//! What happens to a request that a rule hits.

use std::time::Duration;

use super::consul_error::ConsulError;
use super::response::Response;

/// What happens to a request that is hit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Consul's own error, after the time that Consul takes to say it. Nothing is applied.
    Error(ConsulError),
    /// An error of Consul's after this time on the server's clock, in place of Consul's own.
    ErrorAfter(ConsulError, Duration),
    /// Any response at all, as a proxy between client and Consul gives it. Nothing is applied.
    Respond(Response),
    /// The request is held before it is applied.
    DelayBefore(Duration),
    /// The request is applied, and its answer is held.
    DelayAfter(Duration),
    /// There is never an answer, and nothing is applied.
    Hang,
    /// There is no answer, and nothing is applied.
    Cut(Cut),
    /// The request is applied, and its answer is lost.
    AppliedThen(Cut),
    /// A PUT with `?acquire` takes its key during the lock-delay, as one does that is in flight while the holder's session
    /// ends: it has passed the check of the lock-delay, and is applied behind the end (session.md 3.3). An acquire of a key
    /// that another session holds waits until that session holds it no more, and is then applied; one that comes later, into
    /// the lock-delay, is refused as always.
    AcquireInFlight,
    /// ACLs change under the request, which is then handled as always. What an emulated release makes of that is up to
    /// it: a read that is blocked may keep the rights that it had.
    ChangeAcls(AclChange),
    /// `X-Consul-Index` is not the true one.
    ReportIndex(ReportedIndex),
    /// Reads that take what any server knows (`?stale`, or an agent's cache by `?cached`) see the state that a checkpoint
    /// stood for when the rule was installed. That never changes, not by itself as time passes, and not when the
    /// checkpoint is deleted or taken anew.
    ReadFrom {
        /// Its name.
        checkpoint: String,
        /// What `X-Consul-LastContact` says.
        last_contact: Duration,
    },
    /// The answer of DNS fails. Hits questions of DNS alone.
    Dns(DnsFailure),
}

/// What happens to ACLs when a request is hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AclChange {
    /// The token of the request is deleted.
    Revoke(Moment),
    /// The policies of the token of the request get these rules, in HCL or JSON. They count for all tokens with these
    /// policies.
    Rules(Moment, String),
}

impl AclChange {
    /// Returns when it happens.
    #[must_use]
    pub fn moment(&self) -> Moment {
        match self {
            Self::Revoke(moment) | Self::Rules(moment, _) => *moment,
        }
    }

    fn in_words(&self) -> String {
        let what = match self {
            Self::Revoke(_) => "token revoked",
            Self::Rules(..) => "policy changed",
        };
        match self.moment() {
            Moment::Arrival => what.to_owned(),
            Moment::Blocked => format!("{what} while blocked"),
        }
    }
}

crate::named! {
    /// When something happens to a request that is hit.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Moment {
        #[default]
        Arrival "arrival" "Before the request is looked at.",
        Blocked "blocked" "When it blocks, for a blocking query that finds nothing new.",
    }
}

/// How an answer is cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The connection is reset.
    Reset,
    /// The connection is closed without a byte.
    Close,
    /// The connection is closed after this many bytes of the body.
    After(usize),
}

/// An index other than the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportedIndex {
    /// This index, which may be 0.
    Exactly(u64),
    /// An index lower than the true one by this much, but at least 1.
    Back(u64),
}

impl ReportedIndex {
    /// Returns the index to report in place of `index`.
    #[must_use]
    pub fn in_place_of(self, index: u64) -> u64 {
        match self {
            Self::Exactly(reported) => reported,
            Self::Back(by) => index.saturating_sub(by).max(1),
        }
    }
}

/// How an answer of DNS fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsFailure {
    /// Its code is SERVFAIL, and it has no records.
    ServFail,
    /// It has no records, and says that it is truncated: a client asks again over TCP. Hits questions over UDP alone.
    Truncated,
}

impl Effect {
    /// Returns the effect in words.
    pub(super) fn in_words(&self) -> String {
        match self {
            Effect::Error(error) => error.name().to_owned(),
            Effect::ErrorAfter(error, hold) => format!("{} after {hold:?}", error.name()),
            Effect::Respond(response) => format!(
                "status {} and {} bytes",
                response.status(),
                response.content().len()
            ),
            Effect::DelayBefore(delay) => format!("held for {delay:?}"),
            Effect::DelayAfter(delay) => format!("applied, answer held for {delay:?}"),
            Effect::Hang => "hangs".to_owned(),
            Effect::Cut(cut) => cut.in_words(),
            Effect::AppliedThen(cut) => format!("applied, {}", cut.in_words()),
            Effect::ReportIndex(ReportedIndex::Exactly(index)) => format!("index {index}"),
            Effect::ReportIndex(ReportedIndex::Back(by)) => format!("index lowered by {by}"),
            Effect::AcquireInFlight => {
                "acquire in flight while the holder's session ends".to_owned()
            }
            Effect::ChangeAcls(change) => change.in_words(),
            Effect::ReadFrom { checkpoint, .. } => format!("stale read from {checkpoint:?}"),
            Effect::Dns(failure) => failure.in_words().to_owned(),
        }
    }
}

impl Cut {
    fn in_words(self) -> String {
        match self {
            Cut::Reset => "connection reset".to_owned(),
            Cut::Close => "connection closed without an answer".to_owned(),
            Cut::After(bytes) => format!("answer cut off after {bytes} bytes"),
        }
    }
}

impl DnsFailure {
    fn in_words(self) -> &'static str {
        match self {
            Self::ServFail => "SERVFAIL",
            Self::Truncated => "truncated without records",
        }
    }
}
