//! What the server's clients could see of the keys that are contended for: every state that a watch has seen, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proconsul_conformance::time::{Clock, RealClock, Stopwatch};
use proconsul_conformance::wire::{self, Address, Outcome, Request};
use serde_json::Value;

/// One state of the keys under the prefix.
#[derive(Debug)]
pub(crate) struct Transition {
    pub(crate) at: Duration,
    /// Each key with its holder, its indexes, and the table of a semaphore.
    pub(crate) text: String,
    /// How many holders the lock or the table of the semaphore names.
    pub(crate) holders: usize,
}

/// Watches the keys until it is asked for what it saw.
pub(crate) struct Transitions {
    over: Arc<AtomicBool>,
    watching: JoinHandle<Vec<Transition>>,
}

impl Transitions {
    pub(crate) fn watch(address: &str, prefix: &str, clock: Stopwatch) -> Self {
        let address = Address::parse(address).expect("the host has an address");
        let target = format!("/v1/kv/{prefix}/?recurse&wait=200ms");
        let over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&over);
        let watching = std::thread::spawn(move || {
            let (mut seen, mut index) = (Vec::new(), "0".to_owned());
            while !until.load(Ordering::Relaxed) {
                let request = Request::get(&format!("{target}&index={index}"));
                let Outcome::Reply(reply) = wire::exchange(&address, &request) else {
                    // A server that is busy: what is seen here is for people, and is not what is judged.
                    RealClock
                        .pass(Duration::from_millis(20))
                        .expect("real time passes");
                    continue;
                };
                index = reply.header("X-Consul-Index").unwrap_or("0").to_owned();
                let pairs = serde_json::from_slice(&reply.body).unwrap_or(Value::Null);
                let now = transition(clock.elapsed(), &pairs);
                if seen
                    .last()
                    .is_none_or(|last: &Transition| last.text != now.text)
                {
                    seen.push(now);
                }
            }
            seen
        });
        Self { over, watching }
    }

    /// All that was seen.
    pub(crate) fn end(self) -> Vec<Transition> {
        self.over.store(true, Ordering::Relaxed);
        self.watching.join().expect("a watch does not panic")
    }
}

fn transition(at: Duration, pairs: &Value) -> Transition {
    let (mut text, mut holders) = (String::new(), 0);
    for pair in pairs.as_array().into_iter().flatten() {
        let of = |field: &str| pair[field].as_str().unwrap_or("-");
        let value = STANDARD.decode(of("Value")).unwrap_or_default();
        let is_lock = of("Key").ends_with("/.lock");
        if is_lock {
            let table: Value = serde_json::from_slice(&value).unwrap_or(Value::Null);
            holders = match table["Holders"].as_object() {
                Some(table) => table.len(),
                None => usize::from(pair["Session"].is_string()),
            };
        }
        let value = String::from_utf8_lossy(&value);
        let [lock, modify] = ["LockIndex", "ModifyIndex"].map(|field| &pair[field]);
        text += &format!(
            "\n    {} of {} (lock {lock}, modify {modify}) {value}",
            of("Key"),
            of("Session")
        );
    }
    Transition { at, text, holders }
}

#[test]
fn holders_are_those_of_the_lock_or_of_the_table() {
    let pair = |session: Value, value: &str| serde_json::json!([{"Key": "p/.lock", "Session": session, "Value": STANDARD.encode(value)}]);
    let holders = |pairs: &Value| transition(Duration::ZERO, pairs).holders;
    assert_eq!(holders(&Value::Null), 0);
    assert_eq!(holders(&pair(Value::Null, "")), 0);
    assert_eq!(holders(&pair("a".into(), "python")), 1);
    assert_eq!(
        holders(&pair(
            Value::Null,
            r#"{"Limit":2,"Holders":{"a":true,"b":true,"c":true}}"#
        )),
        3
    );
    assert_eq!(
        holders(&pair(Value::Null, r#"{"Limit":2,"Holders":null}"#)),
        0
    );
}
