//! The history: what happened, why, and whether a lock was safe.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::records::{
    BlockedJson, Count, Done, RecordJson, about, at, at_ms, millis, of_kinds, records,
};
use crate::control::Controls;
use crate::control::http::aside;
use crate::control::http::call::{
    JsonBody, JsonOrText, Name, Nothing, Parameters, PlainText, Refused, calls,
};
use proconsul_engine;
use proconsul_engine::history::{Interval, Kind};

calls! {
    /// What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more
    /// than the history keeps.
    GET "/history" history;
    /// Forgets the history so far.
    DELETE "/history" clear_history;
    /// The life of one key, for people.
    GET "/timeline" timeline;
    /// Who holds a key, since when, what keeps others from it, and who waits.
    GET "/explain" explain;
    /// The keys that are held, and by whom.
    GET "/locks" locks;
    /// Whether a lock was safe: in the history, and in what programs believed.
    POST "/safety" safety, example { "key": "job", "beliefs": [] };
    /// Records that a program believes from now on that it holds a lock, or that it does not: `proconsul explore` judges
    /// programs by this, and the history shows it.
    POST "/beliefs" believe, example { "program": "worker-1", "holds": true };
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Only records of this kind. May be repeated.
    #[serde(default)]
    kind: Vec<Name<Kind>>,
    /// Only records about this key.
    key: Option<String>,
    /// Only records about this session.
    session: Option<String>,
    /// Only records after the one with this number.
    after: Option<RecordNumber>,
    /// Only the first so many of them.
    limit: Option<Count>,
    /// In which form: `json`, which is the default, or `text`.
    #[serde(default)]
    format: Format,
}

/// The number of a record.
#[derive(JsonSchema)]
pub(super) struct RecordNumber(pub(super) u64);

impl<'de> Deserialize<'de> for RecordNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let error = |_| D::Error::custom(format!("after is the number of a record, not {text:?}"));
        text.parse().map(Self).map_err(error)
    }
}

/// The form of a history.
#[derive(Default, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Format {
    /// Records as objects.
    #[default]
    Json,
    /// A line for each record.
    Text,
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            other => Err(D::Error::custom(format!(
                "a format is json or text, not {other:?}"
            ))),
        }
    }
}

/// Records of the history.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct History {
    /// The records, oldest first.
    records: Vec<RecordJson>,
    /// How many older records are gone because there were more than the history keeps.
    lost: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfKey {
    /// The key.
    key: String,
}

/// Who holds a key, and who waits for it.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Explanation {
    /// The key.
    key: String,
    /// Whether the key exists.
    exists: bool,
    /// The session that holds it; null when none does.
    holder: Option<String>,
    /// Since when, in milliseconds of the server's clock; null where the history does not go back so far.
    held_since_ms: Option<u64>,
    /// How long the holder's session lives unless it is renewed, in milliseconds; null without a TTL.
    lapses_in_ms: Option<u64>,
    /// How often the key was acquired.
    lock_index: u64,
    /// For how long nobody can acquire it, in milliseconds; null when anybody can.
    lock_delay_left_ms: Option<u64>,
    /// Who waits for it to change.
    waiting: Vec<BlockedJson>,
    /// What last happened to the lock, in words; null when nothing did.
    last: Option<String>,
    /// All of it in words.
    text: String,
}

impl From<&proconsul_engine::Explanation> for Explanation {
    fn from(explanation: &proconsul_engine::Explanation) -> Self {
        Self {
            key: explanation.key.to_string(),
            exists: explanation.exists,
            holder: explanation.holder.clone(),
            held_since_ms: explanation.held_since.map(at_ms),
            lapses_in_ms: explanation.lapses_in.map(millis),
            lock_index: explanation.lock_index,
            lock_delay_left_ms: explanation.lock_delay_left.map(millis),
            waiting: explanation.waiting.iter().map(BlockedJson::from).collect(),
            last: explanation.last.clone(),
            text: explanation.to_string(),
        }
    }
}

/// The keys that are held.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Locks {
    /// The keys, in byte order.
    locks: Vec<Lock>,
}

/// A key that is held.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Lock {
    /// The key.
    key: String,
    /// The session that holds it.
    session: String,
    /// How often the key was acquired.
    lock_index: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Beliefs {
    /// The key of the lock.
    key: String,
    /// When programs believed that they held the lock. Without any, the history alone is checked.
    #[serde(default)]
    beliefs: Vec<Belief>,
}

/// That a program believed to hold the lock.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Belief")]
struct Belief {
    /// The session with which the program acquired the lock.
    session: String,
    /// Since when it believed to hold it, in milliseconds of the server's clock.
    from_ms: u64,
    /// Until when, in milliseconds of the server's clock; not before `from_ms`.
    to_ms: u64,
}

impl Belief {
    fn interval(self) -> Result<Interval, Refused> {
        if self.to_ms < self.from_ms {
            return Err(Refused::input(
                "a belief ends at to_ms, which is not before from_ms",
            ));
        }
        Ok(Interval {
            session: self.session,
            from: at(self.from_ms),
            to: at(self.to_ms),
        })
    }
}

/// What a program believes from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Believed {
    /// The name of the program.
    program: String,
    /// Whether it believes that it holds the lock.
    holds: bool,
    /// The fencing token with which it holds the lock, if it has one.
    fencing_token: Option<String>,
}

/// Whether a lock was safe.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Safety {
    /// Whether there are no violations.
    safe: bool,
    /// What was wrong, a sentence each.
    violations: Vec<String>,
    /// The life of the key, for people.
    timeline: String,
}

async fn history(
    control: Controls,
    Parameters(wanted): Parameters<Wanted>,
) -> Result<JsonOrText<History>, Refused> {
    let filter = about(of_kinds(&wanted.kind), wanted.key, wanted.session);
    let filter = filter.after(wanted.after.map_or(0, |number| number.0));
    aside(&control, move |control| {
        let mut found = control.history(&filter);
        if let Some(Count(limit)) = wanted.limit {
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        match wanted.format {
            Format::Json => JsonOrText::Json(History {
                records: records(&found),
                lost: control.lost_records(),
            }),
            Format::Text => {
                let lines = found.iter().map(|record| format!("{record}\n"));
                JsonOrText::Text(control.lost_in_words() + &lines.collect::<String>())
            }
        }
    })
    .await
}

async fn clear_history(control: Controls, _: Nothing) -> Result<Done, Refused> {
    control.clear_history();
    Ok(Done {})
}

async fn timeline(
    control: Controls,
    Parameters(OfKey { key }): Parameters<OfKey>,
) -> Result<PlainText, Refused> {
    aside(&control, move |control| PlainText(control.timeline(key))).await
}

async fn explain(
    control: Controls,
    Parameters(OfKey { key }): Parameters<OfKey>,
) -> Result<Explanation, Refused> {
    let explanation = aside(&control, move |control| control.explain(key)).await?;
    Ok(Explanation::from(&explanation))
}

async fn locks(control: Controls, _: Nothing) -> Result<Locks, Refused> {
    let entries = aside(&control, move |control| control.kv().list("")).await?;
    let held = entries.iter().filter_map(|(key, row)| {
        Some(Lock {
            key: key.to_string(),
            session: row.session()?.to_owned(),
            lock_index: row.lock_index(),
        })
    });
    let locks = held.collect();
    Ok(Locks { locks })
}

async fn safety(
    control: Controls,
    JsonBody(checked): JsonBody<Beliefs>,
) -> Result<Safety, Refused> {
    let Beliefs { key, beliefs } = checked;
    let intervals = beliefs.into_iter().map(Belief::interval);
    let intervals: Vec<Interval> = intervals.collect::<Result<_, _>>()?;
    let (violations, timeline) = aside(&control, move |control| {
        let violations = control.check_lock_safety(&key, &intervals).err();
        (violations.unwrap_or_default(), control.timeline(&key))
    })
    .await?;
    Ok(Safety {
        safe: violations.is_empty(),
        violations: violations.iter().map(ToString::to_string).collect(),
        timeline,
    })
}

async fn believe(
    control: Controls,
    JsonBody(believed): JsonBody<Believed>,
) -> Result<Done, Refused> {
    let token = believed.fencing_token.as_deref();
    control.note_belief(&believed.program, believed.holds, token);
    Ok(Done {})
}
