//! One file or folder for each page of Consul's API documentation: its routes, handlers, bodies and wire types. `cluster` and
//! `mesh` hold several.

pub(crate) mod acl;
pub(crate) mod agent;
pub(crate) mod catalog;
pub(crate) mod cluster;
pub(crate) mod event;
pub(crate) mod health;
pub(crate) mod kv;
pub(crate) mod mesh;
pub(crate) mod query;
pub(crate) mod session;
pub(crate) mod txn;

use super::route::Route;

/// The tables of routes of all pages.
pub(super) const PAGES: &[&[Route]] = &[
    acl::ROUTES,
    agent::ROUTES,
    agent::debug::ROUTES,
    catalog::ROUTES,
    catalog::page::ROUTES,
    mesh::ROUTES,
    cluster::ROUTES,
    cluster::coordinate::ROUTES,
    event::ROUTES,
    health::ROUTES,
    kv::ROUTES,
    cluster::autopilot::ROUTES,
    cluster::keyring::ROUTES,
    cluster::operator::ROUTES,
    query::ROUTES,
    session::ROUTES,
    cluster::status::ROUTES,
    txn::ROUTES,
    cluster::not_emulated::ROUTES,
];
