//! `/v1/agent/`: the cluster, which is this one agent, and its metrics.

use http::{HeaderName, HeaderValue, StatusCode};

use crate::go::json::context::UnknownFields;
use crate::go::json::decode::go_struct;
use crate::http::api::agent::{failure, vet};
use crate::http::api::catalog::NOTHING;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::reply::header::JSON_UTF_8;
use crate::http::reply::object::object;
use crate::http::request::Request;
use crate::version::{BUILD_DATE, Behaviour};

/// Why an answer is empty.
const REASON: HeaderName = HeaderName::from_static("x-consul-reason");

/// Removes a member. The only member is alive and stays.
pub(crate) fn force_leave(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let name = request.rest_text();
    if name == request.context.config.node_name {
        return Ok(Reply::done(request));
    }
    Err(failure::unknown_member(&name))
}

go_struct! {
    /// The body of `agent/token/`.
    struct TokenBody as "api.AgentToken" {
        "Token": String => token,
    }
}

/// Sets a token of the agent (acl.md 11.1).
pub(crate) async fn token(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.authorize()?;
    let sent = request.read_whole().await;
    let mut body = TokenBody::default();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<TokenBody>(sent, &mut body, rules);
    decoded.map_err(|words| Failure::undecodable(&words))?;
    let name = request.rest_text();
    if !request
        .acls()?
        .set_token(&name, body.token, request.version())
    {
        return Err(failure::unknown_token(&name));
    }
    if matches!(
        name.as_str(),
        "agent" | "acl_agent_token" | "default" | "acl_token"
    ) {
        vet::compare(&request);
    }
    Ok(Reply::done(&request))
}

/// Shows metrics in Consul's form. Only the index is measured.
pub(crate) fn metrics(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    if request.query.get("format") == b"prometheus" {
        return no_prometheus(request);
    }
    let applied = request.context.engine.snapshot().applied().0;
    let gauge = |(name, value)| {
        object! {
            "Name" => name,
            "Value" => value,
            "Labels" => object! {},
        }
    };
    let gauges = [
        ("consul.autopilot.failure_tolerance", 0),
        ("consul.autopilot.healthy", 1),
        ("consul.raft.applied_index", applied),
        ("consul.raft.last_index", applied),
    ];
    let answer = object! {
        "Timestamp" => timestamp(),
        "Gauges" => gauges.map(gauge),
        "Points" => NOTHING,
        "Counters" => NOTHING,
        "Samples" => NOTHING,
    };
    Ok(Reply::json(request, &answer))
}

/// Refuses Prometheus' format: no setting says how long metrics are kept for it.
fn no_prometheus(request: &Request) -> Result<Reply, Failure> {
    if !request.has(Behaviour::AgentPrometheusReason) {
        return Err(failure::no_prometheus());
    }
    let why = HeaderValue::from_static(failure::NO_PROMETHEUS);
    let mut reply = Reply::empty(StatusCode::OK);
    reply.content_type = Some(JSON_UTF_8);
    reply.headers.push((REASON, why));
    Ok(reply)
}

/// Returns the time in the form of Go's `Time.String`, in whole seconds.
fn timestamp() -> String {
    let now = std::time::UNIX_EPOCH + crate::clock::wall_clock();
    let text = humantime::format_rfc3339_seconds(now).to_string();
    let text = text.trim_end_matches('Z').replace('T', " ");
    format!("{text} +0000 UTC")
}

/// Shows the agent's machine in Consul's form, with little content.
pub(crate) fn host(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    let config = &request.context.config;
    let time = crate::clock::wall_clock().as_nanos();
    let host = object! {
        "hostname" => &config.node_name,
        "os" => std::env::consts::OS,
        "kernelArch" => std::env::consts::ARCH,
        "hostid" => request.context.node_id(),
    };
    let answer = object! {
        "Memory" => object! {},
        "CPU" => NOTHING,
        "Host" => host,
        "Disk" => object! {},
        "CollectionTime" => u64::try_from(time).unwrap_or(u64::MAX),
        "Errors" => (),
    };
    Ok(Reply::json(request, &answer))
}

/// Shows the agent's release.
pub(crate) fn version(request: &Request) -> Reply {
    let version = request.version();
    let answer = object! {
        "SHA" => version.revision(),
        "BuildDate" => BUILD_DATE,
        "HumanVersion" => version.to_string(),
        "FIPS" => "",
    };
    Reply::json(request, &answer)
}

/// Makes the agent leave and exit.
pub(crate) fn leave(request: &Request) -> Result<Reply, Failure> {
    request.authorize()?;
    request.context.left.notify_one();
    Ok(Reply::done(request))
}
