//! What a run has to say: on the console, and in files.

pub mod console;
