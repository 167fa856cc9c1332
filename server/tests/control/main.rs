//! What a test can do to a server: the control plane, in Rust and over HTTP.

mod barriers;
mod history;
mod safety;
mod state;
mod support;
mod time;
