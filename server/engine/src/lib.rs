//! The owner of store, clock, chance and waiters: every request ends here.
//!
//! [`Engine`] applies commands and answers reads, [`blocking`] has the loop of a blocking query, [`clock`] is the time that drives
//! it, by the [`host`] that it is given, and [`entropy`] the only source of chance. [`history`] keeps what happened, [`metrics`] counts it, and
//! [`faults`] says what is to go wrong.

pub mod aside;
pub mod blocking;
pub mod clock;
mod engine;
pub mod entropy;
pub mod faults;
pub mod history;
pub mod host;
pub mod metrics;
pub mod named;
mod rules;
pub mod sync;

pub use engine::{
    Advance, Advanced, Blocked, BlockedOn, Cause, Checkpoint, Contact, Engine, Explanation, Found,
    Generation, Held, Lag, OpenCall, RunOrder, State, Unmet, Waiter, WakeReason, WhyUnmet, barrier,
};
pub use rules::rules_of;
