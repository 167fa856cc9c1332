//! The whole state as plain data, its restoration, and its move to another time.

#[cfg(feature = "dump")]
mod check;
#[cfg(feature = "dump")]
mod flaw;
#[cfg(feature = "dump")]
pub mod form;
#[cfg(feature = "dump")]
mod load;
#[cfg(feature = "dump")]
mod restore;
mod shift;
#[cfg(feature = "dump")]
pub(crate) mod value;
#[cfg(feature = "dump")]
mod whole;

#[cfg(feature = "dump")]
pub use flaw::Flaw;
#[cfg(feature = "dump")]
pub(crate) use flaw::{HIGHEST, all_different};
#[cfg(feature = "dump")]
pub use whole::{Image, TableIndexes};
