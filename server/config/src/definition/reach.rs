//! Where a service is reached: its ports, its socket, its place (1.22.md B4.2, B4.2p).

use std::collections::BTreeSet;

use proconsul_store::{Locality, NewService, ServicePort};
use proconsul_version::{Behaviour, Version};

/// Takes away the settings that a release does not know.
pub(super) fn forget_unknown(service: &mut NewService, version: Version) {
    if !version.has(Behaviour::JsonServicePorts) {
        service.ports = None;
    }
    if !version.has(Behaviour::JsonCatalogServiceSocketPath) {
        service.socket_path.clear();
    }
    if !version.has(Behaviour::JsonLocality) {
        service.locality = None;
    }
}

/// Returns the problems of where a service is reached, in Consul's words.
pub(super) fn problems(service: &NewService, version: Version) -> Vec<String> {
    let mut problems = Vec::new();
    // The ports of a proxy are refused as a whole.
    if service.kind != "connect-proxy" {
        problems.extend(
            of_ports(service)
                .map(str::to_owned)
                .or_else(|| of_names(service.ports())),
        );
    }
    if service.connect_native
        && service.kind.is_empty()
        && service.port == 0
        && service.socket_path.is_empty()
        && version.has(Behaviour::CatalogNativePort)
    {
        let problem = "Port or SocketPath must be set for a Connect native service.";
        problems.push(problem.to_owned());
    }
    problems.extend(of_locality(service.locality.as_ref()));
    problems
}

/// Returns the problem of a place.
pub(super) fn of_locality(locality: Option<&Locality>) -> Option<String> {
    let locality = locality?;
    let lacks_region = locality.region.is_empty() && !locality.zone.is_empty();
    lacks_region.then(|| "zone cannot be set without region".to_owned())
}

/// Returns the first problem of several ports as a whole.
fn of_ports(service: &NewService) -> Option<&'static str> {
    let ports = service.ports();
    if ports.is_empty() {
        return None;
    }
    if service.port != 0 {
        return Some("Cannot set both Port and Ports");
    }
    match ports.iter().filter(|port| port.default).count() {
        0 => Some("One of the Ports must be marked as Default"),
        1 => None,
        _ => Some("Only one port can be marked as default"),
    }
}

/// Returns the first problem of a port among several.
fn of_names(ports: &[ServicePort]) -> Option<String> {
    let mut names = BTreeSet::new();
    ports.iter().find_map(|ServicePort { name, port, .. }| {
        if name.is_empty() {
            Some("Ports.Name cannot be empty".to_owned())
        } else if !names.insert(name) {
            Some(format!("Ports.Name \"{name}\" has to be unique"))
        } else if *port <= 0 {
            Some("Ports.Port must be greater than zero".to_owned())
        } else {
            None
        }
    })
}
