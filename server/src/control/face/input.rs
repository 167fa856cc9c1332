//! What calls say, checked: unknown fields are refused, and so is what cannot be.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Call, Refused};
use crate::control::NewServer;
use crate::faults::{ConsulError, Cut, Effect, LeaderLoss, Phase, ReportedIndex, Rule};
use crate::go::duration::{self, DurationQuotes};
use crate::history::{Filter, Interval, Kind};
use crate::timestamp::Timestamp;

/// Reads the body of a call.
pub(super) fn body<T: DeserializeOwned>(call: &Call) -> Result<T, Refused> {
    serde_json::from_slice(&call.body).map_err(|error| {
        Refused::input(format!(
            "the body is not what {:?} takes: {error}",
            call.path
        ))
    })
}

/// That a call which takes no body has none, or an empty object.
pub(super) fn no_body(call: &Call) -> Result<(), Refused> {
    if call.body.is_empty() {
        return Ok(());
    }
    body::<Nothing>(call).map(|Nothing {}| ())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A duration in Go's form, such as `1m30s` or `250ms`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Span(pub(super) Duration);

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let nanoseconds = duration::parse(text).map_err(|error| {
            format!(
                "{}; expected one such as \"20s\" or \"1m30s\"",
                error.message(DurationQuotes::Bare)
            )
        })?;
        let nanoseconds = u64::try_from(nanoseconds)
            .map_err(|_| format!("a duration here is not negative, as {text:?} is"))?;
        Ok(Self(Duration::from_nanos(nanoseconds)))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct By {
    pub(super) by: Span,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByIndexes {
    pub(super) by: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AtRate {
    pub(super) rate: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clients {
    pub(super) clients: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Name {
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OneSession {
    pub(super) session: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OneCheck {
    pub(super) node: Option<String>,
    pub(super) check: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OneNode {
    pub(super) node: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prefix {
    pub(super) prefix: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DelayWakes {
    pub(super) prefix: String,
    pub(super) by: Span,
    pub(super) times: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RestartWith {
    pub(super) state: Left,
}

/// What a restart leaves.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Left {
    Keep,
    Wipe,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitIdle {
    pub(super) timeout: Span,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitBlocked {
    pub(super) prefix: Option<String>,
    pub(super) session: Option<String>,
    pub(super) service: Option<String>,
    pub(super) count: usize,
    pub(super) timeout: Span,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitEvent {
    kind: Option<String>,
    key: Option<String>,
    session: Option<String>,
    after: Option<u64>,
    pub(super) timeout: Span,
}

impl WaitEvent {
    pub(super) fn filter(&self) -> Result<Filter, Refused> {
        let named = [
            ("kind", self.kind.clone()),
            ("key", self.key.clone()),
            ("session", self.session.clone()),
            ("after", self.after.map(|after| after.to_string())),
        ];
        let named = named.into_iter();
        filter(named.filter_map(|(name, value)| Some((name.to_owned(), value?))))
    }
}

/// The records that are meant by `kind`, `key`, `session` and `after`.
pub(super) fn filter(named: impl IntoIterator<Item = (String, String)>) -> Result<Filter, Refused> {
    let mut filter = Filter::all();
    for (name, value) in named {
        filter = match name.as_str() {
            "kind" => filter.or(value.parse::<Kind>().map_err(Refused::input)?),
            "key" => filter.key(value),
            "session" => filter.session(value),
            _ => {
                let number = value.parse().map_err(|_| {
                    Refused::input(format!("after is the number of a record, not {value:?}"))
                })?;
                filter.after(number)
            }
        };
    }
    Ok(filter)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Safety {
    pub(super) key: String,
    #[serde(default)]
    beliefs: Vec<Belief>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Belief {
    session: String,
    from_ms: u64,
    to_ms: u64,
}

impl Safety {
    pub(super) fn intervals(&self) -> Result<Vec<Interval>, Refused> {
        let interval = |belief: &Belief| {
            if belief.to_ms < belief.from_ms {
                return Err(Refused::input(
                    "a belief ends at to_ms, which is not before from_ms",
                ));
            }
            Ok(Interval {
                session: belief.session.clone(),
                from: at(belief.from_ms),
                to: at(belief.to_ms),
            })
        };
        self.beliefs.iter().map(interval).collect()
    }
}

fn at(milliseconds: u64) -> Timestamp {
    Timestamp::ZERO.plus(Duration::from_millis(milliseconds))
}

/// A rule as it is sent. `effect` says what happens, everything else to which requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRule {
    effect: NewEffect,
    method: Option<String>,
    path: Option<String>,
    key_prefix: Option<String>,
    session: Option<String>,
    client: Option<IpAddr>,
    header: Option<NewHeader>,
    from_ms: Option<u64>,
    to_ms: Option<u64>,
    nth: Option<u64>,
    chance: Option<f64>,
    #[serde(default)]
    seed: u64,
    times: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewHeader {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
enum NewEffect {
    Error {
        error: String,
        after: Option<Span>,
    },
    DelayBefore {
        by: Span,
    },
    DelayAfter {
        by: Span,
    },
    Hang {},
    Reset {},
    EmptyReply {},
    AppliedThenReset {},
    AppliedThenEmptyReply {},
    Truncate {
        bytes: usize,
    },
    Index {
        index: u64,
    },
    IndexBack {
        by: u64,
    },
    ReadFrom {
        checkpoint: String,
        last_contact: Span,
    },
}

impl NewEffect {
    fn into_effect(self) -> Result<Effect, Refused> {
        Ok(match self {
            Self::Error { error, after } => {
                let error: ConsulError = error.parse().map_err(Refused::input)?;
                match after {
                    Some(Span(hold)) => Effect::ErrorAfter(error, hold),
                    None => Effect::Error(error),
                }
            }
            Self::DelayBefore { by } => Effect::DelayBefore(by.0),
            Self::DelayAfter { by } => Effect::DelayAfter(by.0),
            Self::Hang {} => Effect::Hang,
            Self::Reset {} => Effect::Cut(Cut::Reset),
            Self::EmptyReply {} => Effect::Cut(Cut::Close),
            Self::AppliedThenReset {} => Effect::AppliedThen(Cut::Reset),
            Self::AppliedThenEmptyReply {} => Effect::AppliedThen(Cut::Close),
            Self::Truncate { bytes } => Effect::AppliedThen(Cut::After(bytes)),
            Self::Index { index } => Effect::ReportIndex(ReportedIndex::Exactly(index)),
            Self::IndexBack { by } => Effect::ReportIndex(ReportedIndex::Back(by)),
            Self::ReadFrom {
                checkpoint,
                last_contact,
            } => Effect::ReadFrom {
                checkpoint,
                last_contact: last_contact.0,
            },
        })
    }
}

impl NewRule {
    pub(super) fn into_rule(self) -> Result<Rule, Refused> {
        fn with<T>(rule: Rule, value: Option<T>, set: impl FnOnce(Rule, T) -> Rule) -> Rule {
            match value {
                Some(value) => set(rule, value),
                None => rule,
            }
        }
        let rule = Rule::new(self.effect.into_effect()?);
        let rule = with(rule, self.method, Rule::method);
        let rule = with(rule, self.path, Rule::path);
        let rule = with(rule, self.key_prefix, Rule::key_prefix);
        let rule = with(rule, self.session, Rule::session);
        let rule = with(rule, self.client, Rule::client);
        let rule = with(rule, self.header, |rule, header| {
            rule.header(header.name, header.value)
        });
        let rule = with(rule, self.nth, Rule::nth);
        let rule = with(rule, self.chance, |rule, chance| {
            rule.chance(chance, self.seed)
        });
        let rule = with(rule, self.times, Rule::times);
        let window = match (self.from_ms, self.to_ms) {
            (None, None) => return Ok(rule),
            (from, to) => (at(from.unwrap_or(0)), to.map(at)),
        };
        let to = window.1.unwrap_or(Timestamp::from_nanos(u64::MAX));
        Ok(rule.between(window.0, to))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoseLeader {
    scenario: Option<String>,
    #[serde(default)]
    phases: Vec<NewPhase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPhase {
    phase: String,
    /// None for until the test ends it.
    lasts: Option<Span>,
}

impl LoseLeader {
    pub(super) fn into_loss(self) -> Result<LeaderLoss, Refused> {
        match (self.scenario.as_deref(), self.phases.is_empty()) {
            (Some("never-elected"), true) => Ok(LeaderLoss::never_elected()),
            (Some("leader-killed"), true) => Ok(LeaderLoss::leader_killed()),
            (Some("quorum-lost"), true) => Ok(LeaderLoss::quorum_lost()),
            (Some("starting"), true) => Ok(LeaderLoss::starting()),
            (Some(name), true) => Err(Refused::input(format!(
                "unknown scenario {name:?}; there are never-elected, leader-killed, quorum-lost, starting"
            ))),
            (None, false) => phases(self.phases),
            (Some(_), false) | (None, true) => Err(Refused::input(
                "expected either a scenario or a list of phases",
            )),
        }
    }
}

fn phases(list: Vec<NewPhase>) -> Result<LeaderLoss, Refused> {
    let mut loss: Option<LeaderLoss> = None;
    let count = list.len();
    for (place, NewPhase { phase, lasts }) in list.into_iter().enumerate() {
        let named = Phase::ALL.iter().find(|(name, _)| *name == phase);
        let Some((_, phase)) = named else {
            let names: Vec<_> = Phase::ALL.iter().map(|(name, _)| *name).collect();
            return Err(Refused::input(format!(
                "unknown phase {phase:?}; there are {}",
                names.join(", ")
            )));
        };
        if lasts.is_none() && place + 1 < count {
            return Err(Refused::input(
                "only the last phase can be without lasts: those behind it would never come",
            ));
        }
        loss = Some(match (loss, lasts) {
            (None, None) => LeaderLoss::in_phase(*phase),
            (None, Some(Span(lasts))) => LeaderLoss::begins(*phase, lasts),
            (Some(loss), None) => loss.then_for_good(*phase),
            (Some(loss), Some(Span(lasts))) => loss.then(*phase, lasts),
        });
    }
    loss.ok_or_else(|| Refused::input("expected at least one phase"))
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewServerBody {
    version: Option<String>,
    seed: Option<u64>,
    #[serde(default)]
    frozen: bool,
    node: Option<String>,
    datacenter: Option<String>,
    session_ttl_min: Option<String>,
    history_capacity: Option<NonZeroUsize>,
}

impl NewServerBody {
    /// Reads what the new server is to have.
    pub(super) fn read(self) -> Result<NewServer, Refused> {
        let version = self.version.map(|version| version.parse()).transpose();
        let version = version.map_err(|error| Refused::input(format!("version: {error}")))?;
        let named = [
            ("node_name", self.node),
            ("datacenter", self.datacenter),
            ("session_ttl_min", self.session_ttl_min),
        ];
        let given = named
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        let settings: BTreeMap<_, _> = given.collect();
        Ok(NewServer {
            settings: Some(serde_json::json!(settings).to_string()),
            version,
            seed: self.seed,
            frozen: self.frozen,
            history_capacity: self.history_capacity.map(NonZeroUsize::get),
            ..NewServer::default()
        })
    }
}
