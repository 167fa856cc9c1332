//! The HTTP API on the wire: bytes sent to a server, and the bytes that it answers with, for every table of the
//! contract that gives bytes. One module per topic, in the order of the contract.

mod absent;
mod agent_checks;
mod agent_clock;
mod agent_probes;
mod agent_services;
mod blocking;
mod configured;
mod consistency;
mod delete;
mod get;
mod gzip;
mod key_rules;
mod keys;
mod limits;
mod lock;
mod malformed;
mod malformed_bodies;
mod methods;
mod own_node;
mod path;
mod put;
mod random_bodies;
mod random_bytes;
mod random_texts;
mod raw;
mod session;
mod session_create;
mod slow;
mod support;
mod tenancy;
mod txn;
mod txn_catalog;
mod txn_verbs;
