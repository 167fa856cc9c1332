//! What the store is given: commands, which change it, and reads, which look at it and can be waited for.

pub(super) mod command;
pub(super) mod read;
