//! The verbs that are clients of a server.

pub(super) mod acl;
pub(super) mod commands;
pub(super) mod lock;
pub(super) mod mesh;
pub(super) mod ready;
pub(super) mod service_files;
pub(super) mod snapshots;
