//! The agent's own services and checks.

pub(in crate::cases) mod alias;
pub(in crate::cases) mod check;
pub(in crate::cases) mod grpc;
pub(in crate::cases) mod http;
pub(in crate::cases) mod later;
pub(in crate::cases) mod own_node;
pub(in crate::cases) mod ports;
pub(in crate::cases) mod proxy;
pub(in crate::cases) mod service;
pub(in crate::cases) mod shapes;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    check::CASES,
    grpc::CASES,
    http::CASES,
    service::CASES,
    shapes::CASES,
    alias::CASES,
    proxy::CASES,
    ports::CASES,
    later::CASES,
    own_node::CASES,
];
