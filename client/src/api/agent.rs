//! The agent that is asked, and what it is told to look after. Source: Consul's HTTP API, agent.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::api::catalog::{Check, Service, ServicePort, Status};
use crate::client::Client;
use crate::duration;
use crate::error::Error;
use crate::json;
use crate::transport::{Call, segment};

/// A service for an agent to look after.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct NewService {
    name: String,
    #[serde(rename = "ID", skip_serializing_if = "String::is_empty")]
    id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    address: String,
    port: u16,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ports: Vec<ServicePort>,
    #[serde(skip_serializing_if = "String::is_empty")]
    socket_path: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    meta: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<NewCheck>,
}

impl NewService {
    /// A service with this name; its id is the name until another is set.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The id of this instance, unique on its agent.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// A tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Where it listens; without an address, the node's.
    #[must_use]
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// The port where it listens.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// One of several named ports, in place of [`NewService::port`] (since 1.22). The first is the default one.
    #[must_use]
    pub fn named_port(mut self, name: impl Into<String>, port: u16) -> Self {
        let default = self.ports.is_empty();
        let name = name.into();
        self.ports.push(ServicePort {
            name,
            port,
            default,
        });
        self
    }

    /// The path of the Unix socket where it listens (since 1.10).
    #[must_use]
    pub fn socket_path(mut self, path: impl Into<String>) -> Self {
        self.socket_path = path.into();
        self
    }

    /// A word about it.
    #[must_use]
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }

    /// A check of it.
    #[must_use]
    pub fn check(mut self, check: NewCheck) -> Self {
        self.checks.push(check);
        self
    }
}

/// A check for an agent to run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct NewCheck {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(rename = "CheckID", skip_serializing_if = "String::is_empty")]
    check_id: String,
    #[serde(rename = "ServiceID", skip_serializing_if = "String::is_empty")]
    service_id: String,
    #[serde(rename = "TTL", skip_serializing_if = "String::is_empty")]
    ttl: String,
    #[serde(rename = "HTTP", skip_serializing_if = "String::is_empty")]
    http: String,
    #[serde(rename = "TCP", skip_serializing_if = "String::is_empty")]
    tcp: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    interval: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "String::is_empty")]
    deregister_critical_service_after: String,
}

impl NewCheck {
    /// A check that turns critical unless it is told `pass` within each `ttl`.
    #[must_use]
    pub fn ttl(ttl: Duration) -> Self {
        Self {
            ttl: duration::format(ttl),
            ..Self::default()
        }
    }

    /// A check that passes while a GET of this URL gives a 2xx.
    #[must_use]
    pub fn http(url: impl Into<String>, interval: Duration) -> Self {
        Self {
            http: url.into(),
            interval: duration::format(interval),
            ..Self::default()
        }
    }

    /// A check that passes while this address takes connections.
    #[must_use]
    pub fn tcp(address: impl Into<String>, interval: Duration) -> Self {
        Self {
            tcp: address.into(),
            interval: duration::format(interval),
            ..Self::default()
        }
    }

    /// Its name, which is its id until another is set.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Its id, unique on its agent.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.check_id = id.into();
        self
    }

    /// The service instance that it belongs to, when it is registered by itself.
    #[must_use]
    pub fn service(mut self, service_id: impl Into<String>) -> Self {
        self.service_id = service_id.into();
        self
    }

    /// What it says before it first ran (Consul's default: critical).
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.status = Some(status);
        self
    }

    /// Removes its service after so long a time of being critical (Consul: at least 1 minute, looked at every 30 s).
    #[must_use]
    pub fn deregister_critical_after(mut self, after: Duration) -> Self {
        self.deregister_critical_service_after = duration::format(after);
        self
    }
}

/// A member of the agent's cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct Member {
    /// The node's name.
    pub name: String,
    /// Its address.
    pub addr: String,
    /// Its port for gossip.
    pub port: u16,
    /// What it says about itself.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub tags: BTreeMap<String, String>,
    /// 1 alive, 2 leaving, 3 left, 4 failed.
    pub status: u8,
}

/// The agent, from [`Client::agent`].
#[derive(Debug)]
pub struct Agent<'c> {
    client: &'c Client,
}

impl Client {
    /// The agent that is asked.
    #[must_use]
    pub fn agent(&self) -> Agent<'_> {
        Agent { client: self }
    }
}

impl Agent<'_> {
    /// Its configuration and state, as JSON: the form differs from version to version.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn config(&self) -> Result<serde_json::Value, Error> {
        let call = Call::read(self.client, "v1/agent/self");
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    /// The members of its cluster.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn members(&self) -> Result<Vec<Member>, Error> {
        Ok(self.client.list("v1/agent/members".to_owned()).await?.value)
    }

    /// The services that it looks after, by id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn services(&self) -> Result<BTreeMap<String, Service>, Error> {
        let call = Call::read(self.client, "v1/agent/services");
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    /// The checks that it runs, by id.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn checks(&self) -> Result<BTreeMap<String, Check>, Error> {
        let call = Call::read(self.client, "v1/agent/checks");
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    /// Gives it a service to look after, or changes one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn register_service(&self, service: &NewService) -> Result<(), Error> {
        let call = Call::write(self.client, "v1/agent/service/register").json(service);
        self.client.send(call, &[]).await.map(|_| ())
    }

    /// Takes a service away, with its checks.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn deregister_service(&self, id: &str) -> Result<(), Error> {
        self.command(
            format!("v1/agent/service/deregister/{}", segment(id)?),
            None,
        )
        .await
    }

    /// Gives it a check to run.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn register_check(&self, check: &NewCheck) -> Result<(), Error> {
        let call = Call::write(self.client, "v1/agent/check/register").json(check);
        self.client.send(call, &[]).await.map(|_| ())
    }

    /// Takes a check away.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn deregister_check(&self, id: &str) -> Result<(), Error> {
        self.command(format!("v1/agent/check/deregister/{}", segment(id)?), None)
            .await
    }

    /// Reports for a TTL check, with a word on it.
    ///
    /// # Errors
    /// See [`Error`]. [`Error::Input`] for [`Status::Maintenance`], which no TTL check has.
    pub async fn report(&self, check_id: &str, status: Status, note: &str) -> Result<(), Error> {
        let verb = match status {
            Status::Passing => "pass",
            Status::Warning => "warn",
            Status::Critical => "fail",
            Status::Maintenance => {
                return Err(Error::Input(
                    "a TTL check cannot be in maintenance".to_owned(),
                ));
            }
        };
        let note = Some(("note", note)).filter(|(_, note)| !note.is_empty());
        self.command(
            format!("v1/agent/check/{verb}/{}", segment(check_id)?),
            note,
        )
        .await
    }

    /// Takes the whole node out of service, or back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn maintenance(&self, enable: bool, reason: &str) -> Result<(), Error> {
        self.maintain("v1/agent/maintenance".to_owned(), enable, reason)
            .await
    }

    /// Takes one service out, or back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn service_maintenance(
        &self,
        id: &str,
        enable: bool,
        reason: &str,
    ) -> Result<(), Error> {
        self.maintain(
            format!("v1/agent/service/maintenance/{}", segment(id)?),
            enable,
            reason,
        )
        .await
    }

    /// Leaves the cluster and ends.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn leave(&self) -> Result<(), Error> {
        self.command("v1/agent/leave".to_owned(), None).await
    }

    async fn maintain(&self, path: String, enable: bool, reason: &str) -> Result<(), Error> {
        let mut call = Call::write(self.client, path).parameter("enable", enable.to_string());
        if !reason.is_empty() {
            call = call.parameter("reason", reason);
        }
        self.client.send(call, &[]).await.map(|_| ())
    }

    async fn command(
        &self,
        path: String,
        parameter: Option<(&'static str, &str)>,
    ) -> Result<(), Error> {
        let mut call = Call::write(self.client, path);
        if let Some((name, value)) = parameter {
            call = call.parameter(name, value);
        }
        self.client.send(call, &[]).await.map(|_| ())
    }
}
