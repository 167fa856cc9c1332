//! Helpers around Rust tests: servers that tell what happened on them when their test fails.

use std::ops::Deref;

use crate::server::{Builder, Server};

/// A [`Server`] that prints its history when it is dropped by a test that panics.
///
/// ```
/// let server = proconsul::test::server();
/// server.kv().put("greeting", "hello");
/// assert!(server.kv().get("greeting").is_some());
/// ```
#[derive(Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct TestServer(Server);

impl Deref for TestServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Drop for TestServer {
    #[expect(
        clippy::print_stderr,
        reason = "the output of a test is shown when it fails"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "what happened on {}:\n{}",
                self.0.url(),
                self.0.history_text()
            );
        }
    }
}

/// A server with the default settings.
///
/// # Panics
/// As [`Server::start`].
pub fn server() -> TestServer {
    TestServer(Server::start())
}

/// A server whose clock stands still until the test moves it.
///
/// # Panics
/// As [`Server::start`].
pub fn frozen() -> TestServer {
    of(Server::builder().frozen())
}

/// A server with these settings.
///
/// # Panics
/// When it does not start; says why.
pub fn of(builder: Builder) -> TestServer {
    match builder.start() {
        Ok(server) => TestServer(server),
        Err(error) => panic!("the test's server does not start: {error}"),
    }
}

/// Runs a test on a server of its own, and prints the server's history when the test fails.
///
/// ```
/// proconsul::test::with_server(|server| {
///     assert!(server.url().starts_with("http://127.0.0.1:"));
/// });
/// ```
///
/// # Panics
/// When the test does.
pub fn with_server<T>(test: impl FnOnce(&Server) -> T) -> T {
    let server = server();
    test(&server)
}
