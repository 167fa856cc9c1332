//! The HTTP API on the wire, where no case of the conformance suite can say it: bytes, sizes, limits and broken requests, exact times,
//! settings and releases that the suite does not run on. What a case asserts has no test here: the suite runs on the emulator, too.

mod agent;
mod bodies;
mod kv;
mod reads;
mod server;
mod session;
mod support;
mod two;
mod txn;
mod wire;
