//! `services`.

use proconsul_client::{Client, NewService};
use serde_json::{Map, Value};

use super::flags::{Flag, Given, number, text};
use super::{Command, Failure, Outcome, because};
use crate::cli::output;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        words: &["services", "deregister"],
        arguments: "[FILE...]",
        usage: "Takes services away",
        flags: DEREGISTER,
        run: |given| Box::pin(deregister(given)),
    },
    Command {
        words: &["services", "register"],
        arguments: "[FILE...]",
        usage: "Gives the agent services to look after",
        flags: REGISTER,
        run: |given| Box::pin(register(given)),
    },
];

const DEREGISTER: &[Flag] = &[text("id", "The id of the service")];

const REGISTER: &[Flag] = &[
    text("address", "Where it listens"),
    text("id", "The id of this instance (default: the name)"),
    text("meta", "key=value; may be repeated"),
    text("name", "Its name"),
    number("port", "Its port"),
    text("tag", "A tag; may be repeated"),
];

/// The definitions in files: `service` and `services` of each, as JSON.
fn definitions(paths: &[String]) -> Result<Vec<Map<String, Value>>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let why = crate::cli::os_error::text(&error);
            format!("Error: config: Open failed on {path}. open {path}: {why}")
        })?;
        let file: Value = serde_json::from_str(&text).map_err(|error| {
            format!("Error: {path} is no JSON ({error}); HCL definitions are not read by this verb")
        })?;
        found.extend(file["service"].as_object().cloned());
        let services = file["services"].as_array().into_iter().flatten();
        found.extend(services.filter_map(|service| service.as_object().cloned()));
    }
    Ok(found)
}

/// A field of a definition, spelled as in configuration files or as in the HTTP API.
fn field<'v>(definition: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let mut fields = definition.iter();
    fields
        .find(|(field, _)| field.replace('_', "").eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

async fn register(given: Given) -> Outcome {
    let client = given.client()?;
    let failed = |name: &str| because(&format!("Error registering service {name:?}"));
    if !given.rest().is_empty() {
        for definition in definitions(given.rest())? {
            let name = field(&definition, "name").and_then(Value::as_str);
            let name = name.unwrap_or_default().to_owned();
            let body = Value::Object(definition).to_string();
            let registered = client.write("v1/agent/service/register", &[], body).await;
            registered.map_err(failed(&name))?;
            output::out(&format!("Registered service: {name}\n"));
        }
        return Ok(String::new());
    }
    let Some(name) = given.text("name") else {
        let text = "Service registration requires at least one argument or flags.";
        return Err(text.into());
    };
    let mut service = NewService::new(name);
    if let Some(id) = given.text("id") {
        service = service.id(id);
    }
    if let Some(address) = given.text("address") {
        service = service.address(address);
    }
    let port = given.number("port").unwrap_or(0);
    service = service.port(u16::try_from(port).map_err(|_| format!("Error: {port} is no port"))?);
    for tag in given.texts("tag") {
        service = service.tag(tag);
    }
    for meta in given.texts("meta") {
        let (name, value) = meta.split_once('=').unwrap_or((meta, ""));
        service = service.meta(name, value);
    }
    let registered = client.agent().register_service(&service).await;
    registered.map_err(failed(name))?;
    Ok(format!("Registered service: {name}\n"))
}

async fn deregister(given: Given) -> Outcome {
    let client = given.client()?;
    if let Some(id) = given.text("id") {
        return deregister_one(&client, id).await;
    }
    if given.rest().is_empty() {
        let text = "Service deregistration requires at least one argument or -id.";
        return Err(text.into());
    }
    let mut text = String::new();
    for definition in definitions(given.rest())? {
        let id = field(&definition, "id").or_else(|| field(&definition, "name"));
        let id = id.and_then(Value::as_str).unwrap_or_default();
        text += &deregister_one(&client, id).await?;
    }
    Ok(text)
}

async fn deregister_one(client: &Client, id: &str) -> Outcome {
    let gone = client.agent().deregister_service(id).await;
    // Consul's own words, observed from 1.8.7.
    gone.map_err(because("Error registering service \"\""))?;
    Ok(format!("Deregistered service: {id}\n"))
}
