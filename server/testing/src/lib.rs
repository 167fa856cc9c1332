//! Shared helpers of unit tests: questions of DNS, repeatable random runs, a small stack, and patience.

mod dns;
mod random;
mod small_stack;
mod within;

pub use dns::{DnsAnswer, DnsQuestion, ask_over_tcp, ask_over_udp};
pub use random::random_cases;
pub use small_stack::{DEPTHS, on_small_stack};
pub use within::within;
