//! The virtual addresses of the services of the mesh (1.22.md B4.5): every connect-proxy of a service and every instance
//! of it that supports Connect natively show one address, under a tag of their own, and a terminating gateway shows
//! those of the services behind it.
//!
//! A service gets an address when something asks for one, an instance, an entry or a gateway, and loses it when that has gone.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use crate::Change;
use crate::catalog::registration::{NewService, ServiceAddress, ServiceRow};
use crate::catalog::service::gateway::TERMINATING;
use crate::command::Command;
use crate::ordered::OrderedMap;

/// How the tags of virtual addresses begin. That of an instance's own service is this.
const TAG: &str = "consul-virtual";
/// The address before the first one.
const BASE: Ipv4Addr = Ipv4Addr::new(240, 0, 0, 0);
/// The kinds of entries that give an address to the service of their name.
const KINDS: [&str; 3] = ["service-defaults", "service-resolver", "service-intentions"];

/// The addresses of a service.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualRow {
    /// The service, as it was first spelled.
    pub service: String,
    /// The address that it was given.
    pub address: Ipv4Addr,
    /// The addresses that an operator gave it.
    pub manual: Vec<IpAddr>,
}

/// The rows, by the name of the service in lower case.
pub(crate) type VirtualTable = OrderedMap<String, Arc<VirtualRow>>;

/// Returns the table of rows.
pub(crate) fn of(rows: Vec<Arc<VirtualRow>>) -> VirtualTable {
    let rows = rows.into_iter();
    rows.map(|row| (row.service.to_lowercase(), row)).collect()
}

/// Returns the table that instances show.
pub(crate) fn anew<'a>(instances: impl Iterator<Item = &'a ServiceRow>) -> VirtualTable {
    let rows = instances.filter_map(|row| {
        let service = row.service.stands_for()?.to_owned();
        let tagged = row.service.tagged_addresses.as_ref()?.get(TAG)?;
        let address = tagged.address.parse().ok()?;
        let place = service.to_lowercase();
        let row = VirtualRow {
            service,
            address,
            manual: Vec::new(),
        };
        Some((place, Arc::new(row)))
    });
    rows.collect()
}

impl NewService {
    /// Returns the name of the service of the mesh for which this instance stands; `None` for any other instance.
    pub(crate) fn stands_for(&self) -> Option<&str> {
        match self.kind.as_str() {
            "connect-proxy" => Some(&self.proxy.destination_name),
            _ => self.connect_native.then_some(&*self.name),
        }
    }

    fn virtual_addresses(&self) -> impl Iterator<Item = (&String, &ServiceAddress)> {
        let tagged = self.tagged_addresses.iter().flatten();
        tagged.filter(|(tag, _)| tag.starts_with(TAG))
    }

    /// Returns this instance with the virtual addresses that the catalog's row shows.
    pub(crate) fn with_virtual_addresses_of(&self, row: &Self) -> Cow<'_, Self> {
        let mut service = Cow::Borrowed(self);
        for (tag, address) in row.virtual_addresses() {
            let tagged = &mut service.to_mut().tagged_addresses;
            tagged
                .get_or_insert_default()
                .insert(tag.clone(), address.clone());
        }
        service
    }
}

impl Change<'_> {
    /// Adds the virtual addresses to an instance, as the catalog keeps it.
    pub(crate) fn show_virtual_addresses(&mut self, service: &mut NewService) {
        let own = service.stands_for().map(str::to_owned);
        let mut shown = Vec::new();
        if let Some(address) = own.and_then(|name| self.hold_virtual_address(&name)) {
            shown.push((TAG.to_owned(), address, service.port));
        }
        if service.kind == TERMINATING {
            let behind = self
                .store
                .catalog
                .gateway_services
                .of_gateway(&service.name);
            for row in behind {
                if let Some(address) = self.hold_virtual_address(&row.service) {
                    shown.push((format!("{TAG}:{}", row.service), address, 0));
                }
            }
        }
        for (tag, address, port) in shown {
            let address = ServiceAddress {
                address: address.to_string(),
                port,
            };
            let tagged = &mut service.tagged_addresses;
            tagged.get_or_insert_default().insert(tag, address);
        }
    }

    /// Returns the address of a service, which gets the first free one if it has none; `None` where there are none.
    pub(crate) fn hold_virtual_address(&mut self, service: &str) -> Option<Ipv4Addr> {
        if !self.store.rules.virtual_addresses {
            return None;
        }
        let place = service.to_lowercase();
        let table = &mut self.store.config.virtual_addresses;
        if let Some(row) = table.get(&place) {
            return Some(row.address);
        }
        let taken: BTreeSet<_> = table.values().map(|row| row.address).collect();
        let mut addresses = (BASE.to_bits() + 1..).map(Ipv4Addr::from_bits);
        let address = addresses.find(|address| !taken.contains(address))?;
        let row = VirtualRow {
            service: service.to_owned(),
            address,
            manual: Vec::new(),
        };
        table.insert(place, Arc::new(row));
        Some(address)
    }

    /// Follows an entry, which is there now or has gone.
    pub(crate) fn entry_holds_virtual_address(&mut self, kind: &str, name: &str, is_there: bool) {
        if !KINDS.contains(&kind) {
            return;
        }
        if is_there {
            self.hold_virtual_address(name);
        } else {
            self.free_virtual_address(name, true);
        }
    }

    /// Frees what an instance held that has gone.
    pub(crate) fn instance_frees_virtual_address(&mut self, gone: &NewService) {
        if let Some(name) = gone.stands_for() {
            // Once the service's own instances have gone, its proxies do not hold its address.
            self.free_virtual_address(name, gone.kind == "connect-proxy");
        } else {
            self.free_virtual_address(&gone.name, false);
        }
    }

    /// Frees the address of a service that nothing holds any more.
    pub(crate) fn free_virtual_address(&mut self, service: &str, counts_proxies: bool) {
        let store = &self.store;
        let place = service.to_lowercase();
        if !store.config.virtual_addresses.contains_key(&place) {
            return;
        }
        let catalog = &store.catalog;
        let mut entries = KINDS.iter();
        let mut behind = catalog.gateway_services.of_service(service).into_iter();
        let is_held = catalog.has_instances(service)
            || entries.any(|kind| store.config.body(kind, service).is_some())
            || behind.any(|row| row.gateway_kind == TERMINATING)
            || counts_proxies && has_proxies(catalog, &place);
        if !is_held {
            self.store.config.virtual_addresses.remove(&place);
        }
    }
}

fn has_proxies(catalog: &crate::catalog::Catalog, service: &str) -> bool {
    let mut rows = catalog.services.values();
    rows.any(|row| {
        let stands_for = row.service.stands_for();
        stands_for.is_some_and(|name| crate::catalog::spells(name, service))
    })
}

/// Gives a service of the mesh addresses of its own, in place of those that it was given before.
#[derive(Clone, Debug)]
pub struct VirtualAssign {
    /// The service.
    pub service: String,
    /// The addresses.
    pub addresses: Vec<IpAddr>,
}

impl Command for VirtualAssign {
    /// The services that had one of the addresses before; `None` if the service has no virtual address.
    type Reply = Option<Vec<String>>;
    type Refused = Infallible;

    fn run(self, change: &mut Change<'_>) -> Result<Self::Reply, Infallible> {
        change.take_indexes(1);
        let place = self.service.to_lowercase();
        let table = &mut change.store.config.virtual_addresses;
        let Some(row) = table.get(&place) else {
            return Ok(None);
        };
        let own = VirtualRow {
            manual: self.addresses.clone(),
            ..VirtualRow::clone(row)
        };
        let mut others = Vec::new();
        for (name, row) in &table.clone() {
            let is_taken = |address: &IpAddr| self.addresses.contains(address);
            if *name != place && row.manual.iter().any(is_taken) {
                let mut left = VirtualRow::clone(row);
                left.manual.retain(|address| !is_taken(address));
                others.push(left.service.clone());
                table.insert(name.clone(), Arc::new(left));
            }
        }
        table.insert(place, Arc::new(own));
        Ok(Some(others))
    }
}

#[cfg(test)]
mod tests;
