//! Arbitrary responses, as a proxy between client and Consul gives them.

use super::error::RuleError;

/// A response that is given in place of Consul's.
///
/// ```
/// use proconsul::faults::{Effect, Response, Rule};
///
/// let bad_gateway = Response::new(502)
///     .header("Content-Type", "text/html")
///     .body("<html><h1>502 Bad Gateway</h1></html>");
/// let server = proconsul::Server::start();
/// server.fault(Rule::new(Effect::Respond(bad_gateway)).times(1))?.keep();
/// # Ok::<(), proconsul::faults::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a response is given by a rule with `Effect::Respond`"]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The headers that the server itself gives to every response.
const OWN_HEADERS: &[&str] = &["content-length", "transfer-encoding", "date"];

impl Response {
    /// Returns a response with this status, from 200 to 999, without headers and body.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a header. `Content-Length` and `Date` are added by the server.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the headers in the order in which they were added.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Returns the body.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.body
    }

    /// Checks that the response can be sent.
    pub(super) fn check(&self) -> Result<(), RuleError> {
        if !(200..=999).contains(&self.status) {
            return Err(RuleError::Status(self.status));
        }
        if matches!(self.status, 204 | 304) && !self.body.is_empty() {
            return Err(RuleError::StatusWithoutBody(self.status));
        }
        for (name, value) in &self.headers {
            if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(RuleError::HeaderName(name.clone()));
            }
            if OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                return Err(RuleError::OwnHeader(name.clone()));
            }
            if http::HeaderValue::from_bytes(value.as_bytes()).is_err() {
                return Err(RuleError::HeaderValue(name.clone()));
            }
        }
        Ok(())
    }
}
