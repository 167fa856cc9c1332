//! Derives with the names and the attributes of serde's that derive nothing.
//!
//! The rows of the store are serialized for dumps alone. Without the feature `dump` these take the place of serde's derives,
//! so that no row needs a `cfg`, and serde's, which take a tenth of an embedder's build, are not compiled.

use proc_macro::TokenStream;

/// Stands in for `serde::Serialize`.
#[proc_macro_derive(Serialize, attributes(serde))]
pub fn serialize(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stands in for `serde::Deserialize`.
#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn deserialize(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
