//! What a proxy or gateway is set up with: kept and shown, and looked at only for the service that it stands for.

/// The settings of a proxy. Empty and zero fields were not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    /// The name of the service that the proxy stands for.
    pub destination_name: String,
    /// The id of the instance that it stands for, where it is one alone.
    pub destination_id: String,
    /// Where that instance listens.
    pub local_address: String,
    /// The port on which it listens.
    pub local_port: i64,
    /// Settings of the proxy's own: an object in JSON, its names in order.
    pub config: Option<String>,
    /// The services that are reached through the proxy.
    pub upstreams: Vec<Upstream>,
    /// Through which gateways other datacenters are reached.
    pub mesh_gateway_mode: String,
    /// Whether the paths of HTTP and gRPC checks are exposed.
    pub expose_checks: bool,
    /// Paths that can be reached without Connect.
    pub exposed_paths: Vec<ExposedPath>,
}

/// A service that is reached through a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upstream {
    /// `service` or `prepared_query`.
    pub destination_type: String,
    /// The namespace, of the other edition.
    pub destination_namespace: String,
    /// The name of the service or query.
    pub destination_name: String,
    /// The datacenter; empty for the proxy's own.
    pub datacenter: String,
    /// Where the proxy listens for this service; empty for the loopback address.
    pub local_bind_address: String,
    /// The port on which it does.
    pub local_bind_port: i64,
    /// Settings of the proxy's own: an object in JSON, its names in order.
    pub config: Option<String>,
    /// Through which gateways other datacenters are reached.
    pub mesh_gateway_mode: String,
}

/// A path that can be reached without Connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExposedPath {
    /// The port on which the proxy listens for it.
    pub listener_port: i64,
    /// The path.
    pub path: String,
    /// The port of the service.
    pub local_path_port: i64,
    /// `http` or `http2`.
    pub protocol: String,
}
