//! What tokens may do.

pub(in crate::cases) mod agent;
pub(in crate::cases) mod authorize;
pub(in crate::cases) mod blocked;
pub(in crate::cases) mod bootstrap;
pub(in crate::cases) mod catalog;
pub(in crate::cases) mod expiry;
pub(in crate::cases) mod given;
pub(in crate::cases) mod ground;
pub(in crate::cases) mod kv;
pub(in crate::cases) mod legacy;
pub(in crate::cases) mod login;
pub(in crate::cases) mod method;
pub(in crate::cases) mod operator;
pub(in crate::cases) mod policy;
pub(in crate::cases) mod query;
pub(in crate::cases) mod rights;
pub(in crate::cases) mod role;
pub(in crate::cases) mod rules;
mod support;
pub(in crate::cases) mod template;
pub(in crate::cases) mod token;
pub(in crate::cases) mod token_list;
pub(in crate::cases) mod txn;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    kv::CASES,
    given::CASES,
    ground::CASES,
    bootstrap::CASES,
    policy::CASES,
    token::CASES,
    token_list::CASES,
    expiry::CASES,
    role::CASES,
    authorize::CASES,
    rules::text::CASES,
    rules::refused::CASES,
    rules::evaluation::CASES,
    login::CASES,
    method::CASES,
    legacy::CASES,
    template::CASES,
    rights::CASES,
    catalog::CASES,
    operator::CASES,
    blocked::CASES,
    agent::CASES,
    query::CASES,
    txn::CASES,
];
