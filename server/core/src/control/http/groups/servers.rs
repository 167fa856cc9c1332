//! Servers on demand: one process serves as many isolated ones as a test run needs.

use std::net::IpAddr;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::records::Done;
use crate::control::http::call::{Nothing, Number, OptionalJsonBody, Refused, Span, calls};
use crate::control::http::{PREFIX, aside};
use crate::control::servers::{self, Started};
use crate::control::{Controls, NotStarted};
use proconsul_config::{WrongAgents, WrongDatacenters};

/// How many servers may run that were started on demand. Each has a thread and some files; a run that has so many has
/// forgotten to stop them.
const LIMIT: usize = 1000;

calls! {
    /// The servers that were started on demand.
    GET "/servers" servers;
    /// Starts another, isolated server in this process, with the settings of this one where none is given.
    POST "/servers" start_server, example {
        "version": "1.8.7",
        "agents": "3:1",
        "seed": 7,
        "frozen": true,
        "epoch": "2026-01-01T00:00:00Z",
        "node": "n1",
        "datacenter": "dc1",
        "session_ttl_min": "1s",
        "history_capacity": 1000,
        "strict": true,
        "address": "127.0.0.1",
        "http_port": 0,
        "control_port": 0,
        "settings": { "limits": { "kv_max_value_size": 10 } },
    }, refuses 409 "A thousand servers run already.";
    /// Stops a server that was started on demand.
    DELETE "/servers/{id}" stop_server, refuses 404 "There is no such server.";
}

/// The servers that were started on demand.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Servers {
    /// The servers, oldest first.
    servers: Vec<Started>,
}

/// What the new server has that this one has not. Everything else is inherited but the seed, the ports and the state.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewServer {
    /// The emulated release of Consul, such as `1.8.7`.
    version: Option<String>,
    /// How many agents it has: servers, or servers and client agents, such as `3` or `3:1`.
    agents: Option<String>,
    /// The names of datacenters that are joined, such as `dc1,dc2`; the first is its own.
    datacenters: Option<String>,
    /// What session ids and jitter are drawn from. When it is left out it follows from this server's seed and the new
    /// server's id.
    seed: Option<u64>,
    /// Whether the clock stands still, at 0, until a test moves it.
    frozen: Option<bool>,
    /// The wall clock at the start of the server's clock, which the server's wall clock follows from then on: a time such as
    /// `2026-01-01T00:00:00Z`. When neither server has one: the machine's wall clock.
    epoch: Option<String>,
    /// Whether endpoints that are not emulated are answered as unknown paths, and not with 501.
    strict: Option<bool>,
    /// The name of the agent's node.
    node: Option<String>,
    /// The name of the datacenter.
    datacenter: Option<String>,
    /// The shortest TTL that a session may have: a duration such as `1s`.
    session_ttl_min: Option<Span>,
    /// How many records the history keeps, at least 1; when there are more the oldest go, and who reads it is told.
    history_capacity: Option<NonZeroUsize>,
    /// The IP address at which the new server listens. When it is left out: all addresses at which this one does.
    address: Option<IpAddr>,
    /// The port of its Consul API; 0, which is the default, takes a free one.
    http_port: Option<u16>,
    /// A port for its control plane alone; 0 takes a free one. When it is left out the new server has one if this one
    /// has.
    control_port: Option<u16>,
    /// Any other settings, as a configuration file has them: Consul's keys, such as
    /// `{"limits": {"kv_max_value_size": 10}}`. Lists grow and maps are merged as with one file more.
    #[serde(default)]
    settings: Map<String, Value>,
}

impl NewServer {
    /// # Errors
    /// The epoch is no time.
    fn read(self) -> Result<servers::NewServer, Refused> {
        let epoch = self.epoch.map(|text| text.parse()).transpose();
        let agents = self.agents.map(|text| text.parse()).transpose();
        let agents = agents.map_err(|wrong: WrongAgents| Refused::input(wrong.to_string()))?;
        let datacenters = self.datacenters.map(|text| text.parse()).transpose();
        let datacenters =
            datacenters.map_err(|wrong: WrongDatacenters| Refused::input(wrong.to_string()))?;
        let mut settings = self.settings;
        let ttl = self
            .session_ttl_min
            .map(|ttl| format!("{}ns", ttl.0.as_nanos()));
        let named = [
            ("node_name", self.node),
            ("datacenter", self.datacenter),
            ("session_ttl_min", ttl),
        ];
        for (key, value) in named {
            if let Some(value) = value {
                settings.insert(key.to_owned(), value.into());
            }
        }
        Ok(servers::NewServer {
            settings: (!settings.is_empty()).then(|| Value::Object(settings).to_string()),
            version: self.version,
            agents,
            datacenters,
            seed: self.seed,
            frozen: self.frozen,
            epoch: epoch.map_err(|text: String| Refused::input(format!("epoch: {text}")))?,
            strict: self.strict,
            history_capacity: self.history_capacity.map(NonZeroUsize::get),
            address: self.address,
            http_port: self.http_port,
            control_port: self.control_port,
        })
    }
}

async fn servers(control: Controls, _: Nothing) -> Result<Servers, Refused> {
    let servers = control.servers();
    Ok(Servers { servers })
}

async fn start_server(
    control: Controls,
    OptionalJsonBody(new): OptionalJsonBody<NewServer>,
) -> Result<Started, Refused> {
    let new = new.read()?;
    has_room(control.servers().len())?;
    let started = aside(&control, move |control| control.start_server(&new)).await?;
    started.map_err(|error| match error {
        NotStarted::Settings(text) => Refused::input(text),
        NotStarted::Start(text) => Refused::failed(text),
    })
}

/// Refuses one more server when so many run.
fn has_room(running: usize) -> Result<(), Refused> {
    if running < LIMIT {
        return Ok(());
    }
    Err(Refused::unmet(format!(
        "{running} servers run already that were started on demand; stop some by DELETE {PREFIX}servers/{{id}}"
    )))
}

async fn stop_server(control: Controls, Number(id): Number) -> Result<Done, Refused> {
    if !aside(&control, move |control| control.stop_server(id)).await? {
        return Err(Refused::missing(format!("there is no server {id}")));
    }
    Ok(Done {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_a_thousand() {
        assert!(has_room(999).is_ok());
        let refused = format!("{:?}", has_room(1000).expect_err("it is full"));
        assert!(refused.contains("409"), "{refused}");
        assert!(
            refused.contains("1000 servers run already that were started on demand; stop some by DELETE /proconsul/v1/servers/{id}"),
            "{refused}"
        );
    }
}
