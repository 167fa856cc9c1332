//! A rule as a call gives it.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;

use super::effect::NewEffect;
use crate::control::http::call::Refused;
use crate::control::http::groups::records::at;
use proconsul_engine::faults::Rule;
use proconsul_store::timestamp::Timestamp;

/// A rule: `effect` says what happens, and everything else to which requests. All conditions must be met; without any,
/// every request is hit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRule {
    /// What happens to the requests.
    effect: NewEffect,
    /// Requests with this method, such as `PUT`.
    method: Option<String>,
    /// Requests whose decoded path begins with this, such as `/v1/session/`.
    path: Option<String>,
    /// Requests for a key that begins with this, or for a tree of keys whose prefix does.
    key_prefix: Option<String>,
    /// Requests that name this session: in the path of `/v1/session/`, or in `acquire=` or `release=`.
    session: Option<String>,
    /// Requests from this IP address.
    client: Option<IpAddr>,
    /// Requests that come to the agent with this number, counted from 0.
    agent: Option<usize>,
    /// A header of the requests, by which clients on one machine can be told apart.
    header: Option<NewHeader>,
    /// Questions of DNS about this name or one below it, such as `web.service.consul`, in place of requests; `.` is any name.
    /// They can be delayed and not answered (`hang`), and their answers fail (`dns-…`).
    question: Option<String>,
    /// Requests that come at this time or later, in milliseconds of the server's clock.
    from_ms: Option<u64>,
    /// Requests that come before this time, in milliseconds of the server's clock.
    to_ms: Option<u64>,
    /// Only one of the requests that meet the other conditions: the one with this number, counted from 1.
    nth: Option<u64>,
    /// With which probability a request is hit: more than 0, at most 1.
    chance: Option<f64>,
    /// What `chance` is drawn from: the same seed hits the same requests.
    #[serde(default)]
    seed: u64,
    /// How many requests are hit at most, at least 1; all of them when it is left out.
    times: Option<u64>,
}

/// A header of a request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Header")]
struct NewHeader {
    /// The name of the header.
    name: String,
    /// All of its value.
    value: String,
}

impl NewRule {
    /// # Errors
    /// Invalid effect. Whether the rule can match is checked when it is installed.
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
        let rule = with(rule, self.agent, Rule::agent);
        let rule = with(rule, self.header, |rule, header| {
            rule.header(header.name, header.value)
        });
        let rule = with(rule, self.question, Rule::question);
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
