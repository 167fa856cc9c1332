//! What several verbs share: flags, arguments that name files, and how answers are printed.

pub(super) mod flags;
pub(super) mod shown;
pub(super) mod source;
pub(super) mod table;
