//! Shared helpers of unit tests: repeatable random runs, a small stack, and patience.

mod random;
mod small_stack;
mod within;

pub use random::random_cases;
pub use small_stack::{DEPTHS, on_small_stack};
pub use within::within;
