//! What a test can do to a server: the control plane, in Rust and over HTTP.

mod acl_faults;
mod acls;
mod async_twins;
mod barriers;
mod calls;
mod described;
mod determinism;
mod dump;
mod face;
mod faults;
mod guarded;
mod history;
mod indexes;
mod leader_loss;
mod logins;
mod responses;
mod rules;
mod safety;
mod scenarios;
mod servers;
mod service_wakes;
mod state;
mod support;
mod time;
mod time_ends;
mod writers;
