//! Ingress and terminating gateways: which services stand behind them (operator.md 3.r6, 4.2.r15).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use super::chain::{ChainError, PROXIES, protocol_of};
use super::value::ConfigValue;
use super::{ConfigPlace, ConfigRow, ConfigTable};
use crate::catalog::Catalog;
use crate::catalog::registration::ServiceRow;
use crate::catalog::service::gateway::{GatewayPlace, GatewayService, GatewayTable, TERMINATING};
use crate::catalog::service::{Instance, ServiceInstances, ServiceView};
use crate::catalog::trees::gateway_entry;
use crate::read::{Answer, Read, ReadResult, ReadSet, Subject, Tree, Watch};
use crate::{Change, Index, Store};

/// The kind of gateways that lead into the mesh.
const INGRESS: &str = "ingress-gateway";
/// The name that stands for all services.
const EVERY: &str = "*";
/// The kinds of gateways whose entries name services.
pub(super) const KINDS: [&str; 2] = [INGRESS, TERMINATING];

/// Checks that no gateway of another kind has the name, and the ingress gateways that the entry at this place concerns: the services
/// of each have the protocol of their listener. A listener for TCP is looked at only when its gateway changes.
pub(crate) fn check(table: &ConfigTable, place: &ConfigPlace) -> Result<(), ChainError> {
    let (kind, name) = place;
    check_name(table, place)?;
    let gateways = table.of_kind(INGRESS);
    let concerned = gateways.filter(|row| match kind.as_str() {
        INGRESS => row.entry.name.to_lowercase() == *name,
        "service-defaults" | "proxy-defaults" => true,
        _ => false,
    });
    for listener in concerned.flat_map(|row| row.entry.body.list("Listeners")) {
        let protocol = listener.text("Protocol");
        if protocol == "tcp" && kind != INGRESS {
            continue;
        }
        for service in listener.list("Services") {
            let service = service.text("Name");
            let own = protocol_of(table, service);
            if service != "*" && own != protocol {
                return Err(ChainError(format!(
                    "service \"{service}\" has protocol \"{own}\", which does not match defined listener protocol \"{protocol}\""
                )));
            }
        }
    }
    Ok(())
}

/// Refuses a gateway with the name of one of the other kind.
fn check_name(table: &ConfigTable, place: &ConfigPlace) -> Result<(), ChainError> {
    let (kind, name) = place;
    let other = match kind.as_str() {
        INGRESS => TERMINATING,
        TERMINATING => INGRESS,
        _ => return Ok(()),
    };
    match (table.rows.get(place), table.row(other, name)) {
        (Some(row), Some(_)) => Err(ChainError(format!(
            "cannot create a \"{kind}\" config entry with name \"{}\", a \"{other}\" config entry with that name already exists",
            row.entry.name
        ))),
        _ => Ok(()),
    }
}

/// Reads the services behind a gateway, in the order of their names.
#[derive(Clone, Debug)]
pub struct GatewayServices(pub String);

/// Reads the services behind a gateway with the health of their instances.
#[derive(Clone, Debug)]
pub struct GatewayInstances(pub String);

/// A service behind a gateway, and its instances.
pub type BehindGateway = (Arc<GatewayService>, Vec<Instance>);

/// Reads the instances of the ingress gateways before a service.
#[derive(Clone, Debug)]
pub struct IngressInstances(pub ServiceView, pub String);

impl Read for GatewayServices {
    type Rows = Vec<Arc<GatewayService>>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("the services of gateway {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let catalog = &store.catalog;
        let rows = catalog.gateway_services.of_gateway(&self.0);
        let gateway = self.0.to_lowercase();
        let reads = vec![catalog.trees.search(Tree::GatewayServices, &[&gateway])];
        // The index is that of the whole table.
        let mut whole = Answer::new(store.config.gateways_newest, Vec::new(), reads);
        for row in rows {
            if row.from_wildcard && row.gateway_kind == INGRESS {
                whole.index = whole.index.max(store.config.newest);
                if !store.is_led_to(&row, &mut whole.reads) {
                    continue;
                }
            }
            whole.rows.push(row);
        }
        Ok(whole)
    }
}

impl Read for GatewayInstances {
    type Rows = Vec<BehindGateway>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("the instances behind gateway {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let Ok(behind) = GatewayServices(self.0.clone()).look(store);
        let mut whole = Answer::new(behind.index, Vec::new(), behind.reads);
        for row in behind.rows {
            let read = ServiceInstances(ServiceView::Health, row.service.clone());
            let Ok(instances) = read.look(store);
            whole.index = whole.index.max(instances.index);
            whole.reads.extend(instances.reads);
            whole.rows.push((row, instances.rows));
        }
        Ok(whole)
    }
}

impl Read for IngressInstances {
    type Rows = Vec<Instance>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        let part = "health of the ingress gateways of service";
        let name = self.1.clone();
        Subject::Service { part, name }
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let Self(view, service) = self;
        let rows = store.catalog.gateway_services.of_service(service);
        let mut gateways: Vec<_> = rows
            .iter()
            .filter(|row| row.gateway_kind == INGRESS)
            .collect();
        gateways.dedup_by(|left, right| left.gateway.eq_ignore_ascii_case(&right.gateway));
        let mut whole = Answer::new(Index::ZERO, Vec::new(), vec![Watch::Config]);
        for row in gateways {
            let read = ServiceInstances(*view, row.gateway.clone());
            let Ok(answer) = read.look(store);
            let rows = answer.rows.into_iter();
            whole
                .rows
                .extend(rows.filter(|row| row.service.service.kind == INGRESS));
            whole.index = whole.index.max(answer.index).max(row.modify_index);
            whole.reads.extend(answer.reads);
        }
        Ok(whole)
    }
}

/// What the entry of a gateway says of one of its services.
struct Named<'a> {
    name: &'a str,
    port: i64,
    protocol: &'a str,
    fields: &'a ConfigValue,
}

impl Named<'_> {
    /// Returns the row of a service, for which this stands.
    fn row(
        &self,
        gateway: &ConfigRow,
        service: &str,
        is_known: bool,
        index: Index,
    ) -> GatewayService {
        GatewayService {
            gateway: gateway.entry.name.clone(),
            gateway_kind: gateway.entry.kind.clone(),
            service: service.to_owned(),
            fields: self.fields.clone(),
            port: self.port,
            protocol: self.protocol.to_owned(),
            from_wildcard: self.name == EVERY,
            is_known,
            create_index: index,
            modify_index: index,
        }
    }
}

/// Returns the services that an entry of a gateway names, those for all services first.
fn named(gateway: &ConfigRow) -> Vec<Named<'_>> {
    let body = &gateway.entry.body;
    let of_listeners = body.list("Listeners").iter().flat_map(|listener| {
        let services = listener.list("Services").iter();
        services.map(|service| (listener.number("Port"), listener.text("Protocol"), service))
    });
    let of_gateway = body.list("Services").iter().map(|service| (0, "", service));
    let all = of_listeners.chain(of_gateway);
    let mut all: Vec<_> = all
        .map(|(port, protocol, fields)| Named {
            name: fields.text("Name"),
            port,
            protocol,
            fields,
        })
        .collect();
    all.sort_by_key(|named| named.name != EVERY);
    all
}

/// Whether a service is neither a proxy nor Consul itself.
fn is_typical(row: &ServiceRow) -> bool {
    row.service.kind.is_empty() && row.service.name != "consul"
}

/// Returns the rows of a gateway whose entry is written now. What it names itself comes before what it has of all.
fn rows_of(
    catalog: &Catalog,
    gateway: &ConfigRow,
    index: Index,
) -> BTreeMap<GatewayPlace, GatewayService> {
    let mut rows = BTreeMap::new();
    for named in named(gateway) {
        let typical = catalog.services.values().filter(|row| is_typical(row));
        let names: Vec<&str> = match named.name {
            EVERY => typical.map(|row| &*row.service.name).collect(),
            name => vec![name],
        };
        for name in names {
            let is_known = named.name != EVERY && catalog.has_instances(name);
            let row = named.row(gateway, name, is_known, index);
            rows.insert(row.place(), row);
        }
    }
    rows
}

impl Store {
    /// Whether the wildcard of an ingress gateway leads to the service of this row, which has the protocol of the listener.
    /// Notes what that depends on.
    fn is_led_to(&self, row: &GatewayService, reads: &mut ReadSet) -> bool {
        let service = row.service.to_lowercase();
        let (proxies, everywhere) = PROXIES;
        reads.push(self.config_watch(proxies, Some(everywhere)));
        reads.push(self.config_watch("service-defaults", Some(&service)));
        let mut is_in_mesh = true;
        if self.rules.config_late {
            let trees = &self.catalog.trees;
            reads.push(trees.search(Tree::Destinations, &[&service]));
            is_in_mesh = trees.has_any(Tree::Destinations, &[&service]);
        }
        is_in_mesh && protocol_of(&self.config, &service) == row.protocol
    }

    /// Returns the rows that the entries of all gateways and the catalog make.
    pub(crate) fn gateway_services_anew(&self) -> GatewayTable {
        let gateways = KINDS.iter().flat_map(|kind| self.config.of_kind(kind));
        let rows =
            gateways.flat_map(|gateway| rows_of(&self.catalog, gateway, gateway.modify_index));
        GatewayTable::of(rows.map(|(_, row)| Arc::new(row)))
    }
}

impl Change<'_> {
    /// Follows the entry of a gateway, which is written or deleted. One that names the same services leaves them as they are.
    pub(super) fn gateway_changed(&mut self, before: Option<&ConfigRow>, now: Option<&ConfigRow>) {
        let of = |row: &ConfigRow| {
            let named = ["Listeners", "Services"].map(|name| row.entry.body.get(name).cloned());
            (row.entry.name.clone(), named)
        };
        if before.map(of) == now.map(of) {
            return;
        }
        self.store.config.gateways_newest = self.index;
        let rows = now.map(|row| rows_of(&self.store.catalog, row, self.index));
        let rows = rows.unwrap_or_default();
        let mut left = Vec::new();
        if let Some(before) = before {
            let table = &self.store.catalog.gateway_services;
            for row in table.of_gateway(&before.entry.name) {
                self.remove_gateway_service(&row.place());
                left.push(row);
            }
        }
        for row in rows.into_values() {
            self.put_gateway_service(row);
        }
        for row in left {
            self.free_virtual_address(&row.service, true);
        }
    }

    /// Adds a registered instance's service to the gateways for all services.
    pub(crate) fn gateways_gain(&mut self, instance: &ServiceRow) {
        if !is_typical(instance) {
            return;
        }
        let gateways: Vec<_> = KINDS
            .iter()
            .flat_map(|kind| self.store.config.of_kind(kind))
            .map(Arc::clone)
            .collect();
        for gateway in &gateways {
            let named = named(gateway).into_iter();
            for named in named.take_while(|named| named.name == EVERY) {
                let row = named.row(gateway, &instance.service.name, true, self.index);
                let known = self.store.catalog.gateway_services.0.get(&row.place());
                if known.is_some_and(|known| known.says_the_same(&row)) {
                    continue;
                }
                let create_index = known.map_or(self.index, |known| known.create_index);
                self.put_gateway_service(GatewayService {
                    create_index,
                    ..row
                });
                self.store.config.gateways_newest = self.index;
            }
        }
    }

    /// Takes a service whose last instance has gone from the gateways for all services.
    pub(crate) fn gateways_lose(&mut self, name: &str) {
        let catalog = &self.store.catalog;
        if catalog.has_instances(name) {
            return;
        }
        let rows = catalog.gateway_services.of_service(name).into_iter();
        for row in rows.filter(|row| row.from_wildcard) {
            self.remove_gateway_service(&row.place());
            self.store.config.gateways_newest = self.index;
        }
    }

    fn put_gateway_service(&mut self, row: GatewayService) {
        let place = row.place();
        if row.gateway_kind == TERMINATING {
            self.hold_virtual_address(&row.service);
        }
        self.replace_entries(&[], vec![gateway_entry(&place)]);
        let table = &mut self.store.catalog.gateway_services;
        table.0.insert(place, Arc::new(row));
    }

    fn remove_gateway_service(&mut self, place: &GatewayPlace) {
        self.replace_entries(&[gateway_entry(place)], Vec::new());
        self.store.catalog.gateway_services.0.remove(place);
    }
}
