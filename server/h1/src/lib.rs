//! HTTP/1 as Go's `net/http` serves it: heads, bodies, responses and connections. [`serve`] takes the halves of a
//! connection, and the application, a function that answers one request at a time. It needs no runtime: a socket of
//! any ([`ReadHalf`], [`WriteHalf`]) and bytes in memory ([`pipe`]) are connections. [`exchange`] answers a request
//! that has no connection.
//!
//! An HTTP library would decide these by itself, and differently from Go: which heads are valid, the response
//! to an invalid one, what happens to an unread body, and the order of headers.

mod bad_head;
mod body;
mod chunks;
mod connection;
mod exchange;
mod head;
mod headers;
mod lines;
mod response;
mod select;
mod stream;
mod strictness;

pub use body::{Incoming, ReadBody};
pub use chunks::BodyFailure;
pub use connection::{ServeOptions, serve};
pub use exchange::{exchange, head_of};
pub use head::{Head, Protocol};
pub use headers::Headers;
pub use response::{Calendar, Ending, HttpResponse, ResponseBody, Sleep};
pub use stream::{Closed, HangingUp, Peer, PipeReader, PipeWriter, ReadHalf, WriteHalf, pipe};
pub use strictness::Strictness;

#[cfg(test)]
mod tests;
