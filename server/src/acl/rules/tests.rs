use super::*;

/// Returns what 1.8.7 says about rules; `ok` if it takes them.
fn said(text: &str) -> String {
    match Rules::parse(text, Version::V1_8_7) {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn levels() {
    assert_eq!(said(""), "ok");
}
