//! One set of cases that says what a Consul answers, run on any address.
//!
//! A [`Case`] is one claim about Consul's KV store, sessions or what surrounds them, written on raw HTTP. A [`Target`] is anything that
//! listens: a real Consul, the emulator, another double. [`run`] holds a target against a [`Selection`] of cases and gives a [`Report`];
//! its text shows for each failure the claim, its source and every request and response.
//!
//! Cases use only names of their own, clean up behind themselves and assert relations between indexes, so that they run in parallel and
//! on a server that others use. `README.md` beside this crate says how to add one.

pub mod answer;
pub mod asked;
pub mod built;
pub mod case;
pub mod cases;
pub mod citation;
pub mod consul;
pub mod coverage;
pub mod deviation;
pub mod diff;
pub mod difference;
pub mod entry;
pub mod feature;
pub mod fixtures;
pub mod history;
pub mod json;
pub mod left_out;
pub mod mutate;
pub mod normalize;
pub mod report;
pub mod runner;
pub mod selection;
pub mod sequence;
pub mod site;
pub mod skips;
pub mod target;
pub mod time;
pub mod transcript;
pub mod trial;
pub mod version;
pub mod waiting;
pub mod wire;

#[cfg(test)]
mod fake;
mod parallel;
mod verdict;

pub use crate::case::{Case, Level};
pub use crate::feature::Feature;
pub use crate::runner::{Report, Runner, State, run};
pub use crate::selection::Selection;
pub use crate::site::{Site, ToolError};
pub use crate::target::Target;
pub use crate::trial::Trial;
pub use crate::verdict::Failure;
pub use crate::version::Version;
