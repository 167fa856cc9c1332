//! A Consul without sockets, threads or a clock: API, controls, faults and history over the engine.
//!
//! A driver without a runtime uses [`Machine`]: inputs go in, outputs and the next deadline come out.
//!
//! One with a runtime gives a server a host ([`proconsul_engine::host`]), and polls what it returns: [`serve`] for the bytes
//! of a connection, [`respond`] for a whole request, and [`run`](proconsul_engine::Engine::run) for what happens by itself.
//! Whatever these futures wait for comes from the engine and the host.
//!
//! `api` has one folder or file per page of Consul's API documentation. HTTP itself is in the crate `h1`; routing is ours as
//! well. Consul's routes are Go's: they match the decoded, cleaned path and redirect to it, answer `OPTIONS` and list their
//! methods without spaces, and none of that can be said to a router that matches the path as sent.

// The guests share some of what stands around them, which a build without all of them does not use.
#![cfg_attr(
    not(all(
        feature = "acl",
        feature = "control-http",
        feature = "dump",
        feature = "mesh",
        feature = "metrics",
        feature = "queries",
        feature = "snapshots"
    )),
    allow(dead_code)
)]

mod api;
mod auth;
mod body;
mod checks;
pub mod connections;
pub mod control;
#[cfg(feature = "dns")]
pub mod dns;
mod extensions;
mod failure;
mod fault;
pub mod log;
mod machine;
mod pipeline;
mod reply;
mod request;
mod route;
mod serve;
mod start;

pub use checks::fail_checks;
pub use machine::{ConnectionId, Deadline, Input, Machine, Output, Outputs};
pub use pipeline::context::datacenters::join;
pub use pipeline::context::{Context, Reload};
pub use pipeline::respond;
pub use proconsul_h1::Closed;
pub use proconsul_h1::head_of;
pub use serve::{exchange, serve};
pub use start::{Reread, engine_beside, new_engine, reload_of};
