//! What a run has to say: on the console, and in files.

pub mod console;
mod contract;
pub mod document;
mod escape;
pub mod html;
pub mod junit;

#[cfg(test)]
mod tests;
