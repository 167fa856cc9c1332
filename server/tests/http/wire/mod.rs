//! What holds for every request, whatever it asks for (kv.md 0, session.md 7).

mod gzip;
mod limits;
pub(crate) mod malformed;
mod methods;
pub(crate) mod random_bytes;
mod random_texts;
mod reached;
mod slow;
