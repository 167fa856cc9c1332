//! What the tests of all clients have in common: where the server is, and a part of it for each test.

/// The server to test, as an address with a scheme.
///
/// # Panics
/// When `CONSUL_HTTP_ADDR` does not say: there is no server that could be meant.
#[must_use]
pub fn address() -> String {
    let address = std::env::var("CONSUL_HTTP_ADDR")
        .expect("CONSUL_HTTP_ADDR says which server to test; see conformance/interop/README.md");
    if address.contains("://") {
        address
    } else {
        format!("http://{address}")
    }
}

/// A name that no other test and no earlier run has, for keys and services.
#[must_use]
pub fn own(test: &str) -> String {
    format!("interop-rust-{}-{test}", std::process::id())
}
