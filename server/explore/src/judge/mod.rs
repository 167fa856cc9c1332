//! Verdicts: what a recorded run proves about its contenders, and what it does not.

mod beliefs;
mod call;
mod liveness;
mod locks;
mod reads;
mod requests;
mod span;
mod story;
mod words;
mod world;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::contender::Contender;
use crate::run::Run;
pub(crate) use call::decoded;
use story::Story;

proconsul_engine::named! {
    /// What a right client never does. The book defines each in the page "Is my lock right?".
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Property {
        TwoHolders "two-holders" "Two sessions hold one key at once: a defect of the server.",
        TwoBelievers "two-believers" "A contender believes that it holds a lock that it has lost, after its lease is over or a response has shown it the loss, while another holds the lock and believes so.",
        NoticedLate "noticed-late" "A contender goes on to believe that it holds a lock that it has lost, after its lease is over or a response has shown it the loss.",
        StaleWrite "stale-write" "A write of a former holder to a guarded key took effect after the first one of a later holder.",
        TokenBack "token-back" "The fencing token of a holder is not greater than that of the holder before.",
        ActedAfterLoss "acted-after-loss" "A contender that has said that the lock is lost sends another write of a guarded key, before it acquires a lock again.",
        NobodyLeads "nobody-leads" "For longer than the bound a lock is free although a contender that is well wants it, or a contender that is well holds it and no contender believes that it holds one.",
        GivesUpLock "gives-up-lock" "A contender says that it has lost a lock that its session goes on to hold, although nothing went wrong but a delay of a tenth of the TTL at most.",
        BusyLoop "busy-loop" "A contender sends more requests than it may for three seconds on average, without the work of a holder.",
        SessionsPileUp "sessions-pile-up" "At the end a contender has more sessions than it may that hold nothing and that it has not tried to destroy.",
        MissedValue "missed-value" "A watch is open at a change of its key, and for longer than the bound its sender, which is well, reads neither that change nor a later one.",
        LostUpdate "lost-update" "A contender overwrites a change of another that came between its read and the write that follows it.",
        StaleRead "stale-read" "A read of a contender shows a key as it was before a change that had been answered, or that another read had shown, when it was sent: the responses are not linearizable. Judged only where it is asked for: whoever sends `?stale` allows it.",
        Ended "ended" "A contender ends by itself.",
    }
}

impl Property {
    /// Returns whether it concerns the users of a lock.
    pub(crate) fn is_of_locks(self) -> bool {
        let others = [
            Self::BusyLoop,
            Self::SessionsPileUp,
            Self::MissedValue,
            Self::LostUpdate,
            Self::StaleRead,
            Self::Ended,
        ];
        !others.contains(&self)
    }
}

/// What a verdict needs to know beside the run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// How late a contender may act on what it knows, and how late its word may reach the record.
    pub slack: Duration,
    /// Within which time a free lock is taken, and a changed key read, by a contender that can.
    pub bound: Duration,
    /// How many requests a contender may send in a second.
    pub requests: usize,
    /// How many sessions that hold nothing a contender may have at the end.
    pub sessions: usize,
    /// Whether the contenders keep a lock as long as they can. Then to release it is to give it up; otherwise their work
    /// may be done.
    pub keeps_lock: bool,
    /// The properties to judge; if empty, all of them but [`Property::StaleRead`].
    pub only: Vec<Property>,
}

impl Limits {
    /// Returns whether a property is to be judged.
    #[must_use]
    pub fn judges(&self, property: Property) -> bool {
        match self.only.as_slice() {
            [] => property != Property::StaleRead,
            only => only.contains(&property),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            slack: Duration::from_millis(500),
            bound: Duration::from_secs(12),
            requests: 100,
            sessions: 3,
            keeps_lock: false,
            only: Vec::new(),
        }
    }
}

/// A property that a run breaks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The property.
    pub property: Property,
    /// The contender that breaks it.
    pub contender: Option<Contender>,
    /// When, since the start of the server.
    pub at: Duration,
    /// What happened, in a sentence.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.as_secs_f64();
        write!(
            formatter,
            "{}: at {at:.3}s {}",
            self.property.name(),
            self.text
        )
    }
}

/// What a run proves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// The properties that it breaks, each with its first occurrence.
    pub findings: Vec<Finding>,
    /// The properties that cannot be judged from it, and why.
    pub not_judged: Vec<(Property, &'static str)>,
    /// Whether a lock went from one contender to another.
    pub has_takeover: bool,
    /// Whether a contender lost a lock that it had not released itself.
    pub has_loss: bool,
    /// The longest TTL of the contenders' sessions.
    pub ttl: Duration,
    /// The longest lock-delay of the sessions.
    pub lock_delay: Duration,
}

/// Judges a run. The same run and limits give the same judgement.
#[must_use]
pub fn judge(run: &Run, limits: &Limits) -> Judgement {
    let story = Story::of(run);
    let mut findings = Vec::new();
    locks::judge(&story, &mut findings);
    beliefs::judge(&story, limits, &mut findings);
    words::judge(&story, limits, &mut findings);
    liveness::judge(&story, limits, &mut findings);
    requests::judge(&story, limits, &mut findings);
    if limits.judges(Property::StaleRead) {
        reads::judge(&story, &mut findings);
    }
    findings.retain(|finding| limits.judges(finding.property));
    findings.sort_by_key(|finding| (finding.property, finding.at));
    findings.dedup_by_key(|finding| finding.property);
    let mut not_judged = not_judged(&story);
    not_judged.retain(|(property, _)| limits.judges(*property));
    let ttls = story.sessions.values().map(|session| session.ttl);
    Judgement {
        findings,
        not_judged,
        has_takeover: has_takeover(&story),
        has_loss: story
            .holds
            .iter()
            .any(|hold| hold.is_over && !hold.by_itself),
        ttl: ttls.max().unwrap_or_default(),
        lock_delay: Duration::from_nanos(run.setup.lock_delay),
    }
}

fn has_takeover(story: &Story<'_>) -> bool {
    let mut holders = BTreeMap::new();
    let mut holds = story.holds.iter();
    holds.any(|hold| {
        let before = holders.insert(&hold.key, hold.by);
        before.is_some_and(|before| before != hold.by)
    })
}

fn not_judged(story: &Story<'_>) -> Vec<(Property, &'static str)> {
    let mut missing = Vec::new();
    let setup = &story.run.setup;
    if !setup.tells_beliefs {
        let why = "the contenders do not say what they believe";
        let of_beliefs = [
            Property::TwoBelievers,
            Property::NoticedLate,
            Property::TokenBack,
            Property::ActedAfterLoss,
            Property::GivesUpLock,
        ];
        missing.extend(of_beliefs.map(|property| (property, why)));
    } else if story.tokens.is_empty() {
        missing.push((Property::TokenBack, "the contenders have no fencing tokens"));
    }
    if setup.guard.is_none() {
        let why = "no prefix of guarded keys is given";
        missing.extend([Property::StaleWrite, Property::ActedAfterLoss].map(|one| (one, why)));
    }
    if story.holds.is_empty() {
        let of_locks = [
            Property::TwoHolders,
            Property::TwoBelievers,
            Property::NoticedLate,
            Property::StaleWrite,
            Property::NobodyLeads,
        ];
        missing.extend(of_locks.map(|property| (property, "nobody has acquired a lock")));
    } else if story.locks.is_empty() {
        let why = "no two contenders use the same lock";
        missing.push((Property::NobodyLeads, why));
    }
    if !story.calls.values().any(call::Call::is_watch) {
        let why = "no contender has watched anything";
        missing.push((Property::MissedValue, why));
    }
    if !story.calls.values().any(reads::is_of_follower) {
        let why = "no follower has answered a read";
        missing.push((Property::StaleRead, why));
    }
    missing.sort_by_key(|(property, _)| *property);
    missing.dedup_by_key(|(property, _)| *property);
    missing
}

/// Makes a finding.
fn finding(
    property: Property,
    contender: Option<Contender>,
    at: span::At,
    text: String,
) -> Finding {
    Finding {
        property,
        contender,
        at: Duration::from_nanos(at),
        text,
    }
}

fn seconds(at: span::At) -> f64 {
    Duration::from_nanos(at).as_secs_f64()
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
