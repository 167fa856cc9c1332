//! A stand-in for Consul's KV store and sessions, for tests: a [`Server`] in the test's own process.
//!
//! It responds to any client as Consul does. Its methods do what no Consul can: move time, wait for a blocked client,
//! inject faults, and show the history. A complete test:
//!
//! ```
//! use std::time::Duration;
//!
//! use proconsul_client::{Client, NewSession};
//!
//! // #[tokio::test]
//! async fn a_lock_is_lost_with_its_session() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = proconsul::test::frozen(); // the test moves its clock
//!     let client = Client::new(&server.url())?;
//!     let ttl = NewSession::new().ttl(Duration::from_secs(10));
//!     let session = client.sessions().create(&ttl).await?;
//!     assert!(client.kv().write("leader", "me").acquire(&session).await?);
//!
//!     server.advance_async(Duration::from_secs(20)).await; // it expires at twice its TTL
//!
//!     let leader = server.explain("leader");
//!     assert_eq!(leader.holder, None);
//!     assert_eq!(leader.lock_delay_left, Some(Duration::from_secs(15)));
//!     assert!(server.timeline("leader").contains("its TTL ran out"));
//!     Ok(())
//! }
//! # tokio::runtime::Runtime::new()?.block_on(a_lock_is_lost_with_its_session())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//! * [`test`](mod@test) starts servers that print their history when their test fails; [`Server::builder`] sets
//!   everything else.
//! * [`in_runtime`] has servers as tasks of the test's own runtime, on tokio's clock: for paused clocks and turmoil.
//! * `explore` (a feature that is off by default) searches schedules until a lock, an election or a watch breaks.
//! * [`Server`] has the controls, in groups: time, waiting, faults, connections, history, state.
//! * [`control`], [`faults`] and [`history`] have the types of their arguments and results.
//! * [`target`] runs the same test on a real Consul.
//!
//! The folder `server/examples` has five complete programs to copy:
//! * `lock_lost_by_ttl`: a session expires, and nobody gets its lock during the lock-delay.
//! * `watch_with_barrier`: a test changes a key as soon as a program watches it, without a sleep.
//! * `fault_and_retry`: one write gets an error, the response of another is lost; the program retries.
//! * `fifty_servers`: fifty tests at once, each with its own server.
//! * `on_a_real_consul`: the same test on this crate and on a real Consul.
//!
//! # Features
//! Requires Rust 1.88. All features but `explore` are on by default. With `default-features = false` there are keys, sessions, locks,
//! transactions, blocking queries, nodes, services, TTL checks, events, time, faults, barriers and history. An endpoint whose
//! feature is off answers 501 and names the feature.
//! * `acl`: `/v1/acl/`. `mesh`: configuration entries, discovery chains, intentions, gateways, peering. `queries`: prepared
//!   queries. `metrics`: `/v1/agent/metrics` and `/debug/pprof/`.
//! * `dump`: `Server::dump` and `load`, `Keys::export` and `import`, files to start with.
//! * `probes`: HTTP, TCP and UDP checks; without it they turn critical.
//! * `control-http`: the controls over HTTP, under `/proconsul/v1/`.
//! * `ui`: the web UI at `/ui/`.
//! * `https`: the port of HTTPS. `https-checks`: checks of `https://` URLs. `http2-checks`: gRPC and H2PING checks.
//! * `script-checks`: checks that are programs. `jwt`: logins with JSON Web Tokens. `snapshots`: `/v1/snapshot`.
//! * `explore`: searches over contenders in the test's own process; it brings tokio's paused clock.
//! * `tower`: a [`RuntimeServer`](in_runtime::RuntimeServer) as a `tower::Service`.
//!
//! The binary is the package `proconsul-cli`, which has all of them.
//!
//! # Threads and runtimes
//! A [`Server`] runs on its own threads: servers share a pool, one thread per core, and each is pinned to one of them. A
//! [`RuntimeServer`](in_runtime::RuntimeServer) is made of tasks of the caller's runtime, and its clock is tokio's.
//!
//! Everything that waits has two forms, such as [`wait_blocked`](Server::wait_blocked), which parks its thread, and
//! [`wait_blocked_async`](control::Controls::wait_blocked_async), a future for any runtime. In a plain `#[tokio::test]`, whose
//! client runs on the same thread, the first fails at once and names the second. For a server in the caller's runtime, use
//! the second.
//!
//! The same seed and the same calls on a frozen clock give the same [`history`], byte for byte.

/// The configuration of a server.
pub mod config {
    pub use proconsul_config::{
        AclConfig, AclTokens, Config, ConfigError, DataFiles, DnsConfig, Epoch, HttpsConfig,
        Listener, LogLevel, Network, Soa, TelemetryConfig, TlsVersion,
    };
}
pub mod control;
#[cfg(feature = "dns")]
pub mod dns {
    //! Questions of DNS that reach a server without its sockets: see [`RuntimeServer::dns`](crate::in_runtime::RuntimeServer::dns).

    pub use proconsul_core::dns::Transport;
}
#[cfg(feature = "explore")]
pub mod explore;
pub mod process;
mod run;

#[doc(inline)]
pub use control::Server;
#[doc(inline)]
pub use proconsul_core::log;
#[doc(inline)]
pub use proconsul_engine::{faults, history};
#[doc(inline)]
pub use proconsul_version::{ParseVersionError, Version};
pub use run::{Builder, StartError};
pub(crate) use run::{connection, https};
#[doc(inline)]
pub use run::{in_runtime, target, test};
