//! The HTTP API on the wire: bytes sent to a server, and the bytes that it answers with, for every table of the
//! contract that gives bytes. One module per topic, in the order of the contract.

mod blocking;
mod consistency;
mod delete;
mod get;
mod key_rules;
mod keys;
mod lock;
mod path;
mod put;
mod raw;
mod support;
mod tenancy;
