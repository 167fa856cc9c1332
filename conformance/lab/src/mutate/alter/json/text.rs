//! JSON changed as text, so that everything which is not changed stays as it was: order, spelling, white space.

use std::ops::Range;

/// Where the values of all fields of that name stand, at whatever depth.
pub(in crate::mutate::alter) fn values(text: &str, field: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let end = end_of_string(bytes, at);
        let name = &text[at + 1..end.saturating_sub(1).max(at + 1)];
        let colon = skip_white(bytes, end);
        if bytes.get(colon) == Some(&b':') {
            let start = skip_white(bytes, colon + 1);
            if name == field {
                found.push(start..end_of_value(bytes, start));
            }
            at = start;
        } else {
            at = end;
        }
    }
    found
}

/// The text with each value of that field replaced where `change` gives another one.
pub(in crate::mutate::alter) fn replaced(
    text: &str,
    field: &str,
    change: impl Fn(&str) -> Option<String>,
) -> String {
    let mut changed = text.to_owned();
    // From the end, so that the places before stay where they are.
    for place in values(text, field).into_iter().rev() {
        if let Some(value) = change(&text[place.clone()]) {
            changed.replace_range(place, &value);
        }
    }
    changed
}

/// The text without the fields of that name whose value is `unwanted`, each with one of its commas.
pub(in crate::mutate::alter) fn without(
    text: &str,
    field: &str,
    unwanted: impl Fn(&str) -> bool,
) -> String {
    let mut changed = text.to_owned();
    for place in values(text, field).into_iter().rev() {
        if !unwanted(&text[place.clone()]) {
            continue;
        }
        let key = format!("\"{field}\"");
        let start = text[..place.start].rfind(&key).unwrap_or(place.start);
        let after = skip_white(text.as_bytes(), place.end);
        if text.as_bytes().get(after) == Some(&b',') {
            changed.replace_range(start..after + 1, "");
        } else {
            let before = text[..start].trim_end();
            let from = before.strip_suffix(',').map_or(start, str::len);
            changed.replace_range(from..place.end, "");
        }
    }
    changed
}

/// The text with `addition`, such as `"Session":"s",`, before each field of that name.
pub(in crate::mutate::alter) fn with_before(text: &str, field: &str, addition: &str) -> String {
    let mut changed = text.to_owned();
    for place in values(text, field).into_iter().rev() {
        let key = format!("\"{field}\"");
        if let Some(start) = text[..place.start].rfind(&key) {
            changed.insert_str(start, addition);
        }
    }
    changed
}

/// The elements of a list; `None` when the text is no list.
pub(in crate::mutate::alter) fn elements(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = skip_white(bytes, 0);
    let mut found = Vec::new();
    if bytes.get(at) != Some(&b'[') {
        return found;
    }
    at = skip_white(bytes, at + 1);
    while at < bytes.len() && bytes[at] != b']' {
        let end = end_of_value(bytes, at);
        if end <= at {
            return found;
        }
        found.push(at..end);
        at = skip_white(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = skip_white(bytes, at + 1);
        }
    }
    found
}

/// The list with each element changed.
pub(in crate::mutate::alter) fn mapped(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut changed = text.to_owned();
    for place in elements(text).into_iter().rev() {
        let element = change(&text[place.clone()]);
        changed.replace_range(place, &element);
    }
    changed
}

/// The list of these elements, as compact JSON.
pub(in crate::mutate::alter) fn list(elements: &[&str]) -> String {
    format!("[{}]", elements.join(","))
}

fn skip_white(bytes: &[u8], from: usize) -> usize {
    let white = bytes[from.min(bytes.len())..].iter();
    from + white.take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Behind the closing quote.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Behind the value that begins there.
fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = end_of_string(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            byte if depth == 0 && (byte == b',' || byte.is_ascii_whitespace()) => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: &str = r#"[
    {
        "LockIndex": 0, "Key": "a\"b", "Value": null
    },
    { "LockIndex": 12, "Key": "\"LockIndex\": 9", "Deep": {"LockIndex": 3} }
]"#;

    #[test]
    fn finds_values_at_any_depth_and_not_in_texts() {
        let places = values(ENTRIES, "LockIndex");
        let found: Vec<&str> = places.into_iter().map(|place| &ENTRIES[place]).collect();
        assert_eq!(found, ["0", "12", "3"]);
        let keys = values(ENTRIES, "Key");
        assert_eq!(&ENTRIES[keys[0].clone()], r#""a\"b""#);
    }

    #[test]
    fn changes_nothing_but_what_it_is_asked_to() {
        let change = |value: &str| (value == "12").then(|| "13".to_owned());
        let expected = ENTRIES.replace("12", "13");
        assert_eq!(replaced(ENTRIES, "LockIndex", change), expected);
    }

    #[test]
    fn removes_a_field_with_its_comma() {
        assert_eq!(
            without(r#"{"a":1,"b":2,"c":3}"#, "b", |_| true),
            r#"{"a":1,"c":3}"#
        );
        assert_eq!(without(r#"{"a":1, "c":3}"#, "c", |_| true), r#"{"a":1}"#);
        assert_eq!(
            without(r#"{"a":1}"#, "a", |value| value == "2"),
            r#"{"a":1}"#
        );
    }

    #[test]
    fn adds_before_a_field() {
        let added = with_before(r#"{"a":1,"b":2}"#, "b", r#""x":0,"#);
        assert_eq!(added, r#"{"a":1,"x":0,"b":2}"#);
    }

    #[test]
    fn takes_lists_apart() {
        let parts = elements(ENTRIES);
        assert_eq!(parts.len(), 2);
        assert!(ENTRIES[parts[1].clone()].ends_with("3} }"));
        assert!(elements("{}").is_empty());
        assert_eq!(mapped(r#"["a", "b"]"#, str::to_uppercase), r#"["A", "B"]"#);
        assert_eq!(list(&["1", "2"]), "[1,2]");
    }
}
