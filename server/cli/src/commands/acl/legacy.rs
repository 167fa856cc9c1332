//! Rules in the language before 1.4, and tokens that have them.

use proconsul_client::{Client, QueryOptions};
use serde_json::Value;

use super::object::TOKEN;
use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, source};
use proconsul_acl::translate;

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

/// Translates rules. No server is asked (acl.md 12.r8).
///
/// # Errors
/// The rules are invalid.
pub(super) fn translated(rules: &str) -> Result<String, String> {
    translate::translate(rules).map_err(|why| format!("Error translating rules: {why}"))
}

/// Prints rules, or those of a token, in the language since 1.4.
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
    if is_secret || is_accessor {
        rules = legacy_rules(&given.client()?, &rules, is_secret).await?;
    }
    Ok(translated(&rules)? + "\n")
}
