//! Answers of handlers, and how they become status, headers and body.

pub(crate) mod body;
pub(crate) mod header;
pub(crate) mod list;
pub(crate) mod object;
#[cfg(feature = "control-http")]
pub(crate) mod stream;
pub(crate) mod table;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use proconsul_h1::{Ending, Headers, ResponseBody as _};
use serde::Serialize;

use crate::Context;
use crate::failure::Failure;
use crate::reply::body::{ApiAnswer, LogBody, MetricsBody, ReplyBody};
use crate::reply::header::{BINARY, JSON, JSON_UTF_8, TEXT, guessed_type, number};
use crate::reply::list::JsonList;
use crate::request::{Consistency, Request};
use proconsul_engine::faults::Shown;
use proconsul_gocompat::gzip;
use proconsul_gocompat::json::encode::{self, ControlEscapes, Style};
use proconsul_store::Index;
use proconsul_version::{Behaviour, Version};

const INDEX: HeaderName = HeaderName::from_static("x-consul-index");
const KNOWN_LEADER: HeaderName = HeaderName::from_static("x-consul-knownleader");
const LAST_CONTACT: HeaderName = HeaderName::from_static("x-consul-lastcontact");
const QUERY_BACKEND: HeaderName = HeaderName::from_static("x-consul-query-backend");
const EFFECTIVE_CONSISTENCY: HeaderName = HeaderName::from_static("x-consul-effective-consistency");
const DEFAULT_ACL_POLICY: HeaderName = HeaderName::from_static("x-consul-default-acl-policy");
const TRANSLATE_ADDRESSES: HeaderName = HeaderName::from_static("x-consul-translate-addresses");

const BY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");
const STREAMING: HeaderValue = HeaderValue::from_static("streaming");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const ZERO: HeaderValue = HeaderValue::from_static("0");

/// Initial capacity of the headers of an answer.
const HEADERS: usize = 12;
/// The shortest body that Consul compresses since 1.9 (`http.gzip_min`).
const GZIP_MINIMUM: usize = 1400;

/// An answer of a handler.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) content_type: Option<HeaderValue>,
    /// Whether Go's server has guessed the type, which then follows all other headers.
    pub(crate) type_was_guessed: bool,
    /// How the answer ends on the wire.
    pub(crate) ending: Ending,
    /// Headers of this answer beside those of all answers.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) content: ReplyContent,
    /// Whether this is an error of a handler that Consul logs.
    pub(crate) is_error: bool,
}

/// The content of an answer.
#[derive(Debug)]
pub(crate) enum ReplyContent {
    /// Nothing.
    Empty,
    /// Bytes, whose length Go sends even if they are many.
    Exact(Bytes),
    /// Bytes.
    Whole(Bytes),
    /// A list that is rendered while it is sent.
    List(Box<JsonList>),
    /// The log from now on.
    Log(Box<LogBody>),
    /// The metrics of each interval from now on.
    Metrics(Box<MetricsBody>),
}

impl Reply {
    /// Returns an empty answer.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            content_type: None,
            type_was_guessed: false,
            ending: Ending::Whole,
            headers: Vec::new(),
            content: ReplyContent::Empty,
            is_error: false,
        }
    }

    /// Returns the empty answer of a successful handler. Its type depends on the release.
    pub(crate) fn done(request: &Request) -> Self {
        Self {
            content_type: empty_content_type(request),
            ..Self::empty(StatusCode::OK)
        }
    }

    /// Returns a value as JSON, in the [`style`] of the request.
    pub(crate) fn json(request: &Request, value: &(impl Serialize + ?Sized)) -> Self {
        let text = encode::to_vec(value, style(request));
        Self::of_json(ReplyContent::Whole(text.into()))
    }

    fn of_json(content: ReplyContent) -> Self {
        Self {
            content_type: Some(JSON),
            content,
            ..Self::empty(StatusCode::OK)
        }
    }

    /// Returns `true` or `false`, the answer of most writes.
    pub(crate) fn boolean(request: &Request, value: bool) -> Self {
        let style = style(request);
        let text = match (value, style.newline) {
            (true, true) => "true\n",
            (true, false) => "true",
            (false, true) => "false\n",
            (false, false) => "false",
        };
        Self::of_json(ReplyContent::Whole(Bytes::from_static(text.as_bytes())))
    }

    /// Returns a long list as JSON, rendered while it is sent.
    pub(crate) fn json_list(list: JsonList) -> Self {
        Self::of_json(ReplyContent::List(Box::new(list)))
    }

    /// Returns the log from now on. It has a type only where it is compressed (operator.md 7).
    pub(crate) fn log(request: &Request, log: LogBody) -> Self {
        Self {
            content_type: accepts_gzip(&request.headers).then_some(TEXT),
            content: ReplyContent::Log(Box::new(log)),
            ..Self::empty(StatusCode::OK)
        }
    }

    /// Returns the metrics from now on. They have no type (operator.md 7).
    pub(crate) fn stream(metrics: MetricsBody) -> Self {
        Self {
            content: ReplyContent::Metrics(Box::new(metrics)),
            ..Self::empty(StatusCode::OK)
        }
    }

    /// Returns the answer to a failed request.
    pub(crate) fn failure(failure: &Failure, version: Version) -> Self {
        let text = failure.text(version);
        let type_was_guessed =
            failure.is_direct() || !version.has(Behaviour::HttpErrorContentTypeFirst);
        Self {
            content_type: Some(if type_was_guessed {
                guessed_type(text.as_bytes())
            } else {
                TEXT
            }),
            type_was_guessed,
            headers: failure.headers.clone(),
            content: ReplyContent::Whole(text.into()),
            is_error: failure.is_logged(version),
            ..Self::empty(failure.status())
        }
    }

    /// Adds the headers of a read (kv.md 1.2).
    pub(crate) fn with_index(mut self, request: &Request, index: Index) -> Self {
        self.headers.reserve(HEADERS);
        self.headers.push((INDEX, number(index.0)));
        self.headers.extend(leader(true));
        self.headers.extend(backend(&request.context));
        self
    }

    /// Adds the headers of a read that was not done, because the caller may not do it.
    pub(crate) fn of_no_read(mut self, context: &Context) -> Self {
        self.headers.extend(no_read(context));
        self
    }

    /// Adds the index without the other headers of a read.
    pub(crate) fn with_bare_index(mut self, index: Index) -> Self {
        self.headers.push((INDEX, HeaderValue::from(index.0)));
        self
    }

    /// Marks the answer as coming from Consul's streaming backend, which knows no leader (1.22.md B4.5).
    pub(crate) fn streamed(mut self) -> Self {
        for (name, value) in &mut self.headers {
            if *name == QUERY_BACKEND {
                *value = STREAMING;
            }
        }
        self.without_leader()
    }

    /// Says of a read that no leader was known, as Consul does where it does not know who answered.
    pub(crate) fn without_leader(mut self) -> Self {
        for (name, value) in &mut self.headers {
            if *name == KNOWN_LEADER {
                *value = HeaderValue::from_static("false");
            }
        }
        self
    }

    /// Puts the text of a failure before the content, and takes the failure's status.
    pub(crate) fn behind(self, failure: &Failure, version: Version) -> Self {
        let mut reply = Self::failure(failure, version);
        if let (ReplyContent::Whole(text), ReplyContent::Whole(own)) =
            (&reply.content, &self.content)
        {
            reply.content = ReplyContent::Whole([text.as_ref(), own.as_ref()].concat().into());
        }
        reply
    }

    /// Adds the headers of a read-only transaction (kv.md 7.2).
    pub(crate) fn with_leader(mut self, known: bool) -> Self {
        self.headers.extend(leader(known));
        self
    }

    /// Adds the effective consistency, which some endpoints report (session.md 0.11).
    pub(crate) fn with_consistency(mut self, consistency: Consistency) -> Self {
        let text = HeaderValue::from_static(consistency.name());
        self.headers.insert(0, (EFFECTIVE_CONSISTENCY, text));
        self
    }
}

type Header = (HeaderName, HeaderValue);

impl Failure {
    /// Adds the headers of a read, which its failures have too (session.md 0.9).
    pub(crate) fn of_read(mut self, context: &Context) -> Self {
        self.headers.extend(no_read(context));
        self
    }

    /// Adds the headers of a read that was answered: it has found nothing.
    pub(crate) fn of_answer(mut self, context: &Context, index: Index) -> Self {
        self.headers.push((INDEX, number(index.0)));
        self.headers.extend(leader(true));
        self.headers.extend(backend(context));
        self
    }
}

/// The headers of a read that has not reached the store.
fn no_read(context: &Context) -> impl Iterator<Item = Header> {
    let index = (INDEX, HeaderValue::from(1));
    let headers = std::iter::once(index).chain(leader(false));
    headers.chain(backend(context))
}

fn leader(known: bool) -> [Header; 2] {
    let known = HeaderValue::from_static(if known { "true" } else { "false" });
    [(KNOWN_LEADER, known), (LAST_CONTACT, ZERO)]
}

fn backend(context: &Context) -> Option<Header> {
    let backend = HeaderValue::from_static("blocking-query");
    let is_shown = context.has(Behaviour::HttpQueryBackendHeader);
    is_shown.then_some((QUERY_BACKEND, backend))
}

/// Replaces the values of headers that a fault falsifies. Headers that the answer lacks are not added. The streaming backend
/// knows nothing of the last contact.
pub(crate) fn show(shown: Shown, headers: &mut [Header]) {
    let is_streamed = headers.contains(&(QUERY_BACKEND, STREAMING));
    for (name, value) in headers {
        if *name == INDEX
            && let Some(reported) = shown.index
        {
            let index = value.to_str().ok().and_then(|text| text.parse().ok());
            *value = HeaderValue::from(reported.in_place_of(index.unwrap_or(1)));
        } else if *name == KNOWN_LEADER && shown.leader_unknown {
            *value = HeaderValue::from_static("false");
        } else if *name == LAST_CONTACT
            && !is_streamed
            && let Some(contact) = shown.last_contact
        {
            let milliseconds = u64::try_from(contact.as_millis()).unwrap_or(u64::MAX);
            *value = HeaderValue::from(milliseconds);
        }
    }
}

/// Returns the type of an empty answer (1.22.md A6.7).
pub(crate) fn empty_content_type(request: &Request) -> Option<HeaderValue> {
    if !request.has(Behaviour::HttpEmptyContentType) {
        return None;
    }
    if !request.has(Behaviour::HttpEmptyContentTypeJson) {
        return Some(TEXT);
    }
    // Other endpoints that take binary bodies are never answered with nothing.
    if request.method == Method::PUT && request.route == "/v1/snapshot" {
        return Some(BINARY);
    }
    if matches!(request.method, Method::GET | Method::DELETE)
        && let Some(own) = request.headers.get(CONTENT_TYPE)
        && let Ok(own) = HeaderValue::from_bytes(own)
    {
        return Some(own);
    }
    Some(if request.has(Behaviour::HttpEmptyContentTypeCharset) {
        JSON_UTF_8
    } else {
        JSON
    })
}

/// Returns the style of JSON: pretty in `-dev` or with `?pretty`; the newline depends on the release (kv.md 1.3).
pub(crate) fn style(request: &Request) -> Style {
    let asked = request.query.has("pretty");
    let pretty = asked || request.context.config.dev;
    Style {
        pretty,
        newline: if request.has(Behaviour::HttpPrettyNewlineOnRequest) {
            asked
        } else {
            pretty
        },
        control_escapes: if request.has(Behaviour::HttpMuxEscaped) {
            ControlEscapes::Short
        } else {
            ControlEscapes::Long
        },
    }
}

/// Whether the client accepts gzip, by the rules of Consul's compressing writer.
pub(crate) fn accepts_gzip(headers: &Headers) -> bool {
    headers
        .get(ACCEPT_ENCODING)
        .is_some_and(|value| gzip::accepts_gzip(&String::from_utf8_lossy(value)))
}

/// Completes an answer of a registered endpoint: compression and the headers of all answers (kv.md 0, step 4).
pub(crate) fn finish(context: &Context, accepts_gzip: bool, reply: Reply) -> ApiAnswer {
    let is_exact = matches!(reply.content, ReplyContent::Exact(_));
    let (body, encoding) = encode_body(context, accepts_gzip, reply.content);
    let is_configured = |name| {
        let mut configured = context.response_headers.iter();
        configured.any(|(configured, _)| *configured == name)
    };
    // The compressing writer guesses the type itself, before the server can (1.22.md A1.2).
    let (set_type, guessed_type) = match reply.content_type {
        Some(_) if reply.type_was_guessed && is_configured(CONTENT_TYPE) => (None, None),
        guessed if reply.type_was_guessed && !accepts_gzip => (None, guessed),
        set => (set, None),
    };
    let mut headers = reply.headers;
    let own = headers.len();
    headers.reserve(HEADERS - own.min(HEADERS));
    if let Some(length) = body.length().filter(|_| is_exact && encoding.is_none()) {
        headers.push((CONTENT_LENGTH, number(length as u64)));
    }
    headers.extend(encoding.map(|encoding| (CONTENT_ENCODING, encoding)));
    headers.extend(set_type.map(|set| (CONTENT_TYPE, set)));
    if !is_configured(VARY) {
        headers.push((VARY, BY_ENCODING));
    }
    if context.config.version.has(Behaviour::HttpDefaultAclHeader) {
        headers.push((DEFAULT_ACL_POLICY, context.acl_policy.clone()));
    }
    // Now the headers are nearly sorted, which keeps the sort cheap.
    headers.rotate_left(own);
    if context.config.translate_wan_addrs {
        headers.push((TRANSLATE_ADDRESSES, TRUE));
    }
    // What the answer has itself replaces what is configured (kv.md 0.4).
    for (name, value) in &context.response_headers {
        if headers.iter().all(|(own, _)| own != name) {
            headers.push((name.clone(), value.clone()));
        } else if *name == ALLOW {
            // The methods are added behind it.
            headers.insert(0, (name.clone(), value.clone()));
        }
    }
    headers.sort_by(|(left, _), (right, _)| left.as_str().cmp(right.as_str()));
    ApiAnswer {
        status: reply.status,
        headers,
        guessed_type,
        body,
        ending: reply.ending,
        held: None,
    }
}

/// Returns the header `Allow` with these methods, separated by commas.
pub(crate) fn allow(methods: &str) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::from_str(methods);
    (ALLOW, value.expect("methods and commas are a header value"))
}

/// Returns the body and the value of `Content-Encoding`.
fn encode_body(
    context: &Context,
    accepts_gzip: bool,
    content: ReplyContent,
) -> (ReplyBody, Option<HeaderValue>) {
    let minimum = if context.config.version.has(Behaviour::HttpGzipMinimum) {
        GZIP_MINIMUM
    } else {
        0
    };
    let gzip = Some(HeaderValue::from_static("gzip"));
    match content {
        ReplyContent::Empty => (ReplyBody::empty(), None),
        // A quirk of 1.8: an empty raw value is announced as gzip and sent as nothing (kv.md 6.5).
        ReplyContent::Exact(bytes) if accepts_gzip && bytes.is_empty() && minimum == 0 => {
            (ReplyBody::empty(), gzip)
        }
        ReplyContent::Exact(bytes) | ReplyContent::Whole(bytes)
            if accepts_gzip && bytes.len() >= minimum =>
        {
            (ReplyBody::Whole(gzip::compress(&bytes).into()), gzip)
        }
        ReplyContent::Exact(bytes) | ReplyContent::Whole(bytes) => (ReplyBody::Whole(bytes), None),
        ReplyContent::Log(log) if accepts_gzip => (ReplyBody::Log(log.compressed()), gzip),
        ReplyContent::Log(log) => (ReplyBody::Log(log), None),
        ReplyContent::Metrics(metrics) => (ReplyBody::Metrics(metrics), None),
        ReplyContent::List(list) => match context.last_lists.whole_if_short(list) {
            Ok(bytes) => encode_body(context, accepts_gzip, ReplyContent::Whole(bytes)),
            Err(list) if accepts_gzip => (ReplyBody::List(list.compressed()), gzip),
            Err(list) => (ReplyBody::List(list), None),
        },
    }
}
