//! The fields that `?filter=` may name, endpoint by endpoint (asked of a real 1.8.7): those of the JSON without
//! indexes and definitions of checks.
//!
//! Of proxies nothing is kept, so their fields are empty; they may be named all the same.

use crate::filter::{Each, Field, Keyed, Within};
use crate::store::{CheckRow, Instance, NodeRow, ServiceAddress, ServiceRow, Weights};

/// `catalog/nodes`.
pub(super) const NODE: &[Field<NodeRow>] = &[
    Field::text("ID", |row| &row.node.id),
    Field::text("Node", |row| &row.node.node),
    Field::text("Address", |row| &row.node.address),
    Field::text("Datacenter", |row| &row.node.datacenter),
    Field::labels("TaggedAddresses", |row| row.node.tagged_addresses.as_ref()),
    Field::labels("Meta", |row| row.node.meta.as_ref()),
];

/// `catalog/node` and `catalog/node-services`, where the services are filtered; and the agent's own services.
pub(super) const SERVICE: &[Field<ServiceRow>] = &[
    Field::text("Kind", |row| &row.service.kind),
    Field::text("ID", |row| &row.service.id),
    Field::text("Service", |row| &row.service.name),
    Field::texts("Tags", |row| &row.service.tags),
    Field::text("Address", |row| &row.service.address),
    Field::rows(
        "TaggedAddresses",
        &Keyed {
            get: |row: &ServiceRow| row.service.tagged_addresses.as_ref(),
            fields: ADDRESS,
        },
    ),
    Field::labels("Meta", |row| row.service.meta.as_ref()),
    Field::number("Port", |row| row.service.port),
    Field::rows(
        "Weights",
        &Within {
            get: |row: &ServiceRow| &row.service.weights,
            fields: WEIGHTS,
        },
    ),
    Field::flag("EnableTagOverride", |row| row.service.enable_tag_override),
    Field::rows("Proxy", &within_nothing::<ServiceRow>(PROXY)),
    Field::rows("Connect", &within_nothing::<ServiceRow>(CONNECT)),
];

/// `catalog/service` and `catalog/connect`.
pub(super) const CATALOG_SERVICE: &[Field<Instance>] = &[
    Field::text("ID", |row| &row.node.node.id),
    Field::text("Node", |row| &row.node.node.node),
    Field::text("Address", |row| &row.node.node.address),
    Field::text("Datacenter", |row| &row.node.node.datacenter),
    Field::labels("TaggedAddresses", |row| {
        row.node.node.tagged_addresses.as_ref()
    }),
    Field::labels("NodeMeta", |row| row.node.node.meta.as_ref()),
    Field::text("ServiceKind", |row| &row.service.service.kind),
    Field::text("ServiceID", |row| &row.service.service.id),
    Field::text("ServiceName", |row| &row.service.service.name),
    Field::texts("ServiceTags", |row| &row.service.service.tags),
    Field::text("ServiceAddress", |row| &row.service.service.address),
    Field::rows(
        "ServiceTaggedAddresses",
        &Keyed {
            get: |row: &Instance| row.service.service.tagged_addresses.as_ref(),
            fields: ADDRESS,
        },
    ),
    Field::rows(
        "ServiceWeights",
        &Within {
            get: |row: &Instance| &row.service.service.weights,
            fields: WEIGHTS,
        },
    ),
    Field::labels("ServiceMeta", |row| row.service.service.meta.as_ref()),
    Field::number("ServicePort", |row| row.service.service.port),
    Field::flag("ServiceEnableTagOverride", |row| {
        row.service.service.enable_tag_override
    }),
    Field::rows("ServiceProxy", &within_nothing::<Instance>(PROXY)),
    Field::rows("ServiceConnect", &within_nothing::<Instance>(CONNECT)),
];

/// The reads of checks; and the agent's own checks.
pub(super) const CHECK: &[Field<CheckRow>] = &[
    Field::text("Node", |row| &row.node),
    Field::text("CheckID", |row| &row.check.check_id),
    Field::text("Name", |row| &row.check.name),
    Field::text("Status", |row| &row.check.status),
    Field::text("Notes", |row| &row.check.notes),
    Field::text("Output", |row| &row.check.output),
    Field::text("ServiceID", |row| &row.check.service_id),
    Field::text("ServiceName", |row| &row.service_name),
    Field::texts("ServiceTags", |row| &row.service_tags),
    Field::text("Type", |row| &row.check.kind),
];

/// `health/service` and its kin.
pub(super) const HEALTH_SERVICE: &[Field<Instance>] = &[
    Field::rows(
        "Node",
        &Within {
            get: |row: &Instance| &*row.node,
            fields: NODE,
        },
    ),
    Field::rows(
        "Service",
        &Within {
            get: |row: &Instance| &*row.service,
            fields: SERVICE,
        },
    ),
    Field::rows(
        "Checks",
        &Each {
            get: |row: &Instance| row.checks.iter().map(|check| &**check).collect(),
            fields: CHECK,
        },
    ),
];

const ADDRESS: &[Field<ServiceAddress>] = &[
    Field::text("Address", |address| &address.address),
    Field::number("Port", |address| address.port),
];

const WEIGHTS: &[Field<Weights>] = &[
    Field::number("Passing", |weights| weights.passing),
    Field::number("Warning", |weights| weights.warning),
];

/// What nothing is kept of.
type Nothing = ();

const fn within_nothing<T>(fields: &'static [Field<Nothing>]) -> Within<T, Nothing> {
    let get = |_: &T| &();
    Within { get, fields }
}

const CONNECT: &[Field<Nothing>] = &[Field::flag("Native", |()| false)];

const MODE: &[Field<Nothing>] = &[Field::text("Mode", |()| "")];

const PROXY: &[Field<Nothing>] = &[
    Field::text("DestinationServiceName", |()| ""),
    Field::text("DestinationServiceID", |()| ""),
    Field::text("LocalServiceAddress", |()| ""),
    Field::number("LocalServicePort", |()| 0),
    Field::rows(
        "Upstreams",
        &Each {
            get: |_: &Nothing| Vec::new(),
            fields: UPSTREAM,
        },
    ),
    Field::rows("MeshGateway", &within_nothing::<Nothing>(MODE)),
    Field::rows("Expose", &within_nothing::<Nothing>(EXPOSE)),
];

const UPSTREAM: &[Field<Nothing>] = &[
    Field::text("DestinationType", |()| ""),
    Field::text("DestinationNamespace", |()| ""),
    Field::text("DestinationName", |()| ""),
    Field::text("Datacenter", |()| ""),
    Field::text("LocalBindAddress", |()| ""),
    Field::number("LocalBindPort", |()| 0),
    Field::rows("MeshGateway", &within_nothing::<Nothing>(MODE)),
];

const EXPOSE: &[Field<Nothing>] = &[
    Field::flag("Checks", |()| false),
    Field::rows(
        "Paths",
        &Each {
            get: |_: &Nothing| Vec::new(),
            fields: EXPOSED_PATH,
        },
    ),
];

const EXPOSED_PATH: &[Field<Nothing>] = &[
    Field::number("ListenerPort", |()| 0),
    Field::text("Path", |()| ""),
    Field::number("LocalPathPort", |()| 0),
    Field::text("Protocol", |()| ""),
    Field::flag("ParsedFromCheck", |()| false),
];
