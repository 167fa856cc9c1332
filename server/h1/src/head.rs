//! A request's head once all of its lines are there: what Go's server checks about it, in Go's order, and what it
//! says about the body and the connection.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::lines::{HeaderLine, Lines, Value, is_token, is_value};
use crate::refusal::BadHead;
use crate::strictness::Strictness;

/// The head of a request.
#[derive(Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The target as sent. It parses, unless the method is CONNECT.
    pub target: Bytes,
    /// The headers.
    pub headers: HeaderMap,
    /// The protocol.
    pub protocol: Protocol,
    /// How the body is sent.
    pub(crate) framing: Framing,
    /// What the client wants to happen to the connection.
    pub(crate) persistence: Persistence,
    /// What the client waits for before it sends the body.
    pub(crate) expectation: Expectation,
}

/// The versions of HTTP that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0: no chunks, and the connection ends by default.
    Http10,
    /// HTTP/1.1, which every later 1.x is taken for.
    Http11,
}

/// How the body of a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes; 0 is no body.
    Length(u64),
    /// In chunks.
    Chunked,
}

/// What a client wants to happen to the connection after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It is kept.
    Kept,
    /// It is kept if the answer has a length and says that it is kept: HTTP/1.0 with `keep-alive`.
    KeptIfSized,
    /// It ends.
    Ends,
}

/// What the header `Expect` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// Nothing.
    None,
    /// The client wants to be asked for the body.
    Continue,
    /// Something that nobody fulfils.
    Unknown,
}

impl Head {
    /// Checks the head that `lines` has found in `bytes`, and takes it apart.
    ///
    /// # Errors
    /// Go's server does not take it.
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
        let target = bytes.slice(request.target.clone());
        // How HTTP/2 begins: Go lets it through for those who want to take over, and nobody does.
        let is_preface = major == 2
            && request.method.as_str() == "PRI"
            && *target == *b"*"
            && lines.fields.is_empty();
        if major != 1 && !is_preface {
            return Err(BadHead::UnsupportedProtocol);
        }
        fields.check_hosts(
            hosts,
            protocol == Protocol::Http11 && !is_preface,
            &request.method,
        )?;
        fields.check_all()?;
        Ok(Self {
            persistence: if is_preface {
                Persistence::Ends
            } else {
                fields.persistence(protocol)
            },
            expectation: fields.expectation(),
            headers: fields.map(),
            method: request.method,
            target,
            protocol,
            framing,
        })
    }
}

/// For how many headers room is made at once.
const ROOM: usize = 32;

/// The headers of a head, and where they lie.
struct Fields<'a> {
    bytes: &'a Bytes,
    fields: &'a [HeaderLine],
}

impl<'a> Fields<'a> {
    /// The values of the header of this name, which is in lower case.
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
            // It does not count, and still has to be a length.
            self.length(strict)?;
        }
        self.check_trailer_names()?;
        Ok(Framing::Chunked)
    }

    /// `chunked`, once, is the only coding there is.
    fn is_chunked(&self) -> Result<bool, BadHead> {
        let mut codings = self.named("transfer-encoding");
        match (codings.next(), codings.next()) {
            (None, _) => Ok(false),
            (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(true),
            (Some(_), _) => Err(BadHead::TransferEncoding),
        }
    }

    /// The length of the body. It may be repeated, as long as it is the same.
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

    /// A trailer must not say how the body is sent.
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

    /// That names are tokens and values are text. Strict Go has seen to most of that line by line.
    fn check_all(&self) -> Result<(), BadHead> {
        for field in self.fields {
            if !self.bytes[field.name.clone()].iter().copied().all(is_token) {
                return Err(BadHead::NameInvalid);
            }
            // A header without a name is passed over.
            if !field.name.is_empty() && !is_value(field.value.of(self.bytes)) {
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

    /// The headers for those who look for one. More than can be held are more than anybody looks for.
    fn map(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(self.fields.len().min(ROOM));
        for field in self.fields {
            let value = match &field.value {
                Value::Plain(range) => {
                    HeaderValue::from_maybe_shared(self.bytes.slice(range.clone()))
                }
                Value::Folded(value) => HeaderValue::from_bytes(value),
            };
            let name = HeaderName::from_bytes(&self.bytes[field.name.clone()]);
            if let (Ok(name), Ok(value)) = (name, value) {
                // Full: there is room for 24 thousand.
                let _ = headers.try_append(name, value);
            }
        }
        headers
    }
}
