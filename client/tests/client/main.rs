//! The client against servers of its own.

mod acl;
mod connector;
mod endpoints;
mod keeper;
mod support;
mod tls;
mod trouble;
mod watches;
