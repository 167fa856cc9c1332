//! Go's `encoding/json`: decoding of request bodies and printing of answers.
//!
//! To read, `scan` checks the syntax, [`value`] gives access to the text, [`decode`] fills places of the
//! [`kinds`] that a type lists, and [`context`] has the options and the errors. To write, [`encode`] prints
//! values. [`document`] parses other texts.
//!
//! `serde_json` cannot parse the bodies: its errors, its limit of depth, and its treatment of invalid UTF-8
//! and lone surrogates differ from Go's, and clients see them.

pub mod context;
pub mod decode;
pub mod document;
pub mod encode;
mod find;
pub mod kinds;
pub mod maps;
pub mod object;
mod scan;
pub mod value;
