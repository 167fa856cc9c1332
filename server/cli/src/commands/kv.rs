//! The verbs `kv get`, `put`, `delete`, `export` and `import`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proconsul_client::{Client, Error, Pair, SessionId};
use serde::{Deserialize, Serialize};

use super::{Failure, Outcome, because, source, table};
use crate::commands::support::flags::Given;
use crate::output;

commands! {
    "kv get" "[KEY_OR_PREFIX]" get "Prints a key's value, or what is below a prefix" {
        Switch "base64" "Prints values in base64";
        Switch "detailed" "Prints indexes, flags and the holder too";
        Switch "keys" "Prints names only";
        Switch "recurse" "Prints all keys below a prefix";
        Text "separator" "Where names are cut with -keys (default: /)";
    }
    "kv put" "KEY [DATA]" put "Writes a key; @file and - read a file and standard input" {
        Switch "acquire" "Locks the key for -session";
        Switch "base64" "The data is base64";
        Switch "cas" "Writes only if -modify-index is the key's";
        Number "flags" "The key's flags";
        Number "modify-index" "For -cas";
        Switch "release" "Unlocks the key for -session";
        Text "session" "For -acquire and -release";
    }
    "kv delete" "KEY_OR_PREFIX" delete "Deletes a key, or all below a prefix" {
        Switch "cas" "Deletes only if -modify-index is the key's";
        Number "modify-index" "For -cas";
        Switch "recurse" "Deletes all keys below a prefix";
    }
    "kv export" "[PREFIX]" export "Prints all keys below a prefix as JSON" {}
    "kv import" "[DATA]" import "Writes keys from the JSON of an export" {}
}

const MISSING_KEY: &str = "Error! Missing KEY argument";

/// Says that a read failed. Consul's text leaves out why it was refused.
fn asking(error: &Error) -> Failure {
    let why = match error.status() {
        Some(status) => format!("Unexpected response code: {status}"),
        None => error.to_string(),
    };
    format!("Error querying Consul agent: {why}").into()
}

/// Returns the key or prefix. Consul's command ignores a leading slash, except in `kv put`.
fn first(given: &Given) -> &str {
    let key = given.rest().first().map_or("", String::as_str);
    key.strip_prefix('/').unwrap_or(key)
}

async fn get(given: Given) -> Outcome {
    given.only(1)?;
    let key = first(&given);
    let client = given.client()?;
    let base64 = given.is_set("base64");
    if given.is_set("keys") {
        let separator = given.text("separator").unwrap_or("/");
        let keys = client
            .kv()
            .keys(key, Some(separator))
            .await
            .map_err(|error| asking(&error))?;
        return Ok(keys.value.iter().map(|key| format!("{key}\n")).collect());
    }
    let detailed = given.is_set("detailed");
    if given.is_set("recurse") {
        let pairs = client
            .kv()
            .list(key)
            .await
            .map_err(|error| asking(&error))?
            .value;
        let shown: Vec<String> = pairs
            .iter()
            .map(|pair| {
                if detailed {
                    details(pair, base64)
                } else {
                    format!("{}:{}\n", pair.key, value(pair, base64))
                }
            })
            .collect();
        return Ok(shown.join(if detailed { "\n" } else { "" }));
    }
    if key.is_empty() {
        return Err(MISSING_KEY.into());
    }
    match client
        .kv()
        .get(key)
        .await
        .map_err(|error| asking(&error))?
        .value
    {
        None => Err(format!("Error! No key exists at: {key}").into()),
        Some(pair) if detailed => Ok(details(&pair, base64)),
        Some(pair) => Ok(format!("{}\n", value(&pair, base64))),
    }
}

fn value(pair: &Pair, base64: bool) -> String {
    if base64 {
        STANDARD.encode(&pair.value)
    } else {
        String::from_utf8_lossy(&pair.value).into_owned()
    }
}

fn details(pair: &Pair, base64: bool) -> String {
    let session = pair.session.as_ref().map_or("-", SessionId::as_str);
    table::fields([
        ("CreateIndex", pair.create_index.to_string()),
        ("Flags", pair.flags.to_string()),
        ("Key", pair.key.clone()),
        ("LockIndex", pair.lock_index.to_string()),
        ("ModifyIndex", pair.modify_index.to_string()),
        ("Session", session.to_owned()),
        ("Value", value(pair, base64)),
    ])
}

async fn put(given: Given) -> Outcome {
    const WRITING: &str = "Error! Failed writing data";
    let (key, argument) = match given.rest() {
        [] => return Err(MISSING_KEY.into()),
        [key] => (key, ""),
        [key, data] => (key, data.as_str()),
        more => {
            let got = more.len();
            return Err(format!("Error! Too many arguments (expected 1 or 2, got {got})").into());
        }
    };
    let mut bytes = source::load(argument).map_err(|error| format!("Error! {error}"))?;
    if given.is_set("base64") {
        match STANDARD.decode(&bytes) {
            Ok(decoded) => bytes = decoded,
            // Consul goes on with an empty value.
            Err(error) => {
                output::err(&format!("Error! Cannot base 64 decode data: {error}\n"));
                bytes.clear();
            }
        }
    }
    let session = given.text("session").map(SessionId::from);
    let locks = given.is_set("acquire") || given.is_set("release");
    if locks && session.is_none() {
        return Err("Error! Missing -session (required with -acquire and -release)".into());
    }
    if given.is_set("cas") && given.text("modify-index").is_none() {
        return Err("Must specify -modify-index with -cas!".into());
    }
    if key.starts_with('/') {
        return Err(format!("{WRITING}: Invalid key. Key must not begin with a '/': {key}").into());
    }
    let client = given.client()?;
    let write = client.kv().write(key, bytes);
    let write = write.flags(given.number("flags").unwrap_or(0));
    let failed = because(WRITING);
    let session = session.unwrap_or_else(|| SessionId::from(""));
    let refused = if given.is_set("cas") {
        let index = given.number("modify-index").unwrap_or(0);
        let done = write.cas(index).await.map_err(failed)?;
        (!done).then(|| format!("Error! Did not write to {key}: CAS failed"))
    } else if given.is_set("acquire") {
        let done = write.acquire(&session).await.map_err(failed)?;
        (!done).then(|| "Error! Did not acquire lock".to_owned())
    } else if given.is_set("release") {
        let done = write.release(&session).await.map_err(failed)?;
        (!done).then(|| "Error! Did not release lock".to_owned())
    } else {
        write.put().await.map_err(failed)?;
        None
    };
    match refused {
        Some(text) => Err(text.into()),
        None => Ok(written(&given, key)),
    }
}

fn written(given: &Given, key: &str) -> String {
    if given.is_set("acquire") {
        format!("Success! Lock acquired on: {key}\n")
    } else if given.is_set("release") {
        format!("Success! Lock released on: {key}\n")
    } else {
        format!("Success! Data written to: {key}\n")
    }
}

async fn delete(given: Given) -> Outcome {
    if given.rest().is_empty() {
        return Err(MISSING_KEY.into());
    }
    given.only(1)?;
    let key = first(&given);
    let index = given.number("modify-index").unwrap_or(0);
    if given.is_set("cas") && index == 0 {
        return Err("Must specify -modify-index with -cas!".into());
    }
    let client = given.client()?;
    if given.is_set("recurse") {
        if given.is_set("cas") {
            return Err("Cannot specify both -cas and -recurse!".into());
        }
        let failed = because(&format!("Error! Did not delete prefix {key}"));
        client.kv().delete_tree(key).await.map_err(failed)?;
        return Ok(format!("Success! Deleted keys with prefix: {key}\n"));
    }
    if given.is_set("cas") {
        let failed = because(&format!("Error! Did not delete key {key}"));
        if !client.kv().delete_cas(key, index).await.map_err(failed)? {
            return Err(format!("Error! Did not delete key {key}: CAS failed").into());
        }
    } else {
        let failed = because(&format!("Error deleting key {key}"));
        client.kv().delete(key).await.map_err(failed)?;
    }
    Ok(format!("Success! Deleted key: {key}\n"))
}

/// A key in an export.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    #[serde(default)]
    flags: u64,
    #[serde(default)]
    value: String,
}

async fn export(given: Given) -> Outcome {
    given.only(1)?;
    let prefix = first(&given);
    let pairs = given
        .client()?
        .kv()
        .list(prefix)
        .await
        .map_err(|error| asking(&error))?
        .value;
    let entries: Vec<Entry> = pairs
        .into_iter()
        .map(|pair| Entry {
            key: pair.key,
            flags: pair.flags,
            value: STANDARD.encode(pair.value),
        })
        .collect();
    let mut text = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(b"\t");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, form);
    entries
        .serialize(&mut serializer)
        .expect("texts and numbers are JSON");
    Ok(String::from_utf8_lossy(&text).into_owned() + "\n")
}

async fn import(given: Given) -> Outcome {
    let Some(argument) = given.rest().first() else {
        return Err("Error! Missing DATA argument".into());
    };
    given.only(1)?;
    let bytes = source::load(argument).map_err(|error| format!("Error! {error}"))?;
    let entries: Vec<Entry> = serde_json::from_slice(&bytes)
        .map_err(|error| format!("Cannot unmarshal data: {error}"))?;
    let client = given.client()?;
    for entry in entries {
        import_entry(&client, entry).await?;
    }
    Ok(String::new())
}

async fn import_entry(client: &Client, entry: Entry) -> Result<(), Failure> {
    let key = entry.key;
    let value = STANDARD
        .decode(entry.value)
        .map_err(|error| format!("Error base 64 decoding value for key {key}: {error}"))?;
    let write = client.kv().write(&key, value).flags(entry.flags);
    let failed = because(&format!("Error! Failed writing data for key {key}"));
    write.put().await.map_err(failed)?;
    output::out(&format!("Imported: {key}\n"));
    Ok(())
}
