//! The datacenters that are joined, and what happens between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::AgentView;
use super::records::Done;
use crate::control::Controls;
use crate::control::http::call::{JsonBody, Nothing, Refused, calls};

const NO_DATACENTER: &str = "There is no such datacenter.";

calls! {
    /// The datacenters: one, unless the server was started with `--datacenters`. Each has its own agents, state, history and
    /// faults, and a control plane at the addresses of its agents; the time of all is one.
    GET "/datacenters" datacenters;
    /// Cuts a datacenter off from all others; within it all goes on.
    POST "/datacenters/cut" cut_datacenter, example { "datacenter": "dc1" }, refuses 404 NO_DATACENTER;
    /// Lets a datacenter that was cut off reach the others again.
    POST "/datacenters/heal" heal_datacenter, example { "datacenter": "dc1" }, refuses 404 NO_DATACENTER;
}

/// The datacenters.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct Datacenters {
    /// The datacenters, in the order in which they were given.
    datacenters: Vec<DatacenterView>,
}

/// A datacenter.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Datacenter", deny_unknown_fields)]
struct DatacenterView {
    /// Its name.
    datacenter: String,
    /// Whether it is cut off from the others.
    cut: bool,
    /// Its agents, servers first.
    agents: Vec<AgentView>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneDatacenter {
    /// The name of the datacenter.
    datacenter: String,
}

/// # Errors
/// There is no such datacenter.
pub(super) fn named(control: &Controls, name: &str) -> Result<Controls, Refused> {
    control.find_datacenter(name).ok_or_else(|| {
        let known = control.datacenters().join(", ");
        Refused::missing(format!("there is no datacenter {name:?}, only {known}"))
    })
}

async fn datacenters(control: Controls, _: Nothing) -> Result<Datacenters, Refused> {
    let names = control.datacenters().into_iter();
    let view = |name: String| {
        let there = control.find_datacenter(&name)?;
        Some(DatacenterView {
            datacenter: name,
            cut: there.engine().cluster().is_apart(),
            agents: there.agents().iter().map(AgentView::of).collect(),
        })
    };
    Ok(Datacenters {
        datacenters: names.filter_map(view).collect(),
    })
}

async fn cut_datacenter(
    control: Controls,
    JsonBody(one): JsonBody<OneDatacenter>,
) -> Result<Done, Refused> {
    named(&control, &one.datacenter)?.cut_datacenter();
    Ok(Done {})
}

async fn heal_datacenter(
    control: Controls,
    JsonBody(one): JsonBody<OneDatacenter>,
) -> Result<Done, Refused> {
    named(&control, &one.datacenter)?.heal_datacenter();
    Ok(Done {})
}
