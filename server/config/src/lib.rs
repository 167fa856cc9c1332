//! The configuration of a server: what an agent's flags, variables and files say, what they define, and what users write as
//! configuration entries.
//!
//! | module | what it does |
//! |---|---|
//! | [`arguments`] | the configuration of `agent` with these arguments |
//! | [`settings`] | the table of all settings; flags, variables and files |
//! | [`document`] | JSON and HCL; finding files; known names; definitions of services and checks |
//! | [`resolve`] | from settings to a [`Config`]; the addresses of this machine; settings of servers on demand |
//! | [`definition`] | services and checks as users define them |
//! | [`schema`] | the fields of services, as all parts read and show them |
//! | [`entry`] | configuration entries as users define them: the tables of their kinds, one decoder, one printer, their checks |
//!
//! Scripts and files for Consul rely on the rules of Go's `flag` package and on version 1 of HCL.

mod acl;
mod agents;
pub mod arguments;
mod config;
mod data;
mod datacenters;
pub mod definition;
mod dns;
pub mod document;
#[cfg(feature = "mesh")]
pub mod entry;
#[cfg(not(feature = "mesh"))]
mod no_entry;
#[cfg(not(feature = "mesh"))]
use no_entry as entry;
mod epoch;
mod https;
pub mod resolve;
pub mod schema;
pub mod settings;
mod telemetry;

pub use acl::{AclConfig, AclTokens};
pub use agents::{AgentCounts, WrongAgents};
pub use arguments::ConfigError;
pub use config::*;
pub use data::DataFiles;
pub use datacenters::{DatacenterNames, WrongDatacenters};
pub use dns::{DnsConfig, Soa};
pub use epoch::Epoch;
pub use https::{HttpsConfig, TlsVersion};
pub use telemetry::TelemetryConfig;
