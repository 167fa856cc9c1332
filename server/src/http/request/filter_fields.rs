//! The fields that `?filter=` may name, endpoint by endpoint (asked of a real 1.8.7): those of the JSON without
//! indexes and definitions of checks.

use crate::filter::{Each, Field, Keyed, Within};
use crate::store::{
    CheckRow, ExposedPath, Instance, NewService, NodeRow, Proxy, ServiceAddress, ServiceRow,
    Upstream, Weights,
};

/// `catalog/nodes`.
pub(crate) const NODE: &[Field<NodeRow>] = &[
    Field::text("ID", |row| &row.node.id),
    Field::text("Node", |row| &row.node.node),
    Field::text("Address", |row| &row.node.address),
    Field::text("Datacenter", |row| &row.node.datacenter),
    Field::labels("TaggedAddresses", |row| row.node.tagged_addresses.as_ref()),
    Field::labels("Meta", |row| row.node.meta.as_ref()),
];

/// `catalog/node` and `catalog/node-services`, where the services are filtered; and the agent's own services.
pub(crate) const SERVICE: &[Field<ServiceRow>] = &[
    Field::text("Kind", |row| &row.service.kind),
    Field::text("ID", |row| &row.service.id),
    Field::text("Service", |row| &row.service.name),
    Field::texts("Tags", |row| row.service.tags()),
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
    Field::rows(
        "Proxy",
        &Within {
            get: |row: &ServiceRow| &*row.service.proxy,
            fields: PROXY,
        },
    ),
    Field::rows(
        "Connect",
        &Within {
            get: |row: &ServiceRow| &row.service,
            fields: CONNECT,
        },
    ),
];

/// `catalog/service` and `catalog/connect`.
pub(crate) const CATALOG_SERVICE: &[Field<Instance>] = &[
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
    Field::texts("ServiceTags", |row| row.service.service.tags()),
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
    Field::rows(
        "ServiceProxy",
        &Within {
            get: |row: &Instance| &*row.service.service.proxy,
            fields: PROXY,
        },
    ),
    Field::rows(
        "ServiceConnect",
        &Within {
            get: |row: &Instance| &row.service.service,
            fields: CONNECT,
        },
    ),
];

/// The reads of checks; and the agent's own checks.
pub(crate) const CHECK: &[Field<CheckRow>] = &[
    Field::text("Node", |row| &row.node),
    Field::text("CheckID", |row| &row.check.check_id),
    Field::text("Name", |row| &row.check.name),
    Field::text("Status", |row| &row.check.status),
    Field::text("Notes", |row| &row.check.notes),
    Field::text("Output", |row| &row.check.output),
    Field::text("ServiceID", |row| &row.check.service_id),
    Field::text("ServiceName", |row| &row.service_name),
    Field::texts("ServiceTags", |row| row.service_tags()),
    Field::text("Type", |row| &row.check.kind),
];

/// `health/service` and its kin.
pub(crate) const HEALTH_SERVICE: &[Field<Instance>] = &[
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

const CONNECT: &[Field<NewService>] = &[Field::flag("Native", |service| service.connect_native)];

const PROXY: &[Field<Proxy>] = &[
    Field::text("DestinationServiceName", |proxy| &proxy.destination_name),
    Field::text("DestinationServiceID", |proxy| &proxy.destination_id),
    Field::text("LocalServiceAddress", |proxy| &proxy.local_address),
    Field::number("LocalServicePort", |proxy| proxy.local_port),
    Field::rows(
        "Upstreams",
        &Each {
            get: |proxy: &Proxy| proxy.upstreams.iter().collect(),
            fields: UPSTREAM,
        },
    ),
    Field::rows(
        "MeshGateway",
        &Within {
            get: |proxy: &Proxy| &proxy.mesh_gateway_mode,
            fields: MODE,
        },
    ),
    Field::rows(
        "Expose",
        &Within {
            get: |proxy: &Proxy| proxy,
            fields: EXPOSE,
        },
    ),
];

const MODE: &[Field<String>] = &[Field::text("Mode", |mode| mode)];

const UPSTREAM: &[Field<Upstream>] = &[
    Field::text("DestinationType", |upstream| &upstream.destination_type),
    Field::text("DestinationNamespace", |upstream| {
        &upstream.destination_namespace
    }),
    Field::text("DestinationName", |upstream| &upstream.destination_name),
    Field::text("Datacenter", |upstream| &upstream.datacenter),
    Field::text("LocalBindAddress", |upstream| &upstream.local_bind_address),
    Field::number("LocalBindPort", |upstream| upstream.local_bind_port),
    Field::rows(
        "MeshGateway",
        &Within {
            get: |upstream: &Upstream| &upstream.mesh_gateway_mode,
            fields: MODE,
        },
    ),
];

const EXPOSE: &[Field<Proxy>] = &[
    Field::flag("Checks", |proxy| proxy.expose_checks),
    Field::rows(
        "Paths",
        &Each {
            get: |proxy: &Proxy| proxy.exposed_paths.iter().collect(),
            fields: EXPOSED_PATH,
        },
    ),
];

const EXPOSED_PATH: &[Field<ExposedPath>] = &[
    Field::number("ListenerPort", |path| path.listener_port),
    Field::text("Path", |path| &path.path),
    Field::number("LocalPathPort", |path| path.local_path_port),
    Field::text("Protocol", |path| &path.protocol),
    Field::flag("ParsedFromCheck", |_| false),
];
