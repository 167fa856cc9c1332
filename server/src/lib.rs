//! proconsul.

pub mod blocking;
pub mod clock;
pub mod config;
pub mod engine;
pub mod entropy;
pub mod store;
pub mod timestamp;
pub mod version;
pub mod watch;
