//! The virtual addresses of the services of the mesh (1.22.md B4.5): every connect-proxy of a service and every instance
//! of it that supports Connect natively show one address, under a tag of their own.
//!
//! The catalog keeps no table of them. A service has the address that its instances in the catalog show, and a new one
//! the first address that none shows, so that a dump of the catalog is all that is needed to go on.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use crate::Store;
use crate::catalog::registration::{NewService, ServiceAddress};

/// The tag of a virtual address.
const TAG: &str = "consul-virtual";
/// The address before the first one.
const BASE: Ipv4Addr = Ipv4Addr::new(240, 0, 0, 0);

impl NewService {
    /// Returns the name of the service of the mesh for which this instance stands; `None` for any other instance.
    pub(crate) fn stands_for(&self) -> Option<&str> {
        match self.kind.as_str() {
            "connect-proxy" => Some(&self.proxy.destination_name),
            _ => self.connect_native.then_some(&*self.name),
        }
    }

    fn virtual_address(&self) -> Option<Ipv4Addr> {
        let address = self.tagged_addresses.as_ref()?.get(TAG)?;
        address.address.parse().ok()
    }
}

impl Store {
    /// Adds the virtual address to an instance on a node (lower case), as the catalog keeps it.
    pub(crate) fn with_virtual_address<'a>(
        &self,
        node: &str,
        mut service: Cow<'a, NewService>,
    ) -> Cow<'a, NewService> {
        if self.rules.virtual_addresses
            && let Some(name) = service.stands_for()
        {
            let address = ServiceAddress {
                address: self.virtual_address(node, &service.id, name).to_string(),
                port: service.port,
            };
            let addresses = &mut service.to_mut().tagged_addresses;
            addresses
                .get_or_insert_default()
                .insert(TAG.to_owned(), address);
        }
        service
    }

    /// Returns the address of a service of the mesh: that of its instances, or the first free one. The instance that is
    /// being written counts only if it stands for that service already.
    fn virtual_address(&self, node: &str, id: &str, name: &str) -> Ipv4Addr {
        let mut taken = BTreeSet::new();
        for ((of, row_id), row) in &self.catalog.services {
            let Some(known) = row.service.stands_for() else {
                continue;
            };
            if known == name
                && let Some(address) = row.service.virtual_address()
            {
                return address;
            }
            if (of.as_str(), row_id.as_str()) != (node, id) {
                taken.extend(row.service.virtual_address());
            }
        }
        let mut addresses = (BASE.to_bits() + 1..).map(Ipv4Addr::from_bits);
        let free = addresses.find(|address| !taken.contains(address));
        free.expect("there are more addresses than instances")
    }
}
