//! `json.Unmarshal`: texts of a single JSON value.

use super::scan::{SyntaxError, first_value};
use super::value::Document;
use crate::quote::push_escaped;

/// Parses a text of one value.
///
/// # Errors
/// Go's sentence about the first invalid byte, or about a truncated text.
pub fn document(text: &[u8]) -> Result<Document<'_>, String> {
    let found = first_value(text).map_err(|error| match error {
        SyntaxError::Empty | SyntaxError::Truncated => "unexpected end of JSON input".to_owned(),
        SyntaxError::Unexpected { .. } => error.to_string(),
    })?;
    let blank = |byte: &u8| b" \t\r\n".contains(byte);
    let length = found.value().text().len();
    let start = text.iter().take_while(|byte| blank(byte)).count();
    match text[start + length..].iter().find(|byte| !blank(byte)) {
        None => Ok(found),
        Some(byte) => {
            let mut character = String::new();
            push_escaped(&mut character, char::from(*byte), '\'');
            Err(format!(
                "invalid character '{character}' after top-level value"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_may_have_white_space_around_it() {
        assert!(document(b" {\"a\": 1} \n").is_ok());
    }

    #[test]
    fn anything_else_is_refused_in_gos_words() {
        let rows = [
            ("", "unexpected end of JSON input"),
            ("{\"a\": 1", "unexpected end of JSON input"),
            (
                "{ nope",
                "invalid character 'n' looking for beginning of object key string",
            ),
            (
                "{\"a\": 1,}",
                "invalid character '}' looking for beginning of object key string",
            ),
            ("{} x", "invalid character 'x' after top-level value"),
            (
                "// c\n{}",
                "invalid character '/' looking for beginning of value",
            ),
        ];
        for (text, expected) in rows {
            let refused = document(text.as_bytes()).map(|_| ());
            assert_eq!(refused, Err(expected.to_owned()), "{text:?}");
        }
    }
}
