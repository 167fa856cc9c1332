//! What a run has to say: on the console, and in files.

pub mod console;
mod contract;
mod coverage;
pub mod document;
mod escape;
pub mod generated;
pub mod html;
pub mod junit;
pub mod left_out;
pub mod rows;
pub mod score;

#[cfg(test)]
mod tests;
