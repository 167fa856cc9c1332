//! Definitions of services.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{CheckDefinition, CheckOwner, DefinitionError, Rules};
use crate::store::{Labels, NewService, ServiceAddress, ServiceSpec, Weights};

/// How many pairs of meta data a service may have, and how long their parts may be.
const META_PAIRS: usize = 64;
const META_KEY_LENGTH: usize = 128;
const META_VALUE_LENGTH: usize = 512;
/// The largest weight.
const LARGEST_WEIGHT: i64 = 65_535;

/// A service as it was defined. Empty and zero fields were not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceDefinition {
    /// The id; empty for the name.
    pub id: String,
    /// The name.
    pub name: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The address; empty for the node's.
    pub address: String,
    /// Addresses by their tag.
    pub tagged_addresses: BTreeMap<String, ServiceAddress>,
    /// The meta data, if there are any.
    pub meta: Option<Labels>,
    /// The port.
    pub port: i64,
    /// The DNS weights; none for 1 and 1.
    pub weights: Option<Weights>,
    /// Whether others may change the tags.
    pub enable_tag_override: bool,
    /// The kind of a proxy or gateway.
    pub kind: String,
    /// The service that a proxy stands for.
    pub proxy_destination: String,
    /// A single check.
    pub check: CheckDefinition,
    /// More checks.
    pub checks: Vec<CheckDefinition>,
}

impl ServiceDefinition {
    /// What becomes of the service and its checks.
    pub(crate) fn into_spec(self, rules: Rules) -> Result<ServiceSpec, DefinitionError> {
        if self.name.is_empty() {
            return Err(DefinitionError::ServiceName);
        }
        if self
            .address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_unspecified())
        {
            return Err(DefinitionError::ServiceAddress);
        }
        self.check_weights()?;
        self.check_meta()?;
        self.check_kind()?;
        let single = Some(self.check).filter(|check| !check.is_empty());
        let checks: Vec<CheckDefinition> = single.into_iter().chain(self.checks).collect();
        for check in &checks {
            check.validate()?;
        }
        for check in &checks {
            check.check_scripts(rules)?;
        }
        let id = if self.id.is_empty() {
            self.name.clone()
        } else {
            self.id
        };
        let several = checks.len() > 1;
        let mut specs = Vec::with_capacity(checks.len());
        for (place, check) in checks.into_iter().enumerate() {
            let owner = CheckOwner::Service {
                id: &id,
                name: &self.name,
                number: several.then_some(place + 1),
            };
            specs.push(check.of_service(owner, rules)?);
        }
        let addresses = tagged_addresses(self.tagged_addresses, &self.address, self.port);
        let service = NewService {
            id,
            name: self.name,
            tags: self.tags,
            address: self.address,
            meta: self.meta,
            port: self.port,
            weights: self.weights.unwrap_or_default(),
            enable_tag_override: self.enable_tag_override,
            kind: self.kind,
            tagged_addresses: Some(addresses).filter(|addresses| !addresses.is_empty()),
        };
        Ok(ServiceSpec {
            service,
            checks: specs,
        })
    }

    fn check_weights(&self) -> Result<(), DefinitionError> {
        let Some(weights) = self.weights else {
            return Ok(());
        };
        let problem = if weights.passing < 1 {
            "Passing must be greater than 0"
        } else if weights.warning < 0 {
            "Warning must be greater or equal than 0"
        } else if weights.passing > LARGEST_WEIGHT || weights.warning > LARGEST_WEIGHT {
            "DNS Weight must be between 0 and 65535"
        } else {
            return Ok(());
        };
        Err(DefinitionError::Weights(problem))
    }

    fn check_meta(&self) -> Result<(), DefinitionError> {
        let Some(meta) = &self.meta else {
            return Ok(());
        };
        if meta.len() > META_PAIRS {
            let problem = "Node metadata cannot contain more than 64 key/value pairs";
            return Err(DefinitionError::Meta(None, problem));
        }
        for (key, value) in meta {
            if let Some(problem) = meta_problem(key, value) {
                let pair = (key.clone(), value.clone());
                return Err(DefinitionError::Meta(Some(pair), problem));
            }
        }
        Ok(())
    }

    fn check_kind(&self) -> Result<(), DefinitionError> {
        let no_port = self.port == 0;
        let mut problems = Vec::new();
        match self.kind.as_str() {
            "connect-proxy" => {
                if self.proxy_destination.is_empty() {
                    problems.push(
                        "Proxy.DestinationServiceName must be non-empty for Connect proxy services",
                    );
                }
                if no_port {
                    problems.push("Port must be set for a Connect proxy");
                }
            }
            "mesh-gateway" if no_port => {
                problems.push("Port must be non-zero for a mesh-gateway");
            }
            "terminating-gateway" if no_port => {
                problems.push("Port must be non-zero for a terminating-gateway");
            }
            _ => {}
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(DefinitionError::Kind(problems))
    }
}

/// What is wrong with a pair of meta data.
fn meta_problem(key: &str, value: &str) -> Option<&'static str> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if key.is_empty() {
        Some("Key cannot be blank")
    } else if !key.bytes().all(is_fine) {
        Some("Key contains invalid characters")
    } else if key.len() > META_KEY_LENGTH {
        Some("Key is too long (limit: 128 characters)")
    } else if key.starts_with("consul-") {
        Some("Key prefix 'consul-' is reserved for internal use")
    } else if value.len() > META_VALUE_LENGTH {
        Some("Value is too long (limit: 512 characters)")
    } else {
        None
    }
}

/// The tagged addresses, with those that follow from an address that is a number.
fn tagged_addresses(
    mut given: BTreeMap<String, ServiceAddress>,
    address: &str,
    port: i64,
) -> BTreeMap<String, ServiceAddress> {
    let tags = match address.parse() {
        Ok(IpAddr::V4(_)) => ["lan_ipv4", "wan_ipv4"],
        Ok(IpAddr::V6(_)) => ["lan_ipv6", "wan_ipv6"],
        Err(_) => return given,
    };
    for tag in tags {
        given
            .entry(tag.to_owned())
            .or_insert_with(|| ServiceAddress {
                address: address.to_owned(),
                port,
            });
    }
    given
}
