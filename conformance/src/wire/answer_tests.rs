//! Each assertion holds on what it claims and fails on the nearest other thing.

use super::*;
use crate::runner::verdict::caught;
use crate::wire::Framing;

fn answer(status: u16, body: &str, pretty: bool) -> Answer {
    let reply = Reply {
        version: "HTTP/1.1".to_owned(),
        status,
        reason: String::new(),
        headers: vec![("X-Consul-Index".to_owned(), "7".to_owned())],
        body: body.as_bytes().to_vec(),
        framing: Framing::Length,
    };
    Answer::new(
        "GET /x".to_owned(),
        Outcome::Reply(reply),
        Duration::from_millis(5),
        pretty,
    )
}

fn holds<T>(check: impl FnOnce() -> T) -> bool {
    caught(check).is_ok()
}

#[test]
fn is_forgives_white_space_only_where_the_target_is_pretty() {
    assert!(holds(|| answer(200, "true\n", true).is(200, "true")));
    assert!(!holds(|| answer(200, "true\n", false).is(200, "true")));
    assert!(!holds(|| answer(200, "true", false).is(201, "true")));
    assert!(!holds(|| answer(200, "false", false).is(200, "true")));
}

#[test]
fn is_takes_texts_to_the_byte() {
    assert!(holds(
        || answer(400, "Missing key name", true).is(400, "Missing key name")
    ));
    assert!(!holds(
        || answer(400, "Missing key name\n", true).is(400, "Missing key name")
    ));
}

#[test]
fn is_keeps_the_order_of_fields() {
    let body = "{\n    \"a\": 1,\n    \"b\": 2\n}\n";
    assert!(holds(|| answer(200, body, true).is(200, r#"{"a":1,"b":2}"#)));
    assert!(!holds(
        || answer(200, body, true).is(200, r#"{"b":2,"a":1}"#)
    ));
}

#[test]
fn headers_are_found_in_any_spelling_and_compared_in_the_wire_one() {
    assert_eq!(answer(200, "", false).header("x-consul-index"), Some("7"));
    assert_eq!(answer(200, "", false).index(), 7);
    assert!(holds(
        || answer(200, "", false).header_names_are(&["X-Consul-Index"])
    ));
    assert!(!holds(
        || answer(200, "", false).header_names_are(&["x-consul-index"])
    ));
    assert!(!holds(
        || answer(200, "", false).has_no_header("x-consul-index")
    ));
    assert!(!holds(|| answer(200, "", false).has_header("Vary")));
    assert!(!holds(
        || answer(200, "", false).header_is("X-Consul-Index", "8")
    ));
}

#[test]
fn an_entry_is_a_list_of_exactly_one() {
    let one =
        r#"{"LockIndex":0,"Key":"k","Flags":0,"Value":"YQ==","CreateIndex":1,"ModifyIndex":2}"#;
    let list = |body: String| answer(200, &body, false);
    assert_eq!(
        list(format!("[{one}]")).entry().value_is("a").modify_index,
        2
    );
    assert!(!holds(|| list(format!("[{one},{one}]")).entry()));
    assert!(!holds(|| list("[]".to_owned()).entry()));
    assert!(!holds(|| answer(404, &format!("[{one}]"), false).entry()));
    assert_eq!(list(format!("[{one},{one}]")).entries().len(), 2);
    assert_eq!(list(r#"["a","b"]"#.to_owned()).strings(), ["a", "b"]);
}

#[test]
fn without_a_reply_every_question_fails_the_case() {
    let closed = Answer::new("GET /x".to_owned(), Outcome::Closed, Duration::ZERO, false);
    assert!(holds(|| closed.clone().is_closed()));
    assert!(!holds(|| closed.clone().status()));
    assert!(!holds(|| answer(200, "", false).is_closed()));
}

#[test]
fn a_failure_says_what_was_asked_and_what_came() {
    let halt = caught(|| answer(500, "oops", false).is(200, "true")).unwrap_err();
    let text = format!("{halt:?}");
    assert!(text.contains("GET /x: expected 200"), "{text}");
    assert!(text.contains("came 500"), "{text}");
    assert!(text.contains("answer_tests.rs"), "{text}");
}

#[test]
fn the_rest_of_the_assertions() {
    let a = || answer(200, r#"{"Name":"n","List":[1]}"#, false);
    assert!(holds(|| a().field_is("/List/0", 1).field_is("/Name", "n")));
    assert!(holds(|| a().field_is("/Other", Value::Null)));
    assert!(!holds(|| a().field_is("/Name", "m")));
    assert!(holds(|| a().says(200, "Name")));
    assert!(!holds(|| a().says(200, "nothing")));
    assert!(!holds(|| a().says(500, "Name")));
    assert!(!holds(|| a().status_is_one_of(&[404, 500])));
    assert!(!holds(|| a().body_is_exactly("{}")));
    assert!(holds(|| a().took_at_least(Duration::from_millis(5))));
    assert!(!holds(|| a().took_at_least(Duration::from_millis(6))));
}
