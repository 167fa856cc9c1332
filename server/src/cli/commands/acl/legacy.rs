//! Rules in the language before 1.4, and tokens that have them.

use proconsul_client::{Client, Error, QueryOptions};
use serde_json::Value;

use super::object::TOKEN;
use crate::cli::commands::flags::Given;
use crate::cli::commands::{Failure, Outcome, because, go_text, source};

/// Returns the rules of a legacy token.
///
/// # Errors
/// The token is missing, or has policies.
pub(super) async fn legacy_rules(
    client: &Client,
    token: &str,
    is_secret: bool,
) -> Result<String, Failure> {
    const READING: &str = "Error reading token";
    // Consul looks for a SecretID among the AccessorIDs too.
    let id = TOKEN.complete(client, token).await?;
    let found = if is_secret {
        let options: QueryOptions = client.options().clone();
        let own = client
            .with(options.token(id))
            .read(&TOKEN.path("self"), &[])
            .await;
        own.map_err(because(READING))?.value
    } else {
        TOKEN.fetch(client, &id, READING).await?
    };
    let found: Value = serde_json::from_str(&found).unwrap_or_default();
    match found["Rules"].as_str() {
        None | Some("") => Err("Token is not a legacy token with rules".into()),
        Some(rules) => Ok(rules.to_owned()),
    }
}

/// Has the server translate rules.
///
/// # Errors
/// The rules are invalid, or the server is not asked.
pub(super) async fn translated(client: &Client, rules: &str) -> Result<String, String> {
    let answer = client.acl().translate_rules(rules).await;
    answer.map_err(|error| match error {
        Error::Status { status: 400, text } => {
            let why = text.strip_prefix("Bad request: ").unwrap_or(&text);
            format!("Error translating rules: {why}")
        }
        other => format!("Error translating rules: {}", go_text(&other)),
    })
}

/// Translates rules. Consul's command does it by itself; this one asks the server, which needs a token for it.
pub(super) async fn translate_rules(given: Given) -> Outcome {
    let rules = match given.rest() {
        [] => return Err("Error! Missing TRANSLATE argument".into()),
        [rules] => rules,
        more => {
            let got = more.len();
            return Err(format!("Error! Too many arguments: expected 1 got {got}").into());
        }
    };
    let is_secret = given.is_set("token-secret");
    let is_accessor = given.is_set("token-accessor");
    if is_secret && is_accessor {
        return Err("Error - cannot specify both -token-secret and -token-accessor".into());
    }
    let mut rules = source::load_text(rules).map_err(|why| format!("Error! {why}"))?;
    let client = given.client()?;
    if is_secret || is_accessor {
        rules = legacy_rules(&client, &rules, is_secret).await?;
    }
    Ok(translated(&client, &rules).await? + "\n")
}
