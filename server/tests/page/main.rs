//! The inspection page in a real browser: every view and every action, in both themes and at two widths.

mod access;
mod agents;
mod browser;
mod faults;
mod history;
mod keys;
mod lists;
mod sessions;
mod support;
mod time;
mod trouble;
