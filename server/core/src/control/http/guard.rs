//! The guard against foreign web pages: programs and this server's own pages may call. Pages from elsewhere, which any
//! browser on the machine may show, are refused.
//!
//! A page can send simple requests to any address (then its browser says where it is from in `Origin`), and can have
//! its own host's name lead to this machine (then `Host` has that name). No CORS header is ever sent.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Refused;

/// Marks requests that came through a Unix socket, which no page can reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalSocket;

/// Endings of names that cannot be registered, so that no foreign page is under them: RFC 6761, and `.internal`, which
/// ICANN reserves for private use. Names without a dot are safe, too: they resolve in the machine's own network only,
/// as those of containers do.
const PRIVATE: &[&str] = &["localhost", "test", "internal"];

/// The names under which the control plane may be called.
#[derive(Clone, Debug)]
pub(super) struct Guard(Arc<[String]>);

impl Guard {
    pub(super) fn new(allowed: &[String]) -> Self {
        Self(
            allowed
                .iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
        )
    }

    fn is_listed(&self, name: &str) -> bool {
        self.0.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    fn is_own_name(&self, name: &str) -> bool {
        let address = name.trim_start_matches('[').trim_end_matches(']');
        let last = name.rsplit('.').next().unwrap_or_default();
        address.parse::<IpAddr>().is_ok()
            || last.len() == name.len()
            || PRIVATE
                .iter()
                .any(|ending| last.eq_ignore_ascii_case(ending))
            || self.is_listed(name)
    }

    /// Refuses requests that a foreign page could have sent.
    fn check(&self, request: &Request) -> Result<(), Refused> {
        let headers = request.headers();
        let text = |name: HeaderName| {
            let value = headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let host = text(HOST).unwrap_or_default();
        let name = name_of(&host);
        if !self.is_own_name(name) {
            return Err(foreign(
                &format!("the host {name:?} is not a name of this server"),
                name,
            ));
        }
        let Some(origin) = text(ORIGIN) else {
            return Ok(());
        };
        let (scheme, from) = origin.split_once("://").unwrap_or_default();
        let is_own = without_default_port(scheme, from)
            .eq_ignore_ascii_case(without_default_port(scheme, &host));
        if from.is_empty() || !(is_own || self.is_listed(name_of(from))) {
            let name = name_of(from);
            return Err(foreign(
                &format!("the origin {origin:?} is not this server"),
                name,
            ));
        }
        if has_body(headers) && !text(CONTENT_TYPE).is_some_and(|kind| is_json(&kind)) {
            let sentence =
                "a page sends a body as application/json; expected that in the header Content-Type";
            return Err(Refused::with(StatusCode::UNSUPPORTED_MEDIA_TYPE, sentence));
        }
        Ok(())
    }
}

fn foreign(what: &str, name: &str) -> Refused {
    let name = if name.is_empty() { "NAME" } else { name };
    let sentence = format!(
        "{what}, and could have been chosen by a web page; start the server with --allow-host={name} if it is meant"
    );
    Refused::with(StatusCode::FORBIDDEN, sentence)
}

/// Returns a host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
    .trim_end_matches('.')
}

fn without_default_port<'a>(scheme: &str, host: &'a str) -> &'a str {
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    host.strip_suffix(port).unwrap_or(host)
}

fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(TRANSFER_ENCODING)
        || headers
            .get(CONTENT_LENGTH)
            .is_some_and(|length| length != "0")
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Lets a request through, or refuses it.
pub(super) async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    if request.extensions().get::<LocalSocket>().is_none()
        && let Err(refused) = guard.check(&request)
    {
        return refused.into_response();
    }
    next.run(request).await
}
