//! Names and filters of events that are not UTF-8 (seen on 1.8.7).

use serde_json::Value;

use crate::support::Consul;

/// The name as it stands in the answer, quotes and escapes included.
fn name_in(text: &str) -> &str {
    let (_, rest) = text.split_once("\"Name\":").expect("there is a name");
    rest.split_once(",\"Payload\"").expect("it ends").0
}

#[test]
fn a_name_may_be_any_bytes() {
    for consul in Consul::both() {
        for (name, shown) in [
            ("%ff", r#""\ufffd""#),
            ("a%ffb", r#""a\ufffdb""#),
            // One for each byte, not for each broken character.
            ("%e2%82", r#""\ufffd\ufffd""#),
            ("%ed%a0%80", r#""\ufffd\ufffd\ufffd""#),
            ("%ef%bf%bd", "\"\u{fffd}\""),
            ("%c3%a9", "\"\u{e9}\""),
        ] {
            let fired = consul.put(&format!("/v1/event/fire/{name}"), "p");
            assert_eq!(name_in(fired.text()), shown);
            // By its bytes alone, not by those that it is shown with.
            let listed = consul.get(&format!("/v1/event/list?name={name}"));
            let events: Value = serde_json::from_slice(&listed.body).expect("the body is JSON");
            assert_eq!(events.as_array().map(Vec::len), Some(1), "{name}");
            assert_eq!(name_in(listed.text()), shown);
        }
    }
}

#[test]
fn a_filter_has_to_be_utf_8() {
    let consul = Consul::v1_8();
    for (filters, which) in [
        ("node=%ff", "node"),
        ("node=(%ff", "node"),
        ("service=%ff", "service"),
        ("service=a&tag=%ff", "tag"),
        ("service=%ff&node=%ff", "node"),
    ] {
        let answer = consul.put(&format!("/v1/event/fire/e?{filters}"), "p");
        let words = "filter: error parsing regexp: invalid UTF-8: `\u{fffd}`";
        answer.is(500, &format!("Invalid {which} {words}"));
    }
}
