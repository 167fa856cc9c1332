//! A request's head from its complete lines: the checks of Go's server in Go's order, and what the head says
//! about the body and the connection.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proconsul_gocompat::url::RequestTarget;

use crate::bad_head::BadHead;
use crate::lines::{HeaderLine, LineValue, Lines, is_token, is_value};
use crate::strictness::Strictness;

/// The head of a request.
#[derive(Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The target.
    pub target: RequestTarget,
    /// The headers.
    pub headers: HeaderMap,
    /// The protocol.
    pub protocol: Protocol,
    /// The framing of the body.
    pub(crate) framing: Framing,
    /// Whether the client wants to keep the connection.
    pub(crate) persistence: Persistence,
    /// The client's `Expect`.
    pub(crate) expectation: Expectation,
}

/// The version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0: no chunks, and connections close by default.
    Http10,
    /// HTTP/1.1 and every later 1.x.
    Http11,
}

/// The framing of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// This many bytes; 0 for no body.
    Length(u64),
    /// Chunks.
    Chunked,
}

/// Whether a client wants to keep the connection after the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It is kept.
    Kept,
    /// It is kept if the response has a length and says `keep-alive`: HTTP/1.0 with `keep-alive`.
    KeptIfSized,
    /// It is closed.
    Ends,
}

/// The header `Expect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// Missing.
    None,
    /// `100-continue`: the client waits to be asked for the body.
    Continue,
    /// Unknown.
    Unknown,
}

impl Head {
    /// Checks and interprets the head whose lines are in `bytes`.
    ///
    /// # Errors
    /// Go's server refuses the head.
    pub(crate) fn new(
        bytes: &Bytes,
        lines: &mut Lines,
        strict: Strictness,
    ) -> Result<Self, BadHead> {
        let request = lines.request.take().ok_or(BadHead::Malformed)?;
        let fields = Fields {
            bytes,
            fields: &lines.fields,
        };
        let hosts = fields.named("host").count();
        if strict.heads && hosts > 1 {
            return Err(BadHead::HostRepeated);
        }
        let (major, minor) = request.version;
        let protocol = if (major, minor) < (1, 1) {
            Protocol::Http10
        } else {
            Protocol::Http11
        };
        let framing = fields.framing(protocol, strict)?;
        // The preface of HTTP/2. Go passes it on to the handler.
        let is_preface = major == 2
            && request.method.as_str() == "PRI"
            && **request.target.as_sent() == *b"*"
            && lines.fields.is_empty();
        if major != 1 && !is_preface {
            return Err(BadHead::UnsupportedProtocol);
        }
        fields.check_hosts(
            hosts,
            protocol == Protocol::Http11 && !is_preface,
            &request.method,
        )?;
        fields.check_all(strict)?;
        Ok(Self {
            persistence: if is_preface {
                Persistence::Ends
            } else {
                fields.persistence(protocol)
            },
            expectation: fields.expectation(),
            headers: fields.map(),
            method: request.method,
            target: request.target,
            protocol,
            framing,
        })
    }
}

/// The initial capacity of the header map.
const ROOM: usize = 32;

/// The headers of a head, with its bytes.
struct Fields<'a> {
    bytes: &'a Bytes,
    fields: &'a [HeaderLine],
}

impl<'a> Fields<'a> {
    /// Returns the values of a header; the name in lower case.
    fn named(&self, name: &'static str) -> impl Iterator<Item = &'a [u8]> {
        let bytes: &'a [u8] = self.bytes;
        let is_it = move |field: &&HeaderLine| {
            bytes[field.name.clone()].eq_ignore_ascii_case(name.as_bytes())
        };
        let found = self.fields.iter().filter(is_it);
        found.map(move |field| field.value.of(bytes))
    }

    /// Whether a header lists this token.
    fn lists(&self, name: &'static str, token: &str) -> bool {
        let is_it = |listed: &[u8]| listed.trim_ascii().eq_ignore_ascii_case(token.as_bytes());
        self.named(name)
            .any(|value| value.split(|&byte| byte == b',').any(is_it))
    }

    fn framing(&self, protocol: Protocol, strict: Strictness) -> Result<Framing, BadHead> {
        if protocol == Protocol::Http10 || !self.is_chunked()? {
            return self.length(strict).map(Framing::Length);
        }
        if strict.heads {
            // It has no effect, but has to be a valid length.
            self.length(strict)?;
        }
        self.check_trailer_names()?;
        Ok(Framing::Chunked)
    }

    /// Only a single `chunked` is supported.
    fn is_chunked(&self) -> Result<bool, BadHead> {
        let mut codings = self.named("transfer-encoding");
        match (codings.next(), codings.next()) {
            (None, _) => Ok(false),
            (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(true),
            (Some(_), _) => Err(BadHead::TransferEncoding),
        }
    }

    /// Returns the length of the body. Equal repetitions are allowed.
    fn length(&self, strict: Strictness) -> Result<u64, BadHead> {
        let mut lengths = self.named("content-length").map(<[u8]>::trim_ascii);
        let Some(length) = lengths.next() else {
            return Ok(0);
        };
        if lengths.any(|other| other != length) {
            return Err(BadHead::Malformed);
        }
        if length.is_empty() && !strict.heads {
            return Ok(0);
        }
        let digits = length.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(length).ok().filter(|_| digits);
        let number = text.and_then(|text| text.parse::<i64>().ok());
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or(BadHead::Malformed)
    }

    /// A trailer must not set the framing of the body.
    fn check_trailer_names(&self) -> Result<(), BadHead> {
        for name in ["transfer-encoding", "trailer", "content-length"] {
            if self.lists("trailer", name) {
                return Err(BadHead::Malformed);
            }
        }
        Ok(())
    }

    fn check_hosts(&self, hosts: usize, is_needed: bool, method: &Method) -> Result<(), BadHead> {
        if hosts == 0 && is_needed && *method != Method::CONNECT {
            return Err(BadHead::HostMissing);
        }
        if hosts > 1 {
            return Err(BadHead::HostRepeated);
        }
        let is_host =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"!$%&'()*+,-.:;=[]_~".contains(byte);
        if self.named("host").all(|host| host.iter().all(is_host)) {
            Ok(())
        } else {
            Err(BadHead::HostMalformed)
        }
    }

    /// Checks that names are tokens and values are text.
    fn check_all(&self, strict: Strictness) -> Result<(), BadHead> {
        for field in self.fields {
            if !self.bytes[field.name.clone()].iter().copied().all(is_token) {
                return Err(BadHead::NameInvalid);
            }
            // A header without a name is ignored. Newer Go has checked the values line by line.
            if !strict.heads && !field.name.is_empty() && !is_value(field.value.of(self.bytes)) {
                return Err(BadHead::ValueInvalid);
            }
        }
        Ok(())
    }

    fn persistence(&self, protocol: Protocol) -> Persistence {
        match protocol {
            Protocol::Http10 if self.lists("connection", "keep-alive") => Persistence::KeptIfSized,
            Protocol::Http10 => Persistence::Ends,
            Protocol::Http11 if self.lists("connection", "close") => Persistence::Ends,
            Protocol::Http11 => Persistence::Kept,
        }
    }

    fn expectation(&self) -> Expectation {
        match self.named("expect").next() {
            None | Some(b"") => Expectation::None,
            Some(_) if self.lists("expect", "100-continue") => Expectation::Continue,
            Some(_) => Expectation::Unknown,
        }
    }

    /// Returns the header map. Headers beyond its limit are dropped.
    fn map(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(self.fields.len().min(ROOM));
        for field in self.fields {
            let value = match &field.value {
                LineValue::Plain(range) => {
                    HeaderValue::from_maybe_shared(self.bytes.slice(range.clone()))
                }
                LineValue::Folded(value) => HeaderValue::from_bytes(value),
            };
            let name = HeaderName::from_bytes(&self.bytes[field.name.clone()]);
            if let (Ok(name), Ok(value)) = (name, value) {
                // The map is full, at 24,576 headers.
                let _ = headers.try_append(name, value);
            }
        }
        headers
    }
}
