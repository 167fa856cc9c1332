//! The wire: requests come in as bytes, are checked in Consul's order, become commands and queries, and their
//! replies become bytes again. `api` has one folder or file per page of Consul's API documentation.
//!
//! HTTP itself is in the crate `h1`; routing is ours as well. Consul's routes are Go's: they match the decoded, cleaned
//! path and redirect to it, answer `OPTIONS` and list their methods without spaces, and none of that can be said to a
//! router that matches the path as sent.

mod accept;
mod api;
mod auth;
mod body;
pub(crate) mod extensions;
mod failure;
mod fault;
mod pipeline;
mod reply;
mod request;
mod route;

pub(crate) use accept::tasks::{Task, Tasks};
pub(crate) use accept::{BACKLOG, Socket, accept};
pub(crate) use pipeline::context::Context;
pub use pipeline::context::Reload;
