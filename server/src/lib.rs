//! proconsul.

pub mod config;
pub mod version;
