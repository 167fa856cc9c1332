//! `/v1/agent/`: what concerns the cluster, which is this one agent, and what it measures.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::http::api::acl::acl_disabled;
use crate::http::api::agent::failure;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::version::BUILD_DATE;

/// Makes a member leave. The only member is alive, and stays.
pub(crate) fn force_leave(request: &Request) -> Result<Reply, Failure> {
    let name = request.rest_text();
    if name == request.context.config.node_name {
        return Ok(Reply::done(request));
    }
    Err(failure::unknown_member(&name))
}

/// Sets a token of the agent's, which needs ACLs.
pub(crate) fn token() -> Result<Reply, Failure> {
    Err(acl_disabled())
}

/// What the agent measures: in shape; nothing is measured but the index.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Metrics {
    timestamp: String,
    gauges: [Gauge; 4],
    points: [u8; 0],
    counters: [u8; 0],
    samples: [u8; 0],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Gauge {
    name: &'static str,
    value: u64,
    labels: BTreeMap<&'static str, &'static str>,
}

/// What the agent measures.
pub(crate) fn metrics(request: &Request) -> Result<Reply, Failure> {
    if request.query.get("format") == b"prometheus" {
        return Err(failure::no_prometheus());
    }
    let applied = request.context.engine.snapshot().applied().0;
    let gauge = |(name, value)| Gauge {
        name,
        value,
        labels: BTreeMap::new(),
    };
    let gauges = [
        ("consul.autopilot.failure_tolerance", 0),
        ("consul.autopilot.healthy", 1),
        ("consul.raft.applied_index", applied),
        ("consul.raft.last_index", applied),
    ];
    let answer = Metrics {
        timestamp: timestamp(),
        gauges: gauges.map(gauge),
        points: [],
        counters: [],
        samples: [],
    };
    Ok(Reply::json(request, &answer))
}

/// The time in the form of Go's `Time.String`, in whole seconds.
fn timestamp() -> String {
    let now = std::time::UNIX_EPOCH + crate::clock::wall_clock();
    let text = humantime::format_rfc3339_seconds(now).to_string();
    let text = text.trim_end_matches('Z').replace('T', " ");
    format!("{text} +0000 UTC")
}

/// What machine the agent runs on: in shape; little is looked up.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Machine<'a> {
    memory: BTreeMap<&'static str, u64>,
    #[serde(rename = "CPU")]
    cpu: [u8; 0],
    host: MachineHost<'a>,
    disk: BTreeMap<&'static str, u64>,
    collection_time: u64,
    errors: Option<()>,
}

#[derive(Serialize)]
struct MachineHost<'a> {
    hostname: &'a str,
    os: &'static str,
    #[serde(rename = "kernelArch")]
    kernel_arch: &'static str,
    hostid: String,
}

/// What machine the agent runs on.
pub(crate) fn host(request: &Request) -> Reply {
    let config = &request.context.config;
    let time = crate::clock::wall_clock().as_nanos();
    let answer = Machine {
        memory: BTreeMap::new(),
        cpu: [],
        host: MachineHost {
            hostname: &config.node_name,
            os: std::env::consts::OS,
            kernel_arch: std::env::consts::ARCH,
            hostid: request.context.node_id(),
        },
        disk: BTreeMap::new(),
        collection_time: u64::try_from(time).unwrap_or(u64::MAX),
        errors: None,
    };
    Reply::json(request, &answer)
}

/// Which release the agent is, since 1.16.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Release {
    #[serde(rename = "SHA")]
    sha: &'static str,
    build_date: &'static str,
    human_version: String,
    #[serde(rename = "FIPS")]
    fips: &'static str,
}

/// Which release the agent is.
pub(crate) fn version(request: &Request) -> Reply {
    let answer = Release {
        sha: "",
        build_date: BUILD_DATE,
        human_version: request.context.config.version.to_string(),
        fips: "",
    };
    Reply::json(request, &answer)
}

/// Makes the agent leave, which ends it.
pub(crate) fn leave(request: &Request) -> Reply {
    request.context.left.notify_one();
    Reply::done(request)
}
