//! Helpers around Rust tests: servers that tell what happened on them when their test fails.
//!
//! A test that panics, in whichever of its threads the panic began, drops its server while it unwinds: [`server`],
//! [`frozen`] and [`of`] need no more. One that returns an error does not panic: [`with_server`] and, for tests that
//! are `async`, [`with_server_async`] look at what it returns. There is no attribute, since functions do all of this
//! in tests of any runtime, and with no macro between a test and its error messages.

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

impl TestServer {
    #[expect(
        clippy::print_stderr,
        reason = "the output of a test is shown when it fails"
    )]
    fn tell(&self) {
        eprintln!(
            "what happened on {}:\n{}",
            self.0.url(),
            self.0.history_text()
        );
    }

    /// What a test came to, after its server has told what happened if that was a failure.
    fn judged<T: Verdict>(&self, verdict: T) -> T {
        if verdict.is_failure() {
            self.tell();
        }
        verdict
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell();
        }
    }
}

/// What a test returns.
pub trait Verdict {
    /// Whether the test has failed.
    fn is_failure(&self) -> bool;
}

impl Verdict for () {
    fn is_failure(&self) -> bool {
        false
    }
}

impl<T, E> Verdict for Result<T, E> {
    fn is_failure(&self) -> bool {
        self.is_err()
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

/// Runs a test on a server of its own, and prints the server's history when the test panics or returns an error.
///
/// ```
/// # fn test() -> Result<(), Box<dyn std::error::Error>> {
/// proconsul::test::with_server(|server| {
///     let mut connection = std::net::TcpStream::connect(server.addr())?;
///     std::io::Write::write_all(&mut connection, b"GET /v1/status/leader HTTP/1.0\r\n\r\n")?;
///     Ok(())
/// })
/// # }
/// # test().expect("the server accepts connections");
/// ```
///
/// # Panics
/// When the test does.
pub fn with_server<T: Verdict>(test: impl FnOnce(&Server) -> T) -> T {
    let server = server();
    let verdict = test(&server);
    server.judged(verdict)
}

/// Runs an `async` test as [`with_server`] does, on whatever runtime it is.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # async fn test() -> std::io::Result<()> {
/// proconsul::test::with_server_async(async |server| {
///     tokio::net::TcpStream::connect(server.addr()).await?;
///     Ok(())
/// })
/// .await
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(test())
/// # }
/// ```
///
/// # Panics
/// When the test does.
pub async fn with_server_async<T: Verdict>(test: impl AsyncFnOnce(&Server) -> T) -> T {
    let server = server();
    let verdict = test(&server).await;
    server.judged(verdict)
}
