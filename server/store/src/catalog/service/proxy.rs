//! The settings of proxies and gateways. They are stored and shown; only the destination's name has an effect.

#[cfg(feature = "dump")]
use crate::image::value::{config, unset};

/// The settings of a proxy. Unset fields are empty or zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Proxy {
    /// The name of the service behind the proxy.
    #[serde(skip_serializing_if = "unset")]
    pub destination_name: String,
    /// The id of the instance behind the proxy; empty for any.
    #[serde(skip_serializing_if = "unset")]
    pub destination_id: String,
    /// The address of that instance.
    #[serde(skip_serializing_if = "unset")]
    pub local_address: String,
    /// The port of that instance.
    #[serde(skip_serializing_if = "unset")]
    pub local_port: i64,
    /// The path of that instance's Unix socket, in place of address and port.
    #[serde(skip_serializing_if = "unset")]
    pub local_socket_path: String,
    /// `direct` or `transparent`; empty for the default.
    #[serde(skip_serializing_if = "unset")]
    pub mode: String,
    /// The settings of a transparent proxy.
    #[serde(skip_serializing_if = "unset")]
    pub transparent: TransparentProxy,
    /// Opaque settings: a JSON object with sorted names.
    #[serde(deserialize_with = "config")]
    #[serde(skip_serializing_if = "unset")]
    pub config: Option<String>,
    /// The services reachable through the proxy. `None` differs from an empty list, though neither is shown (seen on 1.8.7).
    #[serde(skip_serializing_if = "unset")]
    pub upstreams: Option<Vec<Upstream>>,
    /// The mode of mesh gateways to other datacenters.
    #[serde(skip_serializing_if = "unset")]
    pub mesh_gateway_mode: String,
    /// Whether to expose the paths of HTTP and gRPC checks.
    #[serde(skip_serializing_if = "unset")]
    pub expose_checks: bool,
    /// The paths reachable without Connect; `None` as for upstreams.
    #[serde(skip_serializing_if = "unset")]
    pub exposed_paths: Option<Vec<ExposedPath>>,
    /// The access logs of the proxy.
    #[serde(skip_serializing_if = "unset")]
    pub access_logs: AccessLogs,
    /// The extensions of the proxy.
    #[serde(skip_serializing_if = "unset")]
    pub envoy_extensions: Vec<EnvoyExtension>,
}

impl Proxy {
    /// Returns the services reachable through the proxy.
    #[must_use]
    pub fn upstreams(&self) -> &[Upstream] {
        self.upstreams.as_deref().unwrap_or_default()
    }

    /// Returns the paths reachable without Connect.
    #[must_use]
    pub fn exposed_paths(&self) -> &[ExposedPath] {
        self.exposed_paths.as_deref().unwrap_or_default()
    }
}

/// The settings of a transparent proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransparentProxy {
    /// The port to which outbound traffic is redirected; 0 if unset.
    #[serde(skip_serializing_if = "unset")]
    pub outbound_listener_port: i64,
    /// Whether others may dial its instance without the proxy of the service.
    #[serde(skip_serializing_if = "unset")]
    pub dialed_directly: bool,
}

/// A service reachable through a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// `service` or `prepared_query`; empty for the former in the catalog.
    pub destination_type: String,
    /// The namespace (Enterprise).
    #[serde(default, skip_serializing_if = "unset")]
    pub destination_namespace: String,
    /// The partition (Enterprise).
    #[serde(default, skip_serializing_if = "unset")]
    pub destination_partition: String,
    /// The peer whose service it is; empty for this cluster.
    #[serde(default, skip_serializing_if = "unset")]
    pub destination_peer: String,
    /// The name of the service or query.
    pub destination_name: String,
    /// The datacenter; empty for the proxy's own.
    #[serde(default, skip_serializing_if = "unset")]
    pub datacenter: String,
    /// The proxy's address for this service; empty for the loopback address.
    #[serde(default, skip_serializing_if = "unset")]
    pub local_bind_address: String,
    /// The proxy's port for this service; 0 if it has a socket.
    pub local_bind_port: i64,
    /// The path of the proxy's Unix socket for this service.
    #[serde(default, skip_serializing_if = "unset")]
    pub local_bind_socket_path: String,
    /// The mode of that socket's file.
    #[serde(default, skip_serializing_if = "unset")]
    pub local_bind_socket_mode: String,
    /// Opaque settings: a JSON object with sorted names.
    #[serde(deserialize_with = "config")]
    #[serde(default, skip_serializing_if = "unset")]
    pub config: Option<String>,
    /// The mode of mesh gateways to other datacenters.
    #[serde(default, skip_serializing_if = "unset")]
    pub mesh_gateway_mode: String,
    /// Whether it comes from the configuration of the whole mesh.
    #[serde(default, skip_serializing_if = "unset")]
    pub centrally_configured: bool,
}

/// A path reachable without Connect.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExposedPath {
    /// The proxy's port for it.
    pub listener_port: i64,
    /// The path.
    pub path: String,
    /// The port of the service.
    pub local_path_port: i64,
    /// `http` or `http2`.
    #[serde(default, skip_serializing_if = "unset")]
    pub protocol: String,
    /// Whether it was made of a check.
    #[serde(default, skip_serializing_if = "unset")]
    pub parsed_from_check: bool,
}

/// Where and how a proxy logs the requests that it serves. Unset fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessLogs {
    /// Whether there are any.
    #[serde(skip_serializing_if = "unset")]
    pub enabled: bool,
    /// Whether connections that no listener takes are left out.
    #[serde(skip_serializing_if = "unset")]
    pub disable_listener_logs: bool,
    /// `file`, `stderr` or `stdout`.
    #[serde(skip_serializing_if = "unset")]
    pub kind: String,
    /// The path of the file.
    #[serde(skip_serializing_if = "unset")]
    pub path: String,
    /// The format of lines in JSON.
    #[serde(skip_serializing_if = "unset")]
    pub json_format: String,
    /// The format of lines as text.
    #[serde(skip_serializing_if = "unset")]
    pub text_format: String,
}

/// An extension of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvoyExtension {
    /// The name.
    pub name: String,
    /// Whether the proxy is not to run without it.
    #[serde(skip_serializing_if = "unset")]
    pub required: bool,
    /// Opaque settings: a JSON object with sorted names.
    #[serde(deserialize_with = "config")]
    #[serde(skip_serializing_if = "unset")]
    pub arguments: Option<String>,
    /// The versions of Consul that have it.
    #[serde(skip_serializing_if = "unset")]
    pub consul_version: String,
    /// The versions of Envoy that have it.
    #[serde(skip_serializing_if = "unset")]
    pub envoy_version: String,
}
