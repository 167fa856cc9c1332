//! What a server says of itself, as far as the emulator beside it must be told.

use serde_json::{Value, json};

use proconsul_conformance::target::site::ToolError;
use proconsul_conformance::wire::transcript::Names;
use proconsul_conformance::wire::{Address, Outcome, Request, exchange};

/// The management token of a real server with ACLs, and what it does without one.
#[derive(Debug, Clone)]
pub(super) struct Rights {
    pub(super) token: String,
    default_policy: String,
}

impl Rights {
    /// Reads them out of `agent/self`; `None` where ACLs are off.
    fn of(address: &Address, token: &str, said: &Value) -> Result<Option<Self>, ToolError> {
        let shown = |name: &str| {
            let places = ["", "ACLResolverSettings/"];
            places.map(|place| said.pointer(&format!("/DebugConfig/{place}{name}")))
        };
        if !shown("ACLsEnabled").contains(&Some(&Value::Bool(true))) {
            return Ok(None);
        }
        if !is_management(address, token) {
            return Err(ToolError(format!(
                "{address} has ACLs, and shadow needs a management token (--token or CONSUL_HTTP_TOKEN)"
            )));
        }
        let policies = shown("ACLDefaultPolicy").into_iter().flatten();
        let mut policies = policies.filter_map(Value::as_str);
        let policy = policies.find(|policy| !policy.is_empty());
        Ok(Some(Self {
            token: token.to_owned(),
            default_policy: policy.unwrap_or("allow").to_owned(),
        }))
    }
}

/// More connections than any program has.
const CONNECTIONS: u32 = 100_000;

/// A server and what it says of itself.
#[derive(Debug, Clone)]
pub struct Inside {
    /// Where it listens.
    pub address: Address,
    /// Its release, as it says it.
    pub version: String,
    pub(super) node: String,
    pub(super) node_id: String,
    pub(super) is_server: bool,
    pub(super) member_address: String,
    /// Where other servers reach it, as they say it.
    pub(super) server_address: String,
    /// Those of its gossip and of its server.
    pub(super) ports: Vec<String>,
    datacenter: String,
    shortest_ttl: String,
    is_pretty: bool,
    /// `None` where ACLs are off.
    pub(super) rights: Option<Rights>,
}

impl Inside {
    /// Asks a server; only reads are sent.
    ///
    /// # Errors
    /// That nobody answers there, or nobody whom the emulator could stand beside.
    pub fn of(address: &Address, token: &str) -> Result<Self, ToolError> {
        let request = with_token(Request::get("/v1/agent/self"), token);
        let reply = match exchange(address, &request) {
            Outcome::Reply(reply) => reply,
            Outcome::Unreachable(why) => {
                return Err(ToolError(format!("no server at {address}: {why}")));
            }
            _ => {
                return Err(not_a_consul(
                    address,
                    "it does not answer GET /v1/agent/self",
                ));
            }
        };
        if reply.status == 403 {
            return Err(ToolError(format!(
                "{address} denies GET /v1/agent/self: it has ACLs, and shadow needs a management token (--token or CONSUL_HTTP_TOKEN)"
            )));
        }
        let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let text = |pointer: &str| {
            let text = said.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let version = text("/Config/Version");
        if reply.status != 200 || version.is_empty() {
            return Err(not_a_consul(address, "GET /v1/agent/self shows no version"));
        }
        let rights = Rights::of(address, token, &said)?;
        let ttl = text("/DebugConfig/SessionTTLMin");
        Ok(Self {
            address: address.clone(),
            version,
            node: text("/Config/NodeName"),
            node_id: text("/Config/NodeID"),
            is_server: said.pointer("/Config/Server") == Some(&Value::Bool(true)),
            member_address: text("/Member/Addr"),
            server_address: format!("{}:{}", text("/Member/Addr"), text("/Member/Tags/port")),
            ports: vec![
                said.pointer("/Member/Port")
                    .map_or_else(String::new, Value::to_string),
                text("/Member/Tags/port"),
                text("/Member/Tags/wan_join_port"),
            ],
            datacenter: text("/Config/Datacenter"),
            shortest_ttl: match ttl.as_str() {
                "" | "0s" => "10s".to_owned(),
                _ => ttl,
            },
            is_pretty: reply.body.starts_with(b"{\n"),
            rights,
        })
    }

    /// The management token of a server with ACLs.
    pub(super) fn token(&self) -> Option<&str> {
        self.rights.as_ref().map(|rights| rights.token.as_str())
    }

    /// Where the leader is, as servers say it; empty if it does not say so.
    pub(super) fn leader(&self) -> String {
        match self.exchange(&Request::get("/v1/status/leader")) {
            Outcome::Reply(reply) => serde_json::from_slice(&reply.body).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// The arguments with which `proconsul agent` is such a server.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        vec![
            format!("-as-version={}", self.version),
            format!("-node={}", self.node),
            format!("-datacenter={}", self.datacenter),
            // It says which reads are blocked.
            "-control".to_owned(),
        ]
    }

    /// The settings for the same, as JSON.
    #[must_use]
    pub fn settings(&self) -> String {
        let mut settings = json!({
            "session_ttl_min": self.shortest_ttl,
            "limits": {"http_max_conns_per_client": CONNECTIONS},
        });
        if let Some(rights) = &self.rights {
            settings["acl"] = json!({
                "enabled": true,
                "default_policy": rights.default_policy,
                // Names that all releases know (acl.md 1.3); who starts the emulator asks it without a token.
                "tokens": {
                    "master": rights.token,
                    "agent": rights.token,
                    "default": rights.token,
                },
            });
        }
        settings.to_string()
    }

    /// Asks or tells the server something, with the token of a server that has ACLs.
    pub(super) fn exchange(&self, request: &Request) -> Outcome {
        let token = self.token().unwrap_or_default();
        exchange(&self.address, &with_token(request.clone(), token))
    }

    /// Whether it prints JSON over many lines, as `-dev` does.
    #[must_use]
    pub fn is_pretty(&self) -> bool {
        self.is_pretty
    }

    /// Its names beside other agents.
    pub(super) fn names(&self, all: &[Self]) -> Names {
        let others = all.iter().map(|agent| &agent.node);
        Names {
            tag: String::new(),
            host: self.address.host.clone(),
            node: self.node.clone(),
            other_nodes: others.filter(|node| **node != self.node).cloned().collect(),
        }
    }
}

fn with_token(request: Request, token: &str) -> Request {
    match token {
        "" => request,
        _ => request.header("X-Consul-Token", token),
    }
}

/// Whether a token may do all that ACLs decide: only such a one sees the secrets of others (acl.md 5.14).
fn is_management(address: &Address, token: &str) -> bool {
    let request = with_token(Request::get("/v1/acl/policies"), token);
    matches!(exchange(address, &request), Outcome::Reply(reply) if reply.status == 200)
}

fn not_a_consul(address: &Address, why: &str) -> ToolError {
    ToolError(format!("{address} is not a Consul: {why}"))
}
