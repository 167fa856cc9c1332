//! One room for each page of Consul's API documentation: its handlers, bodies and wire types.

pub(crate) mod absent;
pub(crate) mod acl;
pub(crate) mod agent;
pub(crate) mod catalog;
pub(crate) mod config_entry;
pub(crate) mod connect;
pub(crate) mod coordinate;
pub(crate) mod event;
pub(crate) mod health;
pub(crate) mod kv;
pub(crate) mod operator;
pub(crate) mod query;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod txn;
