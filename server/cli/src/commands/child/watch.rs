//! The verb `watch`: prints a view of the state, or runs a program whenever it changes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proconsul_client::{Client, Error, QueryOptions};
use tokio::io::AsyncWriteExt as _;

use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, child, go_text, shown};
use crate::output;
use proconsul_gocompat::json::encode::to_text;
use proconsul_gocompat::number::parse_bool;
use proconsul_os::process::Signals;

commands! {
    "watch" "[PROGRAM...]" watch "Prints something, or runs a program whenever it changes" {
        Text "key" "For key";
        Text "name" "For event";
        Text "passingonly" "For service: only instances that pass";
        Text "prefix" "For keyprefix";
        Text "service" "For service and checks";
        Switch "shell" "The program is a line for a shell (default: true)";
        Text "state" "For checks";
        Text "tag" "For service; may be repeated";
        Text "type" "key, keyprefix, services, nodes, service, checks or event";
    }
}

/// A watched part of the state.
enum View {
    /// A key; `null` while it is missing.
    Key(String),
    /// The keys below a prefix.
    Prefix(String),
    /// An answer, and how it is printed.
    Answer {
        path: String,
        parameters: Vec<(&'static str, String)>,
        show: fn(&str) -> Result<String, String>,
    },
}

fn view(given: &Given) -> Result<View, Failure> {
    let one = |flag: &str| {
        let given = given.filled(flag).map(str::to_owned);
        given.ok_or_else(|| Failure::from(format!("Must specify a single {flag} to watch")))
    };
    let mut parameters = Vec::new();
    let (path, show): (_, fn(&str) -> _) = match given.text("type").unwrap_or_default() {
        "" => return Err("Watch type must be specified".into()),
        "key" => return one("key").map(View::Key),
        "keyprefix" => return one("prefix").map(View::Prefix),
        "services" => ("v1/catalog/services".to_owned(), shown::whole),
        "nodes" => ("v1/catalog/nodes".to_owned(), shown::whole),
        "event" => {
            parameters.extend(given.filled("name").map(|name| ("name", name.to_owned())));
            ("v1/event/list".to_owned(), shown::whole)
        }
        "service" => {
            let tags = given.texts("tag").into_iter();
            parameters.extend(tags.map(|tag| ("tag", tag.to_owned())));
            if given.is_set("passingonly") {
                parameters.push(("passing", "1".to_owned()));
            }
            let path = format!("v1/health/service/{}", one("service")?);
            (path, shown::instances)
        }
        "checks" => {
            let path = match (given.filled("service"), given.filled("state")) {
                (Some(_), Some(_)) => return Err("Cannot specify service and state".into()),
                (Some(service), None) => format!("v1/health/checks/{service}"),
                (None, state) => format!("v1/health/state/{}", state.unwrap_or("any")),
            };
            (path, shown::checks)
        }
        kind @ ("connect_roots" | "connect_leaf" | "agent_service") => {
            return Err(format!("Type {kind} is not supported in the CLI tool").into());
        }
        other => return Err(format!("Unsupported watch type: {other}").into()),
    };
    Ok(View::Answer {
        path,
        parameters,
        show,
    })
}

/// Refuses flags of other types. Consul checks this after the flags of the type itself.
fn refuse_strangers(given: &Given) -> Result<(), Failure> {
    let own: &[&str] = match given.text("type").unwrap_or_default() {
        "key" => &["key"],
        "keyprefix" => &["prefix"],
        "service" => &["service", "tag", "passingonly"],
        "checks" => &["service", "state"],
        "event" => &["name"],
        _ => &[],
    };
    let all = [
        "service",
        "tag",
        "passingonly",
        "state",
        "name",
        "key",
        "prefix",
    ];
    let strangers: Vec<&str> = all
        .into_iter()
        .filter(|flag| !own.contains(flag) && given.filled(flag).is_some())
        .collect();
    if strangers.is_empty() {
        return Ok(());
    }
    Err(format!("Invalid parameters: [{}]", strangers.join(" ")).into())
}

async fn watch(given: Given) -> Outcome {
    if let Some(text) = given.filled("passingonly")
        && let Err(error) = parse_bool(text)
    {
        return Err(format!("Failed to parse passingonly flag: {error}").into());
    }
    let view = view(&given)?;
    refuse_strangers(&given)?;
    let client = given.agents_client().await?;
    if given.rest().is_empty() {
        let (text, _) = read(&client, &view, 0)
            .await
            .map_err(because("Error querying Consul agent"))?;
        return Ok(text + "\n");
    }
    let mut signals = Signals::listen().map_err(|error| error.to_string())?;
    tokio::select! {
        never = follow(&given, &client, &view) => never,
        _ = signals.next() => Ok(String::new()),
    }
}

/// Runs the program for the current state and after each change.
async fn follow(given: &Given, client: &Client, view: &View) -> Outcome {
    let shell = given.text("shell").is_none() || given.is_set("shell");
    let (mut index, mut last) = (0, None);
    let mut failures: u32 = 0;
    loop {
        match read(client, view, index).await {
            Ok((text, seen)) => {
                failures = 0;
                index = if seen < index { 0 } else { seen.max(1) };
                if last.as_ref() == Some(&text) {
                    continue;
                }
                handle(given.rest(), shell, &text, index).await?;
                last = Some(text);
            }
            Err(error) => {
                // As in Consul: 5 s times the square of the consecutive failures, up to 3 minutes.
                failures = failures.saturating_add(1);
                let pause = (5 * u64::from(failures) * u64::from(failures)).min(180);
                output::err(&format!("Error: {}, retry in {pause}s\n", go_text(&error)));
                index = 0;
                proconsul_os::time::delay(std::time::Duration::from_secs(pause)).await;
            }
        }
    }
}

async fn handle(words: &[String], shell: bool, text: &str, index: u64) -> Result<(), Failure> {
    let failed = |error: String| Failure::from(format!("Error executing handler: {error}"));
    let mut command = child::command(words, shell);
    command.env("CONSUL_INDEX", index.to_string());
    let mut program = child::start(command).map_err(failed)?;
    if let Some(mut input) = program.stdin.take() {
        // A program that does not read its input has not failed.
        let _ = input.write_all(format!("{text}\n").as_bytes()).await;
    }
    let status = program
        .wait()
        .await
        .map_err(|error| failed(error.to_string()))?;
    match child::failure(status) {
        Some(why) => Err(failed(why)),
        None => Ok(()),
    }
}

/// Reads the state, and returns its text and index.
async fn read(client: &Client, view: &View, index: u64) -> Result<(String, u64), Error> {
    let options: QueryOptions = client.options().clone().index(index);
    let client = client.with(options);
    let (shown, index) = match view {
        View::Answer {
            path,
            parameters,
            show,
        } => {
            let parameters = parameters
                .iter()
                .map(|(name, value)| (*name, value.as_str()));
            let answer = client.read(path, &parameters.collect::<Vec<_>>()).await?;
            (
                show(&answer.value).unwrap_or(answer.value),
                answer.meta.index,
            )
        }
        View::Key(key) => {
            let answer = client.kv().get(key).await?;
            let shown = answer.value.as_ref().map_or("null".to_owned(), pair);
            (shown, answer.meta.index)
        }
        View::Prefix(prefix) => {
            let answer = client.kv().list(prefix).await?;
            let shown = match &answer.value[..] {
                [] => "null".to_owned(),
                pairs => shown::list(pairs.iter().map(pair)),
            };
            (shown, answer.meta.index)
        }
    };
    Ok((shown::indented(&shown), index))
}

/// Prints a key with the fields of Consul's Go client, in their order.
fn pair(pair: &proconsul_client::Pair) -> String {
    let session = pair.session.as_ref().map_or("", |session| session.as_str());
    format!(
        r#"{{"Key":{},"CreateIndex":{},"ModifyIndex":{},"LockIndex":{},"Flags":{},"Value":{},"Session":{}}}"#,
        to_text(&pair.key),
        pair.create_index,
        pair.modify_index,
        pair.lock_index,
        pair.flags,
        if pair.value.is_empty() {
            "null".to_owned()
        } else {
            to_text(&STANDARD.encode(&pair.value))
        },
        to_text(session),
    )
}

#[cfg(test)]
mod tests {
    use super::shown::indented;

    #[test]
    fn json_is_indented_in_the_order_in_which_it_came() {
        let compact = r#"{"b":[1,{"a":"x:,{\"y"}],"e":{},"l":[]}"#;
        let wide = "{\n    \"b\": [\n        1,\n        {\n            \"a\": \"x:,{\\\"y\"\n        }\n    ],\n    \"e\": {},\n    \"l\": []\n}";
        assert_eq!(indented(compact), wide);
        assert_eq!(indented(wide), wide);
    }
}
