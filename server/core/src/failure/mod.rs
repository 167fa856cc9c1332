//! Errors of requests. Every error that a client can cause is one row of a table of [`failures!`], with its status and
//! exact text. The errors that several pages share are here, the store's refusals in `refusal.rs`, and those of one
//! page in its file or its `failure.rs`.

pub(crate) mod refusal;

use http::header::CONNECTION;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use proconsul_h1::BodyFailure;

use proconsul_gocompat::quote::QuotedBy;
use proconsul_version::{Behaviour, Version};

/// An error as the client sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// Headers of this error beside those of all errors.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) kind: FailureKind,
    /// The text without the prefix of 1.12.
    text: String,
}

/// How an error is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The handler returns the error to the code that all handlers share.
    Returned,
    /// The handler returns the error, which the agent makes that was asked, whoever leads.
    Local,
    /// The handler returns the error, which the first server makes that is asked, whoever leads.
    OfServer,
    /// The handler returns the error, which the leader makes. It has a status other than 500.
    OfLeader,
    /// The handler returns the leader's error with words before it: those of an answer of 400 in releases before 1.13.
    Wrapped,
    /// The handler knows the leader's error by its whole text: one that is passed on is 500 (cluster.md 1.12.r1).
    Compared,
    /// The handler returns the error, which every release logs: those of ACLs, and of features of Consul Enterprise.
    Logged,
    /// The handler writes the error itself. Its text never gets the prefix of 1.12, and its type is guessed.
    Direct,
    /// The handler writes the error itself, which the first server makes that is asked, whoever leads.
    DirectOfServer,
    /// Consul has the endpoint, and this server does not emulate it.
    NotEmulated,
    /// No answer: the connection is closed, as Consul closes it when a handler panics.
    Dropped,
}

/// Declares errors, one per row: its cause, its name, the values in its text, its status, and its exact text.
/// The status may be followed by a [`FailureKind`] other than [`FailureKind::Returned`].
///
/// Each row becomes a function that returns the [`Failure`].
macro_rules! failures {
    ($(
        $(#[$doc:meta])*
        $name:ident($($value:ident: $type:ty),*) => $status:literal $($kind:ident)?, $text:expr;
    )*) => {$(
        $(#[$doc])*
        pub(crate) fn $name($($value: $type),*) -> $crate::failure::Failure {
            const { assert!($status >= 400 && $status < 600, "the status of an error") };
            $crate::failure::Failure::new($status, $text)
                $(.of_kind($crate::failure::FailureKind::$kind))?
        }
    )*};
}

pub(crate) use failures;

/// The errors that several pages share. Consul answers 500 for every error without a status of its own (kv.md 6.4).
impl Failure {
    failures! {
        /// `http_config.block_endpoints` names the path.
        endpoint_blocked() => 403, "Endpoint is blocked by agent configuration";
        /// `http_config.allow_write_http_from` does not contain the client.
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
        /// The request names a datacenter other than the server's.
        unknown_datacenter() => 500 OfServer, "No path to datacenter";
        /// No server of another datacenter runs (cluster.md 5.21).
        no_server_there() => 500 OfServer, "Remote DC has no server currently reachable";
        /// The path lacks its last part: `session`, `node name` and so on.
        missing(what: &str) => 400, format!("Missing {what}");
        /// The body is not the expected JSON; `words` is Go's text.
        undecodable(words: &str) => 400, format!("Request decode failed: {words}");
        /// The body ends early, or violates the chunked encoding.
        unreadable_body(failure: &BodyFailure) => 500 Local, failure.to_string();
        /// Consul answers this request, and this server does not; `why` ends the sentence.
        not_answered(method: &Method, path: &str, why: &str) => 501 NotEmulated,
            format!("{method} {path} {why}");
        /// The handler panics in Consul.
        dropped() => 500 Dropped, "";
    }

    /// The endpoint does not allow this method; `allow` is the header with the methods that it allows.
    pub(crate) fn method_not_allowed(method: &Method, allow: (HeaderName, HeaderValue)) -> Self {
        let failure = Self::new(405, format!("method {method} not allowed"));
        failure.with_header(allow)
    }

    /// The request uses a feature of Consul Enterprise: `place` is `query parameter` or `header`, `name` its name there,
    /// `feature` is `Namespaces` or `Partitions`. See [`Failure::bad_request`].
    pub(crate) fn enterprise(place: &str, name: &str, feature: &str, version: Version) -> Self {
        let text =
            format!("Invalid {place}: \"{name}\" - {feature} are a Consul Enterprise feature");
        Self::bad_request(&text, version)
    }

    /// An error that is marked as the client's: before 1.13 its text has the prefix. 1.12 adds it to every text of status
    /// 400.
    pub(crate) fn bad_request(text: &str, version: Version) -> Self {
        let newer = version.has(Behaviour::HttpBadRequestPrefix)
            || version.has(Behaviour::HttpNamespaceErrorUnprefixed);
        let text = if newer {
            text.to_owned()
        } else {
            prefixed(text)
        };
        Self::new(400, text).of_kind(FailureKind::Logged)
    }

    /// An error that Consul before 1.13 does not recognize as the client's: it answers 500, with the prefix in the text.
    pub(crate) fn late_bad_request(text: &str, version: Version) -> Self {
        if version.has(Behaviour::HttpNamespaceErrorUnprefixed) {
            Self::new(400, text)
        } else {
            Self::new(500, prefixed(text)).of_kind(FailureKind::Local)
        }
    }

    /// The body is longer than `limit`, which `setting` configures. `length` is `None` if it was unknown before the
    /// body was read; the connection ends then.
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

    /// Returns an error with this status and text.
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self {
            status: StatusCode::from_u16(status).expect("the status of an error has three digits"),
            headers: Vec::new(),
            kind: FailureKind::Returned,
            text: text.into(),
        }
    }

    /// Returns the error with another kind.
    pub(crate) fn of_kind(self, kind: FailureKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the error without headers of its own.
    pub(crate) fn without_headers(self) -> Self {
        Self {
            headers: Vec::new(),
            ..self
        }
    }

    fn with_header(mut self, header: (HeaderName, HeaderValue)) -> Self {
        self.headers.push(header);
        self
    }

    /// Puts the name of the failed step before the text, if `applies`.
    pub(crate) fn at_step(mut self, step: &str, applies: bool) -> Self {
        if applies {
            self.text = format!("{step} failed: {}", self.text);
        }
        self
    }

    /// Marks the error as one that the leader made and another agent passes on (cluster.md 1.12).
    pub(crate) fn passed_on(mut self) -> Self {
        if self.is_of_leader() {
            let is_before = |words: &&str| self.text.starts_with(*words);
            // What the agent puts before the text of its leader.
            let place = match self.kind {
                FailureKind::Wrapped => [BAD_REQUEST, DENIED].into_iter().find(is_before),
                _ => None,
            };
            let place = place.map_or(0, str::len);
            self.text.insert_str(place, "rpc error making call: ");
        }
        if self.kind == FailureKind::Compared {
            self.status = StatusCode::INTERNAL_SERVER_ERROR;
        }
        self
    }

    /// Whether the leader makes the error, and not the agent that is asked.
    pub(crate) fn is_of_leader(&self) -> bool {
        match self.kind {
            FailureKind::Returned => matches!(
                self.status,
                StatusCode::INTERNAL_SERVER_ERROR | StatusCode::FORBIDDEN
            ),
            FailureKind::OfServer
            | FailureKind::DirectOfServer
            | FailureKind::OfLeader
            | FailureKind::Wrapped
            | FailureKind::Compared => true,
            _ => false,
        }
    }

    /// Whether the handler writes the error itself.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.kind, FailureKind::Direct | FailureKind::DirectOfServer)
    }

    /// Whether there is no text.
    pub(crate) fn says_nothing(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the text has a part.
    pub(crate) fn says(&self, part: &str) -> bool {
        self.text.contains(part)
    }

    /// Returns the status of the answer. An error without a status of its own is 403 if its text has the words of a
    /// denial or of an unknown token anywhere, be ACLs on or off (acl.md 0.1).
    pub(crate) fn status(&self) -> StatusCode {
        let has_own = self.status != StatusCode::INTERNAL_SERVER_ERROR
            || !matches!(
                self.kind,
                FailureKind::Returned
                    | FailureKind::Local
                    | FailureKind::OfServer
                    | FailureKind::Logged
            );
        if !has_own && (self.says("Permission denied") || self.says("ACL not found")) {
            StatusCode::FORBIDDEN
        } else {
            self.status
        }
    }

    /// Whether Consul logs the error. It logs those that handlers return, not those that handlers write themselves.
    /// Handlers of 1.8.7 write most answers of 400 and 404 themselves (seen on 1.8.7); since 1.12 only a few do.
    pub(crate) fn is_logged(&self, version: Version) -> bool {
        let returns_all = version.has(Behaviour::HttpBadRequestPrefix)
            || version.has(Behaviour::HttpNamespaceErrorUnprefixed);
        match self.kind {
            FailureKind::Direct | FailureKind::DirectOfServer | FailureKind::NotEmulated => false,
            FailureKind::Logged | FailureKind::Wrapped => true,
            FailureKind::Returned
            | FailureKind::Local
            | FailureKind::OfServer
            | FailureKind::OfLeader
            | FailureKind::Compared
            | FailureKind::Dropped => {
                returns_all
                    || self.status.is_server_error()
                    || matches!(
                        self.status,
                        StatusCode::FORBIDDEN | StatusCode::METHOD_NOT_ALLOWED
                    )
            }
        }
    }

    /// Returns the text of the answer, with the prefix that 1.12 adds to texts of status 400.
    pub(crate) fn text(&self, version: Version) -> String {
        let prefixes = version.has(Behaviour::HttpBadRequestPrefix);
        if prefixes && self.status == StatusCode::BAD_REQUEST && !self.is_direct() {
            prefixed(&self.text)
        } else {
            self.text.clone()
        }
    }
}

/// What stands before the text of an error that is marked as the client's.
const BAD_REQUEST: &str = "Bad request: ";
/// What stands before the text of a refused bootstrap.
const DENIED: &str = "Permission denied: ";

fn prefixed(text: &str) -> String {
    format!("{BAD_REQUEST}{text}")
}

/// Returns the page that an error about a size links to (`kv.413_link`).
fn limit_link(version: Version) -> &'static str {
    if version.has(Behaviour::KvLimitLinkDeveloperHost) {
        "https://developer.hashicorp.com/docs/agent/config/config-files"
    } else if version.has(Behaviour::KvLimitLinkConfigFiles) {
        "https://www.consul.io/docs/agent/config/config-files"
    } else {
        "https://www.consul.io/docs/agent/options.html"
    }
}

/// Quotes a text as the Go of this release does.
pub(crate) fn quoted<T: AsRef<[u8]> + ?Sized>(text: &T, version: Version) -> QuotedBy<'_> {
    QuotedBy(version.go().unicode, text.as_ref())
}
