//! Whole pages of the API: transactions, the mesh with Consul's page, snapshots with metrics and the cache.

pub(super) mod mesh;
pub(super) mod server;
pub(super) mod txn;
