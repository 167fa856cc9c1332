//! The Rust tests that the README and the book show.

mod acls;
mod agents;
mod barriers;
mod client;
mod datacenters;
mod dns;
mod faults;
mod locks;
#[expect(clippy::print_stdout, reason = "it shows what a test may print")]
mod state;
mod time;
mod watches;
