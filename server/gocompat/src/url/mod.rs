//! Go's `net/url`: percent-escapes, and the request target as the server sees it.

pub mod path;
pub mod query;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::quote::Quoted;

/// A request target as sent, and where its parts are: origin, path, query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTarget {
    text: Bytes,
    /// The end of `http://host` in an absolute-form target, or of its scheme and colon without a host; else 0.
    origin_end: usize,
    /// The end of the path, which starts behind the origin.
    path_end: usize,
    form: Form,
    /// The decoded path, if it differs from the path as sent.
    decoded: Option<Box<[u8]>>,
}

/// What stands between the origin and the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Path,
    /// The opaque part behind a scheme, `bar` in `foo:bar`, or the host and port of a CONNECT. The path is empty.
    Opaque,
}

/// Why Go refuses a request target or a query. Consul never shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlError {
    /// The target is empty.
    Empty,
    /// It contains a control character.
    ControlCharacter,
    /// It is neither a path nor absolute.
    NotRooted,
    /// The port of an absolute target is not a number.
    Port,
    /// A `%` lacks two hexadecimal digits: the invalid bytes, at most three.
    Escape(Vec<u8>),
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UrlError::Empty => formatter.write_str("empty url"),
            UrlError::ControlCharacter => {
                formatter.write_str("net/url: invalid control character in URL")
            }
            UrlError::NotRooted => formatter.write_str("invalid URI for request"),
            UrlError::Port => formatter.write_str("invalid port after host"),
            UrlError::Escape(escape) => write!(formatter, "invalid URL escape {}", Quoted(escape)),
        }
    }
}

impl std::error::Error for UrlError {}

impl RequestTarget {
    /// Parses the target of a request line as `url.ParseRequestURI` does. `#` is a part of the path there.
    ///
    /// # Errors
    /// The target is invalid: Go's server answers 400 and closes the connection (kv.md 0 step 1).
    pub fn parse(target: &[u8]) -> Result<Self, UrlError> {
        // Without an early end the compiler looks at many bytes at once.
        let is_control = |found, byte: &u8| found | byte.is_ascii_control();
        if target.iter().fold(false, is_control) {
            return Err(UrlError::ControlCharacter);
        }
        let (origin, rest) = split_origin(target);
        match (rest.first(), origin.is_empty()) {
            (None, true) => return Err(UrlError::Empty),
            (None, false) | (Some(b'/' | b'?'), false) | (Some(b'/'), true) => {}
            (Some(b'*'), true) if rest == b"*" => {}
            (Some(_), false) if origin.ends_with(b":") => {
                return Ok(Self::new(target, origin.len(), Form::Opaque));
            }
            (Some(_), _) => return Err(UrlError::NotRooted),
        }
        let colon = origin
            .iter()
            .rposition(|&byte| matches!(byte, b':' | b'@' | b']' | b'/'));
        let behind = colon.map_or(origin, |colon| &origin[colon..]);
        if let Some(port) = behind.strip_prefix(b":")
            && origin.contains(&b'/')
            && !port.iter().all(u8::is_ascii_digit)
        {
            return Err(UrlError::Port);
        }
        let mut parsed = Self::new(target, origin.len(), Form::Path);
        if let Cow::Owned(decoded) = path_unescape(parsed.between())? {
            parsed.decoded = Some(decoded.into());
        }
        Ok(parsed)
    }

    /// Creates the target of a CONNECT: a host and port, which Go's server does not check.
    pub fn authority(target: &[u8]) -> Self {
        Self::new(target, 0, Form::Opaque)
    }

    fn new(target: &[u8], origin_end: usize, form: Form) -> Self {
        let mut rest = target[origin_end..].iter();
        let path_length = rest.position(|&byte| byte == b'?');
        Self {
            text: Bytes::copy_from_slice(target),
            origin_end,
            path_end: path_length.map_or(target.len(), |length| origin_end + length),
            form,
            decoded: None,
        }
    }

    /// Returns the whole target as sent.
    pub fn as_sent(&self) -> &Bytes {
        &self.text
    }

    /// Returns what stands between the origin and the query.
    fn between(&self) -> &[u8] {
        &self.text[self.origin_end..self.path_end]
    }

    /// Returns the decoded path, `URL.Path`.
    pub fn path(&self) -> &[u8] {
        match (&self.decoded, self.form) {
            (Some(decoded), _) => decoded,
            (None, Form::Path) => self.between(),
            (None, Form::Opaque) => b"",
        }
    }

    /// Returns the query as sent, `URL.RawQuery`; empty if missing.
    pub fn raw_query(&self) -> &[u8] {
        self.text.get(self.path_end + 1..).unwrap_or_default()
    }

    /// Returns the escaped path, `URL.EscapedPath`: as sent if that is a valid encoding, else encoded anew.
    pub(crate) fn escaped_path(&self) -> Cow<'_, [u8]> {
        match self.form {
            Form::Opaque => Cow::Borrowed(b""),
            Form::Path if self.between().iter().copied().all(stands_in_escaped_path) => {
                Cow::Borrowed(self.between())
            }
            Form::Path => Cow::Owned(path_escape(self.path()).into_bytes()),
        }
    }

    /// Returns the target with another decoded path, as `URL.String` prints it.
    pub(crate) fn with_path(&self, path: &[u8]) -> Vec<u8> {
        let mut text = self.text[..self.origin_end].to_vec();
        match self.form {
            Form::Opaque => text.extend_from_slice(self.between()),
            Form::Path => {
                if text.ends_with(b":") {
                    text.extend_from_slice(b"//");
                }
                text.extend_from_slice(path_escape(path).as_bytes());
            }
        }
        // A target that ends in its only `?` keeps it.
        if self.path_end + 1 == self.text.len() {
            text.push(b'?');
        }
        push_query(&mut text, self.raw_query());
        text
    }
}

/// Appends `?` and the raw query, if not empty.
pub(super) fn push_query(text: &mut Vec<u8>, raw_query: &[u8]) {
    if !raw_query.is_empty() {
        text.push(b'?');
        text.extend_from_slice(raw_query);
    }
}

/// Splits `scheme://host` off an absolute-form target, or `scheme:` without a host.
fn split_origin(target: &[u8]) -> (&[u8], &[u8]) {
    let scheme = target
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
        .count();
    let Some(after) = target[scheme..].strip_prefix(b":") else {
        return (b"", target);
    };
    if !target[0].is_ascii_alphabetic() {
        return (b"", target);
    }
    let Some(authority) = after.strip_prefix(b"//") else {
        return target.split_at(scheme + 1);
    };
    let host = authority
        .iter()
        .take_while(|byte| !matches!(byte, b'/' | b'?'))
        .count();
    target.split_at(target.len() - authority.len() + host)
}

/// Decodes a path, `url.PathUnescape`: `+` stays a plus.
///
/// # Errors
/// [`UrlError::Escape`] for a `%` that two hexadecimal digits do not follow.
pub fn path_unescape(text: &[u8]) -> Result<Cow<'_, [u8]>, UrlError> {
    if text.contains(&b'%') {
        unescape(text, b'+').map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(text))
    }
}

/// Decodes a name or value of a query, `url.QueryUnescape`: `+` is a space.
///
/// # Errors
/// As [`path_unescape`].
pub(crate) fn query_unescape(text: &[u8]) -> Result<Vec<u8>, UrlError> {
    unescape(text, b' ')
}

fn unescape(text: &[u8], plus: u8) -> Result<Vec<u8>, UrlError> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        decoded.push(match byte {
            b'%' => {
                let pair = after
                    .split_first_chunk::<2>()
                    .and_then(|(pair, after)| Some((hex_pair(*pair)?, after)));
                let Some((value, after_pair)) = pair else {
                    let escape = [b"%", &after[..after.len().min(2)]].concat();
                    return Err(UrlError::Escape(escape));
                };
                rest = after_pair;
                value
            }
            b'+' => plus,
            &byte => byte,
        });
    }
    Ok(decoded)
}

fn hex_pair([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// Encodes a path as `URL.EscapedPath` does, without escaping `$&+,/:;=@`.
pub fn path_escape(path: &[u8]) -> String {
    escape(path, |byte| b"$&+,/:;=@".contains(&byte), "%20")
}

/// Encodes a name or value of a query, `url.QueryEscape`: a space becomes `+`.
pub(crate) fn query_escape(text: &[u8]) -> String {
    escape(text, |_| false, "+")
}

fn escape(text: &[u8], also_stands: impl Fn(u8) -> bool, space: &str) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let mut escaped = String::with_capacity(text.len());
    for &byte in text {
        match byte {
            b' ' => escaped.push_str(space),
            _ if is_unreserved(byte) || also_stands(byte) => escaped.push(char::from(byte)),
            _ => escaped.extend([
                '%',
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]),
        }
    }
    escaped
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

/// Whether Go accepts an unescaped byte in a path as sent as a valid encoding.
fn stands_in_escaped_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'_'
                | b'.'
                | b'~'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
                | b':'
                | b'@'
                | b'['
                | b']'
                | b'%'
                | b'/'
        )
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{
        RequestTarget, UrlError, path_escape, path_unescape, query_escape, query_unescape,
    };

    fn target(text: &str) -> RequestTarget {
        RequestTarget::parse(text.as_bytes()).expect("the target is well-formed")
    }

    #[test]
    fn paths_are_decoded_and_escaped() {
        for (text, path, escaped, query) in [
            ("/a%2Fb", "/a/b", "/a%2Fb", ""),
            ("/plus+key", "/plus+key", "/plus+key", ""),
            ("/a b", "/a b", "/a%20b", ""),
            ("/a\"b", "/a\"b", "/a%22b", ""),
            ("/\u{e9}", "/\u{e9}", "/%C3%A9", ""),
            ("/a%c3%a9", "/a\u{e9}", "/a%c3%a9", ""),
            ("/%7E", "/~", "/%7E", ""),
            ("/[x]", "/[x]", "/[x]", ""),
            ("/!'()*", "/!'()*", "/!'()*", ""),
            ("/{a}|^`", "/{a}|^`", "/%7Ba%7D%7C%5E%60", ""),
            ("/x?", "/x", "/x", ""),
            ("/x??", "/x", "/x", "?"),
            ("/x?a?", "/x", "/x", "a?"),
            ("/x#y?z", "/x#y", "/x%23y", "z"),
            ("*", "*", "*", ""),
            ("//host/x", "//host/x", "//host/x", ""),
            ("http://h:1/a//b?c", "/a//b", "/a//b", "c"),
            ("http://h", "", "", ""),
            ("http://h:/", "/", "/", ""),
            ("http://[::a]/x", "/x", "/x", ""),
            ("http://h?q", "", "", "q"),
            ("/a://b", "/a://b", "/a://b", ""),
            ("/a%00", "/a\0", "/a%00", ""),
        ] {
            let target = target(text);
            assert_eq!(target.path(), path.as_bytes(), "{text}");
            assert_eq!(target.escaped_path(), escaped.as_bytes(), "{text}");
            assert_eq!(target.raw_query(), query.as_bytes(), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_kept() {
        let target = RequestTarget::parse(b"/\xff%FE").expect("raw bytes are accepted");
        assert_eq!(target.path(), b"/\xff\xfe");
        assert_eq!(&*target.escaped_path(), b"/%FF%FE");
    }

    #[test]
    fn refused_targets() {
        for (text, error) in [
            ("/a%zz", "invalid URL escape \"%zz\""),
            ("/a%", "invalid URL escape \"%\""),
            ("/a%2", "invalid URL escape \"%2\""),
            ("/a%2g%20", "invalid URL escape \"%2g\""),
            ("", "empty url"),
            ("v1/kv/a", "invalid URI for request"),
            ("?a", "invalid URI for request"),
            ("://h/", "invalid URI for request"),
            ("http://h:a1/", "invalid port after host"),
            ("/a\u{7f}", "net/url: invalid control character in URL"),
            ("/a?\u{1}", "net/url: invalid control character in URL"),
        ] {
            assert_eq!(
                RequestTarget::parse(text.as_bytes()).map_err(|error| error.to_string()),
                Err(error.to_owned())
            );
        }
    }

    #[test]
    fn escapes_of_a_query_are_not_checked_here() {
        assert_eq!(target("/a?b=%zz").raw_query(), b"b=%zz");
    }

    #[test]
    fn a_new_path_keeps_origin_and_query() {
        assert_eq!(
            target("http://h:1/a//b?c").with_path(b"/x y"),
            b"http://h:1/x%20y?c"
        );
        assert_eq!(target("/a?").with_path(b"/b"), b"/b?");
        assert_eq!(target("/a").with_path(b"/b"), b"/b");
        assert_eq!(target("/a??").with_path(b"/b"), b"/b??");
    }

    #[test]
    fn unescaping() {
        assert_eq!(path_unescape(b"a+b"), Ok(Cow::Borrowed(&b"a+b"[..])));
        assert_eq!(
            path_unescape(b"a+%2b%41%e9"),
            Ok(Cow::Borrowed(&b"a++A\xe9"[..]))
        );
        assert_eq!(query_unescape(b"a+%2b%41%e9"), Ok(b"a +A\xe9".to_vec()));
        assert_eq!(
            query_unescape(b"%+1"),
            Err(UrlError::Escape(b"%+1".to_vec()))
        );
    }

    /// Printed by Go for the bytes that are not letters or digits.
    #[test]
    fn escaping_every_byte() {
        let ascii: Vec<u8> = (b' '..=0x7f)
            .filter(|byte| !byte.is_ascii_alphanumeric())
            .collect();
        assert_eq!(
            path_escape(&ascii),
            "%20%21%22%23$%25&%27%28%29%2A+,-./:;%3C=%3E%3F@%5B%5C%5D%5E_%60%7B%7C%7D~%7F"
        );
        assert_eq!(
            query_escape(&ascii),
            "+%21%22%23%24%25%26%27%28%29%2A%2B%2C-.%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E_%60%7B%7C%7D~%7F"
        );
        assert_eq!(path_escape(b"\x00\x1f\x80\xab\xff"), "%00%1F%80%AB%FF");
        assert_eq!(query_escape(b"aZ09"), "aZ09");
    }
}
