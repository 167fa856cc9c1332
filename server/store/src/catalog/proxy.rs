//! What a proxy or gateway is set up with: kept and shown, and looked at only for the service that it stands for.

#[cfg(feature = "serde")]
use crate::image::value::{config, unset};

/// The settings of a proxy. Empty and zero fields were not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Proxy {
    /// The name of the service that the proxy stands for.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub destination_name: String,
    /// The id of the instance that it stands for, where it is one alone.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub destination_id: String,
    /// Where that instance listens.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub local_address: String,
    /// The port on which it listens.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub local_port: i64,
    /// Settings of the proxy's own: an object in JSON, its names in order.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub config: Option<String>,
    /// The services that are reached through the proxy.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub upstreams: Vec<Upstream>,
    /// Through which gateways other datacenters are reached.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub mesh_gateway_mode: String,
    /// Whether the paths of HTTP and gRPC checks are exposed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub expose_checks: bool,
    /// Paths that can be reached without Connect.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "unset"))]
    pub exposed_paths: Vec<ExposedPath>,
}

/// A service that is reached through a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Upstream {
    /// `service` or `prepared_query`.
    pub destination_type: String,
    /// The namespace, of the other edition.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub destination_namespace: String,
    /// The name of the service or query.
    pub destination_name: String,
    /// The datacenter; empty for the proxy's own.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub datacenter: String,
    /// Where the proxy listens for this service; empty for the loopback address.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub local_bind_address: String,
    /// The port on which it does.
    pub local_bind_port: i64,
    /// Settings of the proxy's own: an object in JSON, its names in order.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "config"))]
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub config: Option<String>,
    /// Through which gateways other datacenters are reached.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub mesh_gateway_mode: String,
}

/// A path that can be reached without Connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ExposedPath {
    /// The port on which the proxy listens for it.
    pub listener_port: i64,
    /// The path.
    pub path: String,
    /// The port of the service.
    pub local_path_port: i64,
    /// `http` or `http2`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "unset"))]
    pub protocol: String,
}
