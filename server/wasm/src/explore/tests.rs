//! A search, driven as a host drives it.

use serde_json::{Value, json};

use crate::{
    INSTANCE, agents, create, input, run_begin, run_done, run_recorded, search_new, search_next,
    search_report,
};

/// Calls an export with bytes in the buffer, and returns the reply.
fn call(bytes: &[u8], export: impl FnOnce() -> usize) -> Vec<u8> {
    INSTANCE.with_borrow_mut(|instance| instance.given = bytes.to_vec());
    export();
    INSTANCE.with_borrow(|instance| instance.reply.clone())
}

fn ask(given: &Value, export: extern "C" fn() -> usize) -> Value {
    let given = match given {
        Value::Null => String::new(),
        given => given.to_string(),
    };
    serde_json::from_slice(&call(given.as_bytes(), || export())).expect("a reply is JSON")
}

/// The outputs of a reply: kind, number, bytes.
fn outputs(mut reply: &[u8]) -> Vec<(u8, u64, String)> {
    let mut outputs = Vec::new();
    while let [kind, rest @ ..] = reply {
        let (number, rest) = rest.split_first_chunk().expect("a number");
        let (length, rest) = rest.split_first_chunk().expect("a length");
        let (bytes, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let text = String::from_utf8_lossy(bytes).into_owned();
        outputs.push((*kind, u64::from_le_bytes(*number), text));
        reply = rest;
    }
    outputs
}

/// A run: contenders that acquire the lock once, and believe for ever that they hold it.
struct Played {
    now: u64,
    next: u64,
    requests: u64,
    orders: Vec<String>,
    is_over: bool,
}

impl Played {
    fn give(&mut self, kind: u32, number: u64, bytes: &str) -> Option<String> {
        let reply = call(bytes.as_bytes(), || input(self.now, kind, number));
        self.next = u64::MAX;
        let mut response = None;
        for (kind, number, text) in outputs(&reply) {
            match kind {
                4 => self.next = number,
                5 => response = Some(text),
                6 => self.orders.push(format!("{number} {text}")),
                7 => self.is_over = true,
                _ => {}
            }
        }
        response
    }

    /// Sends a request of a contender, and returns the body of the response, if it comes at once.
    fn request(&mut self, contender: u64, line: &str, body: &str) -> Option<String> {
        self.requests += 1;
        let from = format!("127.0.1.{}:1", contender + 1);
        let request = format!("{from}\n{line} HTTP/1.1\r\nHost: x\r\n\r\n{body}");
        let response = self.give(6, 100 + self.requests, &request)?;
        let (_, body) = response.split_once("\r\n\r\n").expect("a head");
        Some(body.to_owned())
    }

    fn acquire(&mut self, contender: u64) -> Option<String> {
        let body = r#"{"TTL": "10s", "LockDelay": "1s"}"#;
        let made = self.request(contender, "PUT /v1/session/create", body)?;
        // An error is no JSON.
        let made: Value = serde_json::from_str(&made).ok()?;
        let id = made["ID"].as_str().expect("an id");
        self.request(contender, &format!("PUT /v1/kv/leader?acquire={id}"), "")
    }

    /// Makes the run on a new server. Each contender tries to acquire the lock every 5 s.
    fn of(run: &Value) -> Self {
        let seed = run["seed"].as_u64().expect("a seed");
        assert!(call(br#"["-dev", "-control"]"#, || create(seed, 0)).is_empty());
        assert_eq!(ask(&Value::Null, run_begin), json!({}));
        let (next, requests, orders) = (0, 0, Vec::new());
        let mut played = Self {
            now: 0,
            next,
            requests,
            orders,
            is_over: false,
        };
        let mut believes = [false; 2];
        for tick in 0_u64.. {
            for (contender, believes) in (0_u64..).zip(&mut believes) {
                if !*believes && played.acquire(contender).as_deref() == Some("true") {
                    *believes = true;
                    played.give(7, contender, "held 7");
                }
            }
            while played.next <= (tick + 1) * 5_000_000_000 && !played.is_over {
                played.now = played.next;
                played.give(4, 0, "");
            }
            if played.is_over {
                return played;
            }
            played.now = (tick + 1) * 5_000_000_000;
        }
        unreachable!()
    }
}

#[test]
fn a_search_finds_two_that_believe() {
    let wanted = json!({"contenders": 2, "guard": "work/"});
    assert_eq!(ask(&wanted, search_new), json!({}));
    let mut said = Vec::new();
    loop {
        let next = ask(&Value::Null, search_next);
        if next["run"].is_null() {
            break;
        }
        Played::of(&next["run"]);
        said.push(ask(&Value::Null, run_done));
    }
    let first = &said[0]["findings"][0];
    assert!(first.to_string().contains("two-believers"), "{said:?}");
    assert!(said.iter().all(|said| said["found"] == true), "{said:?}");
    let report = call(b"", || search_report(1_000_000_000, 1000));
    let report: Value = serde_json::from_slice(&report).expect("a reply is JSON");
    let text = report["text"].as_str().expect("a text");
    let repeated = "3 of 3 replays break it, each the same byte for byte";
    assert!(text.contains(repeated), "{text}");
    assert_eq!(report["broken"]["property"], "two-believers", "{report}");
    assert_eq!(report["broken"]["schedule"], "contenders 2\n", "{report}");
}

#[test]
fn a_schedule_has_its_way_with_contenders() {
    let schedule = "contenders 2\na acquire 1: pause a 3s\nb create 1: restart b 4s\n";
    let wanted = json!({"contenders": 2, "schedule": schedule, "seed": 7, "replays": 1});
    assert_eq!(ask(&wanted, search_new), json!({}));
    let first = ask(&Value::Null, search_next);
    assert_eq!(first["run"]["purpose"], "listening", "{first}");
    assert!(Played::of(&first["run"]).orders.is_empty());
    ask(&Value::Null, run_done);
    let next = ask(&Value::Null, search_next);
    assert_eq!(next["run"]["seed"], 7, "{next}");
    let played = Played::of(&next["run"]);
    assert_eq!(played.orders, ["0 pause", "1 kill", "0 resume", "1 start"]);
    let recorded = ask(&Value::Null, run_recorded);
    assert_eq!(
        recorded["met"],
        json!(["a acquire 1: pause a 3s", "b create 1: restart b 4s"])
    );
    assert_eq!(recorded["places"][0], "a create 1", "{recorded}");
}

#[test]
fn each_contender_has_its_agent() {
    let schedule = "contenders 2\nagents 3\nb create 1: cut-agent b 60s\n";
    let wanted = json!({"contenders": 2, "agents": 3, "schedule": schedule, "replays": 1});
    assert_eq!(ask(&wanted, search_new), json!({}));
    for _ in 0..2 {
        let run = ask(&Value::Null, search_next);
        Played::of(&run["run"]);
        let recorded = ask(&Value::Null, run_recorded);
        let text = recorded["run"].as_str().expect("lines");
        let is_plain = run["run"]["purpose"] == "listening";
        assert_eq!(text.contains("agent 1 is cut off"), !is_plain, "{text}");
        ask(&Value::Null, run_done);
    }
    assert_eq!(agents(), 3);
}

#[test]
fn what_is_invalid_is_said() {
    let error = |reply: Value| reply["error"].as_str().expect("an error").to_owned();
    for (wanted, said) in [
        (json!({"contenders": 6}), "1 to 5 contenders"),
        (json!({"agents": 2}), "or 3 to 5, and one for each"),
        (
            json!({"only": ["two-belivers"]}),
            "no property \"two-belivers\"",
        ),
        (json!({"sed": 1}), "unknown field `sed`"),
        (
            json!({"schedule": "a renw 1: hold"}),
            "expected a kind of request",
        ),
    ] {
        let error = error(ask(&wanted, search_new));
        assert!(error.contains(said), "{error}");
    }
    let fails = |export: extern "C" fn() -> usize, said: &str| {
        let error = error(ask(&Value::Null, export));
        assert!(error.contains(said), "{error}");
    };
    fails(search_next, "`search_new` comes first");
    ask(&json!({}), search_new);
    fails(run_begin, "`search_next` comes first");
    fails(run_done, "`run_begin` comes first");
    ask(&Value::Null, search_next);
    fails(run_begin, "`create` comes first");
    call(br#"["-dev"]"#, || create(7, 0));
    fails(run_begin, "-control");
    fails(run_recorded, "`run_begin` comes first");
}
