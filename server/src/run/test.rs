//! Helpers around Rust tests: servers that print their history when their test fails.
//!
//! There are three servers, [`server`], [`frozen`] and [`server_with`] for everything that a [`Builder`] can set, and
//! each detects that its test panics, in whichever of the test's threads the panic began.
//!
//! A test that returns an error drops its server as one that passes does. So a server prints its history at the end of
//! each test whose output is captured: `cargo test` and nextest show that output of failing tests alone. Nothing
//! captures it under `--nocapture` or in other programs. There [`TestServer::run`], and for `async` tests
//! [`TestServer::run_async`], look at what the test returns. There is no attribute, since functions do all of this in
//! tests of any runtime, and with no macro between a test and its error messages.
//!
//! With `#[tokio::test(start_paused = true)]` Tokio's clock jumps whenever the test waits, also for a response of a server,
//! and a client's time-outs end its requests at once. The server's clock does not follow. Use [`frozen`] and a runtime
//! whose clock is not paused, or [`Builder::in_runtime`], whose server follows tokio's clock.

use std::ops::Deref;

use crate::control::Server;
use crate::run::Builder;

/// A [`Server`] that prints its history when its test fails.
///
/// ```
/// let server = proconsul::test::server();
/// server.kv().put("greeting", "hello");
/// assert!(server.kv().get("greeting").is_some());
/// ```
#[derive(Debug)]
#[must_use = "a server stops when it is dropped"]
pub struct TestServer {
    server: Server,
    /// Whether the outcome of the test is known, and so what had to be printed was.
    is_judged: bool,
}

impl Deref for TestServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl TestServer {
    fn over(server: Server) -> Self {
        Self {
            server,
            is_judged: false,
        }
    }

    #[expect(
        clippy::print_stderr,
        reason = "the output of a test is shown when it fails"
    )]
    fn tell(&self) {
        eprintln!(
            "what happened on {} (seed {}):\n{}",
            self.server.url(),
            self.server.seed(),
            self.server.history_text()
        );
    }

    /// Returns the result of a test, and prints the history first if the test failed.
    fn judged<T: Verdict>(&mut self, verdict: T) -> T {
        self.is_judged = true;
        if verdict.is_failure() {
            self.tell();
        }
        verdict
    }

    /// Runs a test on this server, and prints the server's history when the test panics or returns an error.
    ///
    /// ```
    /// use std::time::Duration;
    /// use proconsul::control::{BlockedOn, Unmet};
    ///
    /// let verdict: Result<(), Unmet> = proconsul::test::frozen().run(|server| {
    ///     server.wait_blocked(&BlockedOn::prefix("config/"), 1, Duration::ZERO)?;
    ///     Ok(())
    /// });
    /// let unmet = verdict.expect_err("no client reads a key");
    /// assert_eq!(
    ///     unmet.to_string(),
    ///     "timed out after 0ns waiting for 1 requests blocked on keys under \"config/\"; nobody was blocked"
    /// );
    /// ```
    ///
    /// # Panics
    /// If the test panics.
    pub fn run<T: Verdict>(mut self, test: impl FnOnce(&Server) -> T) -> T {
        let verdict = test(&self);
        self.judged(verdict)
    }

    /// Runs an `async` test as [`TestServer::run`] does, on whatever runtime it is.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// # async fn test() -> std::io::Result<()> {
    /// let as_1_8_7 = proconsul::Server::builder().version(proconsul::Version::V1_8_7);
    /// proconsul::test::server_with(as_1_8_7)
    ///     .run_async(async |server| {
    ///         tokio::net::TcpStream::connect(server.addr()).await?;
    ///         Ok(())
    ///     })
    ///     .await
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(test())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the test panics.
    pub async fn run_async<T: Verdict>(mut self, test: impl AsyncFnOnce(&Server) -> T) -> T {
        let verdict = test(&self).await;
        self.judged(verdict)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() || !self.is_judged && is_captured() {
            self.tell();
        }
    }
}

/// Whether what this thread prints is shown only if its test fails. The standard library does not say it.
fn is_captured() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    if is_set("NEXTEST") {
        return !is_set("NEXTEST_NO_CAPTURE");
    }
    // The test harness names each thread by its test.
    let is_test = std::thread::current()
        .name()
        .is_some_and(|name| name != "main");
    let shows = ["--nocapture", "--no-capture", "--show-output", "--bench"];
    is_test
        && !is_set("RUST_TEST_NOCAPTURE")
        && !std::env::args_os().any(|argument| shows.iter().any(|shown| argument == *shown))
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

/// Starts a server with the default settings.
///
/// # Panics
/// As [`Server::start`].
pub fn server() -> TestServer {
    TestServer::over(Server::start())
}

/// Starts a server whose clock stands still until the test moves it.
///
/// Only what hangs on the server's clock stands still: TTLs, lock-delays, waits, checks. A client's own timers do not.
/// What to do about a loop that renews a session is said at [`advance`](crate::Server::advance).
///
/// # Panics
/// As [`Server::start`].
pub fn frozen() -> TestServer {
    server_with(Server::builder().frozen())
}

/// Starts a server with these settings: version, seed, a frozen clock, and whatever else a [`Builder`] can set.
///
/// # Panics
/// When it does not start; says why.
pub fn server_with(builder: Builder) -> TestServer {
    match builder.start() {
        Ok(server) => TestServer::over(server),
        Err(error) => panic!("the test's server does not start: {error}"),
    }
}
