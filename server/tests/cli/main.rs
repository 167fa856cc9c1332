//! The binary as harnesses start it: arguments, files, variables, what it prints, how it ends.

mod acl;
mod agent;
mod commands;
mod configuration;
mod consumers;
#[cfg(feature = "https")]
mod https;
mod lock;
mod log;
mod on_demand;
mod output;
mod own_files;
mod ready;
mod service_files;
mod signals;
mod snapshots;
mod start_data;
