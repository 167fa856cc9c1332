//! Shared helpers of unit tests: repeatable random runs, and a small stack.

mod random;
mod small_stack;

pub use random::random_cases;
pub use small_stack::{DEPTHS, on_small_stack};
