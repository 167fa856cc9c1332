//! The client against servers of its own.

mod endpoints;
mod recipes;
mod support;
mod trouble;
mod watches;
