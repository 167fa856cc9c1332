//! The client against servers of its own.

mod endpoints;
mod keeper;
mod support;
mod trouble;
mod watches;
