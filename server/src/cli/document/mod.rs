//! Configuration documents: JSON and HCL, their known names, and the services and checks that they define.

pub(super) mod definitions;
pub(super) mod hcl;
pub(super) mod shape;
pub(super) mod sources;
pub(super) mod tree;
