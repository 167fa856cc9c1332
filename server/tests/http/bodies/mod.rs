//! Bodies of requests, as Go decodes them (kv.md 7, session.md 4).

mod deep;
mod entry_fields;
mod field_kinds;
mod later_fields;
mod malformed;
mod quoting;
pub(crate) mod random;
