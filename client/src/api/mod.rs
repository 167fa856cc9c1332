//! One file per page of Consul's API documentation.

pub(crate) mod acl;
pub(crate) mod agent;
pub(crate) mod catalog;
pub(crate) mod event;
pub(crate) mod health;
pub(crate) mod kv;
pub(crate) mod prepared_query;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod txn;
