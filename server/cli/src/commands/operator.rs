//! What operators ask: `operator raft ...`, `connect ca get-config`, `rtt`; and `keygen` and `validate`, which ask nobody.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::{Failure, Outcome, because, shown};
use crate::agent;
use crate::commands::support::flags::Given;
use crate::commands::support::table::columns;
use crate::output;
use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::encode::reprint::compact;
use proconsul_os::time::machine_seed;

commands! {
    "connect ca get-config" "" get_config "Prints the configuration of Connect's authority" {}
    "keygen" "" keygen "Makes a key for gossip" {}
    "operator raft list-peers" "" list_peers "Lists the servers of the Raft configuration" {}
    "operator raft remove-peer" "" remove_peer "Takes a server out of the Raft configuration" {
        Text "address" "The address of the server";
        Text "id" "The id of the server";
    }
    "rtt" "NODE [NODE]" rtt "Estimates how long a packet takes between two nodes, one of them the agent's unless both are given" {
        Switch "wan" "By the coordinates between datacenters, of NODE.DATACENTER";
    }
    "validate" "FILE_OR_DIRECTORY..." validate "Checks configuration files and folders as an agent does" {
        Text "config-format" "The format of all files, hcl or json, whatever their names";
        Switch "quiet" "Prints nothing if they are valid";
    }
}

/// The fields of an authority's configuration, in the order of Consul's client.
const AUTHORITY: [&str; 5] = ["Provider", "Config", "State", "CreateIndex", "ModifyIndex"];

async fn get_config(given: Given) -> Outcome {
    let client = given.client()?;
    let answer = client.read("v1/connect/ca/configuration", &[]).await;
    let answer = answer.map_err(because("Error querying CA configuration"))?;
    let answer = document(answer.value.as_bytes())?;
    let field = |name: &str| {
        let mut members = answer.value().members();
        let found = members.find(|(member, _)| member == name);
        let value = found.map_or_else(|| "null".to_owned(), |(_, value)| compact(value));
        (name.to_owned(), value)
    };
    let config = shown::indented(&shown::joined(AUTHORITY.into_iter().map(field)));
    // Consul's command indents with tabs here.
    let line = |line: &str| {
        let text = line.trim_start_matches(' ');
        format!("{}{text}\n", "\t".repeat((line.len() - text.len()) / 4))
    };
    Ok(config.lines().map(line).collect())
}

async fn keygen(_: Given) -> Outcome {
    let key = [(); 4].map(|()| machine_seed().to_be_bytes());
    Ok(BASE64_STANDARD.encode(key.concat()) + "\n")
}

async fn list_peers(given: Given) -> Outcome {
    let failed = because("Error getting peers: Failed to retrieve raft configuration");
    let client = given.client()?;
    let answer = client.read("v1/operator/raft/configuration", &[]).await;
    let raft: Value = serde_json::from_str(&answer.map_err(failed)?.value).unwrap_or_default();
    let row = |server: &Value| {
        let text = |field: &str| server[field].as_str().unwrap_or_default().to_owned();
        let is = |field: &str| server[field].as_bool().unwrap_or_default();
        let state = if is("Leader") { "leader" } else { "follower" };
        vec![
            text("Node"),
            text("ID"),
            text("Address"),
            state.to_owned(),
            is("Voter").to_string(),
            text("ProtocolVersion"),
        ]
    };
    let heads = ["Node", "ID", "Address", "State", "Voter", "RaftProtocol"];
    let servers = raft["Servers"].as_array();
    Ok(columns(heads, servers.into_iter().flatten().map(row)))
}

async fn remove_peer(given: Given) -> Outcome {
    let failed = "Error removing peer";
    let (name, peer) = match (given.filled("address"), given.filled("id")) {
        (Some(_), Some(_)) => {
            return Err(format!("{failed}: cannot give both an address and id").into());
        }
        (Some(address), None) => ("address", address),
        (None, Some(id)) => ("id", id),
        (None, None) => {
            let text = "an address or id is required for the peer to remove";
            return Err(format!("{failed}: {text}").into());
        }
    };
    let client = given.client()?;
    let removed = client
        .delete("v1/operator/raft/peer", &[(name, peer)])
        .await;
    removed.map_err(because(failed))?;
    Ok(format!("Removed peer with {name} {peer:?}\n"))
}

/// The coordinates of nodes in one table.
struct Coordinates {
    /// Each node, with its datacenter if the table is that between datacenters.
    nodes: Vec<(String, Value)>,
}

impl Coordinates {
    fn of(&self, node: &str) -> Result<&Value, Failure> {
        let found = self.nodes.iter().find(|(name, _)| name == node);
        found
            .map(|(_, coordinate)| coordinate)
            .ok_or_else(|| format!("Could not find a coordinate for node {node:?}").into())
    }

    /// Takes the nodes of a list; `end` follows each name.
    fn take(&mut self, list: &Value, end: &str) {
        for node in list.as_array().into_iter().flatten() {
            let name = node["Node"].as_str().unwrap_or_default();
            self.nodes
                .push((format!("{name}{end}"), node["Coord"].clone()));
        }
    }
}

async fn rtt(given: Given) -> Outcome {
    let (first, second) = match given.rest() {
        [first] => (first, None),
        [first, second] => (first, Some(second.clone())),
        _ => return Err("One or two node names must be specified".into()),
    };
    let is_wan = given.is_set("wan");
    let is_name = |name: &String| !is_wan || name.split('.').count() == 2;
    if ![Some(first), second.as_ref()]
        .into_iter()
        .flatten()
        .all(is_name)
    {
        let text = "Node names must be specified as <node name>.<datacenter> with -wan";
        return Err(text.into());
    }
    let client = given.client()?;
    let second = match second {
        Some(second) => second,
        None => {
            let agent = client.agent().config().await;
            let agent = agent.map_err(because("Unable to look up agent info"))?;
            let text = |name: &str| {
                agent["Config"][name]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            match is_wan {
                true => format!("{}.{}", text("NodeName"), text("Datacenter")),
                false => text("NodeName"),
            }
        }
    };
    let (table, path) = match is_wan {
        true => ("WAN", "v1/coordinate/datacenters"),
        false => ("LAN", "v1/coordinate/nodes"),
    };
    let answer = client.read(path, &[]).await;
    let answer = answer.map_err(because("Error getting coordinates"))?;
    let answer: Value = serde_json::from_str(&answer.value).unwrap_or_default();
    let mut known = Coordinates { nodes: Vec::new() };
    if is_wan {
        for area in answer.as_array().into_iter().flatten() {
            let datacenter = area["Datacenter"].as_str().unwrap_or_default();
            known.take(&area["Coordinates"], &format!(".{datacenter}"));
        }
    } else {
        known.take(&answer, "");
    }
    let milliseconds = 1000.0 * distance(known.of(first)?, known.of(&second)?);
    Ok(format!(
        "Estimated {first} <-> {second} rtt: {milliseconds:.3} ms (using {table} coordinates)\n"
    ))
}

/// Returns the seconds between two coordinates.
fn distance(one: &Value, other: &Value) -> f64 {
    let number = |coordinate: &Value, name: &str| coordinate[name].as_f64().unwrap_or_default();
    let places = |coordinate: &Value| {
        let places = coordinate["Vec"].as_array().into_iter().flatten();
        places.filter_map(Value::as_f64).collect::<Vec<_>>()
    };
    let squares = places(one).into_iter().zip(places(other));
    let squares: f64 = squares.map(|(one, other)| (one - other).powi(2)).sum();
    let plain = squares.sqrt() + number(one, "Height") + number(other, "Height");
    let adjusted = plain + number(one, "Adjustment") + number(other, "Adjustment");
    if adjusted > 0.0 { adjusted } else { plain }
}

async fn validate(given: Given) -> Outcome {
    if given.rest().is_empty() {
        return Err("Must specify at least one config file or directory".into());
    }
    let flag = |path: &String| match Path::new(path).is_dir() {
        true => format!("-config-dir={path}"),
        false => format!("-config-file={path}"),
    };
    let mut arguments: Vec<String> = given.rest().iter().map(flag).collect();
    let format = given.filled("config-format");
    arguments.extend(format.map(|format| format!("-config-format={format}")));
    let warnings = agent::validate(&arguments)
        .map_err(|error| Failure::from(format!("Config validation failed: {error}")))?;
    if given.is_set("quiet") {
        return Ok(String::new());
    }
    for warning in warnings {
        output::err(&format!("{warning}\n"));
    }
    Ok("Configuration is valid!\n".to_owned())
}
