//! The client against servers of its own.

mod endpoints;
mod keeper;
mod support;
mod tls;
mod trouble;
mod watches;
