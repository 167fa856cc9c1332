//! Go's `encoding/json`: what request bodies mean, and how answers look.

pub(crate) mod context;
pub(crate) mod decode;
pub(crate) mod encode;
mod formatter;
pub(crate) mod kinds;
mod scan;
pub(crate) mod value;
