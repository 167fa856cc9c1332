//! What a server starts with.

#[cfg(feature = "dump")]
mod files;
#[cfg(not(feature = "dump"))]
mod off;

#[cfg(feature = "dump")]
pub use files::StartData;
#[cfg(not(feature = "dump"))]
pub use off::StartData;
