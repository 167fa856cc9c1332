//! proconsul.

pub mod blocking;
pub mod cli;
pub mod clock;
pub mod config;
pub mod control;
pub mod definition;
pub mod engine;
pub mod entropy;
pub mod faults;
mod filter;
mod go;
pub mod history;
mod http;
mod probe;
pub mod server;
pub mod store;
pub mod target;
pub mod test;
pub mod timestamp;
mod ui;
pub mod version;
pub mod watch;

pub use server::{Address, Builder, Server, StartError};
