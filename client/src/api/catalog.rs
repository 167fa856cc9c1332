//! Nodes, services and checks as the whole datacenter knows them. Source: Consul's HTTP API, catalog.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::error::Error;
use crate::json;
use crate::query::Answer;
use crate::transport::{Call, segment};

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct Node {
    /// Its id; empty when it was registered without one.
    #[serde(rename = "ID")]
    pub id: String,
    /// Its name.
    pub node: String,
    /// Its address.
    pub address: String,
    /// Its datacenter.
    pub datacenter: String,
    /// What was said about it.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub meta: BTreeMap<String, String>,
    /// When it was created.
    pub create_index: u64,
    /// When it last changed.
    pub modify_index: u64,
}

/// A service instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct Service {
    /// The instance's id, unique on its node.
    #[serde(rename = "ID")]
    pub id: String,
    /// The service's name.
    pub service: String,
    /// Its tags.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub tags: Vec<String>,
    /// Its own address; empty for the node's.
    pub address: String,
    /// Its port; of several the default one, 0 where a node lists its services.
    pub port: u16,
    /// Its named ports, if it has several (since 1.22).
    #[serde(deserialize_with = "json::null_is_empty")]
    pub ports: Vec<ServicePort>,
    /// The path of its Unix socket; empty without one.
    pub socket_path: String,
    /// Where it is.
    pub locality: Option<Locality>,
    /// What was said about it.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub meta: BTreeMap<String, String>,
    /// Whether others than its agent may change its tags.
    pub enable_tag_override: bool,
    /// When it was created; 0 from an agent.
    pub create_index: u64,
    /// When it last changed; 0 from an agent.
    pub modify_index: u64,
}

/// One of several ports of a service instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct ServicePort {
    /// Its name, unique in its instance.
    pub name: String,
    /// The port.
    pub port: u16,
    /// Whether it is the one for clients that know of one port only.
    pub default: bool,
}

/// Where a node or a service instance is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct Locality {
    /// The region.
    pub region: String,
    /// The zone of the region; empty if unset.
    pub zone: String,
}

/// What a check says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All is well.
    Passing,
    /// Something is not as it should be.
    Warning,
    /// It does not work. Sessions that depend on such a check end.
    #[default]
    Critical,
    /// Taken out of service by a person.
    Maintenance,
}

/// A check of a node or a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct Check {
    /// The node that it is on.
    pub node: String,
    /// Its id, unique on its node.
    #[serde(rename = "CheckID")]
    pub check_id: String,
    /// Its name.
    pub name: String,
    /// What it says.
    pub status: Status,
    /// What a person said about it.
    pub notes: String,
    /// What it said last.
    pub output: String,
    /// The service instance that it belongs to; empty for the node.
    #[serde(rename = "ServiceID")]
    pub service_id: String,
    /// The name of that service.
    pub service_name: String,
    /// When it was created; 0 from an agent.
    pub create_index: u64,
    /// When it last changed; 0 from an agent.
    pub modify_index: u64,
}

/// One instance in [`Catalog::service`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[non_exhaustive]
pub struct CatalogService {
    /// The node's name.
    pub node: String,
    /// The node's address.
    pub address: String,
    /// The instance's id.
    #[serde(rename = "ServiceID")]
    pub service_id: String,
    /// The service's name.
    pub service_name: String,
    /// The instance's own address; empty for the node's.
    pub service_address: String,
    /// Its port.
    pub service_port: u16,
    /// Its named ports, if it has several (since 1.22). The default one is the port.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub service_ports: Vec<ServicePort>,
    /// The path of its Unix socket; empty without one.
    pub service_socket_path: String,
    /// Where it is.
    pub service_locality: Option<Locality>,
    /// Its tags.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub service_tags: Vec<String>,
    /// What was said about it.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub service_meta: BTreeMap<String, String>,
    /// When it was created.
    pub create_index: u64,
    /// When it last changed.
    pub modify_index: u64,
}

/// A node with all that runs on it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct NodeServices {
    /// The node.
    pub node: Node,
    /// Its service instances by id.
    #[serde(deserialize_with = "json::null_is_empty")]
    pub services: BTreeMap<String, Service>,
}

/// A node with a service or a check, to be registered past its agent.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Registration {
    node: String,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<RegisteredService>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<RegisteredCheck>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    node_meta: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct RegisteredService {
    #[serde(rename = "ID")]
    id: String,
    service: String,
    port: u16,
    tags: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct RegisteredCheck {
    #[serde(rename = "CheckID")]
    check_id: String,
    name: String,
    status: Status,
    #[serde(rename = "ServiceID", skip_serializing_if = "String::is_empty")]
    service_id: String,
}

impl Registration {
    /// A node with its address.
    #[must_use]
    pub fn node(node: impl Into<String>, address: impl Into<String>) -> Self {
        Self {
            node: node.into(),
            address: address.into(),
            ..Self::default()
        }
    }

    /// A service on it.
    #[must_use]
    pub fn service(
        mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        port: u16,
        tags: &[&str],
    ) -> Self {
        self.service = Some(RegisteredService {
            id: id.into(),
            service: name.into(),
            port,
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        });
        self
    }

    /// A check of the node.
    #[must_use]
    pub fn check(self, id: impl Into<String>, status: Status) -> Self {
        self.service_check(String::new(), id, status)
    }

    /// A check of a service instance.
    #[must_use]
    pub fn service_check(
        mut self,
        service_id: impl Into<String>,
        id: impl Into<String>,
        status: Status,
    ) -> Self {
        let id = id.into();
        self.checks.push(RegisteredCheck {
            check_id: id.clone(),
            name: id,
            status,
            service_id: service_id.into(),
        });
        self
    }

    /// A word about the node.
    #[must_use]
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.node_meta.insert(name.into(), value.into());
        self
    }
}

/// The catalog, from [`Client::catalog`].
#[derive(Debug)]
pub struct Catalog<'c> {
    client: &'c Client,
}

impl Client {
    /// Nodes, services and checks as the whole datacenter knows them.
    #[must_use]
    pub fn catalog(&self) -> Catalog<'_> {
        Catalog { client: self }
    }
}

impl Catalog<'_> {
    /// Registers a node with what it has. An agent corrects what is said about its own node.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn register(&self, registration: &Registration) -> Result<(), Error> {
        let call = Call::write(self.client, "v1/catalog/register").json(registration);
        self.client.send(call, &[]).await?.boolean().map(|_| ())
    }

    /// Removes a node with all that it has, and ends its sessions.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn deregister_node(&self, node: &str) -> Result<(), Error> {
        self.deregister(&serde_json::json!({ "Node": node })).await
    }

    /// Removes a service instance with its checks.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn deregister_service(&self, node: &str, service_id: &str) -> Result<(), Error> {
        self.deregister(&serde_json::json!({ "Node": node, "ServiceID": service_id }))
            .await
    }

    /// Removes a check, and ends the sessions that depend on it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn deregister_check(&self, node: &str, check_id: &str) -> Result<(), Error> {
        self.deregister(&serde_json::json!({ "Node": node, "CheckID": check_id }))
            .await
    }

    async fn deregister(&self, what: &serde_json::Value) -> Result<(), Error> {
        let call = Call::write(self.client, "v1/catalog/deregister").json(what);
        self.client.send(call, &[]).await?.boolean().map(|_| ())
    }

    /// The names of all datacenters, nearest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn datacenters(&self) -> Result<Vec<String>, Error> {
        let call = Call::read(self.client, "v1/catalog/datacenters");
        Ok(self.client.send(call, &[]).await?.json()?.value)
    }

    /// All nodes.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn nodes(&self) -> Result<Answer<Vec<Node>>, Error> {
        self.client.list("v1/catalog/nodes".to_owned()).await
    }

    /// A node with what runs on it; `None` when it does not exist.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn node(&self, node: &str) -> Result<Answer<Option<NodeServices>>, Error> {
        let path = format!("v1/catalog/node/{}", segment(node)?);
        let call = Call::read(self.client, path);
        self.client.send(call, &[]).await?.json()
    }

    /// The names of all services, each with all tags of its instances.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn services(&self) -> Result<Answer<BTreeMap<String, Vec<String>>>, Error> {
        let call = Call::read(self.client, "v1/catalog/services");
        self.client.send(call, &[]).await?.json_or_empty()
    }

    /// The instances of a service, healthy or not; see also [`Health`](crate::Health).
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn service(&self, service: &str) -> Result<Answer<Vec<CatalogService>>, Error> {
        let path = format!("v1/catalog/service/{}", segment(service)?);
        self.client.list(path).await
    }
}
