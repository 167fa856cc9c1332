//! The pages about the servers and nodes themselves.

pub(crate) mod autopilot;
pub(crate) mod coordinate;
pub(crate) mod keyring;
pub(crate) mod not_emulated;
pub(crate) mod operator;
#[cfg(feature = "snapshots")]
mod snapshot;
pub(crate) mod status;

use crate::route::routes;

routes! {
    feature "snapshots";
    "/v1/snapshot" [GET PUT] asks acl:write => waits(snapshot::snapshot);
}
