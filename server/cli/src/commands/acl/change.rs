//! The verbs that create and change policies, tokens and roles.

use proconsul_client::Client;
use serde_json::{Map, Value, json};

use super::legacy::{legacy_rules, translated};
use super::links::{Linked, Merge, has_any};
use super::object::{POLICY, ROLE, TOKEN, Verb, to_json};
use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, source};

/// Sets fields of a body for which the command line has values.
pub(super) fn set(body: &mut Map<String, Value>, fields: &[(&str, Option<&str>)]) {
    for (name, value) in fields {
        if let Some(value) = value {
            body.insert((*name).to_owned(), (*value).into());
        }
    }
}

pub(super) async fn create_policy(given: Given) -> Outcome {
    let name = given.filled("name");
    if name.is_none() {
        return Err("Missing require '-name' flag".into());
    }
    let client = given.client()?;
    let rules = rules(&given, &client).await.map_err(|failure| Failure {
        text: format!("Error loading rules: {}", failure.text),
        ..failure
    })?;
    let mut body = Map::new();
    let description = given.filled("description");
    set(
        &mut body,
        &[
            ("Name", name),
            ("Description", description),
            ("Rules", Some(&rules)),
        ],
    );
    datacenters(&given, &mut body);
    POLICY.create(&given, &client, &body).await
}

/// Returns the rules of a new policy.
async fn rules(given: &Given, client: &Client) -> Result<String, Failure> {
    match (given.filled("rules"), given.filled("from-token")) {
        (Some(_), Some(_)) => Err("Cannot specify both -rules and -from-token".into()),
        (Some(rules), None) => Ok(source::load_text(rules)?),
        (None, Some(token)) => {
            let rules = legacy_rules(client, token, given.is_set("token-secret")).await?;
            Ok(translated(&rules)?)
        }
        (None, None) => Ok(String::new()),
    }
}

fn datacenters(given: &Given, body: &mut Map<String, Value>) {
    let datacenters = given.texts("valid-datacenter");
    if !datacenters.is_empty() {
        body.insert("Datacenters".to_owned(), json!(datacenters));
    }
}

pub(super) async fn update_policy(given: Given) -> Outcome {
    let client = given.client()?;
    let id = POLICY.identify(&given, &client, Verb::Update).await?;
    let rules = given.text("rules").map(source::load_text).transpose();
    let rules = rules.map_err(|why| format!("Error loading data source: {why}"))?;
    let mut body = if given.is_set("no-merge") {
        Map::new()
    } else {
        POLICY.current(&client, &id).await?
    };
    set(
        &mut body,
        &[
            ("Name", given.filled("name")),
            ("Description", given.text("description")),
            ("Rules", rules.as_deref()),
        ],
    );
    datacenters(&given, &mut body);
    POLICY.update(&given, &client, &id, body).await
}

pub(super) async fn create_token(given: Given) -> Outcome {
    if !has_any(&given) {
        return Err("Cannot create a token without specifying -policy-name, -policy-id, -role-name, -role-id, \
                    -service-identity, or -node-identity at least once"
            .into());
    }
    let client = given.client()?;
    let mut body = Map::new();
    let ttl = given.time("expires-ttl").filter(|ttl| !ttl.is_zero());
    set(
        &mut body,
        &[
            ("AccessorID", given.filled("accessor")),
            ("SecretID", given.filled("secret")),
            ("Description", given.filled("description")),
            ("ExpirationTTL", ttl.and(given.text("expires-ttl"))),
        ],
    );
    body.insert("Local".to_owned(), given.is_set("local").into());
    let identities = Linked::identities(&given)?;
    identities.into_body(&given, Merge::Nothing, &mut body);
    let others = Linked::policies_and_roles(&given, &client).await?;
    others.into_body(&given, Merge::Nothing, &mut body);
    TOKEN.create(&given, &client, &body).await
}

pub(super) async fn clone_token(given: Given) -> Outcome {
    let client = given.client()?;
    let id = TOKEN.identify(&given, &client, Verb::Update).await?;
    let mut body = Map::new();
    set(&mut body, &[("Description", given.filled("description"))]);
    let path = TOKEN.path(&format!("{id}/clone"));
    let cloned = client.write(&path, &[], to_json(&body)).await;
    TOKEN.print(&given, &cloned.map_err(because("Error cloning token"))?)
}

pub(super) async fn update_token(given: Given) -> Outcome {
    let client = given.client()?;
    let id = TOKEN.identify(&given, &client, Verb::Update).await?;
    let mut body = TOKEN.current(&client, &id).await?;
    if given.is_set("upgrade-legacy") {
        let is_legacy = |rules: &Value| rules.as_str().is_some_and(|rules| !rules.is_empty());
        if !body.remove("Rules").as_ref().is_some_and(is_legacy) {
            return Err("Can't use -upgrade-legacy on a non-legacy token".into());
        }
    }
    set(&mut body, &[("Description", given.filled("description"))]);
    let identities = Linked::identities(&given)?;
    identities.into_body(&given, Merge::AsAsked, &mut body);
    let others = Linked::policies_and_roles(&given, &client).await?;
    others.into_body(&given, Merge::AsAsked, &mut body);
    TOKEN.update(&given, &client, &id, body).await
}

pub(super) async fn create_role(given: Given) -> Outcome {
    let name = given.filled("name");
    if name.is_none() {
        return Err("Missing require '-name' flag".into());
    }
    if !has_any(&given) {
        return Err("Cannot create a role without specifying -policy-name, -policy-id, -service-identity, or \
                    -node-identity at least once"
            .into());
    }
    let client = given.client()?;
    let mut body = Map::new();
    set(
        &mut body,
        &[("Name", name), ("Description", given.filled("description"))],
    );
    let policies = Linked::policies(&given, &client).await?;
    policies.into_body(&given, Merge::Nothing, &mut body);
    let identities = Linked::identities(&given)?;
    identities.into_body(&given, Merge::Nothing, &mut body);
    ROLE.create(&given, &client, &body).await
}

pub(super) async fn update_role(given: Given) -> Outcome {
    let client = given.client()?;
    let id = ROLE.identify(&given, &client, Verb::Update).await?;
    let identities = Linked::identities(&given)?;
    let mut body = ROLE.current(&client, &id).await?;
    let mut merge = Merge::All;
    if given.is_set("no-merge") {
        (body, merge) = (Map::new(), Merge::Nothing);
    }
    set(
        &mut body,
        &[
            ("Name", given.filled("name")),
            ("Description", given.filled("description")),
        ],
    );
    let policies = Linked::policies(&given, &client).await?;
    policies.into_body(&given, merge, &mut body);
    identities.into_body(&given, merge, &mut body);
    ROLE.update(&given, &client, &id, body).await
}
