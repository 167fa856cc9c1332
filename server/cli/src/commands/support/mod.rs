//! What several verbs share: flags, a proxy, arguments that name files, and how answers are printed.

pub(super) mod flags;
pub(super) mod proxy;
pub(super) mod shown;
pub(super) mod source;
pub(super) mod table;
