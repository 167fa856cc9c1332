//! Searches the schedules that a legal Consul may show until a lock, an election or a watch breaks, and makes the one that
//! breaks it small.
//!
//! A [`Schedule`] is a few decisions at requests that are named. A [`Stage`] directs one server by it. What happened is a
//! [`Run`], which [`judge`] judges. A [`Search`] says which schedule to run next, and in the end what was found. Drivers run
//! the contenders: `proconsul explore` as processes, `proconsul::explore` as tasks on a paused clock.

mod action;
mod contender;
mod director;
mod judge;
mod report;
mod run;
mod schedule;
mod search;

pub use action::Action;
pub use contender::{Contender, MOST_CONTENDERS, ParseError};
pub use director::{Change, Contenders, Stage};
pub use judge::{Finding, Judgement, Limits, Property, judge};
pub use report::Report;
pub use report::html::{html, html_of_command};
pub use report::junit::{annotation, escaped, escaped_attribute, junit};
pub use report::test_code::{Language, test_code};
pub use report::timeline::{Line, LineKind, session_names, timeline};
pub use run::{Event, ReadError, Run, Setup, What};
pub use schedule::{AGENTS, Decision, Place, Schedule, are_agents};
pub use search::{Broken, Job, Options, Outcome, Purpose, Search, Summary};
