//! Access to JSON text that the scanner has checked.

use std::borrow::Cow;

use super::find::{equal, find};

/// A JSON value that the scanner has checked.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a [u8],
    /// The same text; `None` if it is not UTF-8.
    utf8: Option<&'a str>,
    extents: Vec<Extent>,
}

/// The size of a string, array or object. The scanner records it, so that nothing is searched for its end again: that
/// would take quadratic time in nested bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Its length, quotes or brackets included.
    pub(super) bytes: usize,
    /// The number of extents in it, its own included.
    pub(super) extents: usize,
    /// Whether it is a string with escapes.
    pub(super) is_escaped: bool,
}

impl<'a> Document<'a> {
    /// Creates a document with the extents of its strings and containers, in the order in which they begin.
    pub(super) fn new(text: &'a [u8], extents: Vec<Extent>) -> Self {
        Self {
            text,
            utf8: str::from_utf8(text).ok(),
            extents,
        }
    }

    /// Returns the value.
    pub fn value(&self) -> Value<'_> {
        Value {
            document: self,
            start: 0,
            end: self.text.len(),
            extent: 0,
            go_type: None,
        }
    }
}

/// A value: its text, without surrounding space.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    document: &'a Document<'a>,
    start: usize,
    end: usize,
    /// The place of its extent, or of the next one where it has none.
    extent: usize,
    /// Go's name of the destination type, if it is a named one.
    pub(super) go_type: Option<&'static str>,
}

/// The kind of a value, with its scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(&'a str),
    /// A string, decoded.
    String(Cow<'a, str>),
    /// An array: [`Value::elements`].
    Array,
    /// An object: [`Value::members`].
    Object,
}

impl<'a> Value<'a> {
    /// Returns the value with Go's name of its destination type.
    pub fn of_type(self, go_type: &'static str) -> Self {
        Self {
            go_type: self.go_type.or(Some(go_type)),
            ..self
        }
    }

    /// Returns the kind. Strings are decoded at each call.
    pub fn kind(self) -> ValueKind<'a> {
        match self.first() {
            b'n' => ValueKind::Null,
            b't' => ValueKind::Bool(true),
            b'f' => ValueKind::Bool(false),
            b'"' => ValueKind::String(self.string()),
            b'[' => ValueKind::Array,
            b'{' => ValueKind::Object,
            _ => ValueKind::Number(
                str::from_utf8(self.text()).expect("a number that was scanned is ASCII"),
            ),
        }
    }

    /// Returns the contents of a string, decoded.
    fn string(self) -> Cow<'a, str> {
        let inside = self.start + 1..self.end - 1;
        match self.document.utf8 {
            Some(text) if !self.document.extents[self.extent].is_escaped => text[inside].into(),
            _ => decode_escapes(&self.document.text[inside]).into(),
        }
    }

    fn first(self) -> u8 {
        self.document.text[self.start]
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.first() == b'n'
    }

    /// Returns the value as written.
    pub fn text(self) -> &'a [u8] {
        &self.document.text[self.start..self.end]
    }

    /// Returns the elements of an array; empty for other kinds.
    pub fn elements(self) -> Elements<'a> {
        Elements(Walk::into_container(self, b'['))
    }

    /// Returns the members of an object in order, duplicates included, names decoded; empty for other kinds.
    pub fn members(self) -> Members<'a> {
        Members(Walk::into_container(self, b'{'))
    }
}

/// The elements of an array.
#[derive(Debug)]
pub struct Elements<'a>(Walk<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.0.next_value()
    }
}

/// The members of an object.
#[derive(Debug)]
pub struct Members<'a>(Walk<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0.next_value()?.string();
        Some((name, self.0.next_value()?))
    }
}

/// Steps from value to value in a container.
#[derive(Debug)]
struct Walk<'a> {
    document: &'a Document<'a>,
    at: usize,
    /// Where the container's contents end.
    end: usize,
    /// The place of the next extent.
    extent: usize,
}

impl<'a> Walk<'a> {
    /// Begins a walk through a container; its end, for another kind than the one with this bracket.
    fn into_container(value: Value<'a>, bracket: u8) -> Walk<'a> {
        let end = value.end - 1;
        let is_container = value.first() == bracket;
        Walk {
            document: value.document,
            at: if is_container { value.start + 1 } else { end },
            end,
            extent: value.extent + 1,
        }
    }

    fn next_value(&mut self) -> Option<Value<'a>> {
        let rest = &self.document.text[self.at..self.end];
        let is_separator = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':');
        let start = self.at + rest.iter().take_while(is_separator).count();
        let rest = &self.document.text[start..self.end];
        let (bytes, extents) = match rest.first()? {
            b'[' | b'{' | b'"' => {
                let extent = self.document.extents[self.extent];
                (extent.bytes, extent.extents)
            }
            _ => (word_length(rest), 0),
        };
        let value = Value {
            document: self.document,
            start,
            end: start + bytes,
            extent: self.extent,
            go_type: None,
        };
        self.at = value.end;
        self.extent += extents;
        Some(value)
    }
}

/// Returns the length of a number or literal.
fn word_length(text: &[u8]) -> usize {
    let is_end = |byte: &u8| b" \t\r\n,:]}".contains(byte);
    text.iter().position(is_end).unwrap_or(text.len())
}

/// Returns the length of the string at the start of a text, with its quotes.
pub(super) fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        let plain = find(&text[at..], |word| equal(word, b'"') | equal(word, b'\\'));
        at += plain.expect("the scanner has seen the closing quote");
        match text[at] {
            b'"' => return at + 1,
            _ => at += 2,
        }
    }
}

/// Decodes the inside of a string as Go does: invalid bytes and lone surrogates become U+FFFD.
pub(super) fn decode_string(inside: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(inside) {
        Ok(text) if find(inside, |word| equal(word, b'\\')).is_none() => Cow::Borrowed(text),
        _ => Cow::Owned(decode_escapes(inside)),
    }
}

fn decode_escapes(inside: &[u8]) -> String {
    let mut text = String::with_capacity(inside.len());
    for chunk in inside.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some((plain, escaped)) = rest.split_once('\\') {
            text.push_str(plain);
            // Invalid bytes split no escape: the scanner requires ASCII in escapes.
            let (code, after) = escaped.split_at(1);
            rest = after;
            text.push(match code {
                "b" => '\u{8}',
                "f" => '\u{c}',
                "n" => '\n',
                "r" => '\r',
                "t" => '\t',
                "u" => take_unicode_escape(&mut rest),
                _ => char::from(code.as_bytes()[0]),
            });
        }
        text.push_str(rest);
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// Decodes the four digits of `\u`, and a second escape if the two are a surrogate pair.
fn take_unicode_escape(rest: &mut &str) -> char {
    let unit = |digits: &str| {
        u16::from_str_radix(digits, 16).expect("the scanner has seen four hexadecimal digits")
    };
    let first = unit(&rest[..4]);
    *rest = &rest[4..];
    if let Some(second) = rest.strip_prefix("\\u") {
        let pair = [first, unit(&second[..4])];
        let is_high = matches!(first, 0xd800..0xdc00);
        if let Some(Ok(character)) = char::decode_utf16(pair).next().filter(|_| is_high) {
            *rest = &second[4..];
            return character;
        }
    }
    char::from_u32(first.into()).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::{Document, Extent, Value, ValueKind};
    use crate::json::scan::first_value;

    fn value(text: &[u8]) -> Value<'_> {
        let document = first_value(text).expect("the text is well-formed");
        Box::leak(Box::new(document)).value()
    }

    fn string(text: &[u8]) -> String {
        match value(text).kind() {
            ValueKind::String(text) => text.into_owned(),
            other => panic!("{other:?} is no string"),
        }
    }

    #[test]
    fn kinds() {
        assert_eq!(value(b"null").kind(), ValueKind::Null);
        assert_eq!(value(b"true").kind(), ValueKind::Bool(true));
        assert_eq!(value(b"false").kind(), ValueKind::Bool(false));
        assert_eq!(value(b"-1.5e3 ").kind(), ValueKind::Number("-1.5e3"));
        assert_eq!(value(b"\"a\"").kind(), ValueKind::String("a".into()));
        assert_eq!(value(b"[]").kind(), ValueKind::Array);
        assert_eq!(value(b"{}").kind(), ValueKind::Object);
    }

    #[test]
    fn elements_and_members() {
        let text = br#" [ 1 ,"]\"," , [ [ ] , "}" ] , { "a" : { "b\\" : [ ] } } , null ] "#;
        let kinds: Vec<_> = value(text).elements().map(Value::kind).collect();
        assert_eq!(
            kinds,
            [
                ValueKind::Number("1"),
                ValueKind::String("]\",".into()),
                ValueKind::Array,
                ValueKind::Object,
                ValueKind::Null
            ]
        );

        let text = br#"{"a":1,"\u0062":[{}],"a":{"c":2}}"#;
        let members: Vec<_> = value(text)
            .members()
            .map(|(name, value)| (name.into_owned(), value.kind()))
            .collect();
        assert_eq!(
            members,
            [
                ("a".to_owned(), ValueKind::Number("1")),
                ("b".to_owned(), ValueKind::Array),
                ("a".to_owned(), ValueKind::Object)
            ]
        );
        assert_eq!(value(b"{}").members().count(), 0);
        assert_eq!(value(b"[ ]").elements().count(), 0);
        assert_eq!(value(b"{\"a\":1}").elements().count(), 0);
        assert_eq!(value(b"[1]").members().count(), 0);
    }

    /// Or else reading a nested body would be quadratic.
    #[test]
    fn a_container_is_stepped_over_unread() {
        let extents = [(9, 2), (5, 1)].map(|(bytes, extents)| Extent {
            bytes,
            extents,
            is_escaped: false,
        });
        let document = Document::new(b"[{???},1]", extents.into());
        let kinds: Vec<_> = document.value().elements().map(Value::kind).collect();
        assert_eq!(kinds, [ValueKind::Object, ValueKind::Number("1")]);
    }

    #[test]
    fn escapes() {
        assert_eq!(
            string(br#""\"\\\/\b\f\n\r\t\u00e9\u0000x""#),
            "\"\\/\u{8}\u{c}\n\r\t\u{e9}\0x"
        );
        assert_eq!(string(br#""\ud83d\ude00""#), "\u{1f600}");
    }

    /// As Go prints them.
    #[test]
    fn lone_surrogates() {
        assert_eq!(string(br#""\ud83dx""#), "\u{fffd}x");
        assert_eq!(string(br#""\udc00\ud800""#), "\u{fffd}\u{fffd}");
        assert_eq!(string(br#""\ud800\u0041""#), "\u{fffd}A");
        assert_eq!(string(br#""\ud800\ud83d\ude00""#), "\u{fffd}\u{1f600}");
        assert_eq!(string(br#""\u0041\u0042""#), "AB");
        assert_eq!(string(br#""\ud800\n""#), "\u{fffd}\n");
    }

    #[test]
    fn every_invalid_byte_is_replaced() {
        assert_eq!(
            string(b"\"\xff\xe2\x82x\\n\xf0\x9f\x98\""),
            "\u{fffd}\u{fffd}\u{fffd}x\n\u{fffd}\u{fffd}\u{fffd}"
        );
    }
}
