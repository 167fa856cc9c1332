//! What a test can do to a server: the control plane, in Rust and over HTTP.

mod acl;
mod agents;
mod autopilot;
mod datacenters;
mod faults;
mod history;
mod over_http;
mod scenarios;
mod state;
mod support;
mod time;
mod waits;
mod without_leader;
mod writers;
