//! A real Consul on which a schedule is replayed, and what it cannot be brought to.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use proconsul::Version;
use proconsul_explore::{Action, Schedule};
use proconsul_gocompat::url::path_escape;
use serde_json::Value;

use crate::commands::support::proxy::Upstream;

/// A Consul at an address of this machine.
#[derive(Debug)]
pub(super) struct Consul {
    upstream: Upstream,
    pub(super) version: Version,
    pub(super) node: String,
}

impl Consul {
    /// Finds out which Consul there is.
    ///
    /// # Errors
    /// The address is not loopback, the connection fails, or the release is unknown.
    pub(super) async fn at(text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix("http://").unwrap_or(text);
        let plain = plain.trim_end_matches('/');
        let plain = plain.replace("localhost:", "127.0.0.1:");
        let address: Result<SocketAddr, _> = plain.parse();
        let address = address.map_err(|_| format!("expected ADDRESS:PORT, found {text:?}"))?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{text} is no loopback address, and others may use that Consul"
            ));
        }
        let mut consul = Self {
            upstream: Upstream::at(address),
            version: Version::default(),
            node: String::new(),
        };
        let (_, own) = consul.get("/v1/agent/self").await?;
        let config = &own["Config"];
        let release = config["Version"].as_str().unwrap_or_default();
        let numbers = release.split(['-', '+']).next().unwrap_or_default();
        let version: Result<Version, _> = numbers.parse();
        consul.version = version.map_err(|error| format!("{text}: {error}"))?;
        config["NodeName"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut consul.node);
        Ok(consul)
    }

    /// Says which Consul it is.
    pub(super) fn name(&self) -> String {
        format!("Consul {} at {}", self.version, self.upstream.address())
    }

    /// Checks that this Consul can be brought to all that a schedule does.
    ///
    /// # Errors
    /// What it cannot be brought to, and why.
    pub(super) async fn check(&self, schedule: &Schedule) -> Result<(), String> {
        if schedule.agents > 1 {
            return Err(format!("agents {}: {ONE_AGENT}", schedule.agents));
        }
        for decision in &schedule.decisions {
            let name = decision.action.name();
            if let Some(why) = impossible(&decision.action) {
                return Err(format!("{name}: {why}"));
            }
            if decision.action == Action::FailNode {
                let (_, sessions) = self.get("/v1/session/list").await?;
                if sessions.as_array().is_some_and(|list| !list.is_empty()) {
                    let why = "it ends all sessions on the node, and there are some of others";
                    return Err(format!("{name}: {why}"));
                }
            }
        }
        Ok(())
    }

    /// Returns the index and the body of a read; null for a 404.
    ///
    /// # Errors
    /// Consul does not answer it.
    pub(super) async fn get(&self, target: &str) -> Result<(u64, Value), String> {
        let answer = self.send(request(Method::GET, target, Bytes::new()));
        let answer = answer.await?;
        match answer.status() {
            StatusCode::OK => {
                let body = serde_json::from_slice(answer.body());
                let body = body.map_err(|error| format!("{target}: {error}"))?;
                Ok((index_of(&answer), body))
            }
            StatusCode::NOT_FOUND => Ok((index_of(&answer), Value::Null)),
            _ => Err(refused(target, &answer)),
        }
    }

    /// Sends a request, and returns the whole response.
    ///
    /// # Errors
    /// The connection fails.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, String> {
        self.upstream.send(request).await
    }
}

/// Makes a request of our own.
pub(super) fn request(method: Method, target: &str, body: Bytes) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(target).body(body);
    request.expect("the parts of the target are escaped")
}

/// Returns the path of a key.
pub(super) fn path_of(key: &str) -> String {
    format!("/v1/kv/{}", path_escape(key.as_bytes()))
}

/// Returns the index that a response says; 0 without one.
pub(super) fn index_of(answer: &Response<Bytes>) -> u64 {
    let index = answer.headers().get("x-consul-index");
    let index = index.and_then(|index| index.to_str().ok()?.parse().ok());
    index.unwrap_or_default()
}

/// Says that Consul rejects a request of our own.
pub(super) fn refused(target: &str, answer: &Response<Bytes>) -> String {
    let text = String::from_utf8_lossy(answer.body());
    format!("{target}: {} {}", answer.status().as_u16(), text.trim_end())
}

/// Why contenders of a real Consul have no agents of their own.
const ONE_AGENT: &str = "a Consul of one server has no agent for each contender";

/// Returns why no client brings a Consul to this, if it is so.
fn impossible(action: &Action) -> Option<&'static str> {
    Some(match action {
        Action::LoseLeader => {
            "a Consul of one server leads as long as it runs, and no request changes that"
        }
        Action::ChangeLeader { .. } => "a Consul of one server has no other that could lead",
        Action::CutAgent(..)
        | Action::PauseAgent(..)
        | Action::RestartAgent(..)
        | Action::LagAgent(..) => ONE_AGENT,
        Action::Rebuild => "a Consul that runs keeps its indexes, and the data of others",
        Action::Wake => {
            "a query that blocks on an existing key is answered when that changes, and no request changes when it is answered without"
        }
        Action::Empty => "a Consul of one server has no other whose state is older",
        Action::RevokeToken => "the tokens of the contenders are not those of the command",
        Action::Delay(_)
        | Action::DelayResponse(_)
        | Action::Hold
        | Action::LoseRequest
        | Action::LoseResponse
        | Action::Error(_)
        | Action::DestroySessions(_)
        | Action::FailNode
        | Action::DeleteLock(_)
        | Action::Silence(..)
        | Action::Cut(..)
        | Action::Pause(..)
        | Action::Restart(..) => return None,
    })
}
