//! One table for each of Consul's structures that more than one part reads or shows: the fields of a service, of its proxy and
//! of what they contain. One row is one field, with its name, its place in the store's type, the release it came with, and the
//! surfaces that have it. All walk the same table:
//!
//! | walk | module |
//! |---|---|
//! | bodies, as Go decodes them | [`body`] |
//! | answers, in Go's order, and `?filter=` | [`show`], [`select`] |
//! | configuration files | [`read`] |
//!
//! The kind of a field follows from the type of its place: see `kind.rs`. A field that stands elsewhere on one surface has a
//! second row for that surface.

pub mod body;
mod check;
mod field;
mod kind;
pub mod look;
pub mod names;
mod node;
mod proxy;
pub mod read;
pub mod select;
mod service;
pub mod show;
pub mod value;

pub use field::{At, Field, GoType, Shape};
pub use look::On;
pub use service::{given_weights, ungiven_service};
