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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_tokens_goes() {
        let pretty = b"[\n    {\n        \"a b\": \"c \\\" d\",\n        \"e\": 1.0\n    }\n]\n";
        assert_eq!(squeezed(pretty), br#"[{"a b":"c \" d","e":1.0}]"#);
        assert_eq!(squeezed(br#"{"a":"\\", "b": 1}"#), br#"{"a":"\\","b":1}"#);
    }
}
