//! Answers: JSON as Go's `json.Marshal` and `json.MarshalIndent` print it.
//!
//! A list can be rendered element by element ([`ListWriter`]), so that a large answer is never in memory as a
//! whole.

mod layout;
pub mod reprint;
mod serializer;

use serde::{Serialize, Serializer};

pub use layout::{ControlEscapes, Style};

use layout::break_line;
use serializer::{GoSerializer, JSON, TEXT};

/// Renders a value as text on one line.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> String {
    String::from_utf8(to_vec(value, Style::COMPACT)).expect("JSON is text")
}

/// Renders a whole answer.
pub fn to_vec<T: Serialize + ?Sized>(value: &T, style: Style) -> Vec<u8> {
    let mut rendered = Vec::with_capacity(512);
    push(&mut rendered, value, style, 0);
    end(&mut rendered, style);
    rendered
}

fn push<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T, style: Style, depth: usize) {
    let printed = value.serialize(GoSerializer::new(out, style, depth));
    printed.expect("answers are made of what the serializer prints");
}

fn end(out: &mut Vec<u8>, style: Style) {
    if style.newline {
        out.push(b'\n');
    }
}

/// Renders an array element by element, with the same bytes as for the whole array.
#[derive(Debug)]
pub struct ListWriter {
    rendered: Vec<u8>,
    style: Style,
    is_empty: bool,
}

impl ListWriter {
    /// Creates an empty list.
    pub fn new(style: Style) -> ListWriter {
        ListWriter {
            rendered: Vec::new(),
            style,
            is_empty: true,
        }
    }

    /// Renders the next element.
    pub fn push<T: Serialize + ?Sized>(&mut self, element: &T) {
        self.rendered.push(if self.is_empty { b'[' } else { b',' });
        self.is_empty = false;
        if self.style.pretty {
            break_line(&mut self.rendered, 1);
        }
        push(&mut self.rendered, element, self.style, 1);
    }

    /// Returns the rendered bytes, to take them or to reserve capacity.
    pub fn rendered(&mut self) -> &mut Vec<u8> {
        &mut self.rendered
    }

    /// Renders the end of the list and returns the remaining bytes.
    pub fn finish(mut self) -> Vec<u8> {
        if self.is_empty {
            self.rendered.push(b'[');
        } else if self.style.pretty {
            break_line(&mut self.rendered, 0);
        }
        self.rendered.push(b']');
        end(&mut self.rendered, self.style);
        self.rendered
    }
}

/// Bytes that are text to Consul, such as a key. Invalid bytes are printed as `\ufffd`.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(TEXT, &Bytes(self.0))
    }
}

/// A well-formed JSON text, printed as a part of the document. Only this module's serializer supports it.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(pub &'a str);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(JSON, &Bytes(self.0.as_bytes()))
    }
}

/// Bytes that are data: padded base64; `null` if empty.
#[derive(Clone, Copy, Debug)]
pub struct Base64<'a>(pub &'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            b"" => serializer.serialize_unit(),
            bytes => serializer.serialize_bytes(bytes),
        }
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::{Base64, ControlEscapes, ListWriter, Style, Text, to_vec};

    const COMPACT: Style = Style {
        pretty: false,
        newline: false,
        control_escapes: ControlEscapes::Short,
    };
    const PRETTY: Style = Style {
        pretty: true,
        newline: true,
        control_escapes: ControlEscapes::Long,
    };

    fn rendered<T: Serialize + ?Sized>(value: &T, style: Style) -> String {
        String::from_utf8(to_vec(value, style)).expect("JSON is text")
    }

    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Entry<'a> {
        lock_index: u64,
        key: Text<'a>,
        flags: u64,
        value: Base64<'a>,
    }

    fn entry<'a>(key: &'a [u8], value: &'a [u8]) -> Entry<'a> {
        Entry {
            lock_index: 0,
            key: Text(key),
            flags: u64::MAX,
            value: Base64(value),
        }
    }

    #[test]
    fn compact_entries() {
        assert_eq!(
            rendered(&[entry(b"a", b"x"), entry(b"b", b"")], COMPACT),
            r#"[{"LockIndex":0,"Key":"a","Flags":18446744073709551615,"Value":"eA=="},{"LockIndex":0,"Key":"b","Flags":18446744073709551615,"Value":null}]"#
        );
    }

    #[test]
    fn pretty_as_go_indents() {
        let value = json!({"<": "&", "a": [], "b": {}, "c": [1, [2]], "d": null, "e": [{"x": 1}]});
        let expected = r#"{
    "\u003c": "\u0026",
    "a": [],
    "b": {},
    "c": [
        1,
        [
            2
        ]
    ],
    "d": null,
    "e": [
        {
            "x": 1
        }
    ]
}
"#;
        assert_eq!(rendered(&value, PRETTY), expected);
        assert_eq!(
            rendered(
                &value,
                Style {
                    newline: false,
                    ..PRETTY
                }
            ),
            expected.trim_end()
        );
        assert_eq!(rendered(&true, PRETTY), "true\n");
        assert_eq!(rendered(&true, COMPACT), "true");
    }

    /// Printed by Go 1.25 and by Consul 1.8.7.
    #[test]
    fn every_ascii_character() {
        let ascii: String = ('\0'..='\u{7f}')
            .filter(|character| !character.is_ascii_alphanumeric())
            .collect();
        let expected = concat!(
            r#""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#,
            r"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f",
            r##" !\"#$%\u0026'()*+,-./:;\u003c=\u003e?@[\\]^_`{|}~"##,
            "\u{7f}\""
        );
        assert_eq!(rendered(&ascii, COMPACT), expected);
        let before_go_1_22 = expected.replace("\\b", "\\u0008").replace("\\f", "\\u000c");
        assert_eq!(
            rendered(
                &ascii,
                Style {
                    newline: false,
                    ..PRETTY
                }
            ),
            before_go_1_22
        );
    }

    #[test]
    fn beyond_ascii() {
        let text = "\u{2028}\u{2029}\u{2027}\u{202a}\u{fffd}\u{e9}\u{1f600}\u{85}";
        let expected = "\"\\u2028\\u2029\u{2027}\u{202a}\u{fffd}\u{e9}\u{1f600}\u{85}\"";
        assert_eq!(rendered(text, COMPACT), expected);
        assert_eq!(rendered(&Text(text.as_bytes()), COMPACT), expected);
    }

    #[test]
    fn bytes_that_are_not_utf8() {
        assert_eq!(
            rendered(&Text(b"\xffb<\n\xe2\x82\""), COMPACT),
            r#""\ufffdb\u003c\n\ufffd\ufffd\"""#
        );
        assert_eq!(rendered(&Text(b"\xff\x0c"), PRETTY), "\"\\ufffd\\u000c\"\n");
        assert_eq!(rendered(&Text(b""), COMPACT), "\"\"");
    }

    #[test]
    fn base64_of_any_length() {
        for (bytes, text) in [
            (&b""[..], "null"),
            (b"a", "\"YQ==\""),
            (b"ab", "\"YWI=\""),
            (b"\xfb\xff\xbf", "\"+/+/\""),
        ] {
            assert_eq!(rendered(&Base64(bytes), COMPACT), text);
        }
        let long = rendered(&Base64(&[0; 3000]), COMPACT);
        assert_eq!(long, format!("\"{}\"", "AAAA".repeat(1000)));
    }

    #[test]
    fn floats() {
        let floats = [
            0.0,
            1.0,
            1.5,
            -2.0,
            1e20,
            1e21,
            -1.5e300,
            1e-6,
            -1e-7,
            1.25e-9,
            5e-324,
            123_456_789.125,
            0.1,
        ];
        assert_eq!(
            rendered(&floats, COMPACT),
            "[0,1,1.5,-2,100000000000000000000,1e+21,-1.5e+300,0.000001,-1e-7,1.25e-9,5e-324,123456789.125,0.1]"
        );
    }

    #[test]
    fn lists_look_the_same_element_by_element() {
        for style in [COMPACT, PRETTY] {
            for count in 0..3 {
                let entries: Vec<_> = (0..count).map(|_| entry(b"k<", b"v")).collect();
                let mut list = ListWriter::new(style);
                let mut chunks = Vec::new();
                for entry in &entries {
                    list.push(entry);
                    chunks.append(list.rendered());
                }
                chunks.extend(list.finish());
                assert_eq!(String::from_utf8_lossy(&chunks), rendered(&entries, style));
            }
        }
        assert_eq!(ListWriter::new(PRETTY).finish(), b"[]\n");
    }
}
