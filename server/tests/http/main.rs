//! The HTTP API on the wire: bytes sent to a server, and the bytes that it answers with, for every table of the
//! contract that gives bytes. A folder for each part of the contract, and a file for each topic.

mod agent;
mod bodies;
mod kv;
mod reads;
mod server;
mod session;
mod support;
mod txn;
mod wire;
