//! What tokens allow on each page of the API (acl.md 10 and 11).

pub(in crate::cases) mod agent;
pub(in crate::cases) mod blocked;
pub(in crate::cases) mod catalog;
pub(in crate::cases) mod intention;
pub(in crate::cases) mod kv;
pub(in crate::cases) mod operator;
pub(in crate::cases) mod query;
pub(in crate::cases) mod rights;
pub(in crate::cases) mod txn;
pub(in crate::cases) mod ui;
