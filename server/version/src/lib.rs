//! The emulated release of Consul, and the table of what each release does.
//!
//! Handlers call [`Version::has`] with a [`Behaviour`] and never compare numbers, so that the changes of a release are
//! in one place: [`behaviour`].

pub mod behaviour;
mod evidence;
mod go;
mod version;

pub use behaviour::{Behaviour, Row, Since};
pub use evidence::Known;
pub use version::{BUILD_DATE, ParseVersionError, Version};
