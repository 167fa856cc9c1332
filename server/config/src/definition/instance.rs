//! Checks and tagged addresses, which services and sidecars share.

use std::net::IpAddr;

use super::{CheckDefinition, CheckOwner, DefinitionError, DefinitionRules};
use proconsul_store::{CheckSpec, NewService, ServiceAddress};

/// Returns the specifications of the checks of a service.
pub(super) fn check_specs(
    checks: Vec<CheckDefinition>,
    service: &NewService,
    rules: DefinitionRules,
) -> Result<Vec<CheckSpec>, DefinitionError> {
    let several = checks.len() > 1;
    let checks = checks.into_iter().enumerate();
    let spec = |(place, check): (usize, CheckDefinition)| {
        let owner = CheckOwner::Service {
            id: &service.id,
            name: &service.name,
            number: several.then_some(place + 1),
        };
        check.of_service(owner, rules)
    };
    checks.map(spec).collect()
}

/// Adds the tagged addresses that follow from a numeric address. An empty map becomes `None`.
pub(super) fn complete_addresses(service: &mut NewService) {
    let mut addresses = service.tagged_addresses.take().unwrap_or_default();
    let tags: &[&str] = match service.address.parse() {
        Ok(IpAddr::V4(_)) => &["lan_ipv4", "wan_ipv4"],
        Ok(IpAddr::V6(_)) => &["lan_ipv6", "wan_ipv6"],
        Err(_) => &[],
    };
    for tag in tags {
        let address = || ServiceAddress {
            address: service.address.clone(),
            port: service.port,
        };
        addresses.entry((*tag).to_owned()).or_insert_with(address);
    }
    service.tagged_addresses = Some(addresses).filter(|addresses| !addresses.is_empty());
}
