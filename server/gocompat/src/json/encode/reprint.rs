//! Prints JSON texts of any depth in another style.

use super::layout::{Style, break_line, push_string};
use crate::json::value::{Value, decode_string, string_length};

/// Prints a JSON text without spaces. Numbers and the order of members stay.
pub fn compact(value: Value<'_>) -> String {
    print(value, Style::COMPACT)
}

/// Prints a JSON text indented by four spaces for each level.
pub fn indented(value: Value<'_>) -> String {
    let style = Style {
        pretty: true,
        ..Style::COMPACT
    };
    print(value, style)
}

fn print(value: Value<'_>, style: Style) -> String {
    let mut out = Vec::with_capacity(value.text().len());
    push(&mut out, value.text(), style, 0);
    String::from_utf8(out).expect("strings are decoded and the rest is ASCII")
}

/// Appends a well-formed JSON text at this depth of a document.
pub(super) fn push(out: &mut Vec<u8>, text: &[u8], style: Style, mut depth: usize) {
    let mut rest = text.trim_ascii_start();
    while let Some((&byte, behind)) = rest.split_first() {
        let mut length = 1;
        let new_line = match byte {
            b'[' | b'{' => {
                out.push(byte);
                // The closing bracket of an empty container stays on its line.
                match behind.trim_ascii_start() {
                    [close @ (b']' | b'}'), after @ ..] => {
                        out.push(*close);
                        length = rest.len() - after.len();
                        false
                    }
                    _ => {
                        depth += 1;
                        true
                    }
                }
            }
            b']' | b'}' => {
                depth -= 1;
                if style.pretty {
                    break_line(out, depth);
                }
                out.push(byte);
                false
            }
            b',' => {
                out.push(byte);
                true
            }
            b':' => {
                out.extend_from_slice(if style.pretty { b": " } else { b":" });
                false
            }
            b'"' => {
                length = string_length(rest);
                let string = decode_string(&rest[1..length - 1]);
                push_string(out, &string, style.control_escapes);
                false
            }
            other => {
                out.push(other);
                false
            }
        };
        if new_line && style.pretty {
            break_line(out, depth);
        }
        rest = rest[length..].trim_ascii_start();
    }
}

#[cfg(test)]
mod tests {
    use super::{Style, compact, push};
    use crate::json::document::document;
    use crate::json::encode::ControlEscapes;

    const PRETTY: Style = Style {
        pretty: true,
        newline: false,
        control_escapes: ControlEscapes::Short,
    };

    #[test]
    fn a_text_is_printed_without_spaces() {
        let text = " { \"b\" : [ 1.50 , [ ] , { } , null ] , \"a\\u003c\" : \"\\b\" } ";
        let document = document(text.as_bytes()).expect("the text is JSON");
        assert_eq!(
            compact(document.value()),
            r#"{"b":[1.50,[],{},null],"a\u003c":"\u0008"}"#
        );
    }

    /// As the serializer prints a value of the same contents.
    #[test]
    fn a_text_is_printed_pretty() {
        let mut out = Vec::new();
        push(&mut out, br#"{"a":[1,{"b":"\u0008"}],"c":{}}"#, PRETTY, 1);
        let printed = String::from_utf8(out).expect("JSON is text");
        let expected = "{
            \"a\": [
                1,
                {
                    \"b\": \"\\b\"
                }
            ],
            \"c\": {}
        }";
        let expected = expected.replace("\n    ", "\n");
        assert_eq!(printed, expected);
    }
}
