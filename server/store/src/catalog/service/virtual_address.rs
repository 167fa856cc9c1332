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
use crate::catalog::spells;

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
        let (name, id) = (name.to_lowercase(), id.to_lowercase());
        let mut taken = BTreeSet::new();
        for ((of, row_id), row) in &self.catalog.services {
            let Some(known) = row.service.stands_for() else {
                continue;
            };
            if spells(known, &name)
                && let Some(address) = row.service.virtual_address()
            {
                return address;
            }
            if (of.as_str(), row_id) != (node, &id) {
                taken.extend(row.service.virtual_address());
            }
        }
        let mut addresses = (BASE.to_bits() + 1..).map(Ipv4Addr::from_bits);
        let free = addresses.find(|address| !taken.contains(address));
        free.expect("there are more addresses than instances")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::catalog::registration::{Deregistration, NewNode, Registration};
    use crate::catalog::service::proxy::Proxy;
    use crate::timestamp::Timestamp;
    use crate::{Index, VersionRules};

    fn store(rules: VersionRules) -> Store {
        Store::new(rules, Index(9))
    }

    fn proxy(id: &str, of: &str) -> NewService {
        NewService {
            id: id.to_owned(),
            name: id.to_owned(),
            kind: "connect-proxy".to_owned(),
            port: 7,
            proxy: Arc::new(Proxy {
                destination_name: of.to_owned(),
                ..Proxy::default()
            }),
            ..NewService::default()
        }
    }

    fn native(name: &str) -> NewService {
        NewService {
            connect_native: true,
            kind: String::new(),
            ..proxy(name, "")
        }
    }

    fn enter(store: &mut Store, service: NewService) {
        let registration = Registration {
            node: NewNode {
                node: "N".to_owned(),
                ..NewNode::default()
            },
            service: Some(service),
            ..Registration::default()
        };
        let applied = store.apply(Timestamp::ZERO, registration);
        applied.result.expect("nothing speaks against it");
    }

    /// The address of an instance with its port, and when it was last written.
    fn shown(store: &Store, id: &str) -> (Option<String>, u64) {
        let row = store.catalog.service("n", id).expect("it was registered");
        let addresses = row.service.tagged_addresses.as_ref();
        let address = addresses.and_then(|all| all.get(TAG));
        let address = address.map(|own| format!("{}:{}", own.address, own.port));
        (address, row.modify_index.0)
    }

    #[test]
    fn all_instances_of_a_service_have_its_address_and_a_free_one_is_taken_again() {
        let mut store = store(crate::tests::NEWEST);
        enter(&mut store, native("one"));
        enter(&mut store, proxy("of-two", "two"));
        enter(&mut store, proxy("of-one", "one"));
        let address = |store: &Store, id| shown(store, id).0.expect("it has one");
        assert_eq!(address(&store, "one"), "240.0.0.1:7");
        assert_eq!(address(&store, "of-one"), "240.0.0.1:7");
        assert_eq!(address(&store, "of-two"), "240.0.0.2:7");
        let gone = Deregistration::Service {
            node: "n".to_owned(),
            id: "one".to_owned(),
        };
        let Ok(()) = store.apply(Timestamp::ZERO, gone).result;
        enter(&mut store, proxy("of-three", "three"));
        assert_eq!(address(&store, "of-three"), "240.0.0.3:7");
        // Its own address is free when its last instance stands for another service.
        enter(&mut store, proxy("of-one", "four"));
        assert_eq!(address(&store, "of-one"), "240.0.0.1:7");
    }

    #[test]
    fn names_and_ids_in_another_case_are_the_same() {
        let mut store = store(crate::tests::NEWEST);
        enter(&mut store, native("Web"));
        enter(&mut store, proxy("PX", "other"));
        enter(&mut store, proxy("of-web", "wEB"));
        let address = |store: &Store, id| shown(store, id).0.expect("it has one");
        assert_eq!(address(&store, "of-web"), "240.0.0.1:7");
        // The instance that is written frees its own address, however its id is spelled.
        enter(&mut store, proxy("px", "third"));
        assert_eq!(address(&store, "px"), "240.0.0.2:7");
    }

    #[test]
    fn the_same_registration_is_no_change() {
        let mut store = store(crate::tests::NEWEST);
        enter(&mut store, proxy("px", "web"));
        let before = shown(&store, "px");
        enter(&mut store, proxy("px", "web"));
        assert_eq!(shown(&store, "px"), before);
    }

    #[test]
    fn earlier_releases_and_ordinary_services_have_none() {
        let mut old = store(crate::tests::OLDEST);
        enter(&mut old, proxy("px", "web"));
        assert_eq!(shown(&old, "px").0, None);
        let mut new = store(crate::tests::NEWEST);
        let plain = NewService {
            connect_native: false,
            ..native("plain")
        };
        enter(&mut new, plain);
        assert_eq!(shown(&new, "plain").0, None);
    }
}
