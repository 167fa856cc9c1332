//! HTTPS: what a server needs to speak TLS, and the handshake (operator.md 9).

#[cfg(feature = "https")]
mod authority;
#[cfg(feature = "https")]
mod files;
#[cfg(feature = "https")]
mod handshake;
#[cfg(not(feature = "https"))]
mod off;

#[cfg(feature = "https")]
pub use authority::{DevCertificates, Signed};
#[cfg(feature = "https")]
pub(crate) use handshake::Tls;
#[cfg(not(feature = "https"))]
pub use off::DevCertificates;
#[cfg(not(feature = "https"))]
pub(crate) use off::Tls;
