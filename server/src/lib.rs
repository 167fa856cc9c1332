//! proconsul.

pub mod blocking;
pub mod clock;
pub mod config;
pub mod engine;
pub mod entropy;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the HTTP layer that uses it comes next")
)]
pub(crate) mod go;
pub mod store;
pub mod timestamp;
pub mod version;
pub mod watch;
