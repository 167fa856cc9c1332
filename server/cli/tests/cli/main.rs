//! The binary as harnesses start it: arguments, files, variables, what it prints, how it ends.

mod agent;
mod configuration;
mod consumers;
mod https;
mod verbs;
