//! What is said of all cases: what they leave uncovered, and that each can fail.

#[cfg(test)]
mod blank_tests;
pub mod uncovered;
