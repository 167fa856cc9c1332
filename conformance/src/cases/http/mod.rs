//! HTTP itself: heads, methods, errors, parameters that all endpoints share.

pub(in crate::cases) mod body_values;
pub(in crate::cases) mod consistency;
pub(in crate::cases) mod errors;
pub(in crate::cases) mod gzip;
pub(in crate::cases) mod headers;
pub(in crate::cases) mod later_fields;
pub(in crate::cases) mod methods;
pub(in crate::cases) mod order;
pub(in crate::cases) mod parser;
pub(in crate::cases) mod settings;
pub(in crate::cases) mod tenancy;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    headers::CASES,
    order::CASES,
    parser::CASES,
    methods::CASES,
    consistency::CASES,
    tenancy::CASES,
    errors::CASES,
    gzip::CASES,
    settings::every_request::CASES,
    settings::limits::CASES,
    body_values::CASES,
    later_fields::CASES,
];
