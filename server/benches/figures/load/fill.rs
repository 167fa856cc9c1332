//! What lies on a server before it is measured.

use crate::servers::process::Process;

/// As many operations as a transaction of 1.8 takes.
const BATCH: u64 = 64;

/// The length of all values.
pub(crate) const VALUE_BYTES: usize = 100;

/// A value that differs from one number to the next: writing the same value again would be less work.
pub(crate) fn value(number: u64) -> Vec<u8> {
    let mut value = format!("{number:020}").into_bytes();
    value.resize(VALUE_BYTES, b'v');
    value
}

/// The body of a transaction that sets these keys to these values.
pub(crate) fn set_all(keys: impl Iterator<Item = (String, u64)>) -> Vec<u8> {
    let operations = keys.map(|(key, number)| {
        let value = base64(&value(number));
        format!(r#"{{"KV":{{"Verb":"set","Key":"{key}","Value":"{value}"}}}}"#)
    });
    let operations: Vec<String> = operations.collect();
    format!("[{}]", operations.join(",")).into_bytes()
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// The key with a number. Numbers that follow each other are far apart, as the writes of many clients are.
pub(crate) fn key(number: u64, of: u64) -> String {
    format!("many/{:07}", number * 7_919 % of)
}

/// Writes `count` keys of 100 B.
pub(crate) fn keys(process: &Process, count: u64) {
    write(process, count, |number| key(number, count));
}

/// Writes `count` keys of 100 B in equal parts into `folders` folders below a path.
pub(crate) fn folders(process: &Process, count: u64, folders: u64, below: &str) {
    write(process, count, |number| {
        format!("{below}{:03}/{:07}", number % folders, number / folders)
    });
}

fn write(process: &Process, count: u64, key: impl Fn(u64) -> String) {
    let mut caller = process.caller();
    for first in (0..count).step_by(64) {
        let numbers = first..count.min(first + BATCH);
        let body = set_all(numbers.map(|number| (key(number), number)));
        caller.expect("PUT", "/v1/txn", &body);
    }
}

/// Creates `count` sessions, each with a lock on a key of its own.
pub(crate) fn sessions(process: &Process, count: u64) {
    let mut caller = process.caller();
    for number in 0..count {
        let created = caller.expect("PUT", "/v1/session/create", b"");
        let id = created.text("ID").expect("a new session has an id");
        let target = format!("/v1/kv/held/{number:07}?acquire={id}");
        caller.expect("PUT", &target, &value(number));
    }
}

/// Registers `count` services of one instance with the agent, each with a check.
pub(crate) fn services(process: &Process, count: u64) {
    let mut caller = process.caller();
    for number in 0..count {
        let check = r#"{"TTL":"100h","Status":"passing"}"#;
        let body = format!(r#"{{"Name":"s{number}","Port":80,"Check":{check}}}"#);
        caller.expect("PUT", "/v1/agent/service/register", body.as_bytes());
    }
}
