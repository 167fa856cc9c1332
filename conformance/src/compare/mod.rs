//! One server's answers beside another's, or beside those that were recorded.

pub mod accepted;
mod beside;
pub mod diff;
pub mod difference;
pub mod fixtures;
pub mod normalize;
pub mod not_recorded;
mod settle;
