//! What several topics share: requests, forms of answers and claims. No topic uses another one.

pub(in crate::cases) mod acl;
pub(in crate::cases) mod catalog;
pub(in crate::cases) mod config;
pub(in crate::cases) mod endpoints;
pub(in crate::cases) mod invalidation;
pub(in crate::cases) mod lock;
pub(in crate::cases) mod ports;
pub(in crate::cases) mod proxy;
pub(in crate::cases) mod query;
pub(in crate::cases) mod rights;
pub(in crate::cases) mod rules;
pub(in crate::cases) mod session;
pub(in crate::cases) mod txn;
pub(in crate::cases) mod txn_catalog;
