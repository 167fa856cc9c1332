//! A request's head from its complete lines: the checks of Go's server in Go's order, and what the head says
//! about the body and the connection.

use bytes::Bytes;
use http::Method;
use proconsul_gocompat::url::RequestTarget;

use crate::bad_head::BadHead;
use crate::headers::Headers;
use crate::lines::{Lines, is_host, is_token, is_value};
use crate::strictness::Strictness;

/// The head of a request.
#[derive(Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The target.
    pub target: RequestTarget,
    /// The headers.
    pub headers: Headers,
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
        bytes: Bytes,
        lines: &mut Lines,
        strict: Strictness,
    ) -> Result<Self, BadHead> {
        let request = lines.request.take().ok_or(BadHead::Malformed)?;
        let headers = Headers::new(bytes, std::mem::take(&mut lines.fields));
        let hosts = headers.named("host").count();
        if strict.heads && hosts > 1 {
            return Err(BadHead::HostRepeated);
        }
        let (major, minor) = request.version;
        let protocol = if (major, minor) < (1, 1) {
            Protocol::Http10
        } else {
            Protocol::Http11
        };
        let framing = headers.framing(&request.method, protocol, strict)?;
        // The preface of HTTP/2. Go passes it on to the handler.
        let is_preface = major == 2
            && request.method.as_str() == "PRI"
            && **request.target.as_sent() == *b"*"
            && headers.is_empty();
        if major != 1 && !is_preface {
            return Err(BadHead::UnsupportedProtocol);
        }
        headers.check_hosts(
            hosts,
            protocol == Protocol::Http11 && !is_preface,
            &request.method,
        )?;
        headers.check_all(strict)?;
        Ok(Self {
            persistence: if is_preface {
                Persistence::Ends
            } else {
                headers.persistence(protocol)
            },
            expectation: headers.expectation(),
            headers,
            method: request.method,
            target: request.target,
            protocol,
            framing,
        })
    }
}

impl Headers {
    /// Whether a header lists this token.
    fn lists(&self, name: &'static str, token: &str) -> bool {
        let is_it = |listed: &[u8]| listed.trim_ascii().eq_ignore_ascii_case(token.as_bytes());
        self.named(name)
            .any(|value| value.split(|&byte| byte == b',').any(is_it))
    }

    fn framing(
        &self,
        method: &Method,
        protocol: Protocol,
        strict: Strictness,
    ) -> Result<Framing, BadHead> {
        let is_chunked = protocol == Protocol::Http11 && self.is_chunked()?;
        if *method == Method::HEAD && !strict.heads {
            // Older Go takes no body of a HEAD: a chunked one is the next request.
            let mut lengths = self.named("content-length").map(<[u8]>::trim_ascii);
            return match is_chunked || lengths.all(|length| length == b"0") {
                true => Ok(Framing::Length(0)),
                false => Err(BadHead::Malformed),
            };
        }
        if !is_chunked {
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
        if self
            .named("host")
            .all(|host| host.iter().copied().all(is_host))
        {
            Ok(())
        } else {
            Err(BadHead::HostMalformed)
        }
    }

    /// Checks that names are tokens and values are text.
    fn check_all(&self, strict: Strictness) -> Result<(), BadHead> {
        for (name, value) in self.iter() {
            if !name.iter().copied().all(is_token) {
                return Err(BadHead::NameInvalid);
            }
            // A header without a name is ignored. Newer Go has checked the values line by line.
            if !strict.heads && !name.is_empty() && !is_value(value) {
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
}
