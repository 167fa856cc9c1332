//! What tokens may do.

pub(in crate::cases) mod authorize;
pub(in crate::cases) mod ground;
pub(in crate::cases) mod objects;
pub(in crate::cases) mod pages;
pub(in crate::cases) mod rules;
pub(in crate::cases) mod token;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    pages::kv::CASES,
    token::given::CASES,
    ground::CASES,
    token::bootstrap::CASES,
    objects::policy::CASES,
    token::object::CASES,
    token::list::CASES,
    token::expiry::CASES,
    objects::role::CASES,
    authorize::CASES,
    rules::text::CASES,
    rules::refused::CASES,
    rules::evaluation::CASES,
    objects::login::CASES,
    objects::method::CASES,
    objects::legacy::CASES,
    objects::template::CASES,
    pages::rights::CASES,
    pages::catalog::CASES,
    pages::ui::CASES,
    pages::intention::CASES,
    pages::operator::CASES,
    pages::blocked::CASES,
    pages::agent::CASES,
    pages::query::CASES,
    pages::txn::CASES,
];
