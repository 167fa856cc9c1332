//! What the tables are made of: ordered maps, and points in time.

pub(crate) mod ordered;
pub mod timestamp;
