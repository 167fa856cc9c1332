//! What a target offers: probed over the wire, never configured by hand.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::case::version::Version;
use crate::target::site::ToolError;
use crate::wire::{self, Address, Outcome, Reply, Request};

/// How long the first contact may take; a server that boots holds requests for up to 7 s.
const FIRST_CONTACT: Duration = Duration::from_secs(8);

/// The least TTL of a session, where a double does not say its own.
const SHORTEST_TTL: Duration = Duration::from_secs(10);

/// Something that a case needs and that not every target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// A dev agent: every JSON answer is pretty-printed (kv.md 1.3).
    DevMode,
    /// Not a dev agent: JSON is compact unless `?pretty` asks.
    CompactJson,
    /// ACLs are disabled.
    AclsOff,
    /// ACLs are enabled.
    AclsOn,
    /// ACL policies and tokens can be made, or could be if ACLs were on.
    AclPolicies,
    /// One server alone, so that nothing is stale and no leader changes.
    SingleServer,
    /// Reads with `index=` block.
    Blocking,
    /// Nodes, services and checks can be put into the catalog.
    Registration,
    /// The agent takes services and checks of its own.
    AgentRegistration,
    /// Prepared queries can be made and read.
    PreparedQueries,
    /// Connect is on, as in `-dev` and, since 1.14, elsewhere: root certificates and discovery chains are shown.
    Connect,
    /// A server that is started for the case alone: it is empty, and the root of its keys may be watched or deleted.
    OwnServer,
    /// The same, with settings of the case's own ([`crate::case::Case::settings`]).
    OwnSettings,
    /// Time passes when the suite says so, hours of it in a moment.
    MovableClock,
}

impl Feature {
    /// Every feature, in the order of reports.
    pub const ALL: [Self; 14] = [
        Self::DevMode,
        Self::CompactJson,
        Self::AclsOff,
        Self::AclsOn,
        Self::AclPolicies,
        Self::SingleServer,
        Self::Blocking,
        Self::Registration,
        Self::AgentRegistration,
        Self::PreparedQueries,
        Self::Connect,
        Self::OwnServer,
        Self::OwnSettings,
        Self::MovableClock,
    ];
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::DevMode => "dev mode",
            Self::CompactJson => "compact JSON",
            Self::AclsOff => "ACLs off",
            Self::AclsOn => "ACLs on",
            Self::AclPolicies => "ACL policies and tokens",
            Self::SingleServer => "a single server",
            Self::Blocking => "blocking queries",
            Self::Registration => "catalog registration",
            Self::AgentRegistration => "registration with the agent",
            Self::PreparedQueries => "prepared queries",
            Self::Connect => "Connect",
            Self::OwnServer => "a server of its own",
            Self::OwnSettings => "a server of its own with other settings",
            Self::MovableClock => "a clock that can be moved",
        })
    }
}

/// What was found out about a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What it says it is (`agent/self`: `Config.Version`).
    pub version: Version,
    /// The same with everything after the numbers, and the revision.
    pub build: String,
    /// The agent's own node.
    pub node: String,
    /// Its datacenter.
    pub datacenter: String,
    /// The smallest TTL that a session may have.
    pub shortest_ttl: Duration,
    /// What it offers.
    pub features: Vec<Feature>,
    /// It shows the inside of a real Consul (the Go runtime and the whole configuration): only such a target may be recorded.
    pub genuine: bool,
}

impl Facts {
    /// Whether the target offers this.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

/// Asks a target what it is. One that does not say it at `agent/self` is held to this release, if there is one.
///
/// # Errors
/// [`ToolError`] when nobody listens, the answers are not Consul's, or they say that the suite may not read.
pub fn probe(address: &Address, held_to: Option<Version>) -> Result<Facts, ToolError> {
    let agent = ask(address, "/v1/agent/self")?;
    let json = match (read_agent(address, &agent), held_to) {
        (Err(_), Some(version)) if agent.status != 403 => {
            json!({"Config": {"Version": version.to_string()}})
        }
        (json, _) => json?,
    };
    let config = &json["Config"];
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let version = text("Version")
        .parse()
        .map_err(|error| not_a_consul(address, &format!("/v1/agent/self: {error}")))?;
    let shortest_ttl = match (probe_ttl(address), held_to) {
        (Err(_), Some(_)) => SHORTEST_TTL,
        (ttl, _) => ttl?,
    };
    let pretty = agent.body.starts_with(b"{\n");
    // 401 where ACLs are off, 404 where there is no such endpoint at all.
    let tokens = ask(address, "/v1/acl/tokens")?.status;
    let acls = matches!(tokens, 200 | 403);
    let peers = ask(address, "/v1/status/peers")?;
    let single = serde_json::from_slice::<Vec<String>>(&peers.body)
        .is_ok_and(|addresses| addresses.len() == 1);
    let deregister = Request::put("/v1/catalog/deregister", r#"{"Node":"conformance-nobody"}"#);
    let registration = reply_of(address, &deregister)?.status == 200;
    // A check without a name is refused with 400, and with 404 where there is no such endpoint.
    let nameless = Request::put("/v1/agent/check/register", "{}");
    let agent_registration = reply_of(address, &nameless)?.status == 400;
    let connect = ask(address, "/v1/connect/ca/roots")?.status == 200;
    let prepared_queries = ask(address, "/v1/query")?.status == 200;
    let held = [
        (Feature::DevMode, pretty),
        (Feature::CompactJson, !pretty),
        (Feature::AclsOff, !acls),
        (Feature::AclsOn, acls),
        (Feature::AclPolicies, tokens != 404),
        (Feature::SingleServer, single),
        (Feature::Blocking, probe_blocking(address)?),
        (Feature::Registration, registration),
        (Feature::AgentRegistration, agent_registration),
        (Feature::PreparedQueries, prepared_queries),
        (Feature::Connect, connect),
    ];
    Ok(Facts {
        version,
        build: build_of(&json),
        node: text("NodeName").to_owned(),
        datacenter: json
            .pointer("/Config/Datacenter")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        shortest_ttl,
        features: held
            .into_iter()
            .filter_map(|(feature, held)| held.then_some(feature))
            .collect(),
        genuine: is_genuine(&json),
    })
}

/// Version, revision and Go version, as far as the agent tells.
fn build_of(agent: &Value) -> String {
    let parts = [
        "/Config/Version",
        "/Config/Revision",
        "/Stats/runtime/version",
    ];
    let text = |pointer: &&str| agent.pointer(pointer).and_then(Value::as_str);
    let parts: Vec<&str> = parts
        .iter()
        .filter_map(text)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" ")
}

/// A double has neither goroutines nor a use for two hundred settings.
pub(crate) fn is_genuine(agent: &Value) -> bool {
    let runtime = agent.pointer("/Stats/runtime/version");
    let settings = agent.get("DebugConfig").and_then(Value::as_object);
    runtime
        .and_then(Value::as_str)
        .is_some_and(|version| version.starts_with("go"))
        && settings.is_some_and(|settings| settings.len() > 100)
}

/// The whole of `agent/self`, which has a `Config`.
fn read_agent(address: &Address, agent: &Reply) -> Result<Value, ToolError> {
    if agent.status == 403 {
        return Err(ToolError(format!(
            "{address} denies GET /v1/agent/self: its ACLs do not let the suite in (403 {})",
            String::from_utf8_lossy(&agent.body)
        )));
    }
    let json = serde_json::from_slice::<Value>(&agent.body).ok();
    match (agent.status, json) {
        (200, Some(json)) if json.get("Config").is_some() => Ok(json),
        (status, _) => Err(not_a_consul(
            address,
            &format!(
                "GET /v1/agent/self answered {status} without a Config; `score --held-to VERSION` holds it to a release"
            ),
        )),
    }
}

/// A TTL of one nanosecond is refused with the bounds in the text (session.md 1.3).
fn probe_ttl(address: &Address) -> Result<Duration, ToolError> {
    let request = Request::put("/v1/session/create", r#"{"TTL":"1ns","NodeChecks":[]}"#);
    let reply = reply_of(address, &request)?;
    let body = String::from_utf8_lossy(&reply.body).into_owned();
    if reply.status == 200 {
        if let Ok(Value::Object(session)) = serde_json::from_slice(&reply.body)
            && let Some(id) = session.get("ID").and_then(Value::as_str)
        {
            reply_of(
                address,
                &Request::put(&format!("/v1/session/destroy/{id}"), ""),
            )?;
        }
        return Ok(Duration::from_nanos(1));
    }
    body.split_once("must be between [")
        .and_then(|(_, rest)| rest.split_once('='))
        .and_then(|(least, _)| go_duration(least))
        .ok_or_else(|| {
            not_a_consul(
                address,
                &format!(
                    "a session with a TTL of 1ns was answered {} {body:?}",
                    reply.status
                ),
            )
        })
}

/// Far in the future, an index blocks until the wait ends (kv.md 5.2).
fn probe_blocking(address: &Address) -> Result<bool, ToolError> {
    let request = Request::get("/v1/session/list?index=4611686018427387904&wait=50ms");
    let watch = crate::time::Stopwatch::start();
    reply_of(address, &request)?;
    Ok(watch.elapsed() >= Duration::from_millis(50))
}

/// Reads what Go prints for whole durations: `10s`, `1m30s`, `24h0m0s`, `500ms`.
#[must_use]
pub fn go_duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(tail.len());
        let seconds = match &tail[..unit] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        total += Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        rest = &tail[unit..];
    }
    (!text.is_empty()).then_some(total)
}

fn ask(address: &Address, path: &str) -> Result<Reply, ToolError> {
    reply_of(address, &Request::get(path))
}

fn reply_of(address: &Address, request: &Request) -> Result<Reply, ToolError> {
    let request = request.clone().patience(FIRST_CONTACT);
    match wire::exchange(address, &request) {
        Outcome::Reply(reply) => Ok(reply),
        Outcome::Unreachable(why) => Err(ToolError(format!("no server at {address}: {why}"))),
        Outcome::Silent { .. } => Err(ToolError(format!(
            "{address} does not answer {} {} within {FIRST_CONTACT:?}",
            request.method, request.target
        ))),
        Outcome::Closed | Outcome::Broken { .. } => Err(not_a_consul(
            address,
            &format!("{} {} got no HTTP answer", request.method, request.target),
        )),
    }
}

fn not_a_consul(address: &Address, why: &str) -> ToolError {
    ToolError(format!("{address} is not a Consul: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fake::Fake;

    #[test]
    fn reads_durations_as_go_prints_them() {
        assert_eq!(go_duration("10s"), Some(Duration::from_secs(10)));
        assert_eq!(go_duration("24h0m0s"), Some(Duration::from_secs(86_400)));
        assert_eq!(go_duration("1m30s"), Some(Duration::from_secs(90)));
        assert_eq!(go_duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(go_duration("10"), None);
        assert_eq!(go_duration(""), None);
    }

    fn refusal(fake: &Fake) -> String {
        probe(&fake.address(), None).expect_err("not a Consul").0
    }

    #[test]
    fn something_else_than_a_consul_is_told_apart() {
        let web = Fake::saying(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html");
        assert!(refusal(&web).contains("is not a Consul: GET /v1/agent/self answered 200"));
        let ssh = Fake::saying(b"SSH-2.0-OpenSSH\r\n");
        assert!(refusal(&ssh).contains("is not a Consul"));
        let strict = Fake::saying(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        assert!(refusal(&strict).contains("ACLs"));
        let odd = b"{\"Config\":{\"Version\":\"soon\"}}";
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", odd.len());
        let odd = Fake::saying(&[head.as_bytes(), odd].concat());
        assert!(refusal(&odd).contains("`soon` is not a version"));
    }

    #[test]
    fn only_the_inside_of_a_consul_is_genuine() {
        let settings: serde_json::Map<String, Value> =
            (0..150).map(|n| (n.to_string(), Value::Null)).collect();
        let agent = |version: &str, settings: &serde_json::Map<String, Value>| serde_json::json!({"Stats": {"runtime": {"version": version}}, "DebugConfig": settings});
        assert!(is_genuine(&agent("go1.15.9", &settings)));
        assert!(!is_genuine(&agent("", &settings)));
        assert!(!is_genuine(&agent("go1.15.9", &serde_json::Map::new())));
        assert!(!is_genuine(&serde_json::json!({"Config": {}})));
    }

    #[test]
    fn nobody_is_told_apart() {
        let address = Fake::silent().address_after_stop();
        let error = probe(&address, None).expect_err("nobody listens").0;
        assert!(error.starts_with("no server at 127.0.0.1:"), "{error}");
    }
}
