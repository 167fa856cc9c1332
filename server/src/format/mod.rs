//! Forms in which users and servers hand something over: filters, archives of snapshots, named values.

#[cfg(feature = "snapshots")]
pub(super) mod archive;
pub(super) mod filter;
pub(super) mod named;
