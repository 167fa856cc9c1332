//! Prepared queries. Source: Consul's HTTP API, prepared queries.

use serde::{Deserialize, Serialize};

use crate::api::health::ServiceEntry;
use crate::api::session::SessionId;
use crate::client::Client;
use crate::error::Error;
use crate::json;
use crate::query::Answer;
use crate::transport::{Call, segment};

/// A lookup of a service that Consul keeps under a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PreparedQuery {
    /// Its id; empty when it is to be created.
    #[serde(rename = "ID", default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What it can be asked for by.
    #[serde(default)]
    pub name: String,
    /// The session with which it is deleted.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "json::empty_is_none"
    )]
    pub session: Option<SessionId>,
    /// What it looks up.
    pub service: ServiceQuery,
}

/// What a prepared query looks up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ServiceQuery {
    /// The service's name.
    pub service: String,
    /// Only instances of which all checks pass (else also those that warn).
    pub only_passing: bool,
    /// Tags that an instance must have; with `!` before it, must not.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub tags: Vec<String>,
    /// Sorts by the distance from this node.
    pub near: String,
}

/// What an execution found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct Executed {
    /// The service that was looked up.
    pub service: String,
    /// Its instances.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub nodes: Vec<ServiceEntry>,
    /// The datacenter that answered.
    pub datacenter: String,
    /// How many other datacenters were queried without a result.
    pub failovers: u32,
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "ID")]
    id: String,
}

/// Prepared queries, from [`Client::prepared_queries`].
#[derive(Debug)]
pub struct PreparedQueries<'c> {
    client: &'c Client,
}

impl Client {
    /// Prepared queries.
    #[must_use]
    pub fn prepared_queries(&self) -> PreparedQueries<'_> {
        PreparedQueries { client: self }
    }
}

impl PreparedQueries<'_> {
    /// Creates a query and gives its id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create(&self, query: &PreparedQuery) -> Result<String, Error> {
        let call = Call::write(self.client, "v1/query")
            .method(reqwest::Method::POST)
            .json(query);
        let created: Answer<Created> = self.client.send(call, &[]).await?.json()?;
        Ok(created.value.id)
    }

    /// Replaces the query with this id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn update(&self, query: &PreparedQuery) -> Result<(), Error> {
        let path = format!("v1/query/{}", segment(&query.id)?);
        let call = Call::write(self.client, path).json(query);
        self.client.send(call, &[]).await.map(|_| ())
    }

    /// Deletes a query.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        let path = format!("v1/query/{}", segment(id)?);
        let call = Call::write(self.client, path).method(reqwest::Method::DELETE);
        self.client.send(call, &[]).await.map(|_| ())
    }

    /// All queries.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list(&self) -> Result<Answer<Vec<PreparedQuery>>, Error> {
        self.client.list("v1/query".to_owned()).await
    }

    /// One query by id; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get(&self, id: &str) -> Result<Option<PreparedQuery>, Error> {
        let path = format!("v1/query/{}", segment(id)?);
        let raw = self
            .client
            .send(Call::read(self.client, path), &[404])
            .await?;
        if raw.status == 404 {
            return Ok(None);
        }
        let queries: Answer<Vec<PreparedQuery>> = raw.json()?;
        Ok(queries.value.into_iter().next())
    }

    /// Looks up what a query, by id or name, describes.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn execute(&self, id_or_name: &str) -> Result<Answer<Executed>, Error> {
        let path = format!("v1/query/{}/execute", segment(id_or_name)?);
        self.client
            .send(Call::read(self.client, path), &[])
            .await?
            .json()
    }
}
