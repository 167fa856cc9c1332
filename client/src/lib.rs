//! A typed client for any Consul: keys, sessions, transactions, watches, and the recipes that Consul's guides describe.
//!
//! * [`Client`] is where everything starts; [`Client::from_env`] reads the variables that Consul's own tools read.
//! * Reads give an [`Answer`]: the value with the index, leader and age that Consul says with it.
//! * Errors are one type, [`Error`], with predicates; [`Error::may_be_applied`] is the one to know.
//! * [`Watch`] is a blocking query as a stream of changes.
//! * [`recipes`] are locks, semaphores and elections that handle lock-delays, spurious wakes, lost responses and expired
//!   sessions, and that exclude holders that use Consul's Go client or `consul lock`.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let server = proconsul::Server::start();
//! # let address = server.url();
//! use proconsul_client::recipes::{Keeper, Lock};
//! use proconsul_client::{Client, NewSession};
//!
//! let client = Client::new(&address)?;
//! let session = Keeper::start(&client, NewSession::new().ttl(std::time::Duration::from_secs(15))).await?;
//! let held = Lock::new(&client, "jobs/report").acquire(&session).await?;
//! tokio::select! {
//!     () = work() => held.release().await?,
//!     lost = held.lost() => panic!("stop at once: {lost}"),
//! }
//! # async fn work() {}
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate shares no code with the server `proconsul`: two sides that share an encoder agree with themselves and
//! with nobody else.

mod api;
mod client;
mod clock;
mod duration;
mod error;
mod json;
mod query;
pub mod recipes;
mod settings;
mod transport;
mod watch;

pub use api::acl::{
    Acl, AclLink, AuthMethod, BindingRule, NodeIdentity, Policy, Role, ServiceIdentity, Token,
};
pub use api::agent::{Agent, Member, NewCheck, NewService};
pub use api::catalog::{
    Catalog, CatalogService, Check, Locality, Node, NodeServices, Registration, Service,
    ServicePort, Status,
};
pub use api::event::{Event, Events};
pub use api::health::{Health, ServiceEntry};
pub use api::kv::{Kv, Pair, Write};
pub use api::prepared_query::{Executed, PreparedQueries, PreparedQuery, ServiceQuery};
pub use api::session::{Behavior, NewSession, ServiceCheck, Session, SessionId, Sessions};
pub use api::txn::{Txn, TxnError, TxnOutcome};
pub use client::{Builder, Client};
pub use clock::{Clock, Sleep};
pub use error::Error;
pub use query::{Answer, Consistency, Meta, QueryOptions};
pub use transport::connector::{Connector, Io};
pub use watch::Watch;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
