//! Losing the leader, and having one again.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::control::Controls;
use crate::control::http::call::{JsonBody, Name, Nothing, Nouns, Refused, Span, calls};
use crate::control::http::groups::records::Done;
use proconsul_engine::faults::{LeaderLoss, Phase};

calls! {
    /// Loses the leader, by a scenario or by a list of phases.
    POST "/leader/lose" lose_leader, example { "scenario": "quorum-lost" };
    /// Gives the cluster a leader again.
    POST "/leader/find" find_leader;
}

/// How the leader is lost: exactly one of the two is given.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoseLeader {
    /// A loss as it was measured on real clusters.
    scenario: Option<Name<Scenario>>,
    /// A loss of one's own: phases in their order. When the last one is over there is a leader again.
    #[serde(default)]
    phases: Vec<NewPhase>,
}

proconsul_engine::named! {
    /// A loss of the leader as it was measured on real clusters.
    #[derive(Clone, Copy)]
    enum Scenario {
        NeverElected "never-elected" "The cluster never had a leader, until it is given one by `POST /leader/find`.",
        LeaderKilled "leader-killed" "The leader, another server, dies: two seconds of failures at once, then an election of 1.16 s, and there is a leader again.",
        QuorumLost "quorum-lost" "This server is the leader and loses the others: for half a second writes fail, then there is no leader until `POST /leader/find`.",
        Starting "starting" "The server has just been started: calls are held for a quarter of a second, and go on.",
    }
}

impl Scenario {
    fn loss(self) -> LeaderLoss {
        match self {
            Self::NeverElected => LeaderLoss::never_elected(),
            Self::LeaderKilled => LeaderLoss::leader_killed(),
            Self::QuorumLost => LeaderLoss::quorum_lost(),
            Self::Starting => LeaderLoss::starting(),
        }
    }
}

impl Nouns for Scenario {
    const NOUN: &'static str = "scenario";
    const SCHEMA: &'static str = "Scenario";
    const DESCRIPTION: &'static str = "A scenario.";
}

/// A phase of a loss.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "LossPhase")]
struct NewPhase {
    /// What the cluster goes through.
    phase: Name<Phase>,
    /// For how long on the server's clock: a duration such as `20s` or `250ms`. Only the last phase can be without;
    /// then it lasts until `POST /leader/find`.
    lasts: Option<Span>,
}

impl Nouns for Phase {
    const NOUN: &'static str = "phase";
    const SCHEMA: &'static str = "Phase";
    const DESCRIPTION: &'static str = "A phase.";
}

impl LoseLeader {
    fn into_loss(self) -> Result<LeaderLoss, Refused> {
        match (self.scenario, self.phases.is_empty()) {
            (Some(Name(scenario)), true) => Ok(scenario.loss()),
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
    for (
        place,
        NewPhase {
            phase: Name(phase),
            lasts,
        },
    ) in phases.into_iter().enumerate()
    {
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

async fn lose_leader(
    control: Controls,
    JsonBody(lost): JsonBody<LoseLeader>,
) -> Result<Done, Refused> {
    control.lose_leader(lost.into_loss()?);
    Ok(Done {})
}

async fn find_leader(control: Controls, _: Nothing) -> Result<Done, Refused> {
    control.find_leader();
    Ok(Done {})
}
