//! Losing the leader, and having one again.

use std::borrow::Cow;

use axum::Json;
use axum::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::control::Control;
use crate::control::http::call::{Body, Call, Nothing, Refused, Span, call};
use crate::control::http::records::{Done, one_of};
use crate::faults::{LeaderLoss, Phase};

type Answer<T> = Result<Json<T>, Refused>;

pub(in crate::control::http) fn calls() -> Vec<Call> {
    vec![
        call(
            Method::POST,
            "/leader/lose",
            "loseLeader",
            "Loses the leader, by a scenario or by a list of phases.",
            lose,
        )
        .example(json!({ "scenario": "quorum-lost" })),
        call(
            Method::POST,
            "/leader/find",
            "findLeader",
            "Gives the cluster a leader again.",
            find,
        ),
    ]
}

/// How the leader is lost: exactly one of the two is given.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoseLeader {
    /// A loss as it was measured on real clusters.
    scenario: Option<Scenario>,
    /// A loss of one's own: phases in their order. When the last one is over there is a leader again.
    #[serde(default)]
    phases: Vec<NewPhase>,
}

/// A loss of the leader as it was measured on real clusters.
#[derive(Clone, Copy)]
enum Scenario {
    NeverElected,
    LeaderKilled,
    QuorumLost,
    Starting,
}

/// The scenarios: their names, and what happens.
const SCENARIOS: &[(&str, &str, Scenario)] = &[
    (
        "never-elected",
        "The cluster never had a leader, until it is given one by `POST /leader/find`.",
        Scenario::NeverElected,
    ),
    (
        "leader-killed",
        "The leader, another server, dies: two seconds of failures at once, then an election of 1.16 s, and there is a \
         leader again.",
        Scenario::LeaderKilled,
    ),
    (
        "quorum-lost",
        "This server is the leader and loses the others: for half a second writes fail, then there is no leader until \
         `POST /leader/find`.",
        Scenario::QuorumLost,
    ),
    (
        "starting",
        "The server has just been started: calls are held for a quarter of a second, and go on.",
        Scenario::Starting,
    ),
];

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = SCENARIOS.iter().find(|(own, ..)| *own == name);
        found.map(|(.., scenario)| *scenario).ok_or_else(|| {
            let names: Vec<_> = SCENARIOS.iter().map(|(name, ..)| *name).collect();
            D::Error::custom(format!(
                "unknown scenario {name:?}; there are {}",
                names.join(", ")
            ))
        })
    }
}

impl JsonSchema for Scenario {
    fn schema_name() -> Cow<'static, str> {
        "Scenario".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let scenarios = SCENARIOS.iter().map(|(name, meaning, _)| (*name, *meaning));
        one_of("A scenario.", scenarios)
    }
}

/// A phase of a loss.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewPhase {
    /// What the cluster goes through.
    phase: PhaseName,
    /// For how long on the server's clock: a duration such as `20s` or `250ms`. Only the last phase can be without;
    /// then it lasts until `POST /leader/find`.
    lasts: Option<Span>,
}

/// A phase, by its name.
struct PhaseName(Phase);

impl<'de> Deserialize<'de> for PhaseName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Phase::ALL.iter().find(|(own, _)| *own == name);
        found.map(|(_, phase)| Self(*phase)).ok_or_else(|| {
            let names: Vec<_> = Phase::ALL.iter().map(|(name, _)| *name).collect();
            D::Error::custom(format!(
                "unknown phase {name:?}; there are {}",
                names.join(", ")
            ))
        })
    }
}

impl JsonSchema for PhaseName {
    fn schema_name() -> Cow<'static, str> {
        "Phase".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let phases = Phase::ALL
            .iter()
            .map(|(name, phase)| (*name, meaning(*phase)));
        one_of("A phase.", phases)
    }
}

/// What requests are answered in a phase.
fn meaning(phase: Phase) -> &'static str {
    match phase {
        Phase::NeverElected => {
            "There never was a leader: everything but the agent's own endpoints waits 7 s for one (from 1.15 on up to \
             13.5 s) and fails, reads with `?stale` too."
        }
        Phase::Unreachable => {
            "The leader, another server, is dead, and this one does not know it yet: calls fail at once. Reads with \
             `?stale` go on."
        }
        Phase::Electing => {
            "A leader is being elected: calls are held until the phase is over, and then go on; for as long as Consul \
             waits for a leader at all. Reads with `?stale` go on."
        }
        Phase::QuorumLost => {
            "This server is the leader and has just lost the others: writes fail after half a second, reads go on."
        }
        Phase::NoLeader => {
            "There is no leader and no election succeeds: calls wait 7 s for one and fail; reads with `?stale` say that \
             there is none, and how long ago there was one."
        }
    }
}

impl LoseLeader {
    fn into_loss(self) -> Result<LeaderLoss, Refused> {
        match (self.scenario, self.phases.is_empty()) {
            (Some(Scenario::NeverElected), true) => Ok(LeaderLoss::never_elected()),
            (Some(Scenario::LeaderKilled), true) => Ok(LeaderLoss::leader_killed()),
            (Some(Scenario::QuorumLost), true) => Ok(LeaderLoss::quorum_lost()),
            (Some(Scenario::Starting), true) => Ok(LeaderLoss::starting()),
            (None, false) => loss_of(self.phases),
            (Some(_), false) | (None, true) => Err(Refused::input(
                "expected either a scenario or a list of phases",
            )),
        }
    }
}

fn loss_of(phases: Vec<NewPhase>) -> Result<LeaderLoss, Refused> {
    let mut loss: Option<LeaderLoss> = None;
    let count = phases.len();
    for (place, NewPhase { phase, lasts }) in phases.into_iter().enumerate() {
        let PhaseName(phase) = phase;
        if lasts.is_none() && place + 1 < count {
            return Err(Refused::input(
                "only the last phase can be without lasts: those behind it would never come",
            ));
        }
        loss = Some(match (loss, lasts) {
            (None, None) => LeaderLoss::in_phase(phase),
            (None, Some(Span(lasts))) => LeaderLoss::begins(phase, lasts),
            (Some(loss), None) => loss.then_for_good(phase),
            (Some(loss), Some(Span(lasts))) => loss.then(phase, lasts),
        });
    }
    loss.ok_or_else(|| Refused::input("expected at least one phase"))
}

async fn lose(control: Control, Body(lost): Body<LoseLeader>) -> Answer<Done> {
    control.lose_leader(lost.into_loss()?);
    Ok(Json(Done {}))
}

async fn find(control: Control, _: Nothing) -> Answer<Done> {
    control.find_leader();
    Ok(Json(Done {}))
}
