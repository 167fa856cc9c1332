//! The table of the services behind gateways (operator.md 3.r6b). It depends on what happened: a service that a gateway
//! names becomes one of its wildcard's when it is registered, and then goes with its last instance.

use std::sync::Arc;

use crate::Index;
use crate::config::value::ConfigValue;
use crate::ordered::OrderedMap;

/// The kind of gateways that lead out of the mesh.
pub(crate) const TERMINATING: &str = "terminating-gateway";

/// A service that stands behind a gateway.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct GatewayService {
    /// The name of the gateway.
    pub gateway: String,
    /// The kind of the gateway.
    pub gateway_kind: String,
    /// The service.
    pub service: String,
    /// What the entry of the gateway says of the service.
    pub fields: ConfigValue,
    /// The port of the listener; 0 for a terminating gateway.
    pub port: i64,
    /// The protocol of the listener; empty for a terminating gateway.
    pub protocol: String,
    /// Whether the service is there because the gateway has all.
    pub from_wildcard: bool,
    /// Whether the service was known when the row was written. Rows that a gateway's entry has of its wildcard do not
    /// say so, those of registrations do (operator.md 3.r6d).
    #[serde(default)]
    pub is_known: bool,
    /// The index since which it is there.
    pub create_index: Index,
    /// The index of its last change.
    pub modify_index: Index,
}

/// Where a row stands: its gateway and service in lower case, and its port.
pub(crate) type GatewayPlace = (String, String, Vec<u8>);

/// The rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GatewayTable(pub(crate) OrderedMap<GatewayPlace, Arc<GatewayService>>);

impl GatewayService {
    /// Returns the place of the row.
    pub(crate) fn place(&self) -> GatewayPlace {
        let (gateway, service) = (self.gateway.to_lowercase(), self.service.to_lowercase());
        (gateway, service, port_bytes(self.port))
    }

    /// Whether two rows differ in their indexes alone, and in what is known of the service.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let known = Self {
            is_known: self.is_known,
            create_index: self.create_index,
            modify_index: self.modify_index,
            ..other.clone()
        };
        known == *self
    }
}

/// Returns a port as Consul's table orders it: a varint of Go, so that 443 comes behind 8080.
fn port_bytes(port: i64) -> Vec<u8> {
    let mut rest = (port << 1 ^ port >> 63).cast_unsigned();
    let mut bytes = Vec::new();
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            bytes.push(low & 0x7f);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

impl GatewayTable {
    /// Returns the table with these rows.
    pub(crate) fn of(rows: impl IntoIterator<Item = Arc<GatewayService>>) -> Self {
        Self(rows.into_iter().map(|row| (row.place(), row)).collect())
    }

    /// Returns the rows of a gateway, by service and port.
    pub(crate) fn of_gateway(&self, name: &str) -> Vec<Arc<GatewayService>> {
        let name = name.to_lowercase();
        let rows = self.0.range((name.clone(), String::new(), Vec::new())..);
        rows.take_while(|((of, _, _), _)| *of == name)
            .map(|(_, row)| Arc::clone(row))
            .collect()
    }

    /// Returns the rows of a service.
    pub(crate) fn of_service(&self, name: &str) -> Vec<Arc<GatewayService>> {
        let name = name.to_lowercase();
        let rows = self.0.iter().filter(|((_, of, _), _)| *of == name);
        rows.map(|(_, row)| Arc::clone(row)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_in_the_order_of_their_varints() {
        let mut ports = [443, 8080, 80, 9, 70, 0];
        ports.sort_by_key(|port| port_bytes(*port));
        assert_eq!(ports, [0, 9, 70, 80, 8080, 443]);
    }
}
