//! `watch`: prints something, or runs a program whenever it changes.

use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proconsul_client::{Client, Error, QueryOptions};
use tokio::io::AsyncWriteExt as _;

use super::flags::{Flag, Given, switch, text};
use super::{Command, Failure, Outcome, child, shown};
use crate::cli::output;
use crate::cli::signals::Signals;
use crate::go::number::parse_bool;

pub(super) const COMMANDS: &[Command] = &[Command {
    words: &["watch"],
    arguments: "[PROGRAM...]",
    usage: "Prints something, or runs a program whenever it changes",
    flags: FLAGS,
    run: |given| Box::pin(watch(given)),
}];

const FLAGS: &[Flag] = &[
    text("key", "For key"),
    text("name", "For event"),
    text("passingonly", "For service: only instances that pass"),
    text("prefix", "For keyprefix"),
    text("service", "For service and checks"),
    switch("shell", "The program is a line for a shell (default: true)"),
    text("state", "For checks"),
    text("tag", "For service; may be repeated"),
    text(
        "type",
        "key, keyprefix, services, nodes, service, checks or event",
    ),
];

/// What is read, and what is made of it.
struct View {
    path: String,
    parameters: Vec<(&'static str, String)>,
    shape: Shape,
}

/// How an answer becomes what is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As it came.
    Whole,
    /// Instances of a service.
    Instances,
    /// Checks.
    Checks,
    /// The first of a list; nothing while there is none.
    FirstPair,
    /// A list; empty while there is none.
    Pairs,
}

fn view(given: &Given) -> Result<View, Failure> {
    let plain = |path: &str| View {
        path: path.to_owned(),
        parameters: Vec::new(),
        shape: Shape::Whole,
    };
    Ok(match given.text("type").unwrap_or_default() {
        "" => return Err("Watch type must be specified".into()),
        "key" => match given.text("key") {
            Some(key) if !key.is_empty() => View {
                shape: Shape::FirstPair,
                ..plain(&format!("v1/kv/{key}"))
            },
            _ => return Err("Must specify a single key to watch".into()),
        },
        "keyprefix" => match given.text("prefix") {
            Some(prefix) if !prefix.is_empty() => View {
                parameters: vec![("recurse", String::new())],
                shape: Shape::Pairs,
                ..plain(&format!("v1/kv/{prefix}"))
            },
            _ => return Err("Must specify a single prefix to watch".into()),
        },
        "services" => plain("v1/catalog/services"),
        "nodes" => plain("v1/catalog/nodes"),
        "service" => match given.text("service") {
            Some(service) if !service.is_empty() => {
                let tags = given.texts("tag").into_iter();
                let mut parameters: Vec<_> = tags.map(|tag| ("tag", tag.to_owned())).collect();
                if given.is_set("passingonly") {
                    parameters.push(("passing", "1".to_owned()));
                }
                View {
                    parameters,
                    shape: Shape::Instances,
                    ..plain(&format!("v1/health/service/{service}"))
                }
            }
            _ => return Err("Must specify a single service to watch".into()),
        },
        "checks" => {
            let path = match (filled(given, "service"), filled(given, "state")) {
                (Some(_), Some(_)) => return Err("Cannot specify service and state".into()),
                (Some(service), None) => format!("v1/health/checks/{service}"),
                (None, state) => format!("v1/health/state/{}", state.unwrap_or("any")),
            };
            View {
                shape: Shape::Checks,
                ..plain(&path)
            }
        }
        "event" => View {
            parameters: filled(given, "name")
                .map(|name| ("name", name.to_owned()))
                .into_iter()
                .collect(),
            ..plain("v1/event/list")
        },
        kind @ ("connect_roots" | "connect_leaf" | "agent_service") => {
            return Err(format!("Type {kind} is not supported in the CLI tool").into());
        }
        other => return Err(format!("Unsupported watch type: {other}").into()),
    })
}

/// A flag that is given and not empty: Consul's verb knows no difference between the others.
fn filled<'g>(given: &'g Given, flag: &str) -> Option<&'g str> {
    given.text(flag).filter(|text| !text.is_empty())
}

/// Refuses what belongs to another type, after all that a type asks for.
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
        .filter(|flag| !own.contains(flag) && filled(given, flag).is_some())
        .collect();
    if strangers.is_empty() {
        return Ok(());
    }
    Err(format!("Invalid parameters: [{}]", strangers.join(" ")).into())
}

async fn watch(given: Given) -> Outcome {
    if let Some(text) = filled(&given, "passingonly")
        && let Err(error) = parse_bool(text)
    {
        return Err(format!("Failed to parse passingonly flag: {error}").into());
    }
    let view = view(&given)?;
    refuse_strangers(&given)?;
    let client = given.client()?;
    if given.rest().is_empty() {
        let (text, _) = read(&client, &view, 0)
            .await
            .map_err(super::because("Error querying Consul agent"))?;
        return Ok(text + "\n");
    }
    let mut signals = Signals::listen().map_err(|error| error.to_string())?;
    tokio::select! {
        never = follow(&given, &client, &view) => never,
        _ = signals.next() => Ok(String::new()),
    }
}

/// Runs the program for the present state and for each that follows.
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
                // As Consul's watches: 5 s times the square of the failures in a row, up to 3 minutes.
                failures = failures.saturating_add(1);
                let pause = (5 * u64::from(failures) * u64::from(failures)).min(180);
                output::err(&format!(
                    "Error: {}, retry in {pause}s\n",
                    super::go_text(&error)
                ));
                index = 0;
                crate::clock::machine_sleep(std::time::Duration::from_secs(pause)).await;
            }
        }
    }
}

async fn handle(words: &[String], shell: bool, text: &str, index: u64) -> Result<(), Failure> {
    let failed = |error: String| Failure::from(format!("Error executing handler: {error}"));
    let mut command = child::command(words, shell);
    command.env("CONSUL_INDEX", index.to_string());
    let mut program = child::start(command, Stdio::piped()).map_err(failed)?;
    if let Some(mut input) = program.stdin.take() {
        // A program that does not read its input is none the worse for it.
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

/// The state as it is printed, and its index.
async fn read(client: &Client, view: &View, index: u64) -> Result<(String, u64), Error> {
    let options: QueryOptions = client.options().clone().index(index);
    let client = client.with(options);
    let parameters: Vec<(&'static str, &str)> = view
        .parameters
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let below = view.path.trim_start_matches("v1/kv/");
    let (shown, index) = match view.shape {
        Shape::Whole | Shape::Instances | Shape::Checks => {
            let answer = client.read(&view.path, &parameters).await?;
            let shown = match view.shape {
                Shape::Instances => shown::instances(&answer.value),
                Shape::Checks => shown::checks(&answer.value),
                Shape::Whole | Shape::FirstPair | Shape::Pairs => Ok(answer.value.clone()),
            };
            // What is no JSON is shown as it came.
            (shown.unwrap_or(answer.value), answer.meta.index)
        }
        Shape::FirstPair => {
            let answer = client.kv().get(below).await?;
            let shown = answer.value.as_ref().map_or("null".to_owned(), pair);
            (shown, answer.meta.index)
        }
        Shape::Pairs => {
            let answer = client.kv().list(below).await?;
            let pairs: Vec<String> = answer.value.iter().map(pair).collect();
            let shown = if pairs.is_empty() {
                "null".to_owned()
            } else {
                format!("[{}]", pairs.join(","))
            };
            (shown, answer.meta.index)
        }
    };
    Ok((indented(&shown), index))
}

/// A key in the order of fields of Consul's Go client, which its watches print.
fn pair(pair: &proconsul_client::Pair) -> String {
    let text = shown::text;
    let session = pair.session.as_ref().map_or("", |session| session.as_str());
    format!(
        r#"{{"Key":{},"CreateIndex":{},"ModifyIndex":{},"LockIndex":{},"Flags":{},"Value":{},"Session":{}}}"#,
        text(&pair.key),
        pair.create_index,
        pair.modify_index,
        pair.lock_index,
        pair.flags,
        if pair.value.is_empty() {
            "null".to_owned()
        } else {
            text(&STANDARD.encode(&pair.value))
        },
        text(session),
    )
}

/// JSON with four spaces for each level, its fields in the order in which they came.
fn indented(json: &str) -> String {
    let mut text = String::new();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut characters = json.trim().chars().peekable();
    while let Some(character) = characters.next() {
        if quoted {
            text.push(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            ' ' | '\n' | '\t' | '\r' => {}
            '"' => {
                quoted = true;
                text.push(character);
            }
            '{' | '[' => {
                text.push(character);
                while characters.next_if(|next| next.is_whitespace()).is_some() {}
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(end);
                } else {
                    depth += 1;
                    text += &line(depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                text += &line(depth);
                text.push(character);
            }
            ',' => {
                text.push(character);
                text += &line(depth);
            }
            ':' => text += ": ",
            other => text.push(other),
        }
    }
    text
}

fn line(depth: usize) -> String {
    format!("\n{}", "    ".repeat(depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_in_the_order_in_which_it_came() {
        let compact = r#"{"b":[1,{"a":"x:,{\"y"}],"e":{},"l":[]}"#;
        let wide = "{\n    \"b\": [\n        1,\n        {\n            \"a\": \"x:,{\\\"y\"\n        }\n    ],\n    \"e\": {},\n    \"l\": []\n}";
        assert_eq!(indented(compact), wide);
        assert_eq!(indented(wide), wide);
    }
}
