//! The same test bodies on ours and on a real Consul: a lock that is lost by TTL, guarded by the lock-delay and taken over happens in
//! the same order on both, at once on a frozen server and in half a minute on a real one. And a new Consul has the keys of an old one.

use std::any::Any;
use std::time::Duration;

use proconsul::{Server, Version};
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::time::{Clock, RealClock, Stopwatch};
use proconsul_conformance::wire::{self, Address, Connection, Outcome, Reply, Request};

const SECOND: Duration = Duration::from_secs(1);

/// What the test body needs of a Consul.
struct Consul<'a> {
    address: Address,
    /// None where time passes for real.
    control: Option<&'a Server>,
}

impl Consul<'_> {
    fn ask(&self, request: &Request) -> Reply {
        match wire::exchange(&self.address, request) {
            Outcome::Reply(answer) => answer,
            other => panic!("no answer to {request:?}: {other:?}"),
        }
    }

    fn put(&self, target: &str, body: &str) -> String {
        text(&self.ask(&Request::put(target, body)))
    }

    /// Returns the status and the text of an answer.
    fn says(&self, target: &str) -> (u16, String) {
        let answer = self.ask(&Request::put(target, ""));
        (answer.status, text(&answer).trim().to_owned())
    }

    fn session(&self, body: &str) -> String {
        let answer = self.put("/v1/session/create", body);
        answer.split('"').nth(3).expect("an id").to_owned()
    }

    fn acquire(&self, session: &str) -> bool {
        self.put(&format!("/v1/kv/handover?acquire={session}"), "x")
            .trim()
            == "true"
    }

    /// Returns the index of a read.
    fn index(&self, target: &str) -> u64 {
        let answer = self.ask(&Request::get(target));
        let index = answer.header("X-Consul-Index").expect("a read has it");
        index.parse().expect("a number")
    }

    fn pass(&self, duration: Duration) {
        match self.control {
            Some(control) => drop(control.advance(duration)),
            None => RealClock.pass(duration).expect("time passes"),
        }
    }

    /// Whether the contender gets the lock: while it is held, shortly before the holder lapses, after that during the
    /// lock-delay, and after the lock-delay.
    fn handover(&self) -> [bool; 4] {
        let holder = self.session(r#"{"TTL":"10s","LockDelay":"5s"}"#);
        let contender = self.session(r#"{"TTL":"86400s"}"#);
        assert!(self.acquire(&holder));
        let held = self.acquire(&contender);
        self.pass(18 * SECOND);
        let late = self.acquire(&contender);
        self.pass(4 * SECOND);
        let guarded = self.acquire(&contender);
        self.pass(6 * SECOND);
        [held, late, guarded, self.acquire(&contender)]
    }
}

fn text(answer: &Reply) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// A Consul whose time passes for real, and what keeps it running.
type Running = (Consul<'static>, Box<dyn Any>);

/// What clients see when their Consul is killed and a new one has its keys (kv.md 4.3.r5).
fn rebuilt(start: impl Fn() -> Running) {
    let key = "/v1/kv/rebuilt";
    let (old, running) = start();
    for value in 0..30 {
        old.put(key, &value.to_string());
    }
    let holder = old.session("{}");
    let acquire = |session: &str| format!("/v1/kv/rebuilt-lock?acquire={session}");
    assert_eq!(old.put(&acquire(&holder), "").trim(), "true");
    let known = old.index(key);
    let mut blocked = Connection::open(&old.address).expect("it listens");
    let waits = Request::get(&format!("{key}?index={known}&wait=60s"));
    blocked.send(&waits.to_bytes("consul"));
    // What comes after it is answered: it has to be there.
    old.index(key);
    drop(running);
    let outcome = blocked.read(false, SECOND * 5);
    assert!(matches!(outcome, Outcome::Closed), "{outcome:?}");

    let (new, _running) = start();
    for imported in [key, "/v1/kv/rebuilt-lock"] {
        new.put(imported, "29");
    }
    let index = new.index(key);
    assert!(index < known, "{index} after {known}");
    let renewed = new.says(&format!("/v1/session/renew/{holder}"));
    assert_eq!(renewed, (404, format!("Session id '{holder}' not found")));
    let refused = new.says(&acquire(&holder));
    assert_eq!(refused, (500, format!("invalid session {holder:?}")));
    let next = new.session("{}");
    assert_eq!(new.put(&acquire(&next), "").trim(), "true");
    // The old index is not told apart from one that is still to come.
    let begun = Stopwatch::start();
    let slept = new.index(&format!("{key}?index={known}&wait=500ms"));
    assert_eq!(slept, index);
    assert!(begun.elapsed() >= SECOND / 2);
}

#[test]
fn a_new_server_of_ours_has_the_keys_of_an_old_one() {
    rebuilt(|| {
        let server = Server::builder().version(Version::V1_8_7).start();
        let server = server.expect("a free port");
        let address = Address::parse(&server.addr().to_string()).expect("an address");
        (
            Consul {
                address,
                control: None,
            },
            Box::new(server),
        )
    });
}

#[test]
fn a_new_real_consul_has_the_keys_of_an_old_one() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    rebuilt(|| {
        let target = consul::start(&binary, &Agent::default());
        let target = target.unwrap_or_else(|error| panic!("{error}"));
        let address = target.shared_address().expect("one agent for all").clone();
        (
            Consul {
                address,
                control: None,
            },
            Box::new(target),
        )
    });
}

const IN_ORDER: [bool; 4] = [false, false, false, true];

#[test]
fn on_a_frozen_server() {
    let server = proconsul::test::frozen();
    let address = Address::parse(&server.addr().to_string()).expect("an address");
    let control = Some(&*server);
    assert_eq!(Consul { address, control }.handover(), IN_ORDER);
    server.assert_lock_safety("handover", &[]);
}

#[test]
fn on_a_real_consul() {
    let Some(binary) = left_out::consul() else {
        return;
    };
    let target = consul::start(&binary, &Agent::default());
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    let address = target.shared_address().expect("one agent for all").clone();
    let control = None;
    assert_eq!(Consul { address, control }.handover(), IN_ORDER);
}
