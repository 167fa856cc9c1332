//! The metrics of requests, and Consul's log lines about them: `Request finished` at level debug for every request to an endpoint, preceded by
//! `Request error` if the handler returned an error (seen on 1.8.7).

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use tracing::Level;

use crate::Context;
use crate::route::{self, Route};
use proconsul_engine::host::Host;
use proconsul_engine::metrics::Measured;
use proconsul_gocompat::duration;
use proconsul_gocompat::url::RequestTarget;
use proconsul_gocompat::url::query::{Query, Semicolons};
use proconsul_store::timestamp::Timestamp;

/// Replaces tokens in the log and in the history.
pub(super) const HIDDEN: &str = "<hidden>";

/// Logs one request. Dropping it logs the end of the request, even if the client has disconnected.
pub(super) struct RequestLog {
    method: Method,
    target: RequestTarget,
    semicolons: Semicolons,
    peer: Option<SocketAddr>,
    /// When it began, in the host's time; `None` if the log does not show finished requests.
    started: Option<(Arc<dyn Host>, Duration)>,
    /// When the request began, on the server's clock.
    began: Timestamp,
}

impl RequestLog {
    pub(super) fn new(
        method: Method,
        target: RequestTarget,
        context: &Context,
        peer: Option<SocketAddr>,
    ) -> Self {
        let is_shown = tracing::enabled!(target: "agent.http", Level::DEBUG);
        Self {
            method,
            target,
            semicolons: context.semicolons(),
            peer,
            started: is_shown.then(|| {
                let host = Arc::clone(context.engine.host());
                let now = host.elapsed();
                (host, now)
            }),
            began: context.engine.clock().now(),
        }
    }

    /// Returns the target of the request.
    pub(super) fn target(&self) -> &RequestTarget {
        &self.target
    }

    /// Adds the request, which is answered with this status, to the metrics.
    pub(super) fn measure(&self, context: &Context, route: &Route, status: StatusCode) {
        let Some(method) = route::name_of(&self.method) else {
            return;
        };
        let refused = [StatusCode::BAD_REQUEST, StatusCode::METHOD_NOT_ALLOWED];
        let measured = Measured::Request {
            method,
            route: route.path,
            came_through: self.method != Method::OPTIONS && !refused.contains(&status),
        };
        let engine = &context.engine;
        let now = engine.clock().now();
        engine.metrics().add(now, measured, now.since(self.began));
    }

    /// Whether the response comes later than the agent may write it.
    pub(super) fn is_late(&self, context: &Context) -> bool {
        let engine = &context.engine;
        let lasted = engine.clock().now().since(self.began);
        let limit = context.config.write_timeout();
        limit.is_some_and(|limit| lasted > limit && engine.waited().is_none_or(|it| it > limit))
    }

    /// Logs an error of the handler.
    pub(super) fn error(&self, error: &str) {
        if tracing::enabled!(target: "agent.http", Level::ERROR) {
            let (method, url) = (self.method.as_str(), &*self.url());
            let from = tracing::field::display(Peer(self.peer));
            tracing::error!(target: "agent.http", method, url, from, error, "Request error");
        }
    }

    /// Returns the target without its tokens.
    fn url(&self) -> Cow<'_, str> {
        let url = printed(self.target.as_sent());
        let query = url.split_once('?').map_or("", |(_, query)| query);
        if !query.contains("token=") {
            return url;
        }
        let Ok(query) = Query::parse(query.as_bytes(), self.semicolons) else {
            return url;
        };
        let tokens = query.pairs().filter(|(name, _)| *name == b"token");
        let tokens: Vec<String> = tokens
            .map(|(_, token)| String::from_utf8_lossy(token).into_owned())
            .collect();
        let hidden = tokens.iter().fold(url.into_owned(), |url, token| {
            if token.is_empty() {
                url.replace("token=", &format!("token={HIDDEN}"))
            } else {
                // Consul replaces the token's text wherever it occurs in the URL.
                url.replace(token, HIDDEN)
            }
        });
        hidden.into()
    }
}

/// Prints a client's address as Go does: `@` for a client of a Unix socket.
struct Peer(Option<SocketAddr>);

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(SocketAddr::V4(address)) => {
                // The same text as `Display` writes, in half the time.
                let mut number = itoa::Buffer::new();
                for (index, part) in address.ip().octets().into_iter().enumerate() {
                    formatter.write_str(if index == 0 { "" } else { "." })?;
                    formatter.write_str(number.format(part))?;
                }
                formatter.write_str(":")?;
                formatter.write_str(number.format(address.port()))
            }
            Some(SocketAddr::V6(address)) => address.fmt(formatter),
            None => formatter.write_str("@"),
        }
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        let Some((host, started)) = &self.started else {
            return;
        };
        let latency = host.elapsed().saturating_sub(*started);
        let latency = i64::try_from(latency.as_nanos()).unwrap_or(i64::MAX);
        let latency = &*duration::format(latency);
        let (method, url) = (self.method.as_str(), &*self.url());
        let from = tracing::field::display(Peer(self.peer));
        tracing::debug!(target: "agent.http", method, url, from, latency, "Request finished");
    }
}

/// Prints a target as one word, with the escapes of Go's URLs in its path.
fn printed(target: &[u8]) -> Cow<'_, str> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(byte);
    let path = target
        .split(|byte| *byte == b'?')
        .next()
        .unwrap_or_default();
    if path.iter().all(is_plain) {
        return String::from_utf8_lossy(target);
    }
    let mut printed = String::with_capacity(target.len() + 16);
    for byte in path {
        if is_plain(byte) {
            printed.push(char::from(*byte));
        } else {
            write!(printed, "%{byte:02X}").expect("a string takes any text");
        }
    }
    printed.push_str(&String::from_utf8_lossy(&target[path.len()..]));
    printed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(target: &'static str) -> RequestLog {
        RequestLog {
            method: Method::GET,
            target: RequestTarget::authority(target.as_bytes()),
            semicolons: Semicolons::Separate,
            peer: None,
            started: None,
            began: Timestamp::ZERO,
        }
    }

    /// Observed on 1.8.7.
    #[test]
    fn tokens_are_hidden() {
        let rows = [
            (
                "/v1/kv/a%20b?flags=3&token=secret",
                "/v1/kv/a%20b?flags=3&token=<hidden>",
            ),
            ("/v1/kv/abc?token=abc", "/v1/kv/<hidden>?token=<hidden>"),
            ("/v1/kv/x?token=", "/v1/kv/x?token=<hidden>"),
            (
                "/v1/kv/x?token=a1&token=b2",
                "/v1/kv/x?token=<hidden>&token=<hidden>",
            ),
            ("/v1/kv/x?Token=q", "/v1/kv/x?Token=q"),
            ("/v1/kv/a?x=%22q%22", "/v1/kv/a?x=%22q%22"),
            ("/v1/kv/a\"b?x=<>", "/v1/kv/a%22b?x=<>"),
        ];
        for (target, expected) in rows {
            assert_eq!(log_of(target).url(), expected);
        }
    }

    #[test]
    fn clients_are_printed_as_go_prints_them() {
        assert_eq!(Peer(None).to_string(), "@");
        for address in ["127.0.0.1:8500", "10.255.0.9:1", "[::1]:65535"] {
            let peer = Peer(Some(address.parse().expect("an address")));
            assert_eq!(peer.to_string(), address);
        }
    }
}
