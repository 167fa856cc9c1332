//! Validation of proxies and gateways, in Consul's words and order (seen on 1.8.7).

use std::collections::BTreeSet;
use std::sync::Arc;

use proconsul_store::{ExposedPath, NewService, Proxy, Upstream};
use proconsul_version::{Behaviour, Version};

/// The default type of an upstream.
const SERVICE: &str = "service";

/// Sets the default type of all upstreams, as the agent does and the catalog does not (seen on 1.8.7).
pub(super) fn name_destination_types(mut proxy: Arc<Proxy>) -> Arc<Proxy> {
    let is_unset = |upstream: &Upstream| upstream.destination_type.is_empty();
    if proxy.upstreams().iter().any(is_unset) {
        let upstreams = Arc::make_mut(&mut proxy).upstreams.iter_mut();
        for upstream in upstreams.flatten().filter(|upstream| is_unset(upstream)) {
            SERVICE.clone_into(&mut upstream.destination_type);
        }
    }
    proxy
}

/// Returns the problems of a proxy or gateway; empty for any other service.
pub(super) fn problems(service: &NewService, has_sidecar: bool, version: Version) -> Vec<String> {
    let kind = service.kind.as_str();
    match kind {
        "connect-proxy" => of_proxy(service, version),
        "mesh-gateway" | "terminating-gateway" => {
            let mut problems = Vec::new();
            if service.port == 0 {
                problems.push(format!("Port must be non-zero for a {kind}"));
            }
            of_gateway(service, has_sidecar, &mut problems);
            problems
        }
        "ingress-gateway" => {
            let mut problems = Vec::new();
            of_gateway(service, has_sidecar, &mut problems);
            problems
        }
        _ => Vec::new(),
    }
}

fn of_proxy(service: &NewService, version: Version) -> Vec<String> {
    let mut problems = Vec::new();
    if !service.ports().is_empty() {
        problems.push("Ports cannot be set for a connect-proxy".to_owned());
    }
    let has_later_texts = version.has(Behaviour::CatalogProxyTexts);
    let is_nowhere = service.port == 0 && service.socket_path.is_empty();
    // The later text comes first (1.22.md B4.2p).
    if is_nowhere && has_later_texts {
        problems.push("Port or SocketPath must be set for a connect-proxy".to_owned());
    }
    if service.proxy.destination_name.is_empty() {
        let problem = "Proxy.DestinationServiceName must be non-empty for Connect proxy services";
        problems.push(problem.to_owned());
    }
    if is_nowhere && !has_later_texts {
        problems.push("Port must be set for a Connect proxy".to_owned());
    }
    if service.connect_native {
        let problem = "A Proxy cannot also be Connect Native, only typical services";
        problems.push(problem.to_owned());
    }
    of_upstreams(service.proxy.upstreams(), &mut problems);
    of_exposed_paths(service.proxy.exposed_paths(), version, &mut problems);
    problems
}

fn of_gateway(service: &NewService, has_sidecar: bool, problems: &mut Vec<String>) {
    let kind = &service.kind;
    if has_sidecar {
        problems.push(format!("A {kind} cannot have a sidecar service defined"));
    }
    let Proxy {
        destination_name,
        destination_id,
        local_address,
        local_port,
        ..
    } = &*service.proxy;
    let given = [
        ("DestinationServiceName", !destination_name.is_empty()),
        ("DestinationServiceID", !destination_id.is_empty()),
        ("LocalServiceAddress", !local_address.is_empty()),
        ("LocalServicePort", *local_port != 0),
        ("Upstreams", !service.proxy.upstreams().is_empty()),
    ];
    for (name, _) in given.iter().filter(|(_, given)| *given) {
        problems.push(format!(
            "The Proxy.{name} configuration is invalid for a {kind}"
        ));
    }
}

fn of_upstreams(upstreams: &[Upstream], problems: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    let mut addresses = BTreeSet::new();
    for upstream in upstreams {
        let kind = match upstream.destination_type.as_str() {
            "" => SERVICE,
            other => other,
        };
        if let Some(problem) = of_upstream(upstream, kind) {
            problems.push(problem);
            continue;
        }
        let bound = match upstream.local_bind_address.as_str() {
            "" => "127.0.0.1",
            other => other,
        };
        let address = match upstream.local_bind_socket_path.as_str() {
            "" => format!("{bound}:{}", upstream.local_bind_port),
            socket => socket.to_owned(),
        };
        if !addresses.insert(address.clone()) {
            problems.push(format!(
                "upstreams cannot contain duplicates by local bind address and port; \"{address}\" is specified twice"
            ));
            continue;
        }
        let name = format!(
            "[type=\"{kind}\", name=\"{}\", namespace=\"{}\", datacenter=\"{}\"]",
            upstream.destination_name, upstream.destination_namespace, upstream.datacenter
        );
        if !names.insert(name.clone()) {
            problems.push(format!("upstreams cannot contain duplicates of {name}"));
        }
    }
}

fn of_upstream(upstream: &Upstream, kind: &str) -> Option<String> {
    if !matches!(kind, "service" | "prepared_query") {
        Some(format!("unknown upstream destination type: \"{kind}\""))
    } else if upstream.destination_name.is_empty() {
        Some("upstream destination name cannot be empty".to_owned())
    } else if upstream.local_bind_port != 0 && !upstream.local_bind_socket_path.is_empty() {
        let problem =
            "only one of upstream local bind port or local socket path can be defined and nonzero";
        Some(problem.to_owned())
    } else if upstream.local_bind_port == 0 && upstream.local_bind_socket_path.is_empty() {
        Some("upstream local bind port cannot be zero".to_owned())
    } else {
        None
    }
}

/// Adds all that is wrong with each path (seen on 1.8.7).
fn of_exposed_paths(exposed: &[ExposedPath], version: Version, problems: &mut Vec<String>) {
    let may_repeat = version.has(Behaviour::CatalogExposedPathTwice);
    let mut paths = BTreeSet::new();
    let mut ports = BTreeSet::new();
    for path in exposed {
        if path.path.is_empty() {
            problems.push("expose.paths: empty path exposed".to_owned());
        }
        if !paths.insert(&path.path) && !may_repeat {
            problems.push("expose.paths: duplicate paths exposed".to_owned());
        }
        if !ports.insert(path.listener_port) {
            problems.push("expose.paths: duplicate listener ports exposed".to_owned());
        }
        if !(1..=65_535).contains(&path.listener_port) {
            let port = path.listener_port;
            problems.push(format!("expose.paths: invalid listener port: {port}"));
        }
        // Consul prints the two in either order, as chance has it.
        if !matches!(path.protocol.as_str(), "" | "http" | "http2") {
            problems.push(format!(
                "protocol '{}' not supported for path: {}, must be in: [http http2]",
                path.protocol, path.path
            ));
        }
    }
}
