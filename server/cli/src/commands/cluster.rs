//! The verbs about the agent and its cluster.

use serde_json::Value;

use super::{Failure, Outcome, because};
use crate::commands::support::flags::Given;
use crate::commands::support::table::columns;
use crate::emulated_version;
use proconsul_gocompat::regexp::Regexp;
use proconsul_version::Behaviour;

commands! {
    "event" "[PAYLOAD]" event "Fires a user event" {
        Text "name" "What the event is called";
        Text "node" "Only nodes whose name matches this expression";
        Text "service" "Only nodes that have a service that matches";
        Text "tag" "Only nodes whose service has a tag that matches";
    }
    "force-leave" "NODE" force_leave "Makes a failed member leave" {}
    "info" "" info "Prints what the agent says about itself" {}
    "join" "ADDRESS..." join "Makes the agent join others" {}
    "leave" "" leave "Makes the agent leave and end" {}
    "maint" "" maint "Takes the node or a service out of service, and back" {
        Switch "disable" "Back into service";
        Switch "enable" "Out of service";
        Text "reason" "Why, for people";
        Text "service" "The id of a service, in place of the node";
    }
    "members" "" members "Lists the members of the cluster" {
        Switch "detailed" "Prints tags too";
        Text "status" "Only members whose status matches this expression";
        Switch "wan" "The members of the pool between datacenters";
    }
    "reload" "" reload "Makes the agent read its configuration again" {}
}

async fn event(given: Given) -> Outcome {
    let Some(name) = given.text("name").filter(|name| !name.is_empty()) else {
        return Err("Event name must be specified".into());
    };
    given.only(1)?;
    let payload = given.rest().first().map_or("", String::as_str);
    let parameters: Vec<(&'static str, &str)> = ["node", "service", "tag"]
        .into_iter()
        .filter_map(|filter| given.text(filter).map(|text| (filter, text)))
        .collect();
    let path = format!("v1/event/fire/{name}");
    let client = given.agents_client().await?;
    let fired = client.write(&path, &parameters, payload).await;
    let fired = fired.map_err(because("Error firing event"))?;
    let fired: Value = serde_json::from_str(&fired).unwrap_or_default();
    Ok(format!(
        "Event ID: {}\n",
        fired["ID"].as_str().unwrap_or_default()
    ))
}

async fn force_leave(given: Given) -> Outcome {
    let [node] = given.rest() else {
        return Err("A single node name must be specified to force leave.".into());
    };
    let left = given
        .client()?
        .write(&format!("v1/agent/force-leave/{node}"), &[], "")
        .await;
    left.map_err(because("Error force leaving"))?;
    Ok(String::new())
}

async fn info(given: Given) -> Outcome {
    let config = given.client()?.agent().config().await;
    let config = config.map_err(because("Error querying agent"))?;
    let Some(stats) = config["Stats"].as_object() else {
        return Err("Agent statistics are missing in the answer".into());
    };
    let mut text = String::new();
    // serde_json sorts the names of objects, as Consul's command does.
    for (section, values) in stats {
        text += &format!("{section}:\n");
        for (name, value) in values.as_object().into_iter().flatten() {
            text += &format!("\t{name} = {}\n", value.as_str().unwrap_or_default());
        }
    }
    Ok(text)
}

async fn join(given: Given) -> Outcome {
    if given.rest().is_empty() {
        return Err("At least one address to join must be specified.".into());
    }
    let client = given.client()?;
    let (mut joined, mut failures) = (0, String::new());
    for address in given.rest() {
        match client
            .write(&format!("v1/agent/join/{address}"), &[], "")
            .await
        {
            Ok(_) => joined += 1,
            Err(error) => {
                let why = super::go_text(&error);
                failures += &format!("Error joining address '{address}': {why}\n");
            }
        }
    }
    if joined == 0 {
        return Err(format!("{failures}Failed to join any nodes.").into());
    }
    super::output::err(&failures);
    Ok(format!(
        "Successfully joined cluster by contacting {joined} nodes.\n"
    ))
}

async fn leave(given: Given) -> Outcome {
    given.only(0)?;
    let left = given.client()?.agent().leave().await;
    left.map_err(because("Error leaving"))?;
    Ok("Graceful leave complete\n".to_owned())
}

async fn reload(given: Given) -> Outcome {
    given.only(0)?;
    let reloaded = given.client()?.write("v1/agent/reload", &[], "").await;
    reloaded.map_err(because("Error reloading"))?;
    Ok("Configuration reload triggered\n".to_owned())
}

async fn maint(given: Given) -> Outcome {
    let (enable, disable) = (given.is_set("enable"), given.is_set("disable"));
    let reason = given.text("reason").unwrap_or_default();
    let service = given.text("service");
    if enable && disable {
        return Err("Only one of -enable or -disable may be provided".into());
    }
    if !enable && !disable {
        if !reason.is_empty() {
            return Err("Reason may only be provided with -enable".into());
        }
        if service.is_some() {
            return Err("Service requires either -enable or -disable".into());
        }
        return in_maintenance(&given).await;
    }
    let client = given.client()?;
    let verb = if enable { "enabling" } else { "disabling" };
    let state = if enable { "enabled" } else { "disabled" };
    if let Some(id) = service {
        let done = client.agent().service_maintenance(id, enable, reason).await;
        done.map_err(because(&format!("Error {verb} service maintenance")))?;
        return Ok(format!("Service maintenance is now {state} for {id:?}\n"));
    }
    let done = client.agent().maintenance(enable, reason).await;
    done.map_err(because(&format!("Error {verb} node maintenance")))?;
    Ok(format!("Node maintenance is now {state}\n"))
}

/// Lists the node and services in maintenance.
async fn in_maintenance(given: &Given) -> Outcome {
    const SERVICE: &str = "_service_maintenance:";
    let checks = given.agents_client().await?.agent().checks().await;
    let checks = checks.map_err(because("Error getting checks"))?;
    let mut text = String::new();
    for check in checks.values() {
        if check.check_id == "_node_maintenance" {
            text += &format!(
                "Node:\n  Name:   {}\n  Reason: {}\n\n",
                check.node, check.notes
            );
        } else if check.check_id.starts_with(SERVICE) {
            text += &format!(
                "Service:\n  ID:     {}\n  Reason: {}\n\n",
                check.service_id, check.notes
            );
        }
    }
    Ok(text)
}

async fn members(given: Given) -> Outcome {
    let filter = given.text("status").unwrap_or(".*");
    let filter = Regexp::new(filter.as_bytes())
        .map_err(|error| format!("Failed to compile status regexp: {error}"))?;
    let mut parameters = vec![("segment", "_all")];
    if given.is_set("wan") {
        parameters = vec![("wan", "1")];
    }
    let listed = given.client()?.read("v1/agent/members", &parameters).await;
    let listed = listed.map_err(because("Error retrieving members"))?;
    let mut members: Vec<Value> = serde_json::from_str(&listed.value).unwrap_or_default();
    members.retain(|member| filter.matches(status(member)));
    if members.is_empty() {
        return Err(Failure {
            text: String::new(),
            code: 2,
        });
    }
    members.sort_by_key(|member| member["Name"].as_str().map(str::to_owned));
    let detailed = given.is_set("detailed");
    let mut heads = vec!["Node", "Address", "Status"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for member in &members {
        rows.push(member_row(member, detailed));
    }
    if detailed {
        heads.push("Tags");
    } else {
        heads.extend(["Type", "Build", "Protocol", "DC", "Segment"]);
        if emulated_version()?.has(Behaviour::JsonPartition) {
            let place = heads.len() - 1;
            heads.insert(place, "Partition");
            let partition = || "default".to_owned();
            rows.iter_mut()
                .for_each(|row| row.insert(place, partition()));
        }
    }
    Ok(columns(heads, rows))
}

fn status(member: &Value) -> &'static str {
    match member["Status"].as_u64() {
        Some(1) => "alive",
        Some(2) => "leaving",
        Some(3) => "left",
        Some(4) => "failed",
        _ => "none",
    }
}

fn member_row(member: &Value, detailed: bool) -> Vec<String> {
    let text = |field: &str| member[field].as_str().unwrap_or_default().to_owned();
    let tag = |name: &str| member["Tags"][name].as_str().unwrap_or_default().to_owned();
    let server = tag("role") == "consul";
    let segment = if server {
        "<all>".to_owned()
    } else {
        tag("segment")
    };
    let host = text("Addr");
    let port = member["Port"].as_u64().unwrap_or(0);
    let address = if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    let mut row = vec![text("Name"), address, status(member).to_owned()];
    if detailed {
        let tags = member["Tags"].as_object().into_iter().flatten();
        let tags: Vec<String> = tags
            .map(|(name, value)| match name.as_str() {
                "segment" => format!("segment={segment}"),
                _ => format!("{name}={}", value.as_str().unwrap_or_default()),
            })
            .collect();
        row.push(tags.join(","));
        return row;
    }
    let build = tag("build");
    let build = build.split(':').next().unwrap_or_default().to_owned();
    let kind = if server { "server" } else { "client" };
    row.extend([kind.to_owned(), build, tag("vsn"), tag("dc"), segment]);
    row
}
