//! HTTP/1 as Go's `net/http` serves it: heads, bodies, answers and connections, and nothing of the application that
//! answers. [`serve`] takes a connection and a function that answers one request at a time.
//!
//! A library's server would be less work, and its wire another one: it decides by itself which heads are heads,
//! what it says about those that are none, how a body that nobody read ends, and in which order headers stand.

mod answer;
mod body;
mod chunks;
mod connection;
mod head;
mod lines;
mod refusal;
mod stream;
mod strictness;

pub use answer::{Body, Ending, Response};
pub use body::{Incoming, ReadBody};
pub use chunks::BodyFailure;
pub use connection::{ServeOptions, Sleep, serve};
pub use head::{Head, Protocol};
pub use stream::{HangingUp, Stream};
pub use strictness::Strictness;

#[cfg(test)]
mod tests;
