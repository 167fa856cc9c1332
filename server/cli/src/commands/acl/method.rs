//! The verbs that create and change auth methods and binding rules.

use serde_json::{Map, Value};

use super::change::set;
use super::object::{AUTH_METHOD, BINDING_RULE, Verb};
use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, source};
use proconsul_gocompat::json::document::document;
use proconsul_gocompat::json::value::ValueKind;

/// The flags of the type `kubernetes`, with their fields of its configuration.
const KUBERNETES: &[(&str, &str)] = &[
    ("kubernetes-host", "Host"),
    ("kubernetes-ca-cert", "CACert"),
    ("kubernetes-service-account-jwt", "ServiceAccountJWT"),
];

fn required<'g>(given: &'g Given, flag: &str) -> Result<&'g str, Failure> {
    let text = given.filled(flag);
    text.ok_or_else(|| format!("Missing required '-{flag}' flag").into())
}

pub(super) async fn create_auth_method(given: Given) -> Outcome {
    let kind = required(&given, "type")?;
    required(&given, "name")?;
    let mut body = Map::new();
    set(
        &mut body,
        &[("Name", given.filled("name")), ("Type", Some(kind))],
    );
    describe(&given, &mut body);
    let config = match config(&given, "Error parsing JSON configuration file")? {
        None if kind == "kubernetes" => Some(kubernetes(&given, true)?.into()),
        other => other,
    };
    body.extend(config.map(|config| ("Config".to_owned(), config)));
    AUTH_METHOD.create(&given, &given.client()?, &body).await
}

pub(super) async fn update_auth_method(given: Given) -> Outcome {
    let client = given.client()?;
    let name = AUTH_METHOD.identify(&given, &client, Verb::Update).await?;
    let mut body = AUTH_METHOD.current(&client, &name).await?;
    let replaces = given.is_set("no-merge");
    if replaces {
        body.retain(|field, _| field == "Type");
    }
    describe(&given, &mut body);
    let config = match config(&given, "Error parsing JSON for auth method config")? {
        None if body.get("Type").is_some_and(|kind| kind == "kubernetes") => {
            let mut config = match body.remove("Config") {
                Some(Value::Object(config)) => config,
                _ => Map::new(),
            };
            config.extend(kubernetes(&given, replaces)?);
            Some(config.into())
        }
        other => other,
    };
    body.extend(config.map(|config| ("Config".to_owned(), config)));
    AUTH_METHOD.update(&given, &client, &name, body).await
}

fn describe(given: &Given, body: &mut Map<String, Value>) {
    let ttl = given.time("max-token-ttl").filter(|ttl| !ttl.is_zero());
    set(
        body,
        &[
            ("DisplayName", given.filled("display-name")),
            ("Description", given.filled("description")),
            ("MaxTokenTTL", ttl.and(given.text("max-token-ttl"))),
            ("TokenLocality", given.filled("token-locality")),
        ],
    );
}

/// Returns the configuration of `-config`.
fn config(given: &Given, wrong: &str) -> Result<Option<Value>, Failure> {
    let Some(config) = given.filled("config") else {
        return Ok(None);
    };
    if KUBERNETES
        .iter()
        .any(|(flag, _)| given.filled(flag).is_some())
    {
        return Err("Cannot use command line arguments with '-config' flags".into());
    }
    let text = source::load_text(config)
        .map_err(|why| format!("Error loading configuration file: {why}"))?;
    let parsed = document(text.as_bytes()).and_then(|document| {
        let found = match document.value().kind() {
            ValueKind::Object | ValueKind::Null => return Ok(()),
            ValueKind::Bool(_) => "bool",
            ValueKind::Number(_) => "number",
            ValueKind::String(_) => "string",
            ValueKind::Array => "array",
        };
        Err(format!(
            "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        ))
    });
    parsed.map_err(|why| format!("{wrong}: {why}"))?;
    let value = serde_json::from_str(&text).map_err(|error| format!("{wrong}: {error}"))?;
    Ok(Some(value))
}

/// Returns the configuration of the flags for `kubernetes`.
fn kubernetes(given: &Given, all_required: bool) -> Result<Map<String, Value>, Failure> {
    for (flag, _) in KUBERNETES.iter().filter(|_| all_required) {
        required(given, flag)?;
    }
    let mut config = Map::new();
    for (flag, field) in KUBERNETES {
        let Some(text) = given.filled(flag) else {
            continue;
        };
        let text = match *field {
            "CACert" => {
                source::load_text(text).map_err(|why| format!("Invalid '-{flag}' value: {why}"))?
            }
            _ => text.to_owned(),
        };
        config.insert((*field).to_owned(), text.into());
    }
    Ok(config)
}

pub(super) async fn create_binding_rule(given: Given) -> Outcome {
    let method = required(&given, "method")?;
    let name = required(&given, "bind-name")?;
    let mut body = Map::new();
    set(
        &mut body,
        &[
            ("AuthMethod", Some(method)),
            ("BindName", Some(name)),
            ("BindType", Some(bind_type(&given))),
            ("Description", given.filled("description")),
            ("Selector", given.filled("selector")),
        ],
    );
    BINDING_RULE.create(&given, &given.client()?, &body).await
}

pub(super) async fn update_binding_rule(given: Given) -> Outcome {
    let client = given.client()?;
    let id = BINDING_RULE.identify(&given, &client, Verb::Update).await?;
    let mut body = BINDING_RULE.current(&client, &id).await?;
    if given.is_set("no-merge") {
        required(&given, "bind-name")?;
        body.retain(|field, _| field == "AuthMethod");
    }
    // Consul takes the default of -bind-type for given.
    let kind = Some(bind_type(&given)).filter(|kind| !kind.is_empty());
    set(
        &mut body,
        &[
            ("BindName", given.filled("bind-name")),
            ("BindType", kind),
            ("Description", given.filled("description")),
            ("Selector", given.text("selector")),
        ],
    );
    BINDING_RULE.update(&given, &client, &id, body).await
}

fn bind_type(given: &Given) -> &str {
    given.text("bind-type").unwrap_or("service")
}
