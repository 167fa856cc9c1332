//! Configuration documents: JSON and HCL, their known names, and the services and checks that they define.

pub mod definitions;
pub mod hcl;
pub mod shape;
pub mod sources;
pub mod tree;
