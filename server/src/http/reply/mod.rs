//! Answers: what a handler returns, and how it becomes status line, headers and body.

pub(crate) mod body;
pub(crate) mod header;
pub(crate) mod object;
pub(crate) mod table;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use proconsul_h1::{Body as _, Ending};
use serde::Serialize;

use crate::faults::Shown;
use crate::go::gzip;
use crate::go::json::encode::{self, ControlEscapes, Style};
use crate::http::Context;
use crate::http::failure::{Failure, FailureKind};
use crate::http::reply::body::{ApiAnswer, JsonList, ReplyBody};
use crate::http::reply::header::{JSON, JSON_UTF_8, TEXT, guessed_type, number};
use crate::http::request::{Consistency, Request};
use crate::store::Index;
use crate::version::{Behaviour, Version};

const INDEX: HeaderName = HeaderName::from_static("x-consul-index");
const KNOWN_LEADER: HeaderName = HeaderName::from_static("x-consul-knownleader");
const LAST_CONTACT: HeaderName = HeaderName::from_static("x-consul-lastcontact");
const QUERY_BACKEND: HeaderName = HeaderName::from_static("x-consul-query-backend");
const EFFECTIVE_CONSISTENCY: HeaderName = HeaderName::from_static("x-consul-effective-consistency");
const DEFAULT_ACL_POLICY: HeaderName = HeaderName::from_static("x-consul-default-acl-policy");
const TRANSLATE_ADDRESSES: HeaderName = HeaderName::from_static("x-consul-translate-addresses");

const BY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const ZERO: HeaderValue = HeaderValue::from_static("0");

/// How many headers an answer has, about.
const HEADERS: usize = 12;
/// Since 1.9 smaller bodies are not worth compressing to Consul (`http.gzip_min`).
const GZIP_MINIMUM: usize = 1400;

/// An answer before it is put on the wire.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) content_type: Option<HeaderValue>,
    /// Nobody set the type, Go's server guessed it: then it stands behind all other headers.
    pub(crate) type_was_guessed: bool,
    /// How it ends on the wire.
    pub(crate) ending: Ending,
    /// Other headers.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) content: ReplyContent,
    /// Whether it is the error of a handler, which Consul names in its log.
    pub(crate) is_error: bool,
}

/// What the body of an answer is made from.
#[derive(Debug)]
pub(crate) enum ReplyContent {
    /// Nothing.
    Empty,
    /// Bytes as they are, whose length Go sends even where it is large.
    Exact(Bytes),
    /// Bytes as they are.
    Whole(Bytes),
    /// A list that is rendered while it is sent.
    List(Box<JsonList>),
}

impl Reply {
    /// An empty answer.
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

    /// The empty answer of a handler that has nothing to say, whose type came with the versions.
    pub(crate) fn done(request: &Request) -> Self {
        Self {
            content_type: empty_content_type(request),
            ..Self::empty(StatusCode::OK)
        }
    }

    /// A value as JSON, in the style that the request and the agent's mode ask for.
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

    /// `true` or `false`: the answer of most writes.
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

    /// A long list as JSON, rendered while it is sent.
    pub(crate) fn json_list(list: JsonList) -> Self {
        Self::of_json(ReplyContent::List(Box::new(list)))
    }

    /// The text of a failure.
    pub(crate) fn failure(failure: &Failure, version: Version) -> Self {
        let text = failure.text(version);
        let type_was_guessed = failure.kind == FailureKind::Direct
            || !version.has(Behaviour::HttpErrorContentTypeFirst);
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
            ..Self::empty(failure.status)
        }
    }

    /// The same with the headers that every read carries (kv.md 1.2).
    pub(crate) fn with_index(mut self, request: &Request, index: Index) -> Self {
        self.headers.push((INDEX, number(index.0)));
        self.headers.extend(leader(true));
        self.headers.extend(backend(&request.context));
        self
    }

    /// The same with an index and none of the other headers of a read.
    pub(crate) fn with_bare_index(mut self, index: Index) -> Self {
        self.headers.push((INDEX, HeaderValue::from(index.0)));
        self
    }

    /// The same of a read that a stream of changes answers, as it then says.
    pub(crate) fn streamed(mut self) -> Self {
        for (_, backend) in self
            .headers
            .iter_mut()
            .filter(|(name, _)| *name == QUERY_BACKEND)
        {
            *backend = HeaderValue::from_static("streaming");
        }
        self
    }

    /// The same behind the text of a failure, and with its status.
    pub(crate) fn behind(self, failure: &Failure, version: Version) -> Self {
        let mut reply = Self::failure(failure, version);
        if let (ReplyContent::Whole(text), ReplyContent::Whole(own)) =
            (&reply.content, &self.content)
        {
            reply.content = ReplyContent::Whole([text.as_ref(), own.as_ref()].concat().into());
        }
        reply
    }

    /// The same with only what a read-only transaction says (kv.md 7.2).
    pub(crate) fn with_leader(mut self, known: bool) -> Self {
        self.headers.extend(leader(known));
        self
    }

    /// The same with the consistency that was in effect, which some endpoints report (session.md 0.11).
    pub(crate) fn with_consistency(mut self, consistency: Consistency) -> Self {
        let text = HeaderValue::from_static(consistency.name());
        self.headers.insert(0, (EFFECTIVE_CONSISTENCY, text));
        self
    }
}

type Header = (HeaderName, HeaderValue);

impl Failure {
    /// The same of a read, which still carries the headers of one (session.md 0.9).
    pub(crate) fn of_read(mut self, context: &Context) -> Self {
        self.headers.push((INDEX, HeaderValue::from(1)));
        self.headers.extend(leader(false));
        self.headers.extend(backend(context));
        self
    }
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

/// Shows in the headers of an answer what a fault shows in place of the truth; those without them stay as they are.
pub(crate) fn show(shown: Shown, headers: &mut [Header]) {
    for (name, value) in headers {
        if *name == INDEX
            && let Some(reported) = shown.index
        {
            let index = value.to_str().ok().and_then(|text| text.parse().ok());
            *value = HeaderValue::from(reported.in_place_of(index.unwrap_or(1)));
        } else if *name == KNOWN_LEADER && shown.leader_unknown {
            *value = HeaderValue::from_static("false");
        } else if *name == LAST_CONTACT
            && let Some(contact) = shown.last_contact
        {
            let milliseconds = u64::try_from(contact.as_millis()).unwrap_or(u64::MAX);
            *value = HeaderValue::from(milliseconds);
        }
    }
}

/// The type of an answer into which nothing was written (1.22.md A6.7).
pub(crate) fn empty_content_type(request: &Request) -> Option<HeaderValue> {
    if !request.has(Behaviour::HttpEmptyContentType) {
        return None;
    }
    if !request.has(Behaviour::HttpEmptyContentTypeJson) {
        return Some(TEXT);
    }
    let own = request.headers.get(CONTENT_TYPE);
    if matches!(request.method, Method::GET | Method::DELETE)
        && let Some(own) = own
    {
        return Some(own.clone());
    }
    Some(if request.has(Behaviour::HttpEmptyContentTypeCharset) {
        JSON_UTF_8
    } else {
        JSON
    })
}

/// How JSON is printed: pretty in `-dev` or when asked for, with a newline as the version has it (kv.md 1.3).
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

/// Whether the client takes gzip, as Consul's compressing writer reads its header.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT_ENCODING)
        .is_some_and(|value| gzip::accepts_gzip(&String::from_utf8_lossy(value.as_bytes())))
}

/// What all answers of registered endpoints share (kv.md 0, step 4).
pub(crate) fn finish(context: &Context, accepts_gzip: bool, reply: Reply) -> ApiAnswer {
    let is_exact = matches!(reply.content, ReplyContent::Exact(_));
    let (body, encoding) = encode_body(context, accepts_gzip, reply.content);
    // What compresses guesses the type itself, before the server can.
    let (set_type, guessed_type) = if reply.type_was_guessed && encoding.is_none() {
        (None, reply.content_type)
    } else {
        (reply.content_type, None)
    };
    // Nearly in order already, which makes the sorting cheap.
    let mut headers = Vec::with_capacity(HEADERS);
    if let Some(length) = body.length().filter(|_| is_exact && encoding.is_none()) {
        headers.push((CONTENT_LENGTH, number(length as u64)));
    }
    headers.extend(encoding.map(|encoding| (CONTENT_ENCODING, encoding)));
    headers.extend(set_type.map(|set| (CONTENT_TYPE, set)));
    headers.push((VARY, BY_ENCODING));
    headers.extend(reply.headers);
    headers.extend(context.response_headers.iter().cloned());
    if context.config.version.has(Behaviour::HttpDefaultAclHeader) {
        headers.push((DEFAULT_ACL_POLICY, context.acl_policy.clone()));
    }
    if context.config.translate_wan_addrs {
        headers.push((TRANSLATE_ADDRESSES, TRUE));
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

/// The header that lists methods, separated by commas.
pub(crate) fn allow(methods: &str) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::from_str(methods);
    (ALLOW, value.expect("methods and commas are a header value"))
}

/// The body, and how it is encoded.
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
        ReplyContent::List(list) => match list.whole_if_short() {
            Ok(bytes) => encode_body(context, accepts_gzip, ReplyContent::Whole(bytes)),
            Err(list) if accepts_gzip => (ReplyBody::List(list.compressed()), gzip),
            Err(list) => (ReplyBody::List(list), None),
        },
    }
}
