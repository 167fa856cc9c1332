//! `config write`, `read`, `list`, `delete`: configuration entries (operator.md 4.6).

use serde_json::Value;

use crate::commands::support::flags::{ArgumentKind, Given};
use crate::commands::{Failure, Outcome, because, go_text, shown, source};
use crate::emulated_version;
use proconsul_config::document::hcl;
use proconsul_config::document::tree::Tree;
use proconsul_config::entry;
use proconsul_config::settings::go_flags::Flag;
use proconsul_gocompat::url::path_escape;
use proconsul_hcl::is_json;

const KIND: &[Flag<ArgumentKind>] = flags! {
    Text "kind" "The kind of the entries";
};

const NAME: &[Flag<ArgumentKind>] = flags! {
    Text "name" "The name of the entry";
};

const CAS: &[Flag<ArgumentKind>] = flags! {
    Switch "cas" "Only if -modify-index is the entry's";
    Number "modify-index" "For -cas";
};

commands! {
    "config delete" "" delete "Deletes a configuration entry" [KIND, NAME, CAS] {}
    "config list" "" list "Lists the names of the configuration entries of a kind" [KIND] {}
    "config read" "" read "Prints a configuration entry as JSON" [KIND, NAME] {}
    "config write" "FILE" write "Writes the configuration entry in a file, or - for standard input" [CAS] {}
}

const ENDPOINT: &str = "v1/config";
const NAMESPACE: &str = "Namespace";

/// A kind and a name, and the path of that entry.
struct Place {
    shown: String,
    path: String,
}

impl Place {
    fn new(kind: &str, name: &str) -> Self {
        let shown = format!("{kind}/{name}");
        let path = format!("{ENDPOINT}/{}", path_escape(shown.as_bytes()));
        Self { shown, path }
    }
}

fn kind(given: &Given) -> Result<&str, Failure> {
    let kind = given.filled("kind");
    kind.ok_or_else(|| "Must specify the -kind parameter".into())
}

fn place(given: &Given) -> Result<Place, Failure> {
    let kind = kind(given)?;
    let name = given.filled("name");
    let name = name.ok_or_else(|| Failure::from("Must specify the -name parameter"))?;
    Ok(Place::new(kind, name))
}

/// Returns the index that the entry must have for a change.
fn cas(given: &Given) -> Option<String> {
    let index = given.number("modify-index").unwrap_or(0);
    given.is_set("cas").then(|| index.to_string())
}

async fn write(given: Given) -> Outcome {
    let [argument] = given.rest() else {
        let text =
            "Must provide exactly one positional argument to specify the config entry to write";
        return Err(text.into());
    };
    // The argument itself is a file's name.
    let argument = match &argument[..] {
        "-" => "-".to_owned(),
        path => format!("@{path}"),
    };
    let text =
        source::load_text(&argument).map_err(|error| format!("Failed to load data: {error}"))?;
    let undecodable = |error: String| format!("Failed to decode config entry input: {error}");
    let parsed = hcl::parse(&text).map_err(|error| undecodable(undecodable(error)))?;
    let document = json(&parsed, &text).to_string();
    let entry = entry::to_send(&document, emulated_version()?);
    let entry = entry.map_err(undecodable)?;
    let Place { shown, .. } = Place::new(&entry.kind, &entry.name);
    let index = cas(&given);
    let parameters: Vec<_> = index.iter().map(|index| ("cas", &index[..])).collect();
    let client = given.client()?;
    let written = client.write(ENDPOINT, &parameters, entry.body).await;
    let failed = because(&format!("Error writing config entry {shown}"));
    if written.map_err(failed)?.trim() == "false" {
        return Err(format!("Config entry not updated: {shown}").into());
    }
    Ok(format!("Config entry written: {shown}\n"))
}

/// Returns the JSON of a document. In HCL the language has wrapped objects in lists. An empty namespace is not sent, and
/// any other under the name that servers refuse with a reason.
fn json(parsed: &Tree, text: &str) -> Value {
    let mut json = if is_json(text) {
        parsed.to_json()
    } else {
        parsed.to_plain_json()
    };
    if let Value::Object(members) = &mut json {
        let is_namespace = |name: &&String| name.eq_ignore_ascii_case(NAMESPACE);
        let name = members.keys().find(is_namespace).cloned();
        let namespace = name.and_then(|name| members.remove(&name));
        if let Some(namespace) = namespace.filter(|namespace| namespace != "") {
            members.insert(NAMESPACE.to_owned(), namespace);
        }
    }
    json
}

async fn read(given: Given) -> Outcome {
    let Place { shown, path } = place(&given)?;
    let failed = |why: String| format!("Error reading config entry {shown}: {why}");
    // Consul's client asks for no kind that it does not know.
    let kind = kind(&given)?;
    if !entry::is_known(kind, emulated_version()?) {
        return Err(failed(entry::unknown_kind(kind)).into());
    }
    let found = given.client()?.read(&path, &[]).await;
    let found = found.map_err(|error| failed(go_text(&error)))?;
    Ok(shown::config_entry(&found.value).map_err(failed)? + "\n")
}

async fn list(given: Given) -> Outcome {
    let kind = kind(&given)?;
    let path = format!("{ENDPOINT}/{}", path_escape(kind.as_bytes()));
    let failed = format!("Error listing config entries for kind {kind:?}");
    let listed = given.client()?.read(&path, &[]).await;
    let listed = listed.map_err(because(&failed))?.value;
    let entries: Vec<Value> =
        serde_json::from_str(&listed).map_err(|error| format!("{failed}: {error}"))?;
    // The only entry of a kind may show no name.
    let name = |entry: &Value| entry["Name"].as_str().unwrap_or(kind).to_owned() + "\n";
    Ok(entries.iter().map(name).collect())
}

async fn delete(given: Given) -> Outcome {
    let Place { shown, path } = place(&given)?;
    let index = cas(&given);
    let parameters: Vec<_> = index.iter().map(|index| ("cas", &index[..])).collect();
    let deleted = given.client()?.delete(&path, &parameters).await;
    let failed = because(&format!("Error deleting config entry {shown}"));
    if deleted.map_err(failed)?.trim() == "false" {
        return Err(format!("Config entry not deleted: {shown}").into());
    }
    Ok(format!("Config entry deleted: {shown}\n"))
}
