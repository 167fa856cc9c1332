//! Go's `encoding/json`: what request bodies mean, and how answers look.
//!
//! Reading: [`decode`] walks a body and fills the [`kinds`] of places that a type names; `scan` is the syntax check before
//! it, `value` the walking, [`context`] the rules and the error texts. Writing: [`encode`], with `serializer` for how each
//! kind of value is printed.
//! [`document`] is for texts that are no request bodies.
//!
//! Bodies are not parsed by `serde_json`: its error texts, its limit of depth, and what it does with invalid UTF-8 and
//! lone surrogates are all visible on the wire, and none of them is Go's.

pub mod context;
pub mod decode;
pub mod document;
pub mod encode;
mod find;
pub mod kinds;
pub mod object;
mod scan;
pub mod value;
