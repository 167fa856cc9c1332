//! The verbs `catalog datacenters`, `nodes` and `services`.

pub(super) mod services;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Outcome, because};
use crate::commands::support::flags::Given;
use crate::commands::support::table::columns;

commands! {
    "catalog datacenters" "" datacenters "Lists the datacenters" {}
    "catalog nodes" "" nodes "Lists the nodes" {
        Switch "detailed" "Prints addresses and metadata too";
        Text "filter" "A filter expression";
        Text "near" "Sorts by the distance from this node";
        Text "node-meta" "key=value that a node must have; may be repeated";
        Text "service" "Only nodes that have this service";
    }
    "catalog services" "" services "Lists the services" {
        Text "node" "Only services of this node";
        Text "node-meta" "key=value that a node must have; may be repeated";
        Switch "tags" "Prints tags too";
    }
}

async fn datacenters(given: Given) -> Outcome {
    let listed = given.client()?.catalog().datacenters().await;
    let listed = listed.map_err(because("Error listing datacenters"))?;
    Ok(listed.iter().map(|name| format!("{name}\n")).collect())
}

/// Returns the arguments of `-node-meta` in the form of the HTTP API, `key:value`.
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
    let row = |node: &Value| {
        let text = |field: &str| node[field].as_str().unwrap_or_default();
        let shown = if detailed { usize::MAX } else { 8 };
        let id = text("ID").chars().take(shown).collect();
        let [name, address, datacenter] =
            ["Node", "Address", "Datacenter"].map(|field| text(field).to_owned());
        let mut row = vec![name, id, address, datacenter];
        if detailed {
            let metas = ["NodeMeta", "Meta"].map(|field| &node[field]);
            let meta = metas.into_iter().find(|meta| !meta.is_null());
            row.extend([
                pairs(&node["TaggedAddresses"]),
                meta.map_or_else(String::new, pairs),
            ]);
        }
        row
    };
    Ok(columns(heads, nodes.iter().map(row)))
}

/// Prints an object as `a=1, b=2`.
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
