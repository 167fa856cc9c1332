//! A request that is answered with an error. Every error that a client can cause is one row of a table of
//! [`failures!`]: its status and its exact text. What several pages share stands here, the store's refusals in
//! `refusal.rs`, and what one page alone answers in that page's file or `failure.rs`.

mod refusal;

use http::header::CONNECTION;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use proconsul_h1::BodyFailure;

pub(crate) use self::refusal::node_name_text;
use crate::go::quote::QuotedBy;
use crate::version::{Behaviour, Version};

/// An error as the client sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// Headers beside those of every error.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) kind: FailureKind,
    /// Without the prefix of 1.12.
    text: String,
}

/// How an error is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The handler returns the error, and what all handlers share writes it.
    Returned,
    /// The same from the check for features of Consul Enterprise, which the log of every release names.
    Enterprise,
    /// The handler writes the error itself. Its text never gets the prefix of 1.12, and its type is guessed.
    Direct,
    /// Consul has the endpoint and this server does not.
    NotEmulated,
    /// No answer: the connection is closed, as Consul's is when a handler panics.
    Dropped,
}

/// Declares errors, one per row: when it occurs, its name and the values in its text, its status, and its exact text.
/// The status may be followed by a [`FailureKind`] other than [`FailureKind::Returned`].
///
/// Each row becomes a function that returns the [`Failure`].
macro_rules! failures {
    ($(
        $(#[$doc:meta])*
        $name:ident($($value:ident: $type:ty),*) => $status:literal $($kind:ident)?, $text:expr;
    )*) => {$(
        $(#[$doc])*
        pub(crate) fn $name($($value: $type),*) -> $crate::http::failure::Failure {
            const { assert!($status >= 400 && $status < 600, "the status of an error") };
            $crate::http::failure::Failure::new($status, $text)
                $(.of_kind($crate::http::failure::FailureKind::$kind))?
        }
    )*};
}

pub(crate) use failures;

/// The errors that several pages share. Consul answers with 500 whatever it has no status for (kv.md 6.4).
impl Failure {
    failures! {
        /// `http_config.block_endpoints` names the path.
        endpoint_blocked() => 403, "Endpoint is blocked by agent configuration";
        /// `http_config.allow_write_http_from` does not name the client.
        access_restricted() => 403, "Access is restricted";
        /// Both `?stale` and `?consistent` are present.
        stale_and_consistent() => 400 Direct,
            "Cannot specify ?stale with ?consistent, conflicting semantics.";
        /// Both `?cached` and `?consistent` are present.
        cached_and_consistent() => 400 Direct,
            "Cannot specify ?cached with ?consistent, conflicting semantics.";
        /// `?max_stale` is not a duration.
        invalid_max_stale(value: &str, version: Version) => 400 Direct,
            format!("Invalid max_stale value {}", quoted(value, version));
        /// The `Cache-Control` header has an invalid number.
        invalid_cache_control() => 400 Direct, "Invalid Cache-Control header.";
        /// `?wait` is not a duration.
        invalid_wait() => 400 Direct, "Invalid wait time";
        /// `?index` is not a number.
        invalid_index() => 400 Direct, "Invalid index";
        /// The request names another datacenter than the only one.
        unknown_datacenter() => 500, "No path to datacenter";
        /// The path lacks its last part: `session`, `node name` and so on.
        missing(what: &str) => 400, format!("Missing {what}");
        /// The body is not the expected JSON, in Go's words.
        undecodable(words: &str) => 400, format!("Request decode failed: {words}");
        /// The body ends early, or violates the chunked encoding.
        unreadable_body(failure: &BodyFailure) => 500, failure.to_string();
        /// The handler panics in Consul.
        dropped() => 500 Dropped, "";
    }

    /// The endpoint does not take this method; `allow` is the header that lists those it takes.
    pub(crate) fn method_not_allowed(method: &Method, allow: (HeaderName, HeaderValue)) -> Self {
        let failure = Self::new(405, format!("method {method} not allowed"));
        failure.with_header(allow)
    }

    /// The request uses a feature of Consul Enterprise: `place` is `query parameter` or `header`, `name` its name there,
    /// `feature` is `Namespaces` or `Partitions`. The text has the prefix before 1.13, from 1.12 on as all of status 400.
    pub(crate) fn enterprise(place: &str, name: &str, feature: &str, version: Version) -> Self {
        let text =
            format!("Invalid {place}: \"{name}\" - {feature} are a Consul Enterprise feature");
        let newer = version.has(Behaviour::HttpBadRequestPrefix)
            || version.has(Behaviour::HttpNamespaceErrorUnprefixed);
        Self::new(400, if newer { text } else { prefixed(&text) }).of_kind(FailureKind::Enterprise)
    }

    /// Until 1.13 Consul does not recognize this error as the client's, and answers 500 with the prefix in the text.
    pub(crate) fn late_bad_request(text: &str, version: Version) -> Self {
        if version.has(Behaviour::HttpNamespaceErrorUnprefixed) {
            Self::new(400, text)
        } else {
            Self::new(500, prefixed(text))
        }
    }

    /// The body is longer than `limit`, which `setting` configures. `length` is `None` where Go notices it only while
    /// reading, which ends the connection.
    pub(crate) fn body_too_large(
        length: Option<u64>,
        limit: u64,
        setting: &str,
        version: Version,
    ) -> Self {
        let bytes = length.map_or_else(String::new, |length| format!("({length} bytes)"));
        let link = limit_link(version);
        let text = format!(
            "Request body{bytes} too large, max size: {limit} bytes. See {link}#{setting}."
        );
        let failure = Self::new(413, text);
        if length.is_some() {
            return failure;
        }
        failure.with_header((CONNECTION, HeaderValue::from_static("close")))
    }

    /// An error with this status and text.
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self {
            status: StatusCode::from_u16(status).expect("errors have statuses of three digits"),
            headers: Vec::new(),
            kind: FailureKind::Returned,
            text: text.into(),
        }
    }

    /// The same answered in another way.
    pub(crate) fn of_kind(self, kind: FailureKind) -> Self {
        Self { kind, ..self }
    }

    fn with_header(mut self, header: (HeaderName, HeaderValue)) -> Self {
        self.headers.push(header);
        self
    }

    /// The same with the name of the step that failed before its text, if `applies`.
    pub(crate) fn at_step(mut self, step: &str, applies: bool) -> Self {
        if applies {
            self.text = format!("{step} failed: {}", self.text);
        }
        self
    }

    /// Whether the log names the error: Consul's handler returns it and does not write it itself. Seen on 1.8.7, which
    /// writes most answers of 400 and 404 itself; since 1.12 only a few are written so.
    pub(crate) fn is_logged(&self, version: Version) -> bool {
        let returns_all = version.has(Behaviour::HttpBadRequestPrefix)
            || version.has(Behaviour::HttpNamespaceErrorUnprefixed);
        match self.kind {
            FailureKind::Direct | FailureKind::NotEmulated => false,
            FailureKind::Enterprise => true,
            FailureKind::Returned | FailureKind::Dropped => {
                returns_all
                    || self.status.is_server_error()
                    || matches!(
                        self.status,
                        StatusCode::FORBIDDEN | StatusCode::METHOD_NOT_ALLOWED
                    )
            }
        }
    }

    /// The text of the answer, with the prefix that 1.12 puts before those of status 400.
    pub(crate) fn text(&self, version: Version) -> String {
        let prefixes = version.has(Behaviour::HttpBadRequestPrefix);
        if prefixes && self.status == StatusCode::BAD_REQUEST && self.kind != FailureKind::Direct {
            prefixed(&self.text)
        } else {
            self.text.clone()
        }
    }
}

fn prefixed(text: &str) -> String {
    format!("Bad request: {text}")
}

/// The page that an error about a size links to (`kv.413_link`).
fn limit_link(version: Version) -> &'static str {
    if version.has(Behaviour::KvLimitLinkDeveloperHost) {
        "https://developer.hashicorp.com/docs/agent/config/config-files"
    } else if version.has(Behaviour::KvLimitLinkConfigFiles) {
        "https://www.consul.io/docs/agent/config/config-files"
    } else {
        "https://www.consul.io/docs/agent/options.html"
    }
}

/// A text in quotes, as the Go of this release quotes it.
pub(crate) fn quoted<T: AsRef<[u8]> + ?Sized>(text: &T, version: Version) -> QuotedBy<'_> {
    QuotedBy(version.go().unicode, text.as_ref())
}
