//! The same controls over HTTP.

mod calls;
mod described;
pub(crate) mod face;
pub(crate) mod guarded;
mod servers;
