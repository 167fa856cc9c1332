//! `catalog`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::flags::{Flag, Given, switch, text};
use super::table::columns;
use super::{Command, Outcome, because};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["catalog", "datacenters"],
        arguments: "",
        usage: "Lists the datacenters",
        flags: &[],
        run: |given| Box::pin(datacenters(given)),
    },
    Command {
        words: &["catalog", "nodes"],
        arguments: "",
        usage: "Lists the nodes",
        flags: NODES,
        run: |given| Box::pin(nodes(given)),
    },
    Command {
        words: &["catalog", "services"],
        arguments: "",
        usage: "Lists the services",
        flags: SERVICES,
        run: |given| Box::pin(services(given)),
    },
];

const NODES: &[Flag] = &[
    switch("detailed", "Prints addresses and metadata too"),
    text("filter", "A filter expression"),
    text("near", "Sorts by the distance from this node"),
    text(
        "node-meta",
        "key=value that a node must have; may be repeated",
    ),
    text("service", "Only nodes that have this service"),
];

const SERVICES: &[Flag] = &[
    text("node", "Only services of this node"),
    text(
        "node-meta",
        "key=value that a node must have; may be repeated",
    ),
    switch("tags", "Prints tags too"),
];

async fn datacenters(given: Given) -> Outcome {
    let listed = given.client()?.catalog().datacenters().await;
    let listed = listed.map_err(because("Error listing datacenters"))?;
    Ok(listed.iter().map(|name| format!("{name}\n")).collect())
}

/// `key=value` as Consul's HTTP API takes it.
fn metas(given: &Given) -> Vec<String> {
    let pairs = given.texts("node-meta").into_iter();
    pairs.map(|pair| pair.replacen('=', ":", 1)).collect()
}

async fn nodes(given: Given) -> Outcome {
    let metas = metas(&given);
    let mut parameters: Vec<(&'static str, &str)> = Vec::new();
    parameters.extend(given.text("filter").map(|text| ("filter", text)));
    parameters.extend(given.text("near").map(|text| ("near", text)));
    parameters.extend(metas.iter().map(|meta| ("node-meta", meta.as_str())));
    let path = match given.text("service") {
        Some(service) => format!("v1/catalog/service/{service}"),
        None => "v1/catalog/nodes".to_owned(),
    };
    let answer = given.client()?.read(&path, &parameters).await;
    let answer = answer.map_err(because("Error listing nodes"))?;
    let nodes: Vec<Value> = serde_json::from_str(&answer.value).unwrap_or_default();
    if nodes.is_empty() {
        super::output::err("No nodes match the given query - try expanding your search.\n");
        return Ok(String::new());
    }
    let detailed = given.is_set("detailed");
    let mut heads = vec!["Node", "ID", "Address", "DC"];
    if detailed {
        heads.extend(["TaggedAddresses", "Meta"]);
    }
    let mut rows = vec![heads.into_iter().map(str::to_owned).collect()];
    for node in &nodes {
        let text = |field: &str| node[field].as_str().unwrap_or_default().to_owned();
        let id = text("ID");
        let id = if detailed {
            id
        } else {
            id.chars().take(8).collect()
        };
        let mut row = vec![text("Node"), id, text("Address"), text("Datacenter")];
        if detailed {
            let meta = if node["NodeMeta"].is_null() {
                "Meta"
            } else {
                "NodeMeta"
            };
            row.extend([pairs(&node["TaggedAddresses"]), pairs(&node[meta])]);
        }
        rows.push(row);
    }
    Ok(columns(&rows))
}

/// `a=1, b=2`.
fn pairs(object: &Value) -> String {
    let pairs: BTreeMap<String, String> =
        serde_json::from_value(object.clone()).unwrap_or_default();
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join(", ")
}

async fn services(given: Given) -> Outcome {
    let client = given.client()?;
    let failed = because("Error listing services");
    let mut services: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if let Some(name) = given.text("node") {
        let node = client.catalog().node(name).await.map_err(failed)?.value;
        for service in node
            .into_iter()
            .flat_map(|node| node.services.into_values())
        {
            services
                .entry(service.service)
                .or_default()
                .extend(service.tags);
        }
    } else {
        let metas = metas(&given);
        let parameters: Vec<_> = metas
            .iter()
            .map(|meta| ("node-meta", meta.as_str()))
            .collect();
        let answer = client
            .read("v1/catalog/services", &parameters)
            .await
            .map_err(failed)?;
        services = serde_json::from_str(&answer.value).unwrap_or_default();
    }
    if services.is_empty() {
        super::output::err("No services match the given query - try expanding your search.\n");
        return Ok(String::new());
    }
    let tagged = given.is_set("tags") && services.values().any(|tags| !tags.is_empty());
    let widest = services.keys().map(|name| name.chars().count()).max();
    let width = widest.unwrap_or(0) + 6;
    let line = |(name, mut tags): (String, Vec<String>)| {
        tags.sort();
        tags.dedup();
        if tagged {
            format!("{name:<width$}{}\n", tags.join(","))
        } else {
            format!("{name}\n")
        }
    };
    Ok(services.into_iter().map(line).collect())
}
