//! The JSON of proxies and Connect: the catalog's form, and the agent's, which leaves out what is empty
//! (seen on 1.8.7).

use serde::Serialize;

use crate::go::json::encode::Json;
use crate::store::{ExposedPath, NewService, Proxy as Settings, Upstream as UpstreamSettings};
use crate::version::{Behaviour, Version};

/// Who shows a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Agent,
    Catalog,
}

/// The settings of a proxy.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Proxy<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    destination_service_name: &'a str,
    #[serde(rename = "DestinationServiceID", skip_serializing_if = "str::is_empty")]
    destination_service_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    local_service_address: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    local_service_port: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "is_no_object")]
    config: Option<Json<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    upstreams: Vec<Upstream<'a>>,
    mesh_gateway: MeshGateway<'a>,
    expose: Expose<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Upstream<'a> {
    destination_type: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    destination_namespace: &'a str,
    destination_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    datacenter: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    local_bind_address: &'a str,
    local_bind_port: i64,
    /// The outer one is whether it is shown at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Option<Json<'a>>>,
    mesh_gateway: MeshGateway<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct MeshGateway<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    mode: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Expose<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    checks: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<Path<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Path<'a> {
    #[serde(skip_serializing_if = "is_zero")]
    listener_port: i64,
    #[serde(skip_serializing_if = "str::is_empty")]
    path: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    local_path_port: i64,
    #[serde(skip_serializing_if = "str::is_empty")]
    protocol: &'a str,
    parsed_from_check: bool,
}

/// What a service says of Connect.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Connect {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    native: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn is_no_object(config: &Option<Json<'_>>) -> bool {
    config.as_ref().is_none_or(|json| json.0 == "{}")
}

impl Connect {
    pub(crate) fn new(service: &NewService) -> Self {
        Self {
            native: service.connect_native,
        }
    }
}

impl<'a> Proxy<'a> {
    /// As the catalog shows it.
    pub(crate) fn new(service: &'a NewService, version: Version) -> Self {
        Self::seen_by(View::Catalog, &service.proxy, version)
    }

    /// As the agent shows it: of proxies and gateways alone.
    pub(crate) fn of_agent(service: &'a NewService, version: Version) -> Option<Self> {
        let is_proxy = matches!(
            service.kind.as_str(),
            "connect-proxy" | "mesh-gateway" | "terminating-gateway" | "ingress-gateway"
        );
        is_proxy.then(|| Self::seen_by(View::Agent, &service.proxy, version))
    }

    fn seen_by(view: View, proxy: &'a Settings, version: Version) -> Self {
        let upstreams = proxy.upstreams.iter();
        let paths = proxy.exposed_paths.iter();
        Self {
            destination_service_name: &proxy.destination_name,
            destination_service_id: &proxy.destination_id,
            local_service_address: &proxy.local_address,
            local_service_port: proxy.local_port,
            mode: version.has(Behaviour::JsonNodeServiceMode).then_some(""),
            config: proxy.config.as_deref().map(Json),
            upstreams: upstreams
                .map(|upstream| Upstream::new(view, upstream))
                .collect(),
            mesh_gateway: MeshGateway {
                mode: &proxy.mesh_gateway_mode,
            },
            expose: Expose {
                checks: proxy.expose_checks,
                paths: paths.map(Path::new).collect(),
            },
        }
    }
}

impl<'a> Upstream<'a> {
    fn new(view: View, upstream: &'a UpstreamSettings) -> Self {
        let config = upstream.config.as_deref().map(Json);
        let always = view == View::Catalog;
        Self {
            destination_type: &upstream.destination_type,
            destination_namespace: &upstream.destination_namespace,
            destination_name: &upstream.destination_name,
            datacenter: Some(upstream.datacenter.as_str())
                .filter(|datacenter| always || !datacenter.is_empty()),
            local_bind_address: &upstream.local_bind_address,
            local_bind_port: upstream.local_bind_port,
            config: (always || !is_no_object(&config)).then_some(config),
            mesh_gateway: MeshGateway {
                mode: &upstream.mesh_gateway_mode,
            },
        }
    }
}

impl<'a> Path<'a> {
    fn new(path: &'a ExposedPath) -> Self {
        Self {
            listener_port: path.listener_port,
            path: &path.path,
            local_path_port: path.local_path_port,
            protocol: &path.protocol,
            parsed_from_check: false,
        }
    }
}
