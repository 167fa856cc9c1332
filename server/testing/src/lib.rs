//! What the unit tests of several crates share: random runs that can be repeated, and a small stack.

mod random;
mod small_stack;

pub use random::random_cases;
pub use small_stack::{DEPTHS, on_small_stack};
