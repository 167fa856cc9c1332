//! What a server says of itself, as far as the emulator beside it must be told.

use serde_json::{Value, json};

use crate::target::site::ToolError;
use crate::wire::transcript::Names;
use crate::wire::{Address, Outcome, Request, exchange};

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
    datacenter: String,
    shortest_ttl: String,
    is_pretty: bool,
}

impl Inside {
    /// Asks a server; only reads are sent.
    ///
    /// # Errors
    /// That nobody answers there, or nobody whom the emulator could stand beside.
    pub fn of(address: &Address) -> Result<Self, ToolError> {
        let reply = match exchange(address, &Request::get("/v1/agent/self")) {
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
                "{address} denies GET /v1/agent/self: the emulator knows no ACLs and cannot stand beside it"
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
        let ttl = text("/DebugConfig/SessionTTLMin");
        Ok(Self {
            address: address.clone(),
            version,
            node: text("/Config/NodeName"),
            node_id: text("/Config/NodeID"),
            datacenter: text("/Config/Datacenter"),
            shortest_ttl: match ttl.as_str() {
                "" | "0s" => "10s".to_owned(),
                _ => ttl,
            },
            is_pretty: reply.body.starts_with(b"{\n"),
        })
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
        json!({
            "session_ttl_min": self.shortest_ttl,
            "limits": {"http_max_conns_per_client": CONNECTIONS},
        })
        .to_string()
    }

    /// Whether it prints JSON over many lines, as `-dev` does.
    #[must_use]
    pub fn is_pretty(&self) -> bool {
        self.is_pretty
    }

    pub(super) fn names(&self) -> Names {
        Names {
            tag: String::new(),
            host: self.address.host.clone(),
            node: self.node.clone(),
        }
    }
}

fn not_a_consul(address: &Address, why: &str) -> ToolError {
    ToolError(format!("{address} is not a Consul: {why}"))
}
