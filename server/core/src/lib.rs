//! A Consul without sockets, threads or a clock: API, controls, faults and history over the engine.
//!
//! A driver gives it a host ([`proconsul_engine::host`]), and passes requests in: [`serve`] takes the bytes of a connection,
//! [`respond`] a whole request. Both return futures; whatever they wait for comes from the engine, whose
//! [`run`](proconsul_engine::Engine::run) the driver polls, too.
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
pub mod connections;
pub mod control;
mod extensions;
mod failure;
mod fault;
pub mod log;
mod pipeline;
mod reply;
mod request;
mod route;
mod serve;
mod start;

pub use pipeline::context::{Context, Reload};
pub use pipeline::respond;
pub use serve::serve;
pub use start::{Reread, new_engine, reload_of};
