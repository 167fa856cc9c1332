//! A stand-in for Consul's KV store and sessions, for tests: a [`Server`] in the test's own process.
//!
//! It answers as Consul does; what no Consul can do is done by its [`Control`](control::Control), to which a server
//! dereferences: moving time, waiting for a blocked client, making things go wrong, and saying what happened.
//!
//! ```
//! use std::time::Duration;
//! use proconsul::control::Session;
//!
//! let server = proconsul::test::frozen();
//! let session = server.sessions().create(Session::ttl(Duration::from_secs(10)))?;
//! assert!(server.kv().acquire("leader", "me", &session)?);
//!
//! server.advance(Duration::from_secs(20)); // the session lapses
//! let leader = server.explain("leader");
//! assert_eq!(leader.holder, None);
//! assert_eq!(leader.lock_delay_left, Some(Duration::from_secs(15)));
//! assert!(server.timeline("leader").contains("its TTL ran out"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything that waits has two forms, such as [`wait_blocked`](control::Control::wait_blocked), which parks its thread,
//! and [`wait_blocked_async`](control::Control::wait_blocked_async), a future for any runtime. In a plain
//! `#[tokio::test]`, whose client runs on the same thread, the first fails at once and names the second. How a test that
//! fails shows what happened on its server is said in [`mod@test`].
//!
//! One request, end to end: `http` checks it in Consul's order and makes a command or a query of it; the [`engine`]
//! applies what is due, then the command, under its one lock; the [`store`], a pure machine, says what was touched;
//! the lock is dropped, and those who wait for what was touched look again.
//!
//! # Invariants
//! * Time comes in as an argument: only [`clock`] reads the machine's, only [`entropy`] makes chance.
//! * The store notifies nobody. Waking comes after the index is fixed, and a wake is only a hint.
//! * Faults are asked for at the edge, before a handler and before a reply, never inside.
//! * The same seed and the same calls on a frozen clock give the same [`history`], byte for byte.

// Some of what the control plane over HTTP uses nobody else does.
#![cfg_attr(not(feature = "control-http"), allow(dead_code, unused_imports))]

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
pub mod history;
mod http;
mod probe;
pub mod server;
pub mod target;
pub mod test;
#[cfg(test)]
mod tests;
mod ui;
pub mod version;

pub(crate) use proconsul_gocompat as go;
pub use proconsul_store as store;
pub use proconsul_store::{timestamp, watch};
pub use server::{Address, Builder, Server, StartError};
