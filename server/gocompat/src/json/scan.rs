//! Go's syntax check before it decodes values.

use std::fmt;

use super::find::{below, equal, find};
use super::value::{Document, Extent};
use crate::quote::printable::Unicode;
use crate::quote::push_escaped_by;

/// The deepest nesting of arrays and objects, as in Go. Nothing here recurses over it.
const MAX_DEPTH: usize = 10_000;

/// How many bytes of a usual body one string or container has.
const BYTES_PER_EXTENT: usize = 24;
/// The most extents for which there is room before they are found.
const MOST_EXTENTS: usize = 256;

/// Why a body does not start with a JSON value. `Display` prints Go's sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxError {
    /// It is empty or white space.
    Empty,
    /// The body ends inside of a value.
    Truncated,
    /// A byte is invalid at its place.
    Unexpected {
        /// The byte.
        byte: u8,
        /// The end of Go's sentence, e.g. `looking for beginning of value`.
        place: &'static str,
    },
}

impl SyntaxError {
    /// Returns the sentence of the Go release with this edition of Unicode.
    pub(super) fn message(self, unicode: Unicode) -> String {
        match self {
            SyntaxError::Empty => "EOF".to_owned(),
            SyntaxError::Truncated => "unexpected EOF".to_owned(),
            SyntaxError::Unexpected { byte, place } => {
                // Go prints the byte as a code point: 0xFF is U+00FF.
                let mut character = String::new();
                push_escaped_by(unicode, &mut character, char::from(byte), '\'');
                format!("invalid character '{character}' {place}")
            }
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message(Unicode::V15))
    }
}

/// Returns the first JSON value of a body, without surrounding white space. The rest of the body is ignored.
///
/// # Errors
/// The first invalid byte.
pub(super) fn first_value(body: &[u8]) -> Result<Document<'_>, SyntaxError> {
    let mut scanner = Scanner {
        body,
        at: 0,
        extents: Vec::with_capacity((body.len() / BYTES_PER_EXTENT).min(MOST_EXTENTS)),
    };
    if scanner.peek_past_space().is_none() {
        return Err(SyntaxError::Empty);
    }
    let start = scanner.at;
    scanner.value()?;
    Ok(Document::new(&body[start..scanner.at], scanner.extents))
}

/// An open bracket.
#[derive(Clone, Copy)]
struct Open {
    bracket: Bracket,
    /// Its place in the body.
    start: usize,
    /// The place of its extent in [`Scanner::extents`].
    extent: usize,
}

#[derive(Clone, Copy)]
enum Bracket {
    Array,
    Object,
}

struct Scanner<'a> {
    body: &'a [u8],
    at: usize,
    /// The strings and containers, in the order in which they begin.
    extents: Vec<Extent>,
}

impl Scanner<'_> {
    /// Scans a value. Open brackets are kept in a list, without recursion.
    fn value(&mut self) -> Result<(), SyntaxError> {
        let mut open = Vec::new();
        loop {
            if let Some(opened) = self.begin_value(open.len())? {
                open.push(opened);
                continue;
            }
            loop {
                let Some(&innermost) = open.last() else {
                    return Ok(());
                };
                if self.goes_on(innermost.bracket)? {
                    break;
                }
                self.close(innermost);
                open.pop();
            }
        }
    }

    /// Records the end of a container.
    fn close(&mut self, open: Open) {
        self.extents[open.extent] = Extent {
            bytes: self.at - open.start,
            extents: self.extents.len() - open.extent,
            is_escaped: false,
        };
    }

    /// Scans a scalar, an empty container, or a container up to its first value.
    fn begin_value(&mut self, depth: usize) -> Result<Option<Open>, SyntaxError> {
        let byte = self.next_past_space()?;
        match byte {
            b'[' => return self.begin_container(byte, Bracket::Array, depth),
            b'{' => return self.begin_container(byte, Bracket::Object, depth),
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number(byte)?,
            b't' => self.literal(&TRUE)?,
            b'f' => self.literal(&FALSE)?,
            b'n' => self.literal(&NULL)?,
            _ => {
                let place = "looking for beginning of value";
                return Err(SyntaxError::Unexpected { byte, place });
            }
        }
        Ok(None)
    }

    /// Scans a container behind its opening bracket, up to its first value or its end.
    fn begin_container(
        &mut self,
        byte: u8,
        bracket: Bracket,
        depth: usize,
    ) -> Result<Option<Open>, SyntaxError> {
        if depth == MAX_DEPTH {
            let place = "exceeded max depth";
            return Err(SyntaxError::Unexpected { byte, place });
        }
        let open = Open {
            bracket,
            start: self.at - 1,
            extent: self.extents.len(),
        };
        self.extents.push(Extent::default());
        match (bracket, self.peek_past_space()) {
            (Bracket::Array, Some(b']')) | (Bracket::Object, Some(b'}')) => {
                self.at += 1;
                self.close(open);
                return Ok(None);
            }
            (Bracket::Array, _) => {}
            (Bracket::Object, _) => self.key()?,
        }
        Ok(Some(open))
    }

    /// Scans behind a value in a container. Returns whether another value follows.
    fn goes_on(&mut self, container: Bracket) -> Result<bool, SyntaxError> {
        let byte = self.next_past_space()?;
        match (container, byte) {
            (Bracket::Array, b',') => Ok(true),
            (Bracket::Object, b',') => self.key().map(|()| true),
            (Bracket::Array, b']') | (Bracket::Object, b'}') => Ok(false),
            (Bracket::Array, _) => Err(SyntaxError::Unexpected {
                byte,
                place: "after array element",
            }),
            (Bracket::Object, _) => Err(SyntaxError::Unexpected {
                byte,
                place: "after object key:value pair",
            }),
        }
    }

    /// Scans the name of a member and its colon.
    fn key(&mut self) -> Result<(), SyntaxError> {
        match self.next_past_space()? {
            b'"' => self.string()?,
            byte => {
                return Err(SyntaxError::Unexpected {
                    byte,
                    place: "looking for beginning of object key string",
                });
            }
        }
        match self.next_past_space()? {
            b':' => Ok(()),
            byte => Err(SyntaxError::Unexpected {
                byte,
                place: "after object key",
            }),
        }
    }

    /// Scans a string behind its opening quote.
    fn string(&mut self) -> Result<(), SyntaxError> {
        let start = self.at - 1;
        let mut is_escaped = false;
        loop {
            let plain = find(&self.body[self.at..], |word| {
                equal(word, b'"') | equal(word, b'\\') | below(word, b' ')
            });
            self.at = plain.map_or(self.body.len(), |plain| self.at + plain);
            match self.next()? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    self.escape()?;
                }
                byte => {
                    let place = "in string literal";
                    return Err(SyntaxError::Unexpected { byte, place });
                }
            }
        }
        self.extents.push(Extent {
            bytes: self.at - start,
            extents: 1,
            is_escaped,
        });
        Ok(())
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.next()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
            b'u' => {
                for _ in 0..4 {
                    let byte = self.next()?;
                    if !byte.is_ascii_hexdigit() {
                        let place = "in \\u hexadecimal character escape";
                        return Err(SyntaxError::Unexpected { byte, place });
                    }
                }
            }
            byte => {
                return Err(SyntaxError::Unexpected {
                    byte,
                    place: "in string escape code",
                });
            }
        }
        Ok(())
    }

    /// Scans a number behind its first byte.
    fn number(&mut self, first: u8) -> Result<(), SyntaxError> {
        let first = if first == b'-' {
            self.digit("in numeric literal")?
        } else {
            first
        };
        if first != b'0' {
            self.skip_digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.skip_digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.skip_digits();
        }
        Ok(())
    }

    fn digit(&mut self, place: &'static str) -> Result<u8, SyntaxError> {
        let byte = self.next()?;
        if byte.is_ascii_digit() {
            Ok(byte)
        } else {
            Err(SyntaxError::Unexpected { byte, place })
        }
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// Scans a literal behind its first byte.
    fn literal(&mut self, rest: &[(u8, &'static str)]) -> Result<(), SyntaxError> {
        for &(expected, place) in rest {
            let byte = self.next()?;
            if byte != expected {
                return Err(SyntaxError::Unexpected { byte, place });
            }
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, SyntaxError> {
        let byte = self.peek().ok_or(SyntaxError::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn peek_past_space(&mut self) -> Option<u8> {
        while self
            .peek()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        {
            self.at += 1;
        }
        self.peek()
    }

    fn next_past_space(&mut self) -> Result<u8, SyntaxError> {
        self.peek_past_space();
        self.next()
    }
}

/// Returns the rest of the literal with this first byte, and the place for its error.
const TRUE: [(u8, &str); 3] = [
    (b'r', "in literal true (expecting 'r')"),
    (b'u', "in literal true (expecting 'u')"),
    (b'e', "in literal true (expecting 'e')"),
];
const FALSE: [(u8, &str); 4] = [
    (b'a', "in literal false (expecting 'a')"),
    (b'l', "in literal false (expecting 'l')"),
    (b's', "in literal false (expecting 's')"),
    (b'e', "in literal false (expecting 'e')"),
];
const NULL: [(u8, &str); 3] = [
    (b'u', "in literal null (expecting 'u')"),
    (b'l', "in literal null (expecting 'l')"),
    (b'l', "in literal null (expecting 'l')"),
];

#[cfg(test)]
mod tests {
    use super::first_value;

    fn message(body: impl AsRef<[u8]>) -> String {
        first_value(body.as_ref())
            .expect_err("the body is malformed")
            .to_string()
    }

    #[test]
    fn only_the_first_value_is_read() {
        for (body, value) in [
            ("{} junk", "{}"),
            (" \r\n\t[]x", "[]"),
            ("5x", "5"),
            ("01", "0"),
            ("0x", "0"),
            ("-0.5e+7,", "-0.5e+7"),
            ("\"a\\\"b\\u00e9\"x", "\"a\\\"b\\u00e9\""),
            ("truex", "true"),
            ("false", "false"),
            ("null", "null"),
            ("[[], {\"a\" : [1 , {}]}]]", "[[], {\"a\" : [1 , {}]}]"),
        ] {
            let found = first_value(body.as_bytes());
            let found = found.map(|document| document.value().text().to_vec());
            assert_eq!(found, Ok(value.as_bytes().to_vec()), "{body}");
        }
    }

    #[test]
    fn end_of_input() {
        for body in ["", " ", "\n\t\r"] {
            assert_eq!(message(body), "EOF");
        }
        for body in [
            "[", "[ ", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "[1,", "tru", "-", "1.", "1e", "1e+",
            "\"", "\"a", "\"a\\", "\"\\u12", "{\"a\":[",
        ] {
            assert_eq!(message(body), "unexpected EOF", "{body}");
        }
    }

    #[test]
    fn unexpected_bytes() {
        for (body, error) in [
            ("x", "'x' looking for beginning of value"),
            ("+1", "'+' looking for beginning of value"),
            ("[1,]", "']' looking for beginning of value"),
            ("[}", "'}' looking for beginning of value"),
            ("'a'", "'\\'' looking for beginning of value"),
            ("{\"a\":[}", "'}' looking for beginning of value"),
            ("[1 2]", "'2' after array element"),
            ("[01]", "'1' after array element"),
            ("[1.5.5]", "'.' after array element"),
            ("[true\"\"]", "'\"' after array element"),
            ("{,}", "',' looking for beginning of object key string"),
            ("{a:1}", "'a' looking for beginning of object key string"),
            (
                "{\"a\":1,}",
                "'}' looking for beginning of object key string",
            ),
            ("{\"a\" 1}", "'1' after object key"),
            ("{\"a\":1 \"b\"}", "'\"' after object key:value pair"),
            ("{\"a\":1]", "']' after object key:value pair"),
            ("trux", "'x' in literal true (expecting 'e')"),
            ("trve", "'v' in literal true (expecting 'u')"),
            ("t\\", "'\\\\' in literal true (expecting 'r')"),
            ("falsy", "'y' in literal false (expecting 'e')"),
            ("fax", "'x' in literal false (expecting 'l')"),
            ("nulx", "'x' in literal null (expecting 'l')"),
            ("nx", "'x' in literal null (expecting 'u')"),
            ("-x", "'x' in numeric literal"),
            ("[1.]", "']' after decimal point in numeric literal"),
            ("[1e]", "']' in exponent of numeric literal"),
            ("1e+x", "'x' in exponent of numeric literal"),
            ("\"a\\q\"", "'q' in string escape code"),
            ("\"\\u12x4\"", "'x' in \\u hexadecimal character escape"),
            ("\"a\nb\"", "'\\n' in string literal"),
            ("\"\u{1f}\"", "'\\x1f' in string literal"),
            ("\u{b}", "'\\v' looking for beginning of value"),
        ] {
            assert_eq!(
                message(body),
                format!("invalid character {error}"),
                "{body}"
            );
        }
    }

    #[test]
    fn bytes_that_are_not_ascii() {
        assert_eq!(
            message(b"[\xff]"),
            "invalid character '\u{ff}' looking for beginning of value"
        );
        assert_eq!(
            message("\u{feff}{}"),
            "invalid character '\u{ef}' looking for beginning of value"
        );
        assert_eq!(
            message(b"[\x80]"),
            "invalid character '\\u0080' looking for beginning of value"
        );
        assert!(first_value(b"\"\xff\"").is_ok());
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(first_value(nested(10_000).as_bytes()).is_ok());
        assert_eq!(
            message(nested(10_001)),
            "invalid character '[' exceeded max depth"
        );
        let objects = "{\"a\":".repeat(10_000) + "{}";
        assert_eq!(message(objects), "invalid character '{' exceeded max depth");
    }
}
