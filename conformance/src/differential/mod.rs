//! The same calls on two servers, or at once on one, drawn at random or sent by a client.

pub mod history;
pub mod sequence;
pub mod shadow;
