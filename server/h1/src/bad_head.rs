//! The responses of Go's server to malformed heads: exact texts, no `Date`, no length, and a closed connection
//! (kv.md 0 step 1; 1.22.md A0).

use http::StatusCode;

use crate::strictness::Strictness;

/// Why a head is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadHead {
    /// It is malformed. Go's response has no detail.
    Malformed,
    /// The version is not HTTP/1.
    UnsupportedProtocol,
    /// `Host` is missing in HTTP/1.1.
    HostMissing,
    /// `Host` is repeated.
    HostRepeated,
    /// `Host` has an invalid byte.
    HostMalformed,
    /// The name of a header is not a token.
    NameInvalid,
    /// The value of a header has a control character.
    ValueInvalid,
    /// The transfer coding is not `chunked`.
    TransferEncoding,
    /// It is longer than the limit.
    TooLarge,
}

impl BadHead {
    /// Returns the whole response.
    pub(crate) fn answer(self, strict: Strictness) -> String {
        let (line, text) = self.line_and_text(strict);
        format!(
            "HTTP/1.1 {line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n{text}"
        )
    }

    /// Returns the status and the body of the response.
    pub(crate) fn status_and_text(self, strict: Strictness) -> (StatusCode, String) {
        let (line, text) = self.line_and_text(strict);
        let status = StatusCode::from_bytes(&line.as_bytes()[..3]);
        (status.expect("a line starts with its status"), text)
    }

    fn line_and_text(self, strict: Strictness) -> (String, String) {
        let (status, detail) = match self {
            Self::Malformed => ("400 Bad Request", ""),
            Self::HostRepeated if strict.heads => ("400 Bad Request", ""),
            Self::UnsupportedProtocol if strict.heads => (
                "505 HTTP Version Not Supported",
                ": unsupported protocol version",
            ),
            Self::UnsupportedProtocol => ("400 Bad Request", ": unsupported protocol version"),
            Self::HostMissing => ("400 Bad Request", ": missing required Host header"),
            Self::HostRepeated => ("400 Bad Request", ": too many Host headers"),
            Self::HostMalformed => ("400 Bad Request", ": malformed Host header"),
            Self::NameInvalid => ("400 Bad Request", ": invalid header name"),
            Self::ValueInvalid => ("400 Bad Request", ": invalid header value"),
            Self::TransferEncoding => {
                let text = "Unsupported transfer encoding";
                return ("501 Not Implemented".to_owned(), text.to_owned());
            }
            Self::TooLarge => ("431 Request Header Fields Too Large", ""),
        };
        let line = format!("{status}{detail}");
        (line.clone(), line)
    }
}
