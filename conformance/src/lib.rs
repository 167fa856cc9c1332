//! One set of cases that says what a Consul answers, run on any address.
//!
//! A [`Case`] is one claim about Consul's KV store, sessions or what surrounds them, written on raw HTTP. A [`Target`] is anything that
//! listens: a real Consul, the emulator, another double. [`run`] holds a target against a [`Selection`] of cases and gives a [`Report`];
//! its text shows for each failure the claim, its source and every request and response.
//!
//! Cases use only names of their own, clean up behind themselves and assert relations between indexes, so that they run in parallel and
//! on a server that others use. `README.md` beside this crate says how to add one.

pub mod case;
pub mod cases;
pub mod command;
pub mod compare;
pub mod history;
pub mod report;
pub mod runner;
pub mod target;
pub mod wire;

pub use crate::case::feature::Feature;
pub use crate::case::selection::Selection;
pub use crate::case::trial::Trial;
pub use crate::case::version::Version;
pub use crate::case::{Case, Level};
pub use crate::runner::verdict::Failure;
pub use crate::runner::{Report, Runner, State, run};
pub use crate::target::Target;
pub use crate::target::site::{Site, ToolError};

pub use target::time;
