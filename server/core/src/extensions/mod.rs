//! What Consul's port serves beside Consul's API: the control plane and the page.

pub(super) mod control_plane;
pub(crate) mod ui;
