//! `intention create`, `check`, `match`, `get`, `list`, `delete`: who may call whom (operator.md 4.7).
//!
//! Intentions are found in the list of all by the names of both services, as Consul's command finds them. Those of later
//! releases may have no id; they are read and changed by these names.

use std::collections::BTreeMap;

use proconsul_client::{Client, Error};
use proconsul_gocompat::time::{parse_rfc3339, rfc850};
use serde_json::{Value, json};

use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, go_text, source};
use crate::{emulated_version, output};
use proconsul_gocompat::json::context::{DecodeOptions, UnknownFields};
use proconsul_gocompat::json::decode::{decode, go_struct};
use proconsul_gocompat::json::kinds::Int;
use proconsul_gocompat::json::object::AnyObject;
use proconsul_gocompat::url::path_escape;
use proconsul_version::{Behaviour, Version};

commands! {
    "intention check" "SRC DST" check "Says whether a service may call another; exit code 1 if not" {}
    "intention create" "SRC DST | -file FILE..." create "Makes intentions" {
        Switch "allow" "The calls are allowed (the default)";
        Switch "deny" "The calls are denied";
        Switch "file" "The arguments are files of JSON";
        Pair "meta" "key=value; may be repeated";
        Switch "replace" "Takes the place of an intention between the same services";
    }
    "intention delete" "SRC DST | ID" delete "Deletes an intention" {}
    "intention get" "SRC DST | ID" get "Prints an intention" {}
    "intention list" "" list "Lists all intentions (not in Consul 1.8)" {}
    "intention match" "SRC | DST" matching "Lists the intentions of a service, in the order in which they count" {
        Switch "destination" "Those for calls of it (the default)";
        Switch "source" "Those for its calls";
    }
}

const ENDPOINT: &str = "v1/connect/intentions";
const EXACT: &str = "v1/connect/intentions/exact";
const NAMESPACE: &str = "default";

/// The exit code of a check without an answer: 1 says that calls are denied.
pub(in crate::commands) const CHECK_FAILED: u8 = 2;

go_struct! {
    /// An intention, as files and answers have it.
    struct Intention as "api.Intention" {
        "ID": String => id,
        "Description": String => description,
        "SourceNS": String => source_namespace,
        "SourceName": String => source,
        "DestinationNS": String => destination_namespace,
        "DestinationName": String => destination,
        "SourceType": String => source_type,
        "Action": String => action,
        "Permissions" since Behaviour::IntentionEntries: Vec<AnyObject> => permissions,
        "DefaultAddr": String => default_address,
        "DefaultPort": Int => default_port,
        "Meta": BTreeMap<String, String> => meta,
        "CreatedAt": String => created,
    }
}

/// Returns the name of a service, with its namespace unless that is the default.
fn spelled(namespace: &str, name: &str) -> String {
    match namespace {
        "" | NAMESPACE => name.to_owned(),
        namespace => format!("{namespace}/{name}"),
    }
}

impl Intention {
    fn source(&self) -> String {
        spelled(&self.source_namespace, &self.source)
    }

    fn destination(&self) -> String {
        spelled(&self.destination_namespace, &self.destination)
    }

    /// Returns one line about the intention.
    fn describe(&self) -> String {
        let what = match self.permissions.len() {
            0 => self.action.clone(),
            1 => "1 permission".to_owned(),
            count => format!("{count} permissions"),
        };
        format!("{} => {} ({what})", self.source(), self.destination())
    }

    /// Returns the body of a write.
    fn body(&self) -> String {
        let mut body = json!({
            "ID": self.id,
            "Description": self.description,
            "SourceNS": self.source_namespace,
            "SourceName": self.source,
            "DestinationNS": self.destination_namespace,
            "DestinationName": self.destination,
            "SourceType": self.source_type,
            "Action": self.action,
            "DefaultAddr": self.default_address,
            "DefaultPort": self.default_port,
            "Meta": self.meta,
        });
        if !self.permissions.is_empty() {
            let texts = self.permissions.iter().flatten();
            let permissions = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
            body["Permissions"] = permissions.collect();
        }
        body.to_string()
    }
}

/// Reads a JSON value, ignoring what follows it.
fn read(text: &[u8], version: Version) -> Result<Intention, String> {
    let rules = DecodeOptions {
        unknown_fields: UnknownFields::Accepted,
        release: version.release(),
        go_type: Some("api.Intention"),
    };
    let mut read = Intention::default();
    decode::<Intention>(text, &mut read, rules).map_err(|error| error.to_string())?;
    Ok(read)
}

/// Reads the intentions of an answer.
fn intentions(list: &Value) -> Result<Vec<Intention>, String> {
    let each = list.as_array().into_iter().flatten();
    // Whatever the server's release, what it shows is understood.
    each.map(|one| read(one.to_string().as_bytes(), Version::default()))
        .collect()
}

async fn all(client: &Client) -> Result<Vec<Intention>, String> {
    let listed = client.read(ENDPOINT, &[]).await;
    let listed = listed.map_err(|error| go_text(&error))?.value;
    let listed: Value = serde_json::from_str(&listed).map_err(|error| error.to_string())?;
    intentions(&listed)
}

/// Returns the intention between two services.
async fn find(
    client: &Client,
    source: &str,
    destination: &str,
) -> Result<Option<Intention>, String> {
    let full = |name: &str| match name.split_once('/') {
        Some(_) => name.to_owned(),
        None => format!("{NAMESPACE}/{name}"),
    };
    let (source, destination) = (full(source), full(destination));
    let is_wanted = |one: &Intention| {
        format!("{}/{}", one.source_namespace, one.source) == source
            && format!("{}/{}", one.destination_namespace, one.destination) == destination
    };
    Ok(all(client).await?.into_iter().find(is_wanted))
}

/// How an intention is named in a request: by its id, or by its services.
enum Place {
    Id(String),
    Services(String, String),
}

impl Place {
    /// Returns the place of an intention.
    fn of(intention: &Intention) -> Self {
        let Intention { id, .. } = intention;
        if id.is_empty() {
            Self::Services(intention.source(), intention.destination())
        } else {
            Self::Id(id.clone())
        }
    }

    /// Returns the place that the arguments of `get` and `delete` name.
    async fn named(client: &Client, given: &Given) -> Result<Self, Failure> {
        match given.rest() {
            [id] => Ok(Self::Id(id.clone())),
            [source, destination] => {
                let found = find(client, source, destination).await;
                let found = found.map_err(|why| format!("Error: {why}"))?;
                let found = found.ok_or_else(|| {
                    format!(
                        "Error: Intention with source {source:?} and destination {destination:?} not found."
                    )
                })?;
                Ok(Self::of(&found))
            }
            _ => Err("Error: command requires exactly 1 or 2 arguments".into()),
        }
    }

    /// Returns the path and the parameters.
    fn request(&self) -> (String, Vec<(&'static str, &str)>) {
        match self {
            Self::Id(id) => (
                format!("{ENDPOINT}/{}", path_escape(id.as_bytes())),
                Vec::new(),
            ),
            Self::Services(source, destination) => {
                let parameters = vec![("source", &source[..]), ("destination", &destination[..])];
                (EXACT.to_owned(), parameters)
            }
        }
    }
}

async fn create(given: Given) -> Outcome {
    if given.is_set("allow") && given.is_set("deny") {
        return Err("Only one of -allow or -deny may be specified.".into());
    }
    let wanted = wanted(&given).map_err(|why| format!("Error: {why}"))?;
    let client = given.client()?;
    for intention in wanted {
        let shown = intention.describe();
        let failed = because(&format!("Error creating intention {shown:?}"));
        let former = if given.is_set("replace") {
            let found = find(&client, &intention.source(), &intention.destination()).await;
            found.map_err(|why| format!("Error: {why}"))?
        } else {
            None
        };
        if let Some(former) = former {
            replace(&client, &former, intention).await?;
            continue;
        }
        let created = client.create(ENDPOINT, &[], intention.body()).await;
        created.map_err(failed)?;
        output::out(&format!("Created: {shown}\n"));
    }
    Ok(String::new())
}

/// Writes an intention in place of another.
async fn replace(client: &Client, former: &Intention, intention: Intention) -> Result<(), Failure> {
    let failed = because(&format!(
        "Error replacing intention with source {:?} and destination {:?}",
        former.source(),
        former.destination()
    ));
    let intention = Intention {
        id: former.id.clone(),
        ..intention
    };
    let place = Place::of(former);
    let (path, parameters) = place.request();
    let replaced = client.write(&path, &parameters, intention.body()).await;
    replaced.map(drop).map_err(failed)
}

/// Returns the intentions that a command line describes.
fn wanted(given: &Given) -> Result<Vec<Intention>, String> {
    let version = emulated_version()?;
    if given.is_set("file") {
        let each = given.rest().iter();
        return each
            .map(|path| read(&source::file(path)?, version))
            .collect();
    }
    let [source, destination] = given.rest() else {
        return Err("Must specify two arguments: source and destination".to_owned());
    };
    let [source, destination] =
        [("source", source), ("destination", destination)].map(|(end, text)| {
            let (namespace, name) = text.split_once('/').unwrap_or(("", text));
            if name.contains('/') {
                return Err(format!(
                    "Invalid intention {end}: target can contain at most one '/'"
                ));
            }
            Ok((namespace.to_owned(), name.to_owned()))
        });
    let ((source_namespace, source), (destination_namespace, destination)) =
        (source?, destination?);
    let meta = given.texts("meta").into_iter();
    let meta = meta.filter_map(|pair| pair.split_once('='));
    let action = if given.is_set("deny") {
        "deny"
    } else {
        "allow"
    };
    Ok(vec![Intention {
        source_namespace,
        source,
        destination_namespace,
        destination,
        source_type: "consul".to_owned(),
        action: action.to_owned(),
        meta: meta
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        ..Intention::default()
    }])
}

async fn check(given: Given) -> Outcome {
    let failed = |text: String| Failure {
        text,
        code: CHECK_FAILED,
    };
    let [source, destination] = given.rest() else {
        let text = "Error: command requires exactly two arguments: src and dst";
        return Err(failed(text.to_owned()));
    };
    let parameters = [
        ("source", &source[..]),
        ("destination", destination),
        ("source-type", "consul"),
    ];
    let path = format!("{ENDPOINT}/check");
    let client = given.client().map_err(|failure| failed(failure.text))?;
    let wrong = |why: String| failed(format!("Error checking the connection: {why}"));
    let checked = client.read(&path, &parameters).await;
    let checked = checked.map_err(|error| wrong(go_text(&error)))?.value;
    let checked: Value =
        serde_json::from_str(&checked).map_err(|error| wrong(error.to_string()))?;
    if checked["Allowed"] == true {
        return Ok("Allowed\n".to_owned());
    }
    output::out("Denied\n");
    Err(Failure::from(""))
}

async fn matching(given: Given) -> Outcome {
    let [name] = given.rest() else {
        return Err("Error: command requires exactly one argument: src or dst".into());
    };
    let by = match (given.is_set("source"), given.is_set("destination")) {
        (true, true) => {
            let text = "Error: only one of -source or -destination may be specified";
            return Err(text.into());
        }
        (true, false) => "source",
        (false, _) => "destination",
    };
    let failed = "Error matching the connection";
    let path = format!("{ENDPOINT}/match");
    let matched = given
        .client()?
        .read(&path, &[("by", by), ("name", name)])
        .await;
    let matched = matched.map_err(because(failed))?.value;
    let matched: Value =
        serde_json::from_str(&matched).map_err(|error| format!("{failed}: {error}"))?;
    Ok(lines(&intentions(&matched[name])?))
}

async fn list(given: Given) -> Outcome {
    given.only(0)?;
    let listed = all(&given.client()?).await;
    let listed = listed.map_err(|why| format!("Error listing intentions: {why}"))?;
    Ok(lines(&listed))
}

fn lines(intentions: &[Intention]) -> String {
    intentions.iter().map(|one| one.describe() + "\n").collect()
}

async fn get(given: Given) -> Outcome {
    let client = given.client()?;
    let place = Place::named(&client, &given).await?;
    let (path, parameters) = place.request();
    let found = client.read(&path, &parameters).await;
    // This call of Consul's client has a text of its own about refusals.
    let failed = |error: &Error| {
        let why = match error {
            Error::PermissionDenied { text } => format!("Unexpected response 403: {text}"),
            Error::Status { status, text } => format!("Unexpected response {status}: {text}"),
            other => other.to_string(),
        };
        Failure::from(format!("Error reading the intention: {why}"))
    };
    let found = found.map_err(|error| failed(&error))?.value;
    Ok(details(&read(found.as_bytes(), Version::default())?))
}

async fn delete(given: Given) -> Outcome {
    let client = given.client()?;
    let place = Place::named(&client, &given).await?;
    let (path, parameters) = place.request();
    let deleted = client.delete(&path, &parameters).await;
    // Consul's text says so.
    deleted.map_err(because("Error reading the intention"))?;
    Ok("Intention deleted.\n".to_owned())
}

/// Prints an intention as lines of labels and values. Labels are as wide as the widest one.
fn details(intention: &Intention) -> String {
    let permissions: Vec<&str> = intention
        .permissions
        .iter()
        .flatten()
        .map(|text| &text[..])
        .collect();
    let mut rows = vec![
        ("Source".to_owned(), intention.source()),
        ("Destination".to_owned(), intention.destination()),
    ];
    // Those of later releases may have permissions in place of an action, and no id.
    let others = [
        ("Action", intention.action.clone()),
        ("Permissions", permissions.join(", ")),
        ("ID", intention.id.clone()),
        ("Description", intention.description.clone()),
    ];
    let others = others.into_iter().filter(|(_, value)| !value.is_empty());
    rows.extend(others.map(|(label, value)| (label.to_owned(), value)));
    let meta = intention.meta.iter();
    rows.extend(meta.map(|(name, value)| (format!("Meta[{name}]"), value.clone())));
    if let Some(created) = parse_rfc3339(&intention.created).and_then(rfc850) {
        rows.push(("Created At".to_owned(), created));
    }
    let width = rows.iter().map(|(label, _)| label.chars().count()).max();
    let width = width.unwrap_or(0) + ":  ".len();
    let line = |(label, value): (String, String)| {
        let label = label + ":";
        format!("{label:<width$}{value}\n")
    };
    rows.into_iter().map(line).collect()
}
