//! Ingress and terminating gateways: which services stand behind them (operator.md 3.r6, 4.2.r15).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use super::chain::{ChainError, protocol_of};
use super::value::ConfigValue;
use super::{ConfigPlace, ConfigRow, ConfigTable};
use crate::catalog::service::{Instance, ServiceInstances, ServiceView};
use crate::read::{Answer, Read, ReadResult, Subject, Tree, Watch};
use crate::{Index, Store};

/// The kind of gateways that lead into the mesh.
const INGRESS: &str = "ingress-gateway";
/// The kinds of gateways whose entries name services.
pub(super) const KINDS: [&str; 2] = [INGRESS, "terminating-gateway"];

/// Checks the ingress gateways that the entry at this place concerns: the services of each have the protocol of their
/// listener.
pub(crate) fn check(table: &ConfigTable, place: &ConfigPlace) -> Result<(), ChainError> {
    let (kind, name) = place;
    let gateways = table.of_kind(INGRESS);
    let concerned = gateways.filter(|row| match kind.as_str() {
        "ingress-gateway" => row.entry.name.to_lowercase() == *name,
        "service-defaults" | "proxy-defaults" => true,
        _ => false,
    });
    for listener in concerned.flat_map(|row| row.entry.body.list("Listeners")) {
        let protocol = listener.text("Protocol");
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

/// A service that stands behind a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayService {
    /// The entry of the gateway.
    pub gateway: Arc<ConfigRow>,
    /// The service.
    pub service: String,
    /// What the entry says of the service.
    pub fields: ConfigValue,
    /// The port of the listener; 0 for a terminating gateway.
    pub port: i64,
    /// The protocol of the listener; empty for a terminating gateway.
    pub protocol: String,
    /// Whether the entry names all services.
    pub from_wildcard: bool,
    /// The index since which it does.
    pub index: Index,
}

/// Reads the services behind a gateway, in the order of their names.
#[derive(Clone, Debug)]
pub struct GatewayServices(pub String);

/// Reads the services behind a gateway with the health of their instances.
#[derive(Clone, Debug)]
pub struct GatewayInstances(pub String);

/// A service behind a gateway, and its instances.
pub type BehindGateway = (GatewayService, Vec<Instance>);

/// Reads the instances of the ingress gateways before a service.
#[derive(Clone, Debug)]
pub struct IngressInstances(pub ServiceView, pub String);

impl Read for GatewayServices {
    type Rows = Vec<GatewayService>;
    type Refused = Infallible;

    fn subject(&self) -> Subject {
        Subject::other(format!("the services of gateway {:?}", self.0))
    }

    fn look(&self, store: &Store) -> ReadResult<Self> {
        let rows = store
            .gateway_entries()
            .filter(|row| row.entry.name.eq_ignore_ascii_case(&self.0));
        let mut services: Vec<_> = rows.flat_map(|row| store.behind(row)).collect();
        services
            .sort_by(|left, right| (&left.service, left.port).cmp(&(&right.service, right.port)));
        // Consul keeps a table of all gateways, whose index this is.
        let all = store.gateway_entries().flat_map(|row| store.behind(row));
        let newest = all.map(|service| service.index).max();
        let index = newest.max(Some(store.config.gateways_newest));
        let reads = vec![
            Watch::Config,
            store.catalog.trees.search(Tree::ServiceNames, &[]),
        ];
        Ok(Answer::new(index.unwrap_or_default(), services, reads))
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
        let leads = |row: &&Arc<ConfigRow>| {
            let behind = store.behind(row);
            let mut behind = behind.iter();
            row.entry.kind == INGRESS && behind.any(|behind| behind.service == *service)
        };
        let mut whole = Answer::new(Index::ZERO, Vec::new(), vec![Watch::Config]);
        for gateway in store.gateway_entries().filter(leads) {
            let read = ServiceInstances(*view, gateway.entry.name.clone());
            let Ok(answer) = read.look(store);
            let rows = answer.rows.into_iter();
            whole
                .rows
                .extend(rows.filter(|row| row.service.service.kind == INGRESS));
            whole.index = whole.index.max(answer.index).max(gateway.modify_index);
            whole.reads.extend(answer.reads);
        }
        Ok(whole)
    }
}

impl Store {
    fn gateway_entries(&self) -> impl Iterator<Item = &Arc<ConfigRow>> {
        KINDS.iter().flat_map(|kind| self.config.of_kind(kind))
    }

    /// Returns the services behind a gateway. One that names all services has those of the catalog that are no proxies.
    fn behind(&self, gateway: &Arc<ConfigRow>) -> Vec<GatewayService> {
        let body = &gateway.entry.body;
        let of_listeners = body.list("Listeners").iter().flat_map(|listener| {
            let services = listener.list("Services").iter();
            services.map(|service| (listener.number("Port"), listener.text("Protocol"), service))
        });
        let of_gateway = body.list("Services").iter().map(|service| (0, "", service));
        let named: Vec<_> = of_listeners.chain(of_gateway).collect();
        let is_named = |name: &str| {
            named
                .iter()
                .any(|(_, _, service)| service.text("Name") == name)
        };
        let mut behind = Vec::new();
        for (port, protocol, service) in &named {
            let row = |name: &str, from_wildcard, index| GatewayService {
                gateway: Arc::clone(gateway),
                service: name.to_owned(),
                fields: (*service).clone(),
                port: *port,
                protocol: (*protocol).to_owned(),
                from_wildcard,
                index,
            };
            let name = service.text("Name");
            if name != "*" {
                behind.push(row(name, false, gateway.modify_index));
                continue;
            }
            for (name, since) in self.typical_services() {
                if !is_named(name) {
                    behind.push(row(name, true, since.max(gateway.modify_index)));
                }
            }
        }
        behind
    }

    /// Returns the names of services that are neither proxies nor Consul itself, with the index of the first instance.
    fn typical_services(&self) -> BTreeMap<&str, Index> {
        let mut services = BTreeMap::new();
        for row in self.catalog.services.values() {
            let service = &row.service;
            if service.kind.is_empty() && service.name != "consul" {
                let first = services
                    .entry(service.name.as_str())
                    .or_insert(row.create_index);
                *first = row.create_index.min(*first);
            }
        }
        services
    }
}
