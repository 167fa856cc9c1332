//! ACLs that a test makes, changes and takes away.

mod faults;
mod logins;
pub(crate) mod tokens;
mod two;
