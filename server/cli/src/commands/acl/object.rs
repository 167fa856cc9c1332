//! What policies, tokens, roles, auth methods and binding rules have in common: their paths, how one is found, and the
//! verbs `read`, `list` and `delete`.

use proconsul_client::Client;
use serde_json::{Map, Value};

use super::shape::{self, Shape};
use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, go_text};

/// One of the five kinds of objects.
pub(super) struct Kind {
    /// The name in texts.
    pub(super) noun: &'static str,
    /// The name in texts about ids.
    short: &'static str,
    /// The path of one object, of which the list's path is made.
    one: &'static str,
    all: &'static str,
    /// The field that names an object in paths.
    id: &'static str,
    /// Whether `-name` finds one for `update` and `delete`, and for `read`: by the list, or by a path of its own.
    name: ByName,
    pub(super) shape: Shape,
    /// The texts of `read`, `update` and `delete` about a command line that names no object.
    unnamed: [&'static str; 3],
    /// The text before an error of `update`; the id stands for `%`.
    updating: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByName {
    No,
    /// All verbs list all objects and look for the name.
    Listed,
    /// `read` has a path with the name; `delete` lists; `update` takes the name for a new one.
    Role,
}

/// The verbs that name an object.
#[derive(Clone, Copy)]
pub(super) enum Verb {
    Read,
    Update,
    Delete,
}

pub(super) const POLICY: Kind = Kind {
    noun: "policy",
    short: "policy",
    one: "v1/acl/policy",
    all: "v1/acl/policies",
    id: "ID",
    name: ByName::Listed,
    shape: shape::POLICY,
    unnamed: ["Must specify either the -id or -name parameters"; 3],
    updating: "Error updating policy \"%\"",
};

pub(super) const TOKEN: Kind = Kind {
    noun: "token",
    short: "token",
    one: "v1/acl/token",
    all: "v1/acl/tokens",
    id: "AccessorID",
    name: ByName::No,
    shape: shape::TOKEN,
    unnamed: [
        "Must specify the -id parameter",
        "Cannot update a token without specifying the -id parameter",
        "Must specify the -id parameter",
    ],
    updating: "Failed to update token %",
};

pub(super) const ROLE: Kind = Kind {
    noun: "role",
    short: "role",
    one: "v1/acl/role",
    all: "v1/acl/roles",
    id: "ID",
    name: ByName::Role,
    shape: shape::ROLE,
    unnamed: [
        "Must specify either the -id or -name parameters",
        "Cannot update a role without specifying the -id parameter",
        "Must specify the -id or -name parameters",
    ],
    updating: "Error updating role \"%\"",
};

pub(super) const AUTH_METHOD: Kind = Kind {
    noun: "auth method",
    short: "auth method",
    one: "v1/acl/auth-method",
    all: "v1/acl/auth-methods",
    id: "Name",
    name: ByName::No,
    shape: shape::AUTH_METHOD,
    unnamed: [
        "Must specify the -name parameter",
        "Cannot update an auth method without specifying the -name parameter",
        "Must specify the -name parameter",
    ],
    updating: "Error updating auth method \"%\"",
};

pub(super) const BINDING_RULE: Kind = Kind {
    noun: "binding rule",
    short: "rule",
    one: "v1/acl/binding-rule",
    all: "v1/acl/binding-rules",
    id: "ID",
    name: ByName::No,
    shape: shape::BINDING_RULE,
    unnamed: [
        "Must specify the -id parameter.",
        "Cannot update a binding rule without specifying the -id parameter",
        "Must specify the -id parameter",
    ],
    updating: "Error updating binding rule \"%\"",
};

/// The AccessorID of the anonymous token.
const ANONYMOUS: &str = "00000000-0000-0000-0000-000000000002";

impl Kind {
    fn capitalised(&self) -> String {
        let (first, rest) = self.noun.split_at(1);
        first.to_ascii_uppercase() + rest
    }

    /// Returns the id, or the name of an auth method, that a command line gives.
    pub(super) async fn identify(
        &self,
        given: &Given,
        client: &Client,
        verb: Verb,
    ) -> Result<String, Failure> {
        let unnamed = || Failure::from(self.unnamed[verb as usize]);
        if self.id == "Name" {
            return given.filled("name").map(str::to_owned).ok_or_else(unnamed);
        }
        let by_name = match self.name {
            ByName::No => false,
            ByName::Listed => true,
            ByName::Role => matches!(verb, Verb::Delete),
        };
        let name = given.filled("name").filter(|_| by_name);
        let found = match (given.filled("id"), name) {
            (Some(id), _) => self.complete(client, id).await,
            (None, Some(name)) => self.named(client, name).await,
            (None, None) => return Err(unnamed()),
        };
        found.map_err(|why| format!("Error determining {} ID: {why}", self.noun).into())
    }

    /// Completes the beginning of an id.
    ///
    /// # Errors
    /// No object has such an id, or several do.
    pub(super) async fn complete(&self, client: &Client, id: &str) -> Result<String, String> {
        const WHOLE: usize = 36;
        if id.len() == WHOLE {
            return Ok(id.to_owned());
        }
        if id == "anonymous" && self.id == "AccessorID" {
            return Ok(ANONYMOUS.to_owned());
        }
        let all = self
            .ids(client, |object| self.id_of(object).starts_with(id))
            .await?;
        match &all[..] {
            [] => Err(format!("No such {} ID with prefix: {id}", self.short)),
            [one] => Ok(one.clone()),
            _ => Err(format!("Partial {} ID is not unique", self.short)),
        }
    }

    async fn named(&self, client: &Client, name: &str) -> Result<String, String> {
        let all = self.ids(client, |object| object["Name"] == name).await?;
        let first = all.into_iter().next();
        first.ok_or_else(|| format!("No such {} with name {name}", self.noun))
    }

    async fn ids(
        &self,
        client: &Client,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Result<Vec<String>, String> {
        let answer = client.read(self.all, &[]).await;
        let answer = answer.map_err(|error| go_text(&error))?;
        let all: Vec<Value> =
            serde_json::from_str(&answer.value).map_err(|error| error.to_string())?;
        let wanted = all.iter().filter(|object| is_wanted(object));
        Ok(wanted.map(|object| self.id_of(object).to_owned()).collect())
    }

    fn id_of<'v>(&self, object: &'v Value) -> &'v str {
        object[self.id].as_str().unwrap_or_default()
    }

    /// Returns the path of an object. Names of auth methods and ids need no escapes.
    pub(super) fn path(&self, id: &str) -> String {
        format!("{}/{id}", self.one)
    }

    /// Reads an object. A missing one is no error of its own for policies and tokens, which Consul answers with 403.
    pub(super) async fn fetch(
        &self,
        client: &Client,
        id: &str,
        failed: &str,
    ) -> Result<String, Failure> {
        let by = if self.id == "Name" { "name" } else { "ID" };
        self.fetch_at(client, &self.path(id), (by, id), failed)
            .await
    }

    async fn fetch_at(
        &self,
        client: &Client,
        path: &str,
        (by, which): (&str, &str),
        failed: &str,
    ) -> Result<String, Failure> {
        match client.read(path, &[]).await {
            Ok(answer) => Ok(answer.value),
            Err(error) if error.is_not_found() => {
                Err(format!("{} not found with {by} {which:?}", self.capitalised()).into())
            }
            Err(error) => Err(because(failed)(error)),
        }
    }

    /// Reads an object that is to be changed.
    pub(super) async fn current(
        &self,
        client: &Client,
        id: &str,
    ) -> Result<Map<String, Value>, Failure> {
        let failed = match self.name {
            ByName::Listed => format!("Error reading {} {id:?}", self.noun),
            _ => format!("Error when retrieving current {}", self.noun),
        };
        let answer = self.fetch(client, id, &failed).await?;
        serde_json::from_str(&answer).map_err(|error| format!("{failed}: {error}").into())
    }

    /// Creates an object, and prints it.
    pub(super) async fn create(
        &self,
        given: &Given,
        client: &Client,
        body: &Map<String, Value>,
    ) -> Outcome {
        let failed = because(&format!("Failed to create new {}", self.noun));
        let answer = client.write(self.one, &[], to_json(body)).await;
        self.print(given, &answer.map_err(failed)?)
    }

    /// Changes an object, and prints it.
    pub(super) async fn update(
        &self,
        given: &Given,
        client: &Client,
        id: &str,
        mut body: Map<String, Value>,
    ) -> Outcome {
        body.insert(self.id.to_owned(), id.into());
        let failed = because(&self.updating.replace('%', id));
        let answer = client.write(&self.path(id), &[], to_json(&body)).await;
        self.print(given, &answer.map_err(failed)?)
    }

    pub(super) fn print(&self, given: &Given, answer: &str) -> Outcome {
        let format = given.text("format").unwrap_or("pretty");
        Ok(shape::print(
            &self.shape,
            answer,
            format,
            given.is_set("meta"),
        )?)
    }
}

pub(super) fn to_json(body: &Map<String, Value>) -> Vec<u8> {
    serde_json::to_vec(body).expect("texts, numbers and lists of them are JSON")
}

pub(super) async fn list(kind: &'static Kind, given: Given) -> Outcome {
    let method = given.filled("method").map(|method| ("authmethod", method));
    let parameters: Vec<_> = method.into_iter().collect();
    let listed = given.client()?.read(kind.all, &parameters).await;
    let failed = because(&format!("Failed to retrieve the {} list", kind.noun));
    kind.print(&given, &listed.map_err(failed)?.value)
}

pub(super) async fn read(kind: &'static Kind, given: Given) -> Outcome {
    let client = given.client()?;
    if given.is_set("self") {
        let answer = client.read(&kind.path("self"), &[]).await;
        let answer = answer.map_err(because("Error reading token"))?;
        return kind.print(&given, &answer.value);
    }
    let failed = |which: &str| format!("Error reading {} {which:?}", kind.noun);
    let answer = match (given.filled("id"), given.filled("name")) {
        (None, Some(name)) if kind.name == ByName::Role => {
            let (path, failed) = (kind.path(&format!("name/{name}")), failed(name));
            let answer = kind.fetch_at(&client, &path, ("name", name), &failed);
            answer.await?
        }
        _ => {
            let id = kind.identify(&given, &client, Verb::Read).await?;
            kind.fetch(&client, &id, &failed(&id)).await?
        }
    };
    kind.print(&given, &answer)
}

pub(super) async fn delete(kind: &'static Kind, given: Given) -> Outcome {
    let client = given.client()?;
    let id = kind.identify(&given, &client, Verb::Delete).await?;
    let deleted = client.delete(&kind.path(&id), &[]).await;
    deleted.map_err(because(&format!("Error deleting {} {id:?}", kind.noun)))?;
    Ok(format!(
        "{} {id:?} deleted successfully\n",
        kind.capitalised()
    ))
}
