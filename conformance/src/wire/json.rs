//! JSON as text.

/// JSON without the white space between its tokens; inside of strings nothing changes.
///
/// Order of fields, spelling of numbers and escapes stay, so that they can be compared.
#[must_use]
pub fn squeezed(json: &[u8]) -> Vec<u8> {
    let mut squeezed = Vec::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            continue;
        } else {
            in_string = byte == b'"';
        }
        squeezed.push(byte);
    }
    squeezed
}

/// Whether a text is one JSON list.
pub(crate) fn is_json_array(text: &str) -> bool {
    text.starts_with('[') && serde_json::from_str::<Vec<serde_json::Value>>(text).is_ok()
}

/// The items of a JSON list as they are spelled, with the white space around them.
#[must_use]
pub fn array_items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut depth, mut in_string, mut escaped, mut start) = (0_usize, false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            b',' if depth == 1 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 && !text[start..at].trim().is_empty() {
                    items.push(&text[start..at]);
                }
            }
            _ => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_spelling() {
        let text = r#"[ {"a": [1, 2]} ,"b,\"]", 3]"#;
        assert!(is_json_array(text));
        assert_eq!(
            array_items(text),
            [r#" {"a": [1, 2]} "#, r#""b,\"]""#, " 3"]
        );
        assert!(array_items("[ ]").is_empty());
        assert!(!is_json_array("[1"));
    }

    #[test]
    fn only_white_space_between_tokens_goes() {
        let pretty = b"[\n    {\n        \"a b\": \"c \\\" d\",\n        \"e\": 1.0\n    }\n]\n";
        assert_eq!(squeezed(pretty), br#"[{"a b":"c \" d","e":1.0}]"#);
        assert_eq!(squeezed(br#"{"a":"\\", "b": 1}"#), br#"{"a":"\\","b":1}"#);
    }
}
