//! Values of headers that several kinds of answers share.

use http::HeaderValue;

pub(crate) const BINARY: HeaderValue = HeaderValue::from_static("application/octet-stream");
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const JSON_UTF_8: HeaderValue =
    HeaderValue::from_static("application/json; charset=utf-8");
pub(crate) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
pub(crate) const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Returns the type that Go's server guesses for a body without a type. Only text and binary are told apart, which is
/// enough for texts that repeat bytes of the client.
pub(crate) fn guessed_type(body: &[u8]) -> HeaderValue {
    let binary = |byte: &u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    if body.iter().take(512).any(binary) {
        BINARY
    } else {
        TEXT
    }
}

/// Returns a number as the value of a header.
pub(crate) fn number(value: u64) -> HeaderValue {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(value);
    HeaderValue::from_str(digits).expect("digits are a header value")
}
