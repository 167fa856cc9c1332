//! Who is healthy. Source: Consul's HTTP API, health.

use serde::Deserialize;

use crate::api::catalog::{Check, Node, Service, Status};
use crate::client::Client;
use crate::error::Error;
use crate::json;
use crate::query::Answer;
use crate::transport::{Call, segment};

/// A service instance with its node and all checks that decide on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct ServiceEntry {
    /// Where it runs.
    pub node: Node,
    /// The instance.
    pub service: Service,
    /// The checks of the instance and of its node.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub checks: Vec<Check>,
}

impl ServiceEntry {
    /// Where to reach the instance: its own address, or its node's.
    #[must_use]
    pub fn address(&self) -> (&str, u16) {
        let own = &self.service.address;
        let host = if own.is_empty() {
            &self.node.address
        } else {
            own
        };
        (host, self.service.port)
    }
}

/// Health, from [`Client::health`].
#[derive(Debug)]
pub struct Health<'c> {
    client: &'c Client,
}

impl Client {
    /// Who is healthy.
    #[must_use]
    pub fn health(&self) -> Health<'_> {
        Health { client: self }
    }
}

impl Health<'_> {
    /// The instances of a service, whatever their checks say.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn service(&self, service: &str) -> Result<Answer<Vec<ServiceEntry>>, Error> {
        self.client
            .list(format!("v1/health/service/{}", segment(service)?))
            .await
    }

    /// The instances of a service of which all checks pass.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn passing(&self, service: &str) -> Result<Answer<Vec<ServiceEntry>>, Error> {
        let path = format!("v1/health/service/{}", segment(service)?);
        let call = Call::read(self.client, path).parameter("passing", "");
        self.client.send(call, &[]).await?.json_or_empty()
    }

    /// The checks of all instances of a service.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn checks(&self, service: &str) -> Result<Answer<Vec<Check>>, Error> {
        self.client
            .list(format!("v1/health/checks/{}", segment(service)?))
            .await
    }

    /// All checks of a node and of what runs on it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn node(&self, node: &str) -> Result<Answer<Vec<Check>>, Error> {
        self.client
            .list(format!("v1/health/node/{}", segment(node)?))
            .await
    }

    /// All checks that say this; `None` for all checks.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn state(&self, status: Option<Status>) -> Result<Answer<Vec<Check>>, Error> {
        let state = match status {
            None => "any",
            Some(Status::Passing) => "passing",
            Some(Status::Warning) => "warning",
            Some(Status::Critical) => "critical",
            Some(Status::Maintenance) => "maintenance",
        };
        self.client.list(format!("v1/health/state/{state}")).await
    }
}
