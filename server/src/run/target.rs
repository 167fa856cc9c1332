//! One test body for proconsul and for a real Consul.

use std::time::Duration;

use crate::control::Server;
use crate::test::{self, TestServer};
use proconsul_os::time;

/// The variable that names a real Consul, such as `http://127.0.0.1:8500`. It is this crate's own, so that a test never
/// writes to a Consul that `CONSUL_HTTP_ADDR` happens to name.
pub const VARIABLE: &str = "PROCONSUL_TARGET";

/// What a test runs against.
#[derive(Debug)]
pub struct Target {
    url: String,
    /// `None` for a real Consul.
    server: Option<TestServer>,
}

/// Returns a frozen server in this process, or the Consul that `PROCONSUL_TARGET` names.
///
/// ```
/// use std::time::Duration;
///
/// let target = proconsul::target::from_env();
/// assert!(target.url().starts_with("http"));
/// if let Some(control) = target.control() {
///     control.advance(Duration::from_secs(20));
/// }
/// ```
///
/// # Panics
/// When the server in this process does not start.
#[must_use]
pub fn from_env() -> Target {
    from(std::env::var(VARIABLE).ok())
}

fn from(url: Option<String>) -> Target {
    match url.filter(|url| !url.is_empty()) {
        Some(url) => Target {
            url: url.trim_end_matches('/').to_owned(),
            server: None,
        },
        None => {
            let server = test::frozen();
            Target {
                url: server.url(),
                server: Some(server),
            }
        }
    }
}

impl Target {
    /// Returns the URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the server in this process with its controls; `None` for a real Consul.
    #[must_use]
    pub fn control(&self) -> Option<&Server> {
        self.server.as_deref()
    }

    /// Lets time pass: moves the clock of a server in this process, and really waits for a real Consul.
    ///
    /// # Panics
    /// As [`Server::advance`].
    #[track_caller]
    pub fn pass(&self, duration: Duration) {
        match self.control() {
            Some(control) => {
                control.advance(duration);
            }
            None => time::hold_thread(duration),
        }
    }

    /// Lets time pass as [`Target::pass`] does, on any runtime, without holding a thread.
    pub async fn pass_async(&self, duration: Duration) {
        match self.control() {
            Some(control) => {
                control.advance_async(duration).await;
            }
            None => time::delay_anywhere(duration).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn time_passes_at_once_or_for_real_on_the_thread_of_a_runtime() {
        let own = from(None);
        own.pass_async(Duration::from_secs(3600)).await;
        let control = own.control().expect("a server of its own");
        assert_eq!(control.now().as_nanos(), 3_600_000_000_000);
        let real = from(Some("http://127.0.0.1:8500".to_owned()));
        let began = time::elapsed();
        real.pass_async(Duration::from_millis(10)).await;
        assert!(time::elapsed() - began >= Duration::from_millis(10));
    }

    #[test]
    fn a_real_consul_has_no_controls_and_an_empty_variable_names_none() {
        let real = from(Some("http://127.0.0.1:8500/".to_owned()));
        assert_eq!(real.url(), "http://127.0.0.1:8500");
        assert!(real.control().is_none());
        let own = from(Some(String::new()));
        own.pass(Duration::from_secs(3600));
        let control = own.control().expect("a server of its own");
        assert_eq!(control.now().as_nanos(), 3_600_000_000_000);
    }
}
