//! The catalog: nodes, services, checks, prepared queries.

pub(in crate::cases) mod cached;
pub(in crate::cases) mod definitions;
pub(in crate::cases) mod filters;
pub(in crate::cases) mod later;
pub(in crate::cases) mod mesh;
pub(in crate::cases) mod page;
pub(super) mod query;
pub(in crate::cases) mod reads;
pub(in crate::cases) mod shapes;
pub(in crate::cases) mod waiting;
pub(in crate::cases) mod write;

use crate::case::Case;

/// The topics in the order of reports. A new file in this folder is added here and above.
pub(super) const TOPICS: &[&[Case]] = &[
    later::CASES,
    write::register::CASES,
    write::deregister::CASES,
    write::node_ids::CASES,
    reads::CASES,
    shapes::CASES,
    waiting::indexes::CASES,
    waiting::blocking::CASES,
    waiting::wakes::CASES,
    filters::CASES,
    definitions::CASES,
    write::refusals::CASES,
    write::ports::CASES,
    mesh::CASES,
    cached::CASES,
    page::CASES,
];
