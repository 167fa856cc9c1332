//! Faults: rules that hit requests, and wakes that come late or for nothing.

mod effect;
pub(super) mod leader;
mod rule;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::records::Done;
use crate::control::Controls;
use crate::control::http::call::{JsonBody, Name, Nothing, Number, Refused, Span, calls};
use proconsul_engine::faults::{Installed, Phase, RuleId};
use rule::NewRule;

calls! {
    /// The rules, in the order in which they are tried, with how often they have hit.
    GET "/faults" faults;
    /// Installs a rule behind those that there are: the first that matches a request wins.
    POST "/faults" install_fault, example {
        "effect": { "kind": "error", "error": "no-cluster-leader", "after": "0s" },
        "key_prefix": "nobody/",
        "times": 1,
    };
    /// Takes all rules away; wakes come in time, and there is a leader.
    DELETE "/faults" clear_faults;
    /// Takes a rule away.
    DELETE "/faults/{id}" remove_fault, refuses 404 "There is no such rule.";
    /// Answers requests that are blocked on keys under a prefix, though nothing has changed.
    POST "/wakes/spurious" wake, example { "prefix": "nobody/" };
    /// Lets the wakes of requests that are blocked on keys under a prefix come late.
    POST "/wakes/delay" delay_wakes, example { "prefix": "nobody/", "by": "1s", "times": 1 };
}

/// The rules that are installed.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Rules {
    /// The rules, in the order in which they are tried.
    rules: Vec<InstalledRule>,
    /// What the cluster goes through without its leader; null while it has one.
    leader_lost: Option<Name<Phase>>,
}

/// A rule that is installed.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct InstalledRule {
    /// The rule's id, for `DELETE /faults/{id}`.
    id: u64,
    /// What the rule does, in words.
    effect: String,
    /// Which requests the rule hits, in words: `PUT, key "job/"`, or `all requests`.
    requests: String,
    /// How many requests the rule hits at most; null without a limit.
    times: Option<u64>,
    /// How often it has hit a request.
    hits: u64,
}

impl From<&Installed> for InstalledRule {
    fn from(installed: &Installed) -> Self {
        Self {
            id: installed.id.0,
            effect: installed.rule.in_words(),
            requests: installed.rule.requests_in_words(),
            times: installed.rule.limit(),
            hits: installed.hits,
        }
    }
}

/// A rule was installed.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Id {
    /// The id of the new rule, for `DELETE /faults/{id}`.
    id: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Prefix {
    /// What the keys begin with; all keys when it is empty.
    prefix: String,
}

/// Requests were woken.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Woken {
    /// How many requests looked again.
    woken: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DelayWakes {
    /// What the keys begin with; all keys when it is empty.
    prefix: String,
    /// How late the wakes come on the server's clock: a duration such as `20s` or `250ms`.
    by: Span,
    /// How many wakes come late, at least 1; all of them when it is left out.
    times: Option<u64>,
}

async fn faults(control: Controls, _: Nothing) -> Result<Rules, Refused> {
    let rules = control.faults().iter().map(InstalledRule::from).collect();
    let leader_lost = control.leader_lost().map(Name);
    Ok(Rules { rules, leader_lost })
}

async fn install_fault(control: Controls, JsonBody(new): JsonBody<NewRule>) -> Result<Id, Refused> {
    let guard = control.fault(new.into_rule()?);
    let guard = guard.map_err(|error| Refused::input(error.to_string()))?;
    Ok(Id { id: guard.keep().0 })
}

async fn clear_faults(control: Controls, _: Nothing) -> Result<Done, Refused> {
    control.clear_faults();
    Ok(Done {})
}

async fn remove_fault(control: Controls, Number(id): Number) -> Result<Done, Refused> {
    if !control.remove_fault(RuleId(id)) {
        return Err(Refused::missing(format!("there is no rule {id}")));
    }
    Ok(Done {})
}

async fn wake(
    control: Controls,
    JsonBody(Prefix { prefix }): JsonBody<Prefix>,
) -> Result<Woken, Refused> {
    let woken = control.wake(prefix);
    Ok(Woken { woken })
}

async fn delay_wakes(
    control: Controls,
    JsonBody(delay): JsonBody<DelayWakes>,
) -> Result<Done, Refused> {
    if delay.times == Some(0) {
        return Err(Refused::input("expected times to be at least 1"));
    }
    control.delay_wakes(delay.prefix, delay.by.0, delay.times);
    Ok(Done {})
}
